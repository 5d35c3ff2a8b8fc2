package price_test

import (
	"testing"

	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/cluster/price"
	"github.com/modelgateway/modelgateway/cluster/usage"
)

// Two pictures cost what the row of their quality and size says, else what the model's row says.
func TestPicturePrices(t *testing.T) {
	find := func(model string) (price.Row, bool) {
		prices, ok := map[string]string{
			"dall-e-3":                          "output_cost_per_image=0.04",
			"openai/hd/1024-x-1792/dall-e-3":    "input_cost_per_image=0.12",
			"standard/1024-x-1024/dall-e-3":     "output_cost_per_image=0.05",
			"azure/hd/1024-x-1024/dall-e-3":     "input_cost_per_pixel=0.0000001;output_cost_per_token=0",
			"azure/standard/512-x-512/dall-e-3": "input_cost_per_pixel=0;output_cost_per_token=0",
			"gpt-image":                         "input_cost_per_token=0.00001;output_cost_per_token=0.00002",
			"1024-x-1536/gpt-image":             "input_cost_per_image=0.013",
			"high/1024-x-1024/tokens":           "input_cost_per_token=0.5",
			"tokens":                            "output_cost_per_image=0.01",
		}[model]
		return price.Row{Model: model, Prices: prices}, ok
	}
	for _, test := range []struct {
		provider, model, base string
		own                   []price.Entry
		quality, size         string
		tokens                usage.Tokens
		want                  string
	}{
		{"openai", "dall-e-3", "", nil, "hd", "1024x1792", usage.Tokens{Images: 2}, "0.24"},
		{"openai", "dall-e-3", "", nil, "hd", "2048x2048", usage.Tokens{Images: 2}, "0.08"},
		{"openai", "dall-e-3", "", nil, "", "", usage.Tokens{Images: 2}, "0.1"},
		{"openai", "dall-e-3", "", nil, "auto", "auto", usage.Tokens{Images: 2}, "0.1"},
		{"openai", "dall-e-3", "", nil, "standard", "large", usage.Tokens{Images: 2}, "0.08"},
		{"openai", "mine", "dall-e-3", nil, "hd", "1024x1792", usage.Tokens{Images: 2}, "0.24"},
		{"azure", "dall-e-3", "", nil, "hd", "1024x1024", usage.Tokens{Images: 2}, "0.2097152"},
		{"azure", "dall-e-3", "", nil, "standard", "512x512", usage.Tokens{Images: 2}, "0.08"},
		{"openai", "dall-e-3", "", []price.Entry{{Key: "output_cost_per_image", Value: "0.5"}}, "hd", "1024x1792", usage.Tokens{Images: 2}, "1"},
		{"openai", "gpt-image", "", nil, "high", "1024x1536", usage.Tokens{Input: 100, Images: 2}, "0.027"},
		{"openai", "tokens", "", nil, "high", "1024x1024", usage.Tokens{Images: 2}, "0.02"},
		{"openai", "nobody", "", nil, "hd", "1024x1792", usage.Tokens{Images: 2}, "0"},
	} {
		k := price.Source{Provider: test.provider, Model: test.model, Base: test.base}
		base, _, err := price.Of(find, k, test.own)
		if err != nil {
			t.Fatal(err)
		}
		want, err := money.Parse(test.want)
		if err != nil {
			t.Fatal(err)
		}
		if got := price.OfPicture(find, k, test.own, base, price.Picture{Quality: test.quality, Size: test.size}).Cost(test.tokens, price.Standard); got != want {
			t.Errorf("%+v of %s, %q, %q: %s, want %s", k, test.model, test.quality, test.size, got, test.want)
		}
	}
}
