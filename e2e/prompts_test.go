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

// Applications name a prompt through their unchanged SDKs. The model reads it, in the language of its
// provider, and no provider sees a field of the gateway.
func TestPromptsBySDK(t *testing.T) {
	t.Parallel()
	p := newUpstream(t)
	g := startGateway(t, models(p, "gpt=openai_compatible/fake-gpt", "claude=anthropic/fake-claude"))
	g.manages(http.MethodPost, "/prompts", `{"prompt_name":"support","messages":[{"role":"system","content":"Help {{ name }}."}]}`)
	g.manages(http.MethodPut, "/prompts/support/labels/production", `{"version":1}`)
	g.manages(http.MethodPut, "/prompts/support", `{"messages":[{"role":"system","content":"Help {{ name }} well."}],"config":{"model":"gpt","temperature":0.25}}`)
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, pythonPath(t), "e2e/testdata/python/prompts_sdk.py")
	cmd.Env = append(os.Environ(), "GATEWAY_URL="+g.url, "API_KEY="+adminKey)
	out, err := cmd.CombinedOutput()
	if err != nil || strings.Count(string(out), "ok ") != 16 {
		t.Errorf("%v\n%s", err, out)
	}
	heard := map[string]bool{}
	for _, r := range p.Requests() {
		if strings.Contains(r.Body, "prompt_") || strings.Contains(r.Body, `"prompt"`) {
			t.Errorf("the provider got a field of the gateway: %s", r.Body)
		}
		for name := range r.Headers {
			if strings.HasPrefix(name, "X-Gateway-Prompt") {
				t.Errorf("the provider got the header %s", name)
			}
		}
		for _, who := range []string{"Ada gpt 1", "Ada gpt 2", "Ada gpt 3", "Ada gpt 4", "Ada gpt 6", "Ada claude 1", "Ada claude 2", "Ada claude 3", "Ada claude 4", "Ada claude 6"} {
			if strings.Contains(r.Body, "Help "+who+" well.") && strings.Contains(r.Body, "Where is my parcel?") && strings.Contains(r.Body, `"temperature":0.25`) {
				heard[who] = true
			}
		}
	}
	if len(heard) != 10 {
		t.Errorf("the providers heard of %v", heard)
	}
}

// manages calls the management API as the admin.
func (g *gatewayProcess) manages(method, path, body string) {
	g.t.Helper()
	if a := g.do(method, path, strings.NewReader(body), with("Authorization", "Bearer "+adminKey), with("Content-Type", "application/json")); a.status != http.StatusOK {
		g.t.Fatalf("%s %s: %d %s", method, path, a.status, a.body)
	}
}
