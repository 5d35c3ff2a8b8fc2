package e2e

import (
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// A provider that reports 4,000,000,000 tokens for an answer of two letters is charged for
// what is possible. The row says so, and a metric counts it.
func TestImplausibleUsage(t *testing.T) {
	t.Parallel()
	const (
		text = `"content":"ok"`
		head = `{"id":"c","created":1,"model":"m",`
	)
	p := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		n := "1"
		if _, after, ok := strings.Cut(string(body), `"content":"`); ok {
			n, _, _ = strings.Cut(after, `"`)
		}
		usage := `"usage":{"prompt_tokens":9,"completion_tokens":` + n + `,"total_tokens":` + n + `}}`
		if !strings.Contains(string(body), `"stream":true`) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, head+`"object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant",`+text+`,"refusal":null},"logprobs":null,"finish_reason":"stop"}],`+usage)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: "+head+`"object":"chat.completion.chunk","choices":[{"index":0,"delta":{`+text+`},"finish_reason":"stop"}]}`+"\n\n"+
			"data: "+head+`"object":"chat.completion.chunk","choices":[],`+usage+"\n\ndata: [DONE]\n\n")
	}))
	t.Cleanup(p.Close)
	g := startGateway(t, "model_list:\n  - model_name: fast\n    gateway_params: {model: openai/m, api_base: "+p.URL+"/v1, api_key: provider-key-x, input_cost_per_token: 0.000001, output_cost_per_token: 0.000001}\n")
	capped := 0
	for _, test := range []struct {
		reported, more string
		most           int64 // tokens of output that are charged
		capped         bool
	}{
		{"4000000000", "", 2, true}, // no report may say so much: the answer is counted
		{"2000000000", "", 200_000, true},
		{"2000000000", `,"max_tokens":100`, 200, true},
		{"3", "", 3, false},
	} {
		for _, stream := range []string{"", `,"stream":true`} {
			a := g.chat(`{"model":"fast","messages":[{"role":"user","content":"` + test.reported + `"}]` + test.more + stream + `}`)
			if a.status != http.StatusOK {
				t.Fatalf("%d %s", a.status, a.body)
			}
			e := g.one(a)
			cost, err := strconv.ParseFloat(string(e.Spend), 64)
			if err != nil {
				t.Fatal(err)
			}
			if e.Capped != test.capped || e.CompletionTokens < 1 || e.CompletionTokens > test.most || e.PromptTokens < 1 || e.PromptTokens > 100 {
				t.Errorf("%s tokens reported%s%s: row %+v", test.reported, test.more, stream, e)
			}
			if want := float64(e.PromptTokens+e.CompletionTokens) / 1e6; cost < want*0.999 || cost > want*1.001 {
				t.Errorf("%s tokens reported%s%s: it costs $%v, want $%v", test.reported, test.more, stream, cost, want)
			}
			if e.Capped {
				capped++
			}
		}
	}
	metrics := g.get("/metrics").body
	counted := 0
	for _, m := range regexp.MustCompile(`(?m)^gateway_usage_capped_total(?:\{.*\})? (\d+)$`).FindAllStringSubmatch(metrics, -1) {
		n, err := strconv.Atoi(m[1])
		if err != nil {
			t.Fatal(err)
		}
		counted += n
	}
	if counted != capped || capped != 6 {
		t.Errorf("gateway_usage_capped_total is %d, and %d rows say usage_capped; want 6", counted, capped)
	}
}
