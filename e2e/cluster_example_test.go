//go:build linux

package e2e

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelgateway/modelgateway/e2e/clustertest"
)

// TestClusterExample runs the example as a reader would, in a network of its own
// for its ports are fixed: a key that is made at one node works at another, and the
// command line shows three voters.
func TestClusterExample(t *testing.T) {
	if !inLab(t) {
		return
	}
	clustertest.Start(t, clustertest.Config{Hosts: 1}) // brings the loopback up
	upstream := filepath.Join(t.TempDir(), "upstream")
	if out, err := exec.Command("go", "build", "-o", upstream, "./examples/upstream").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	const tour = `set -eu
"$GATEWAY" cluster status
key=$(curl -fsS "$MODELGATEWAY_URL/key/generate" -H "Authorization: Bearer $MODELGATEWAY_KEY" -H 'Content-Type: application/json' \
  -d '{"key_alias": "app"}' | sed 's/.*"key": *"\(sk-[^"]*\)".*/\1/')
curl -fsS http://127.0.0.1:8083/v1/chat/completions -H "Authorization: Bearer $key" -H 'Content-Type: application/json' \
  -d '{"model": "fast", "messages": [{"role": "user", "content": "Hello"}]}'`
	cmd := exec.CommandContext(ctx, "examples/cluster/run.sh", "bash", "-c", tour)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // so that it ends what it has started
	cmd.WaitDelay = time.Minute
	cmd.Env = append(os.Environ(), "GATEWAY="+binary(t), "UPSTREAM_PROGRAM="+upstream, "MODELGATEWAY_ENVOY="+envoyPath(t))
	out, err := cmd.CombinedOutput()
	if text := string(out); err != nil || strings.Count(text, "same") != 3 || !strings.Contains(text, "The fake provider heard: Hello") {
		t.Errorf("%v\n%s", err, text)
	}
}
