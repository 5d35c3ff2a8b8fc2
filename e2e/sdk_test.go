package e2e

import (
	"context"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
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
	t.Parallel()
	p := newUpstream(t)
	g := startGateway(t, models(p, "gpt=openai/fake-gpt", "claude=anthropic/fake-claude", "failing=openai/fail-500"))
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, pythonPath(t), "e2e/testdata/python/openai_sdk.py")
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

// The quickstart's models, for the examples that ask for them.
func quickstart(p *upstream) string {
	return models(p, "fast=openai/fake-gpt", "steady=openai/fail-500") + "router_settings: {num_retries: 1, retry_after: 0.01, fallbacks: [{steady: [fast]}]}\n"
}

func TestPythonExample(t *testing.T) {
	t.Parallel()
	p := newUpstream(t)
	g := startGateway(t, quickstart(p))
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	python, err := filepath.Abs(pythonPath(t))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, "examples/openai-python/run.sh")
	cmd.Env = append(os.Environ(), "GATEWAY_URL="+g.url, "GATEWAY_KEY="+adminKey, "MODELGATEWAY_PYTHON="+python)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// An Envoy that somebody else runs serves as well as a child, from the file that
// the gateway writes, and may come later and go earlier.
func TestExternalEnvoy(t *testing.T) {
	t.Parallel()
	p := newUpstream(t)
	g := newGateway(t, quickstart(p))
	g.args = []string{"--envoy", "external"}
	g.launch()
	bootstrap := filepath.Join(g.data, "run", "envoy.yaml")
	g.until("the bootstrap file is there", func() bool {
		_, err := os.Stat(bootstrap)
		return err == nil
	})
	for range 2 { // the second one finds what the first has left
		ctx, stop := context.WithCancel(context.Background())
		cmd := exec.CommandContext(ctx, envoyPath(t), "-c", bootstrap, "--disable-hot-restart", "--log-level", "error")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		g.awaitReady()
		if a := g.chat(request("steady", "")); a.status != http.StatusOK || a.header.Get("x-gateway-model-id") != "fast-id" {
			t.Errorf("%d %s", a.status, a.body)
		}
		stop()
		_ = cmd.Wait() // it was killed
	}
	if rows := len(children(t, g.cmd.Process.Pid)); rows != 0 {
		t.Errorf("the gateway has started %d processes of its own", rows)
	}
}
