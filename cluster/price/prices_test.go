package price_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"math"
	"math/big"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/cluster/price"
	"github.com/modelgateway/modelgateway/cluster/usage"
)

// pricesOf returns the prices that a deployment of the model gets.
func pricesOf(tb testing.TB, model, base string, own map[string]string) *price.Prices {
	tb.Helper()
	spec := catalog.Spec{Deployments: []catalog.DeploymentSpec{{ID: "d", ModelName: "m", Model: model, APIBase: "http://127.0.0.1", BaseModel: base, Prices: own}}}
	provider, _, _ := strings.Cut(model, "/")
	c, err := catalog.New(spec, catalog.Providers{provider: {}}, nil)
	if err != nil {
		tb.Fatal(err)
	}
	d, _ := c.Deployment("d")
	return d.Prices
}

// dollars computes sum(count x price) with exact decimals, independent of the code under test.
func dollars(tb testing.TB, terms ...any) money.Pico {
	tb.Helper()
	sum := new(big.Rat)
	for i := 0; i < len(terms); i += 2 {
		price, ok := new(big.Rat).SetString(terms[i+1].(string))
		if !ok {
			tb.Fatalf("%v is not a number", terms[i+1])
		}
		sum.Add(sum, price.Mul(price, big.NewRat(int64(terms[i].(int)), 1)))
	}
	sum.Mul(sum, big.NewRat(1e12, 1)).Add(sum, big.NewRat(1, 2)) // half up
	return money.Pico(new(big.Int).Div(sum.Num(), sum.Denom()).Int64())
}

func TestCostOfKnownModels(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, model, base string
		own               map[string]string
		tokens            usage.Tokens
		tier              price.Tier
		want              []any
	}{
		{
			name: "input and output", model: "openai/gpt-4o",
			tokens: usage.Tokens{Input: 1000, Output: 500},
			want:   []any{1000, "0.0000025", 500, "0.00001"},
		},
		{
			name: "cached input has its own price", model: "openai/gpt-4o",
			tokens: usage.Tokens{Input: 1000, CacheRead: 600, Output: 10},
			want:   []any{400, "0.0000025", 600, "0.00000125", 10, "0.00001"},
		},
		{
			name: "an absent cache price is the input price", model: "azure/global-standard/gpt-4o-mini",
			tokens: usage.Tokens{Input: 1000, CacheRead: 600, Output: 10},
			want:   []any{1000, "0.00000015", 10, "0.0000006"},
		},
		{
			name: "an explicit 0 is a price", model: "deepseek/deepseek-chat",
			tokens: usage.Tokens{Input: 100, CacheRead: 30, CacheWrite: 20},
			want:   []any{50, "0.00000028", 30, "0.000000028"},
		},
		{
			name: "cache writes of 5 minutes and of 1 hour", model: "anthropic/claude-sonnet-4-5",
			tokens: usage.Tokens{Input: 1000, CacheRead: 100, CacheWrite: 200, CacheWrite1h: 300, Output: 50},
			want:   []any{400, "0.000003", 100, "0.0000003", 200, "0.00000375", 300, "0.000006", 50, "0.000015"},
		},
		{
			name: "at the threshold the base price holds", model: "vertex_ai/gemini-2.5-pro",
			tokens: usage.Tokens{Input: 200_000, Output: 10},
			want:   []any{200_000, "0.00000125", 10, "0.00001"},
		},
		{
			name: "above the threshold, other prices for the whole request", model: "vertex_ai/gemini-2.5-pro",
			tokens: usage.Tokens{Input: 200_001, CacheRead: 1000, Output: 10, Reasoning: 4},
			want:   []any{199_001, "0.0000025", 1000, "0.00000025", 10, "0.000015"},
		},
		{
			name: "xAI counts the threshold itself", model: "xai/grok-4.20",
			tokens: usage.Tokens{Input: 200_000, InputImage: 500, Output: 10},
			want:   []any{200_000, "0.0000025", 10, "0.000005"},
		},
		{
			name: "a service tier", model: "openai/gpt-4o", tier: price.Priority,
			tokens: usage.Tokens{Input: 1000, CacheRead: 100, Output: 10},
			want:   []any{900, "0.00000425", 100, "0.000002125", 10, "0.000017"},
		},
		{
			name: "a tier without prices costs the usual", model: "openai/gpt-4o", tier: price.Flex,
			tokens: usage.Tokens{Input: 1000, Output: 10},
			want:   []any{1000, "0.0000025", 10, "0.00001"},
		},
		{
			name: "a part without a tier price keeps its base price", model: "vertex_ai/gemini-2.5-pro", tier: price.Batch,
			tokens: usage.Tokens{Input: 1000, CacheRead: 100, Output: 10},
			want:   []any{900, "0.000000625", 100, "0.000000125", 10, "0.000005"},
		},
		{
			name: "a tier above a threshold", model: "vertex_ai/gemini-2.5-pro", tier: price.Priority,
			tokens: usage.Tokens{Input: 300_000, Output: 10},
			want:   []any{300_000, "0.0000045", 10, "0.000027"},
		},
		{
			name: "reasoning that costs what output does follows it into a tier", model: "gemini/gemini-2.5-flash", tier: price.Flex,
			tokens: usage.Tokens{Input: 10, Output: 100, Reasoning: 60},
			want:   []any{10, "0.00000015", 100, "0.00000125"},
		},
		{
			name: "audio and a cache of the Gemini API", model: "gemini/gemini-2.5-flash",
			tokens: usage.Tokens{Input: 100, CacheRead: 30, InputAudio: 40, Output: 50, Reasoning: 20},
			want:   []any{30, "0.0000003", 30, "0.00000003", 40, "0.000001", 50, "0.0000025"},
		},
		{
			name: "a long prompt of the Gemini API", model: "gemini/gemini-2.5-pro",
			tokens: usage.Tokens{Input: 200_001, Output: 10, Reasoning: 4},
			want:   []any{200_001, "0.0000025", 10, "0.000015"},
		},
		{
			name: "audio in and out", model: "openai/m", own: map[string]string{
				"input_cost_per_token": "0.0000025", "output_cost_per_token": "0.00001",
				"input_cost_per_audio_token": "0.00004", "output_cost_per_audio_token": "0.00008",
			},
			tokens: usage.Tokens{Input: 100, InputAudio: 40, Output: 50, OutputAudio: 20},
			want:   []any{60, "0.0000025", 40, "0.00004", 30, "0.00001", 20, "0.00008"},
		},
		{
			name: "image input, image output only", model: "openai/gpt-image-1",
			tokens: usage.Tokens{Input: 100, InputImage: 60, Output: 1000},
			want:   []any{40, "0.000005", 60, "0.00001", 1000, "0.00004"},
		},
		{
			name: "search units", model: "openai/m", own: map[string]string{"input_cost_per_query": "0.002"},
			tokens: usage.Tokens{SearchQueries: 3},
			want:   []any{3, "0.002"},
		},
		{
			name: "a fee for the request", model: "perplexity/pplx-70b-online",
			tokens: usage.Tokens{Input: 5, Output: 10},
			want:   []any{1, "0.005", 10, "0.0000028"},
		},
		{
			name: "own prices win key by key", model: "openai/gpt-4o", own: map[string]string{"input_cost_per_token": "1e-06"},
			tokens: usage.Tokens{Input: 1000, CacheRead: 100, Output: 10},
			want:   []any{900, "0.000001", 100, "0.00000125", 10, "0.00001"},
		},
		{
			name: "base model first", model: "azure/my-deployment", base: "azure/gpt-4o-mini",
			tokens: usage.Tokens{Input: 1000, Output: 10},
			want:   []any{1000, "0.00000015", 10, "0.0000006"},
		},
		{
			name: "region of an inference profile", model: "bedrock/ca.anthropic.claude-sonnet-4-5-20250929-v1:0",
			tokens: usage.Tokens{Input: 1000, Output: 10},
			want:   []any{1000, "0.000003", 10, "0.000015"},
		},
		{
			name: "region as a path", model: "bedrock/eu-north-1/anthropic.claude-sonnet-4-5-20250929-v1:0",
			tokens: usage.Tokens{Input: 1000, Output: 10},
			want:   []any{1000, "0.000003", 10, "0.000015"},
		},
		{
			name: "a region with a price of its own", model: "bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0",
			tokens: usage.Tokens{Input: 1000, Output: 10},
			want:   []any{1000, "0.0000033", 10, "0.0000165"},
		},
		{
			name: "finer than a pico-dollar", model: "databricks/databricks-claude-sonnet-4-5",
			tokens: usage.Tokens{Input: 1_000_000_007, Output: 3},
			want:   []any{1_000_000_007, "0.0000029999900000000002", 3, "0.000015000020000000002"},
		},
		{
			name: "parts that exceed their whole are cut", model: "openai/gpt-4o",
			tokens: usage.Tokens{Input: 100, CacheRead: 500, InputAudio: -7, Output: 10, Reasoning: 99, OutputAudio: 99},
			want:   []any{100, "0.00000125", 10, "0.00001"},
		},
		{name: "negative counts", model: "openai/gpt-4o", tokens: usage.Tokens{Input: -5, Output: -9}, want: nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			prices := pricesOf(t, test.model, test.base, test.own)
			if got, want := prices.Cost(test.tokens, test.tier), dollars(t, test.want...); got != want {
				t.Errorf("cost is %v, want %v; prices %v", got, want, prices.List())
			}
		})
	}
}

func TestUnknownModelIsFreeAndNotKnown(t *testing.T) {
	t.Parallel()
	p := pricesOf(t, "openai/nobody-has-heard-of-it", "", nil)
	if p.Known() || p.Cost(usage.Tokens{Input: 1e6, Output: 1e6}, price.Standard) != 0 {
		t.Error("an unknown model must cost 0 and not be known")
	}
	var none *price.Prices
	if none.Known() || none.Cost(usage.Tokens{Input: 1}, price.Standard) != 0 || none.List() != nil {
		t.Error("nil prices must be those of an unknown model")
	}
	if p := pricesOf(t, "openai/whisper-1", "", nil); !p.Known() || p.ByToken() {
		t.Error("a model that is billed by the second has a price, but none for tokens")
	}
	if !pricesOf(t, "openai/m", "", map[string]string{"input_cost_per_token": "0"}).Known() {
		t.Error("a price of 0 is a price")
	}
}

func TestPerUnit(t *testing.T) {
	t.Parallel()
	p := pricesOf(t, "openai/m", "", map[string]string{"output_cost_per_image": "0.04"})
	if got, ok := p.PerUnit("output_cost_per_image", 3); !ok || got != dollars(t, 3, "0.04") {
		t.Errorf("three images cost %v, %v", got, ok)
	}
	if _, ok := p.PerUnit("input_cost_per_second", 3); ok {
		t.Error("there is no price for seconds")
	}
}

func TestCostSaturates(t *testing.T) {
	t.Parallel()
	p := pricesOf(t, "openai/m", "", map[string]string{"input_cost_per_token": "1000", "output_cost_per_token": "1000"})
	if got := p.Cost(usage.Tokens{Input: math.MaxInt64, Output: math.MaxInt64}, price.Standard); got != math.MaxInt64 {
		t.Errorf("cost is %v, want the largest amount", got)
	}
}

// TestCostLaws: more tokens never cost less. Below the thresholds, two requests cost as much as one
// request with the tokens of both.
func TestCostLaws(t *testing.T) {
	t.Parallel()
	p := pricesOf(t, "openai/m", "", map[string]string{
		"input_cost_per_token": "0.000003", "output_cost_per_token": "0.000015",
		"cache_read_input_token_cost": "0.0000003", "cache_creation_input_token_cost": "0.00000375",
		"input_cost_per_token_above_200k_tokens": "0.000006", "output_cost_per_reasoning_token": "0.00002",
		"input_cost_per_audio_token": "0.00004",
	})
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) usage.Tokens {
			part := func(field string, most int64) int64 {
				return rapid.Int64Range(0, most).Draw(t, name+"."+field)
			}
			u := usage.Tokens{Input: part("input", 100_000), Output: part("output", 100_000)}
			u.CacheRead = part("cache_read", u.Input)
			u.CacheWrite = part("cache_write", u.Input-u.CacheRead)
			u.InputAudio = part("audio", u.Input-u.CacheRead-u.CacheWrite)
			u.Reasoning = part("reasoning", u.Output)
			return u
		}
		a, b := draw("a"), draw("b")
		sum := usage.Tokens{
			Input: a.Input + b.Input, CacheRead: a.CacheRead + b.CacheRead, CacheWrite: a.CacheWrite + b.CacheWrite,
			InputAudio: a.InputAudio + b.InputAudio, Output: a.Output + b.Output, Reasoning: a.Reasoning + b.Reasoning,
		}
		ca, cb, cs := p.Cost(a, price.Standard), p.Cost(b, price.Standard), p.Cost(sum, price.Standard)
		if ca+cb != cs {
			t.Fatalf("%v + %v cost %v separately and %v together", a, b, ca+cb, cs)
		}
		more := a
		more.Input += rapid.Int64Range(0, 1_000_000).Draw(t, "more input")
		more.Output += rapid.Int64Range(0, 1_000_000).Draw(t, "more output")
		if cm := p.Cost(more, price.Standard); cm < ca {
			t.Fatalf("%v costs %v, more than %v for %v", a, ca, cm, more)
		}
	})
}

// TestArchiveIsCurrent: the embedded archive contains prices.csv (go generate creates it).
func TestArchiveIsCurrent(t *testing.T) {
	t.Parallel()
	want, err := os.ReadFile("prices.csv")
	if err != nil {
		t.Fatal(err)
	}
	archive, err := os.ReadFile("prices.csv.gz")
	if err != nil {
		t.Fatal(err)
	}
	r, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("prices.csv.gz does not contain prices.csv; run go generate")
	}
}

// TestEveryListedPriceIsReadExactly: each price of the table, times a trillion
// units, is the exact decimal product to the pico-dollar (half up).
func TestEveryListedPriceIsReadExactly(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("prices.csv")
	if err != nil {
		t.Fatal(err)
	}
	list := price.NewList()
	prices, fine := 0, 0
	spec := catalog.Spec{}
	want := map[string]string{}
	for line := range strings.Lines(string(data)) {
		f := strings.SplitN(strings.TrimSpace(line), ",", 6)
		if f[0] == "provider" || f[5] == "" || strings.Contains(f[1], "*") {
			continue
		}
		want[f[1]] = f[5]
		spec.Deployments = append(spec.Deployments, catalog.DeploymentSpec{ModelName: f[1], Model: "p/x", APIBase: "http://127.0.0.1", BaseModel: f[1]})
	}
	c, err := catalog.New(spec, catalog.Providers{"p": {}}, list)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range c.Deployments() {
		var text []string
		for _, price := range d.Prices.List() {
			text = append(text, price.Key+"="+price.Value)
			prices++
			r, _ := new(big.Rat).SetString(price.Value)
			if r.Mul(r, big.NewRat(1e12, 1)); !r.IsInt() {
				fine++
			}
			if got, ok := d.Prices.PerUnit(price.Key, 1000); !ok || got != dollars(t, 1000, price.Value) {
				t.Errorf("%s: 1000 units at %s cost %v", d.Name, price.Value, got)
			}
		}
		if got := strings.Join(text, ";"); got != want[string(d.Name)] {
			t.Errorf("%s: prices are\n%s, want\n%s", d.Name, got, want[string(d.Name)])
		}
	}
	if fine != 105 {
		t.Errorf("%d of %d prices are finer than a pico-dollar; the table had 105 when this was written", fine, prices)
	}
}
