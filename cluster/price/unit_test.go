package price_test

import (
	"maps"
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/cluster/price"
	"github.com/modelgateway/modelgateway/cluster/usage"
)

func TestCostOfOtherUnits(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, model string
		own         map[string]string
		tokens      usage.Tokens
		want        string // dollars
	}{
		{"whisper is paid once", "openai/whisper-1", nil, usage.Tokens{InputMillis: 61_234}, "0.0061234"},
		{"a millisecond", "openai/whisper-1", nil, usage.Tokens{InputMillis: 1}, "0.0000001"},
		{"a second with free output", "assemblyai/best", nil, usage.Tokens{InputMillis: 3000}, "0.00009999"},
		{
			"time with a price as output only", "openai/m",
			map[string]string{"output_cost_per_second": "0.0003"},
			usage.Tokens{InputMillis: 2500},
			"0.00075",
		},
		{
			"video that is made", "openai/m",
			map[string]string{"output_cost_per_video_per_second": "0.35"},
			usage.Tokens{OutputMillis: 5500},
			"1.925",
		},
		{"characters", "openai/tts-1", nil, usage.Tokens{InputCharacters: 4096}, "0.06144"},
		{"images", "openai/m", map[string]string{"output_cost_per_image": "0.04"}, usage.Tokens{Images: 3}, "0.12"},
		{"images that the table has as input", "openai/high/1024-x-1024/gpt-image-1", nil, usage.Tokens{Images: 2}, "0.334"},
		{"images by the pixel", "azure/hd/1024-x-1792/dall-e-3", nil, usage.Tokens{Images: 2}, "0.2640000319488"},
		{"pixels of a size that is not known", "azure/m", map[string]string{"input_cost_per_pixel": "0.1"}, usage.Tokens{Images: 2}, "0"},
		{"an image in its tokens is not paid as an image", "gemini/gemini-2.5-flash-image", nil, usage.Tokens{Input: 10, Output: 1300, OutputImage: 1290, Images: 1}, "0.038728"},
		{"an image without its tokens is", "gemini/gemini-2.5-flash-image", nil, usage.Tokens{Input: 10, Images: 1}, "0.039003"},
		{"audio in its tokens is not paid by the second", "openai/gpt-4o-transcribe", nil, usage.Tokens{Input: 14, InputAudio: 14, InputMillis: 60_000}, "0.000035"},
		{"audio without its tokens is", "openai/gpt-4o-transcribe", nil, usage.Tokens{InputMillis: 60_000}, "0.006"},
		{"pages", "mistral/m", map[string]string{"ocr_cost_per_page": "0.001"}, usage.Tokens{Pages: 12}, "0.012"},
		{"search units", "azure_ai/cohere-rerank-v3-english", nil, usage.Tokens{SearchQueries: 3}, "0.006"},
		{
			"a fee whatever the unit", "openai/m",
			map[string]string{"input_cost_per_request": "0.5", "ocr_cost_per_page": "0.001"},
			usage.Tokens{Pages: 1},
			"0.501",
		},
		{"nothing", "openai/m", map[string]string{"input_cost_per_request": "0.5"}, usage.Tokens{}, "0"},
		{"less than nothing", "openai/tts-1", nil, usage.Tokens{InputCharacters: -9, InputMillis: -9, Images: -9}, "0"},
		{
			"finer than a pico-dollar, by the millisecond", "openai/m",
			map[string]string{"input_cost_per_second": "0.000000000333333333333333"},
			usage.Tokens{InputMillis: 6000},
			"0.000000002",
		},
		{
			"half a pico-dollar goes up", "openai/m",
			map[string]string{"input_cost_per_second": "0.000000000001"},
			usage.Tokens{InputMillis: 500},
			"0.000000000001",
		},
		{
			"less than half goes down", "openai/m",
			map[string]string{"input_cost_per_second": "0.000000000001"},
			usage.Tokens{InputMillis: 499},
			"0",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			prices := pricesOf(t, test.model, "", test.own)
			if got, want := prices.Cost(test.tokens, price.Standard), dollars(t, 1, test.want); got != want {
				t.Errorf("cost is %v, want %v; prices %v", got, want, prices.List())
			}
			if test.want != "0" && !prices.Known() {
				t.Error("it has a price, but is not known")
			}
		})
	}
}

// perUnit returns a price for each unit other than tokens that Cost bills.
func perUnit() map[string]string {
	return map[string]string{
		"output_cost_per_image": "0.04", "input_cost_per_character": "0.000015", "ocr_cost_per_page": "0.001",
		"input_cost_per_second": "0.0001", "output_cost_per_second": "0.00025", "input_cost_per_query": "0.002",
	}
}

// TestUnitsAreBilledSeparately: the cost is the sum over the units of count times price, and more
// of a unit never costs less.
func TestUnitsAreBilledSeparately(t *testing.T) {
	t.Parallel()
	list := perUnit()
	maps.Copy(list, map[string]string{"input_cost_per_token": "0.000003", "output_cost_per_token": "0.000015"})
	p := pricesOf(t, "openai/m", "", list)
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) int64 { return rapid.Int64Range(0, usage.Limit).Draw(t, name) }
		all := usage.Tokens{
			Input: draw("input"), Output: draw("output"), SearchQueries: draw("queries"),
			Images: draw("images"), InputCharacters: draw("characters"),
			InputMillis: draw("input ms") / 10 * 10, OutputMillis: draw("output ms") / 10 * 10, Pages: draw("pages"),
		}
		if !all.Sane() {
			t.Fatal("the drawn usage is not plausible")
		}
		var apart, want money.Pico
		for _, one := range []struct {
			of    usage.Tokens
			count int64
			price string
			per   int64
		}{
			{usage.Tokens{Input: all.Input}, all.Input, "0.000003", 1},
			{usage.Tokens{Output: all.Output}, all.Output, "0.000015", 1},
			{usage.Tokens{SearchQueries: all.SearchQueries}, all.SearchQueries, "0.002", 1},
			{usage.Tokens{Images: all.Images}, all.Images, "0.04", 1},
			{usage.Tokens{InputCharacters: all.InputCharacters}, all.InputCharacters, "0.000015", 1},
			{usage.Tokens{InputMillis: all.InputMillis}, all.InputMillis, "0.0001", 1000},
			{usage.Tokens{OutputMillis: all.OutputMillis}, all.OutputMillis, "0.00025", 1000},
			{usage.Tokens{Pages: all.Pages}, all.Pages, "0.001", 1},
		} {
			apart = money.Add(apart, p.Cost(one.of, price.Standard))
			price, _ := new(big.Rat).SetString(one.price)
			price.Mul(price, big.NewRat(one.count, one.per)).Mul(price, big.NewRat(1e12, 1))
			exact := money.Pico(math.MaxInt64)
			if price.Num().IsInt64() {
				exact = money.Pico(price.Num().Int64())
			}
			want = money.Add(want, exact)
		}
		if got := p.Cost(all, price.Standard); got != apart || got != want || got < 0 {
			t.Fatalf("%+v cost %v together, %v separately, want %v", all, got, apart, want)
		}
		more := all
		more.Images++
		more.InputMillis += rapid.Int64Range(0, 10_000).Draw(t, "more")
		if p.Cost(more, price.Standard) < p.Cost(all, price.Standard) {
			t.Fatal("more costs less")
		}
	})
}

func TestUnitsSaturate(t *testing.T) {
	t.Parallel()
	for key := range perUnit() {
		list := perUnit()
		list[key] = "1000"
		got := pricesOf(t, "openai/m", "", list).Cost(usage.Tokens{
			Images: math.MaxInt64, InputCharacters: math.MaxInt64, InputMillis: math.MaxInt64,
			OutputMillis: math.MaxInt64, Pages: math.MaxInt64, SearchQueries: math.MaxInt64,
		}, price.Standard)
		if got != math.MaxInt64 {
			t.Errorf("%s: cost is %v, want the largest amount", key, got)
		}
	}
}

// A model is sold by the units that have a price. One price as input and as output is a price of
// what is read.
func TestUnitsWithAPrice(t *testing.T) {
	t.Parallel()
	for model, want := range map[string][3]bool{ // read time, written time, characters
		"openai/whisper-1":       {true, true, false},
		"openai/tts-1":           {false, false, true},
		"openai/gpt-4o":          {},
		"azure/gpt-4o-mini-tts":  {true, true, false},
		"openai/no-such-model":   {},
		"deepgram/whisper-large": {true, false, false},
	} {
		p := pricesOf(t, model, "", nil)
		if got := [3]bool{p.ReadTime(), p.WrittenTime(), p.Characters()}; got != want {
			t.Errorf("%s: %v, want %v", model, got, want)
		}
	}
	var none *price.Prices
	if none.ReadTime() || none.WrittenTime() || none.Characters() {
		t.Error("a model without prices has one")
	}
}
