package e2e

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// runPython runs a script of testdata with the SDKs against a gateway, and requires as many checks to be well.
func runPython(t *testing.T, g *gatewayProcess, script string, checks int, env ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, pythonPath(t), "e2e/testdata/python/"+script)
	cmd.Env = append(append(os.Environ(), "GATEWAY_URL="+g.url, "API_KEY="+adminKey), env...)
	out, err := cmd.CombinedOutput()
	if n := strings.Count("\n"+string(out), "\nok "); err != nil || n != checks {
		t.Errorf("%s: %d checks are well, want %d: %v\n%s", script, n, checks, err, out)
	}
}

// noneHasTheKey requires that no provider has got the caller's key.
func noneHasTheKey(t *testing.T, p *upstream) {
	t.Helper()
	for _, r := range p.Requests() {
		if strings.Contains(r.Path, adminKey) || strings.Contains(r.Body, adminKey) {
			t.Errorf("a provider got the caller's key: %s", r.Path)
		}
		for name, values := range r.Headers {
			if strings.Contains(strings.Join(values, " "), adminKey) {
				t.Errorf("a provider got the caller's key in %s: %s", name, r.Path)
			}
		}
	}
}

// The SDK of Google does all that applications do with it, to providers of each language.
func TestGoogleSDK(t *testing.T) {
	t.Parallel()
	p := newUpstream(t)
	g := startGateway(t, models(p,
		"gpt=openai/fake-gpt", "claude=anthropic/fake-claude", "gemini=gemini/gemini-3-flash", "embed=openai/fake-embed",
		"gpt-tools=openai/fake-gpt+tools-2", "claude-tools=anthropic/fake-claude+tools-2+think", "gemini-tools=gemini/gemini-3-flash+tools-2",
		"limited=openai/limit-1", "cut=openai/fake-gpt+cut-3+words-20",
	)+"router_settings: {num_retries: 0}\n")
	runPython(t, g, "google_genai.py", 25)
	genaiForGo(t, g)
	noneHasTheKey(t, p)
}

// The libraries of other providers, at the paths that they call, reach the models that the key may use, and no others.
func TestNativeClients(t *testing.T) {
	t.Parallel()
	p := newUpstream(t)
	g := startGateway(t, models(p,
		"gpt=openai/fake-gpt", "claude=anthropic/fake-claude", "claude-tools=anthropic/fake-claude+tools-2", "embed=openai/fake-embed", "rank=cohere/fake-rank",
		"cut=anthropic/fake-claude+cut-3+words-20", "claude-thinks=anthropic/fake-claude+tools-2+think",
		"broken=openai/fake-gpt+cut-3+words-20+pace-20ms", "command=cohere/fake-command", "command-tools=cohere/fake-command+tools-2",
	)+strings.TrimPrefix(bedrockModels(p, "sonnet="+sonnet+":tools-2", "nova="+nova, "breaks-off="+nova+":error-5th", "throttled="+nova+":limit-1"), "model_list:\n")+
		strings.TrimPrefix(vendors(p, "mistral=mistral/fake-mistral"), "model_list:\n")+
		"router_settings: {num_retries: 0}\n")
	runPython(t, g, "native_clients.py", 73)
	front, authority := tlsFront(t, g)
	runPython(t, g, "bedrock_bearer.py", 10, "GATEWAY_URL="+front, "AWS_CA_BUNDLE="+authority, "AWS_BEARER_TOKEN_BEDROCK="+adminKey)
	noneHasTheKey(t, p)
}
