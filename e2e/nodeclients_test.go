package e2e

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/modelgateway/modelgateway/examples/upstream/fake"
)

// nodePath is the Node.js that has the SDKs. There is no test without one.
func nodePath(t *testing.T) string {
	t.Helper()
	path := cmp.Or(os.Getenv("MODELGATEWAY_NODE"), ".tmp/bin/node-clients")
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("no Node.js with the SDKs; run: make node-clients (%v)", err)
	}
	return path
}

// languageModels is a model for each language of providers, by the language's name, and others of
// each that think, fail, and write slowly.
func languageModels(p *upstream) string {
	pairs := []string{"embedding=openai/fake-embed", "sound=openai/fake-sound", "rank=openai_compatible/fake-rank"}
	// A model with "-codex" in its name gets its chats as responses.
	for language, model := range map[string]string{"chat": "openai_compatible/fake-gpt", "messages": "anthropic/fake-claude", "responses": "openai/fake-codex"} {
		pairs = append(pairs, language+"="+model, "thinking-"+language+"="+model+"+think", "failing-"+language+"="+model+"+fail-500",
			"paced-"+language+"="+model+"+words-1000+pace-10ms")
	}
	var mates strings.Builder
	for _, name := range []string{"one", "two"} {
		fmt.Fprintf(&mates, "  - model_name: mates\n    gateway_params: {model: openai/fake-gpt+%s, api_base: %s/v1, api_key: one-account}\n    model_info: {id: %s-id}\n", name, p.url, name)
	}
	return models(p, pairs...) + mates.String()
}

// The JavaScript SDKs do all that applications do with them, against providers of each language.
func TestClientsOfNode(t *testing.T) {
	t.Parallel()
	p := newUpstream(t)
	g := startGateway(t, languageModels(p))
	limited := g.keyOf("", tree{"rpm_limit": 0})
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	left := 0
	for script, cases := range map[string]int{"openai_sdk": 52, "anthropic_sdk": 29, "vercel_ai": 91, "cohere_sdk": 4} {
		cmd := exec.CommandContext(ctx, nodePath(t), "e2e/testdata/node/"+script+".mjs")
		cmd.Env = append(os.Environ(), "GATEWAY_URL="+g.url, "API_KEY="+adminKey, "LIMITED_KEY="+limited)
		out, err := cmd.CombinedOutput()
		ok := strings.Count("\n"+string(out), "\nok ")
		if err != nil || ok != cases {
			t.Errorf("%s: %d cases are well, want %d: %v\n%s", script, ok, cases, err, out)
		}
		left += strings.Count(string(out), " disconnect ")
	}
	if err := p.Await(ctx, func(c fake.Counters) bool { return c.Aborted == left }); err != nil {
		t.Errorf("%d callers left, and %d requests to providers were ended", left, p.Counters().Aborted)
	}
	for _, r := range p.Requests() {
		if strings.Contains(fmt.Sprint(r.Headers), adminKey) || strings.Contains(r.Body, adminKey) {
			t.Errorf("the provider got the caller's key: %s", r.Path)
		}
	}
}
