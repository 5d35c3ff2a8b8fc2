package e2e

import (
	"context"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// canaryAddress is in requests, and must not reach a provider.
const canaryAddress = "ada.canary@example.com"

// Applications apply guardrails through their unchanged SDKs: each engine's hook, whole and streamed, at providers of
// the caller's language and of another, and at a fallback to another language. No provider sees the value.
func TestGuardrailsBySDK(t *testing.T) {
	t.Parallel()
	p := newUpstream(t)
	g := startGateway(t, models(p, "gpt=openai_compatible/fake-gpt", "claude=anthropic/fake-claude", "steady=openai_compatible/fake+fail-500")+"router_settings: {num_retries: 0, disable_cooldowns: true}\n")
	g.manages(http.MethodPost, "/fallbacks", `{"model":"steady","fallback_models":["claude"]}`)
	for name, engine := range map[string]string{
		"before":       `{"engine_name":"presidio","event_hooks":["pre_call"],"config":{"entities":["EMAIL_ADDRESS"]}}`,
		"after":        `{"engine_name":"presidio","event_hooks":["post_call"],"config":{"entities":["EMAIL_ADDRESS"]}}`,
		"reversible":   `{"engine_name":"pii","event_hooks":["pre_call"],"config":{"entities":["EMAIL_ADDRESS"],"reversible":true}}`,
		"block-before": `{"engine_name":"presidio","event_hooks":["pre_call"],"config":{"entities":["EMAIL_ADDRESS"],"action":"block"}}`,
		"block-after":  `{"engine_name":"presidio","event_hooks":["post_call"],"config":{"entities":["EMAIL_ADDRESS"],"action":"block"}}`,
	} {
		g.manages(http.MethodPost, "/guardrail", `{"guardrail_name":"`+name+`","engines":[`+engine+`]}`)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, pythonPath(t), "e2e/testdata/python/guardrails_sdk.py")
	cmd.Env = append(os.Environ(), "GATEWAY_URL="+g.url, "API_KEY="+adminKey, "CANARY="+canaryAddress)
	out, err := cmd.CombinedOutput()
	if err != nil || strings.Count(string(out), "ok ") != 120 {
		t.Errorf("%v\n%s", err, out)
	}
	seen, masked := 0, 0
	for _, r := range p.Requests() {
		if strings.Contains(r.Body, "guardrail") {
			t.Errorf("the provider got a field of the gateway: %s", r.Body)
		}
		if strings.Contains(r.Body, canaryAddress) {
			seen++ // guardrails for responses only
		}
		if strings.Contains(r.Body, "[EMAIL_ADDRESS") {
			masked++
		}
	}
	// Eight ways to call three models, one of which needs a second attempt: before and reversible mask, the two after do not.
	if seen != 64 || masked != 64 {
		t.Errorf("the providers got the address %d times, and a mark %d times, want 64 each", seen, masked)
	}
	if log := g.log.String(); strings.Contains(log, canaryAddress) {
		t.Error("the log has the address")
	}
}

// A guardrail that blocks a stream ends it with an error event, a complete body, and without the provider, which does not
// have to write the rest.
func TestBlockedStreamLetsGo(t *testing.T) {
	t.Parallel()
	p := newUpstream(t)
	g := startGateway(t, models(p, "slow=openai_compatible/fake+words-2000+pace-20ms", "slow-claude=anthropic/fake+words-2000+pace-20ms"))
	g.manages(http.MethodPost, "/guardrail", `{"guardrail_name":"block","engines":[{"engine_name":"content_filter","event_hooks":["post_call"],"config":{"banned_keywords":["cross long"]}}]}`)
	for path, body := range map[string]string{
		"/v1/chat/completions": `{"model":"slow","stream":true,"guardrail_id":"block","messages":[{"role":"user","content":"Tell me a story."}]}`,
		"/v1/messages":         `{"model":"slow-claude","stream":true,"max_tokens":4000,"guardrail_id":"block","messages":[{"role":"user","content":"Tell me a story."}]}`,
		"/v2/chat":             `{"model":"slow-claude","stream":true,"guardrail_id":"block","messages":[{"role":"user","content":"Tell me a story."}]}`,
		"/v1/responses":        `{"model":"slow-claude","stream":true,"guardrail_id":"block","input":"Tell me a story."}`,
	} {
		a := g.do(http.MethodPost, path, strings.NewReader(body), with("Authorization", "Bearer "+adminKey), with("Content-Type", "application/json"))
		if a.status != http.StatusOK || !strings.Contains(a.body, "guardrail") || strings.Contains(a.body, "cross") || strings.Contains(a.body, "DONE") || strings.Contains(a.body, "broke off") {
			t.Errorf("%s: %d %s", path, a.status, a.body)
		}
		if row := g.one(a); row.CompletionTokens > 200 || row.CompletionTokens == 0 || row.ErrorCode != "guardrail_blocked" {
			t.Errorf("%s: settled as %+v", path, row)
		}
	}
	g.until("the provider is let go", func() bool { return p.Counters().Aborted == 4 && p.Counters().Open == 0 })
}

// Guardrails of a key, its team and its organization apply to requests that name none, and callers cannot
// switch them off.
func TestBoundGuardrails(t *testing.T) {
	t.Parallel()
	p := newUpstream(t)
	g := startGateway(t, models(p, "gpt=openai_compatible/fake-gpt"))
	const key = "sk-bound-0123456789abcdef"
	for name, word := range map[string]string{"of-key": "apple", "of-team": "banana", "of-organization": "cherry"} {
		g.manages(http.MethodPost, "/guardrail", `{"guardrail_name":"`+name+`","engines":[{"engine_name":"content_filter","event_hooks":["pre_call"],"config":{"banned_keywords":["`+word+`"]}}]}`)
	}
	g.manages(http.MethodPost, "/organization/new", `{"organization_id":"acme","organization_alias":"Acme","guardrails":["of-organization"]}`)
	g.manages(http.MethodPost, "/team/new", `{"team_id":"blue","organization_id":"acme","guardrails":["of-team"]}`)
	g.manages(http.MethodPost, "/key/generate", `{"key":"`+key+`","team_id":"blue","guardrails":["of-key"]}`)
	send := func(word string) *answer {
		t.Helper()
		body := `{"model":"gpt","guardrails":[],"messages":[{"role":"user","content":"An ` + word + `."}]}`
		return g.do(http.MethodPost, "/v1/chat/completions", strings.NewReader(body), with("Authorization", "Bearer "+key), with("Content-Type", "application/json"))
	}
	for _, word := range []string{"apple", "banana", "cherry"} {
		if a := send(word); a.status != http.StatusBadRequest || !strings.Contains(a.body, `"guardrail_blocked"`) {
			t.Errorf("%s: %d %s", word, a.status, a.body)
		}
	}
	if heard := p.Requests(); len(heard) != 0 {
		t.Errorf("the provider gets %+v", heard)
	}
	if a := send("orange"); a.status != http.StatusOK || a.header.Get("x-gateway-applied-guardrails") != "of-key,of-team,of-organization" {
		t.Errorf("%d %v %s", a.status, a.header, a.body)
	}
	g.manages(http.MethodPatch, "/team/blue", `{"guardrails":[]}`)
	if a := send("banana"); a.status != http.StatusOK {
		t.Errorf("%d %s", a.status, a.body)
	}
}
