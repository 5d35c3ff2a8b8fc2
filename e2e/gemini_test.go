package e2e

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// The SDKs of OpenAI and Anthropic use models of Gemini, with tools, reasoning, embeddings and fallbacks. The
// provider gets its own signatures back, and the documented substitute for calls of others only.
func TestGeminiBySDK(t *testing.T) {
	t.Parallel()
	p := newUpstream(t)
	g := startGateway(t, models(p,
		"gemini-3=gemini/gemini-3-flash+tools-2", "gemini-2=gemini/gemini-2.5-flash+tools-2", "claude=anthropic/fake-claude",
		"gemini-3-context=gemini/gemini-3-flash+context", "gemini-3-limited=gemini/gemini-3-flash+limit-1", "gemini-3-key=gemini/gemini-3-flash+401",
		"openai-then-gemini-3=openai/fail-500", "gemini-3-then-claude=gemini/gemini-3-flash+fail-503",
	)+"  - {model_name: embedding-of-both, gateway_params: {model: gemini/gemini-embedding-001, api_base: \""+p.url+"/v1\", api_key: provider-key-gemini-e}}\n"+
		"  - {model_name: embedding-of-both, gateway_params: {model: openai/text-embedding-3-small, api_base: \""+p.url+"/v1\", api_key: k}}\n"+
		"router_settings: {num_retries: 0, fallbacks: [{openai-then-gemini-3: [gemini-3]}, {gemini-3-then-claude: [claude]}]}\n")
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, pythonPath(t), "e2e/testdata/python/gemini_sdk.py")
	cmd.Env = append(os.Environ(), "GATEWAY_URL="+g.url, "API_KEY="+adminKey)
	out, err := cmd.CombinedOutput()
	if err != nil || strings.Count("\n"+string(out), "\nok ") != 24 {
		t.Errorf("%v\n%s", err, out)
	}
	substitutes, signed := 0, 0
	for _, r := range p.Requests() {
		if !strings.HasPrefix(r.Model, "gemini-") {
			continue
		}
		if key := r.Headers.Get("x-goog-api-key"); !strings.HasPrefix(key, "provider-key-gemini-") || r.Headers.Get("authorization") != "" {
			t.Errorf("%s was sent the key %q and the authorization %q", r.Path, key, r.Headers.Get("authorization"))
		}
		if strings.Contains(r.Body, "skip_thought_signature_validator") {
			substitutes++
			if !strings.Contains(r.Body, "call_openai") {
				t.Errorf("the signature of Gemini's own call is lost: %s", r.Body)
			}
		}
		signed += strings.Count(r.Body, `"thoughtSignature"`)
	}
	if substitutes != 2 || signed < 8 {
		t.Errorf("%d signatures were sent, %d of them in requests with a substitute", signed, substitutes)
	}
}
