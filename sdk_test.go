package main

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// pythonPath is the Python that has the SDKs. There is no test without one.
func pythonPath(t *testing.T) string {
	t.Helper()
	path := os.Getenv("MODELGATEWAY_PYTHON")
	if path == "" {
		path = ".tmp/bin/python-sdks"
	}
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("no Python with the SDKs; run: make sdks (%v)", err)
	}
	return path
}

// The OpenAI SDK does all that applications do with it, through the gateway, to a
// provider of its own dialect and to one of another.
func TestOpenAISDK(t *testing.T) {
	p := newUpstream(t)
	g := startGateway(t, models(p, "gpt=openai/fake-gpt", "claude=anthropic/fake-claude", "failing=openai/fail-500"))
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, pythonPath(t), "testdata/python/openai_sdk.py")
	cmd.Env = append(os.Environ(), "BASE_URL="+g.url+"/v1", "API_KEY="+adminKey)
	out, err := cmd.CombinedOutput()
	if err != nil || strings.Count(string(out), "\nok ")+1 < 19 {
		t.Errorf("%v\n%s", err, out)
	}
	for _, r := range p.Requests() {
		if strings.Contains(r.Body, "some_new_field") && !strings.Contains(r.Body, `"some_new_field":{"x":[1,2]}`) && !strings.Contains(r.Body, `"some_new_field": {"x": [1, 2]}`) {
			t.Errorf("an unknown field was changed: %s", r.Body)
		}
	}
}
