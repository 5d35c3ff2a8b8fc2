//go:build !defects

package defect_test

import (
	"os"
	"os/exec"
	"testing"

	"github.com/modelgateway/modelgateway/cluster/defect"
)

// child turns the test binary into a process that says whether it has bugs.
const child = "DEFECT_TEST_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(child) == "" {
		os.Exit(m.Run())
	}
	for _, name := range defect.Names() {
		if defect.Is(name) {
			os.Exit(1)
		}
	}
}

// TestWithoutTheTag: whatever the environment says, there is no bug in a binary that
// was built without the tag.
func TestWithoutTheTag(t *testing.T) {
	t.Parallel()
	for _, name := range append(defect.Names(), "", "other") {
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env = append(os.Environ(), child+"=1", defect.Variable+"="+name)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%q: %v %s", name, err, out)
		}
	}
}
