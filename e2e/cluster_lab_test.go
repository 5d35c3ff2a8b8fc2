//go:build linux

package e2e

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/modelgateway/modelgateway/e2e/clustertest"
)

// inLab runs the test in a network of its own and says whether it is there.
func inLab(t *testing.T) bool {
	t.Helper()
	return in(t, clustertest.Rerun)
}

// in is inLab with a way to run the test in there.
func in(t *testing.T, rerun func(*testing.T, ...string)) bool {
	t.Helper()
	if !clustertest.Inside() {
		rerun(t, binaryVariable+"="+binary(t), "MODELGATEWAY_ENVOY="+envoyPath(t))
		return false
	}
	b := builderOf(t)
	b.once.Do(func() {
		// A link, for TestMain removes the folder that the binary is in.
		dir, err := os.MkdirTemp("", "modelgateway-test-") //nolint:usetesting // as for the binary itself
		b.path = filepath.Join(dir, "modelgateway")
		b.err = errors.Join(err, os.Symlink(os.Getenv(binaryVariable), b.path))
	})
	return true
}
