package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// models is a model_list with one deployment per name=model pair on a provider.
func models(p *upstream, pairs ...string) string {
	var b strings.Builder
	b.WriteString("model_list:\n")
	for _, pair := range pairs {
		name, model, _ := strings.Cut(pair, "=")
		fmt.Fprintf(&b, "  - model_name: %s\n    gateway_params: {model: %q, api_base: %s/v1, api_key: provider-key-%s, input_cost_per_token: 0.000001, output_cost_per_token: 0.00001}\n    model_info: {id: %s-id}\n",
			name, model, p.url, name, name)
	}
	return b.String()
}

func TestChat(t *testing.T) {
	t.Parallel()
	p := newUpstream(t)
	g := startGateway(t, models(p, "fast=openai/fake-gpt", "fake-gpt=openai/fake-gpt"))
	a := g.chat(`{"model":"fast","messages":[{"role":"user","content":"hello"}],"unknown_field":{"x":[1,2]}}`)
	if a.status != http.StatusOK {
		t.Fatalf("%d %s", a.status, a.body)
	}
	for name, want := range map[string]string{
		"x-gateway-model-id": "fast-id", "x-gateway-model-group": "fast",
		"x-gateway-attempted-retries": "0", "x-gateway-attempted-fallbacks": "0", "content-type": "application/json",
	} {
		if got := a.header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if !strings.Contains(a.body, `"model":"fast"`) {
		t.Errorf("the answer does not name the model asked for: %s", a.body)
	}
	e := g.one(a)
	if e.Status != "success" || e.Source != "provider" || e.ModelID != "fast-id" || e.Group != "fast" || string(e.Spend) != a.header.Get("x-gateway-response-cost") || string(e.Spend) == "0" {
		t.Errorf("usage event %+v, cost header %s", e, a.header.Get("x-gateway-response-cost"))
	}
	sent := p.Requests()[0]
	if sent.Body != `{"model":"fake-gpt","messages":[{"role":"user","content":"hello"}],"unknown_field":{"x":[1,2]}}` {
		t.Errorf("the provider got %s", sent.Body)
	}
	if got := sent.Headers.Get("Authorization"); got != "Bearer provider-key-fast" {
		t.Errorf("the provider got the credential %q", got)
	}
	t.Logf("headers to the provider: %v", sent.Headers)
}

// What a request cost is by the service tier that the provider says it got, not by
// the one that was asked for.
func TestServiceTier(t *testing.T) {
	t.Parallel()
	p := newUpstream(t) // it says "default", whatever is asked for
	g := startGateway(t, `
model_list:
  - model_name: fast
    gateway_params:
      model: openai/fake-gpt
      api_base: `+p.url+`/v1
      api_key: k
      input_cost_per_token: 0.000001
      output_cost_per_token: 0
      input_cost_per_token_priority: 0.001
`)
	for _, more := range []string{"", `,"stream":true`} {
		e := g.one(g.chat(request("fast", `,"service_tier":"priority"`+more)))
		if want := fmt.Sprintf("0.%06d", e.PromptTokens); string(e.Spend) != want {
			t.Errorf("%d tokens cost %s, want %s", e.PromptTokens, e.Spend, want)
		}
	}
}
