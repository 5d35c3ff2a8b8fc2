package e2e

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// What a provider says to its own clients alone does not reach the caller: how its
// answer may be cached, how long its proxy took, and lines of a stream beside the data.
func TestProviderSpeaksOfItself(t *testing.T) {
	t.Parallel()
	const chunk = `{"id":"c","object":"chat.completion.chunk","created":1,"model":"fast","choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":null}]}`
	const last = `{"id":"c","object":"chat.completion.chunk","created":1,"model":"fast","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`
	p := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Cache-Control", "public, max-age=600")
		w.Header().Set("X-Envoy-Upstream-Service-Time", "99")
		if !strings.Contains(string(body), `"stream":true`) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"id":"c","object":"chat.completion","created":1,"model":"fast","choices":[{"index":0,"message":{"role":"assistant","content":"Hi","refusal":null},"logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}`)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, ": ACME PROCESSING\n\nretry: 86400000\n\nevent: acme.delta\nid: 7\ndata: "+chunk+"\n\ndata: "+last+"\n: acme\n\nevent: acme.done\ndata: [DONE]\n\n")
	}))
	t.Cleanup(p.Close)
	g := startGateway(t, "model_list:\n  - model_name: fast\n    gateway_params: {model: openai/fast, api_base: "+p.URL+"/v1, api_key: provider-key-x, input_cost_per_token: 0, output_cost_per_token: 0}\n")
	whole := g.chat(good)
	stream := g.chat(strings.Replace(good, "{", `{"stream":true,`, 1))
	for name, a := range map[string]*answer{"whole": whole, "stream": stream} {
		if a.status != http.StatusOK {
			t.Fatalf("%s: %d %s", name, a.status, a.body)
		}
		if got := a.header.Get("Cache-Control"); strings.Contains(got, "public") {
			t.Errorf("%s: cache-control is %q", name, got)
		}
		if got := a.header.Get("X-Envoy-Upstream-Service-Time"); got != "" {
			t.Errorf("%s: x-envoy-upstream-service-time is %q", name, got)
		}
	}
	if got := stream.header.Get("Cache-Control"); got != "no-cache" {
		t.Errorf("stream: cache-control is %q, want no-cache", got)
	}
	if want := ":\n\n:\n\ndata: " + chunk + "\n\ndata: " + last + "\n\ndata: [DONE]\n\n"; stream.body != want {
		t.Errorf("the caller gets\n%s\nwant\n%s", stream.body, want)
	}
}
