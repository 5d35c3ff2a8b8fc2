package price_test

import (
	"bytes"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/price"
)

// summary returns the kind, the code and the parameter of an error.
func summary(err error) string {
	f := fault.From(err)
	return fmt.Sprint(f.Kind, " ", f.Code, " ", f.Param)
}

func TestParsePriceMap(t *testing.T) {
	t.Parallel()
	const file = `{
 "sample_spec": {"input_cost_per_token": 1, "max_tokens": "LEGACY"},
 "gpt": {
  "litellm_provider": "openai", "mode": "chat", "max_input_tokens": 128000, "max_output_tokens": 16384, "max_tokens": 5,
  "input_cost_per_token": 2.5e-06, "output_cost_per_token": 0.00001, "cache_read_input_token_cost": 1.25E-6,
  "input_cost_per_token_above_200k_tokens": 5e-06, "input_cost_per_token_batches": 0.0,
  "search_context_cost_per_query": {"search_context_size_low": 0.03}, "supports_vision": true, "source": "https://x",
  "input_cost_per_audio_token": "1e-6", "output_cost_per_second": null, "rpm": 3, "input_price": true
 },
 "whisper": {"litellm_provider": "openai", "input_cost_per_second": 0.0001, "output_cost_per_second": 0.0001},
 "old": {"max_tokens": 4096, "input_cost_per_image": 1},
 "tiered": {
  "litellm_provider": "dashscope", "output_cost_per_token": 7,
  "tiered_pricing": [
   {"range": [0, 256000.0], "input_cost_per_token": 1e-7, "output_cost_per_token": 4e-7},
   {"range": [256e3, 1000000], "input_cost_per_token": 2e-7, "output_cost_per_token": 8e-7, "supports": {}},
   {"range": [1e6, 2000000], "input_cost_per_token": "0.0000003"}
  ]
 },
 "search": {"tiered_pricing": [{"max_results_range": [0, 25], "input_cost_per_query": 0.005}], "input_cost_per_query": 0.004},
 "limits only": {"max_input_tokens": "2000000.0", "max_output_tokens": null},
 "nothing": {"mode": "chat", "tiered_pricing": null, "litellm_provider": null},
 "twice": {"input_cost_per_token": 1, "output_cost_per_token": 1},
 "twice": {"input_cost_per_token": 2},
 "dust": {"input_cost_per_token": 1.1999999999999999e-09, "output_cost_per_token": 1.00000000000000000000000049, "cache_read_input_token_cost": 9.99999999999999999999999951e-1},
 "odd": {"input_cost_per_token": -1e-6, "output_cost_per_token": 1e300, "input_cost_per_image": -0.0}
}`
	got, err := price.ParseMap([]byte(file))
	if err != nil {
		t.Fatal(err)
	}
	want := []price.MapRow{
		{
			Model: "gpt", Provider: "openai", MaxInputTokens: 128000, MaxOutputTokens: 16384, Prices: []price.Entry{
				{Key: "cache_read_input_token_cost", Value: "0.00000125"},
				{Key: "input_cost_per_audio_token", Value: "0.000001"},
				{Key: "input_cost_per_token", Value: "0.0000025"},
				{Key: "input_cost_per_token_above_200k_tokens", Value: "0.000005"},
				{Key: "input_cost_per_token_batches", Value: "0"},
				{Key: "output_cost_per_token", Value: "0.00001"},
			},
		},
		{Model: "whisper", Provider: "openai", Prices: []price.Entry{
			{Key: "input_cost_per_second", Value: "0.0001"}, {Key: "output_cost_per_second", Value: "0.0001"},
		}},
		{Model: "old", MaxOutputTokens: 4096, Prices: []price.Entry{{Key: "input_cost_per_image", Value: "1"}}},
		{Model: "tiered", Provider: "dashscope", Prices: []price.Entry{
			{Key: "input_cost_per_token", Value: "0.0000001"},
			{Key: "input_cost_per_token_above_1000k_tokens", Value: "0.0000003"},
			{Key: "input_cost_per_token_above_256k_tokens", Value: "0.0000002"},
			{Key: "output_cost_per_token", Value: "7"},
			{Key: "output_cost_per_token_above_256k_tokens", Value: "0.0000008"},
		}},
		{Model: "search", Prices: []price.Entry{{Key: "input_cost_per_query", Value: "0.004"}}},
		{Model: "limits only", MaxInputTokens: 2000000},
		{Model: "twice", Prices: []price.Entry{{Key: "input_cost_per_token", Value: "2"}}},
		{Model: "dust", Prices: []price.Entry{
			{Key: "cache_read_input_token_cost", Value: "1"},
			{Key: "input_cost_per_token", Value: "0.0000000012"},
			{Key: "output_cost_per_token", Value: "1"},
		}},
		{Model: "odd", Prices: []price.Entry{
			{Key: "input_cost_per_image", Value: "0"},
			{Key: "input_cost_per_token", Value: "-0.000001"},
			{Key: "output_cost_per_token", Value: "1e300"},
		}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestParsePriceMapRefuses(t *testing.T) {
	t.Parallel()
	for _, file := range []string{
		``, `[]`, `7`, `null`, `{`, `{"a"`, `{"a":`, `{"a":{`, `{"a":{"x":1}`, `{"a":{"x":1}} {}`, `{"a":{"x":1}}x`,
		`{"a":{"input_cost_per_token":01}}`,
		`{"a":{"tiered_pricing":[{"range":[}]}}`, `{"a":{"tiered_pricing":[`, `{"a":{"tiered_pricing":[{}, 5 6]}}`, "{\"a\xff\":{}}",
		`<html>Too Many Requests</html>`, `{"a":{"litellm_provider":"`,
	} {
		rows, err := price.ParseMap([]byte(file))
		if rows != nil || summary(err) != "malformed invalid_value prices" {
			t.Errorf("%s: %d rows, %v", file, len(rows), err)
		}
	}
	if _, err := price.ParseMap(bytes.Repeat([]byte(" "), 64<<20+1)); summary(err) != "too_large  prices" {
		t.Errorf("65 MiB: %v", err)
	}
}

// TestParsePriceMapNamesWhatItCannotRead: a possible price or limit is
// never ignored silently, because what it prices would then be free.
func TestParsePriceMapNamesWhatItCannotRead(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ model, want string }{
		{`7`, `the model "m" is "7"`},
		{`null`, `the model "m" is "null"`},
		{`{"input_cost_per_token":true}`, `"input_cost_per_token" of the model "m" is "true"; write dollars per unit`},
		{`{"input_cost_per_token":[1]}`, `"input_cost_per_token" of the model "m" is "[1]"`},
		{`{"input_cost_per_token":{"usd":1}}`, `"input_cost_per_token" of the model "m"`},
		{`{"output_cost_per_image":{"low":1}}`, `"output_cost_per_image" of the model "m"`},
		{`{"input_cost_per_pixel":{"low":1}}`, `"input_cost_per_pixel" of the model "m"`},
		{`{"search_context_cost_per_query":[1]}`, `"search_context_cost_per_query" of the model "m"`},
		{`{"input_cost_per_token ":1}`, `"input_cost_per_token " of the model "m" is "1"; its key is not one of a price`},
		{`{"input_cost_per_token":1,"input_cost_per_token":2}`, `"input_cost_per_token" of the model "m" is there twice`},
		{`{"max_input_tokens":"many"}`, `"max_input_tokens" of the model "m"`},
		{`{"max_output_tokens":-1}`, `"max_output_tokens" of the model "m" is "-1"; write a whole number`},
		{`{"max_tokens":1.5}`, `"max_tokens" of the model "m" is "1.5"`},
		{`{"max_tokens":{}}`, `"max_tokens" of the model "m" is "{}"`},
		{`{"litellm_provider":7}`, `"litellm_provider" of the model "m" is "7"`},
		{`{"tiered_pricing":{}}`, `"tiered_pricing" of the model "m" is "{}"`},
		{`{"tiered_pricing":[5]}`, `"tiered_pricing" of the model "m" is "5"`},
		{`{"tiered_pricing":[{"input_cost_per_token":9}]}`, `input_cost_per_token of the model "m" is not billed by such a range in tiered_pricing`},
		{`{"tiered_pricing":[{"range":[1000,2000],"input_cost_per_query":9}]}`, `input_cost_per_query of the model "m" is not billed`},
		{`{"tiered_pricing":[{"range":[1500,2000],"input_cost_per_token":9}]}`, `"tiered_pricing.range" of the model "m" is "[1500,2000]"`},
		{`{"tiered_pricing":[{"range":5,"input_cost_per_token":9}]}`, `"tiered_pricing.range" of the model "m" is "5"`},
		{`{"tiered_pricing":[{"range":[0,5],"input_cost_per_token":false}]}`, `"input_cost_per_token" of the model "m" is "false"`},
	} {
		rows, err := price.ParseMap([]byte(`{"n":{"input_cost_per_token":1},"m":` + test.model + `}`))
		if rows != nil || summary(err) != "malformed invalid_value prices" || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %d rows, %v; want %q", test.model, len(rows), err, test.want)
		}
	}
}

// TestPricesOfTheFileAreExact: numbers are kept, to 24 decimals.
func TestPricesOfTheFileAreExact(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`(0|[1-9][0-9]{0,3})(\.[0-9]{1,20})?([eE][+-]?[0-9]{1,2})?`).Draw(t, "number")
		rows, err := price.ParseMap([]byte(`{"m":{"input_cost_per_token":` + text + `,"output_cost_per_token":"` + text + `"}}`))
		if err != nil {
			t.Fatal(err)
		}
		value := rows[0].Prices[0].Value
		if quoted := rows[0].Prices[1].Value; quoted != value {
			t.Fatalf("%s is %s, and in quotes %s", text, value, quoted)
		}
		want, _ := new(big.Rat).SetString(text)
		got, ok := new(big.Rat).SetString(value)
		if !ok {
			t.Fatalf("%s becomes %s", text, value)
		}
		off := got.Sub(got, want)
		half := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Mul(big.NewInt(2), new(big.Int).Exp(big.NewInt(10), big.NewInt(24), nil)))
		if off.Abs(off).Cmp(half) > 0 {
			t.Fatalf("%s becomes %s", text, value)
		}
		if _, decimals, _ := strings.Cut(value, "."); len(decimals) > 24 {
			t.Fatalf("%s becomes %s", text, value)
		}
	})
}

func FuzzParsePriceMap(f *testing.F) {
	f.Add([]byte(`{"a":{"input_cost_per_token":1e-6,"tiered_pricing":[{"range":[0,1],"x":1}]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		rows, err := price.ParseMap(data)
		if err != nil && rows != nil {
			t.Error("both rows and an error")
		}
	})
}
