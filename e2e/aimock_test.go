package e2e

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/modelgateway/modelgateway/e2e/porttest"
)

// A provider that others wrote serves callers of each language in each language: what ours might
// have misunderstood in the same way as the gateway, it has not.
func TestProviderOfOthers(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	port := porttest.Free(t)
	provider := exec.CommandContext(ctx, nodePath(t), "e2e/testdata/node/aimock.mjs", strings.TrimPrefix(port.String(), "127.0.0.1:"))
	out, err := provider.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	in, err := provider.StdinPipe() // the provider ends with it
	if err != nil {
		t.Fatal(err)
	}
	provider.Stderr = &lockedBuffer{}
	if err := provider.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = in.Close()
		if err := provider.Wait(); err != nil {
			t.Errorf("the provider ended with %v: %s", err, provider.Stderr)
		}
	}()
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "ready\n" {
		t.Fatalf("the provider is not ready: %q, %v: %s", line, err, provider.Stderr)
	}
	var pairs []string
	for language, model := range map[string]string{"chat": "openai_compatible/gpt", "messages": "anthropic/claude-sonnet-4-5", "responses": "openai/gpt-codex", "cohere": "cohere/command-a"} {
		pairs = append(pairs, language+"="+model, "broken-"+language+"="+model+"-broken", "limited-"+language+"="+model+"-limited")
	}
	url := "http://" + port.String()
	list := models(&upstream{url: url}, pairs...)
	for name, model := range map[string]string{"gemini": "gemini-3-flash", "broken-gemini": "gemini-broken", "limited-gemini": "gemini-limited"} {
		list += "  - {model_name: " + name + ", gateway_params: {model: gemini/" + model + ", api_base: \"" + url + "\", api_key: k}}\n"
	}
	g := startGateway(t, list)
	clients := exec.CommandContext(ctx, nodePath(t), "e2e/testdata/node/aimock_clients.mjs")
	clients.Env = append(os.Environ(), "GATEWAY_URL="+g.url, "API_KEY="+adminKey)
	report, err := clients.CombinedOutput()
	if ok := strings.Count("\n"+string(report), "\nok "); err != nil || ok != 102 {
		t.Errorf("%d cases are well, want 102: %v\n%s", ok, err, report)
	}
}
