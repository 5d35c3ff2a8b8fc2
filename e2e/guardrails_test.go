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
	g := startGateway(t, models(p, "gpt=openai_compatible/fake-gpt", "claude=anthropic/fake-claude", "broken=openai_compatible/fake-fail-500", "steady=openai_compatible/fake-fail-500"))
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
	if err != nil || strings.Count(string(out), "ok ") != 90 {
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
	// Six ways to call three models, of which one needs two requests; before and reversible mask, the two after do not.
	if seen != masked || masked < 48 {
		t.Errorf("the providers got the address %d times, and a mark %d times", seen, masked)
	}
	if log := g.log(); strings.Contains(log, canaryAddress) {
		t.Error("the log has the address")
	}
}
