package e2e

import (
	"net/http"
	"strings"
	"testing"
)

// TestGuardrailsOfModels: the configuration file names a guardrail of a fallback, as LiteLLM's does, which is created later. It
// applies to the first attempt too, and what it finds is recorded without the text.
func TestGuardrailsOfModels(t *testing.T) {
	t.Parallel()
	const address = "ada.models@example.com"
	p := newUpstream(t)
	config := models(p, "first=openai_compatible/fake+fail-500") + strings.TrimPrefix(models(p, "second=anthropic/fake-claude"), "model_list:\n")
	config = strings.Replace(config, `"anthropic/fake-claude"`, `"anthropic/fake-claude", guardrails: [later]`, 1)
	g := startGateway(t, config+"router_settings: {num_retries: 0, disable_cooldowns: true, fallbacks: [{first: [second]}]}\n")
	ask := `{"model":"first","guardrails":[],"messages":[{"role":"user","content":"Write to ` + address + ` and ` + address + `."}]}`
	if a := g.chat(ask); a.status != http.StatusBadRequest || !strings.Contains(a.body, `"guardrail_not_found"`) || !strings.Contains(a.body, "The guardrails of the model") {
		t.Errorf("%d %s", a.status, a.body)
	}
	g.manages(http.MethodPost, "/budget/new", `{"budget_id":"any","max_budget":1}`) // the state's first change
	g.until("the log says what is missing", func() bool {
		return strings.Contains(g.log.String(), `models have guardrails that do not exist`) && strings.Contains(g.log.String(), `"guardrails":"later"`)
	})
	g.manages(http.MethodPost, "/guardrail", `{"guardrail_name":"later","engines":[{"engine_name":"presidio","event_hooks":["pre_call","post_call"],"config":{"entities":["EMAIL_ADDRESS"]}}]}`)
	a := g.chat(ask)
	if a.status != http.StatusOK || a.header.Get("x-gateway-applied-guardrails") != "later" || a.header.Get("x-gateway-attempted-fallbacks") != "1" || strings.Contains(a.body, address) {
		t.Errorf("%d %v %s", a.status, a.header, a.body)
	}
	heard := p.Requests()
	if len(heard) != 2 {
		t.Errorf("the providers got %d requests", len(heard))
	}
	for _, r := range heard {
		if strings.Contains(r.Body, address) || strings.Count(r.Body, "[EMAIL_ADDRESS]") != 2 {
			t.Errorf("%s gets %s", r.Path, r.Body)
		}
	}
	for method, body := range map[string]string{http.MethodDelete: "", http.MethodPatch: `{"guardrail_name":"other"}`} {
		if a := g.do(method, "/guardrail/later", strings.NewReader(body)); a.status != http.StatusConflict || !strings.Contains(a.body, "guardrail_in_use") {
			t.Errorf("%s: %d %s", method, a.status, a.body)
		}
	}

	request := a.header.Get("x-gateway-request-id")
	g.spend(request)
	spent := g.get("/spend/logs?request_id=" + request)
	audit := g.get("/audit-log?event_type=request.guardrail_triggered&request_id=" + request)
	for name, text := range map[string]string{"/spend/logs": spent.body, "/audit-log": audit.body} {
		for _, want := range []string{"later", "presidio", "pre_call", "EMAIL_ADDRESS", "anonymize", "messages[0].content"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s has no %s: %s", name, want, text)
			}
		}
		if strings.Contains(text, address) {
			t.Errorf("%s has the text: %s", name, text)
		}
	}
	g.manages(http.MethodPost, "/guardrail", `{"guardrail_name":"strict","engines":[{"engine_name":"content_filter","event_hooks":["pre_call"],"config":{"banned_keywords":["heron"]}}]}`)
	blocked := g.chat(`{"model":"first","guardrail_id":"strict","messages":[{"role":"user","content":"A heron."}]}`)
	if blocked.status != http.StatusBadRequest {
		t.Errorf("%d %s", blocked.status, blocked.body)
	}
	g.until("the block is in the audit log", func() bool {
		b := g.get("/audit-log?event_type=request.blocked&request_id=" + blocked.header.Get("x-gateway-request-id")).body
		return strings.Contains(b, `"strict"`) && strings.Contains(b, "content_filter") && !strings.Contains(b, "heron")
	})
	if strings.Contains(g.log.String(), address) || strings.Contains(g.log.String(), "heron") {
		t.Error("the log has a text")
	}
}
