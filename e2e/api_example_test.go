package e2e

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// The examples of the management API do what they say, by the generated client
// and by plain requests.
func TestAPIExamples(t *testing.T) {
	t.Parallel()
	p := newUpstream(t)
	g := startGateway(t, quickstart(p))
	python, err := filepath.Abs(pythonPath(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range [][]string{{"go", "run", "./examples/api-go"}, {"examples/api-python/run.sh"}} {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, command[0], command[1:]...)
		cmd.Env = append(os.Environ(), "GATEWAY_URL="+g.url, "GATEWAY_KEY="+adminKey, "MODELGATEWAY_PYTHON="+python)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v: %v\n%s", command, err, out)
		}
	}
}
