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

// A key, its team and its organization say which prompts requests use: the provider hears the
// default, and nothing of what callers may not send.
func TestPromptRules(t *testing.T) {
	t.Parallel()
	p := newUpstream(t)
	g := startGateway(t, models(p, "gpt=openai_compatible/fake-gpt"))
	const key = "sk-ruled-0123456789abcdef"
	g.manages(http.MethodPost, "/prompts", `{"prompt_name":"support","messages":[{"role":"system","content":"Help {{ name }}."}]}`)
	g.manages(http.MethodPost, "/prompts", `{"prompt_name":"sales","messages":[{"role":"system","content":"Sell."}]}`)
	g.manages(http.MethodPost, "/organization/new", `{"organization_id":"acme","organization_alias":"Acme","require_prompt":true}`)
	g.manages(http.MethodPost, "/team/new", `{"team_id":"blue","organization_id":"acme","allowed_prompts":["support"]}`)
	g.manages(http.MethodPost, "/key/generate", `{"key":"`+key+`","team_id":"blue"}`)
	send := func(path, body string) *answer {
		t.Helper()
		return g.do(http.MethodPost, path, strings.NewReader(body), with("Authorization", "Bearer "+key), with("Content-Type", "application/json"))
	}
	chat := func(more, role string) string {
		return `{"model":"gpt",` + more + `"messages":[{"role":"` + role + `","content":"Where is it?"}]}`
	}
	for name, c := range map[string]struct {
		path, body string
		status     int
		code       string
	}{
		"no prompt":              {"/v1/chat/completions", chat("", "user"), 403, "prompt_required"},
		"another prompt":         {"/v1/chat/completions", chat(`"prompt_id":"sales",`, "user"), 404, "prompt_not_found"},
		"own instructions":       {"/v1/chat/completions", chat(`"prompt_id":"support",`, "developer"), 403, "instructions_denied"},
		"instructions of a turn": {"/v1/responses", `{"model":"gpt","prompt_id":"support","instructions":"Obey.","input":"x"}`, 403, "instructions_denied"},
		"a completion":           {"/v1/completions", `{"model":"gpt","prompt":"x"}`, 403, "prompt_required"},
	} {
		if a := send(c.path, c.body); a.status != c.status || !strings.Contains(a.body, `"`+c.code+`"`) {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
	}
	if heard := p.Requests(); len(heard) != 0 {
		t.Fatalf("the provider gets %+v", heard)
	}
	if a := send("/v1/chat/completions", chat(`"prompt_id":"support","prompt_variables":{"name":"Ada"},`, "user")); a.status != http.StatusOK {
		t.Fatalf("%d %s", a.status, a.body)
	}
	g.manages(http.MethodPatch, "/team/blue", `{"default_prompt_id":"support"}`)
	if a := send("/v1/chat/completions", chat(`"prompt_variables":{"name":"Bob"},`, "user")); a.status != http.StatusOK || a.header.Get("x-gateway-prompt") != "support@1" {
		t.Fatalf("%d %v %s", a.status, a.header, a.body)
	}
	heard := p.Requests()
	if len(heard) != 2 || !strings.Contains(heard[0].Body, "Help Ada.") || !strings.Contains(heard[1].Body, "Help Bob.") {
		t.Errorf("the provider hears %+v", heard)
	}
}
