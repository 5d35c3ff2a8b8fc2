package e2e

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// The Anthropic SDK, and the OpenAI SDK's responses and its client for Azure, do all that applications do with them, to a
// provider of OpenAI's language and to one of Anthropic's.
func TestLanguagesBySDK(t *testing.T) {
	t.Parallel()
	p := newUpstream(t)
	g := startGateway(t, models(p, "gpt=openai_compatible/fake-gpt", "claude=anthropic/fake-claude", "gpt-4o=openai/gpt-4o"))
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, pythonPath(t), "e2e/testdata/python/anthropic_sdk.py")
	cmd.Env = append(os.Environ(), "GATEWAY_URL="+g.url, "API_KEY="+adminKey)
	out, err := cmd.CombinedOutput()
	if err != nil || strings.Count(string(out), "\nok ")+1 < 28 {
		t.Errorf("%v\n%s", err, out)
	}
	for _, r := range p.Requests() {
		if strings.Contains(r.Body, adminKey) || strings.Contains(strings.Join(r.Headers.Values("Authorization"), ""), adminKey) {
			t.Errorf("the provider got the caller's key: %s", r.Path)
		}
	}
}
