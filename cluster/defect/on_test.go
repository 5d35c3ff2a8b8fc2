//go:build defects

package defect_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/modelgateway/modelgateway/cluster/defect"
)

// child turns the test binary into a process that names its bugs.
const child = "DEFECT_TEST_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(child) == "" {
		os.Exit(m.Run())
	}
	for _, name := range defect.Names() {
		if defect.Is(name) {
			_, _ = os.Stdout.WriteString(name + "\n")
		}
	}
}

// TestIs: a process has the bug that the environment names, and no other.
func TestIs(t *testing.T) {
	t.Parallel()
	want := map[string]string{"": "", "other": ""}
	for _, name := range defect.Names() {
		want[name] = name
	}
	for name, want := range want {
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env = append(os.Environ(), child+"=1", defect.Variable+"="+name)
		out, err := cmd.Output()
		if got := strings.TrimSpace(string(out)); got != want || err != nil {
			t.Errorf("%q: it has %q, %v", name, got, err)
		}
	}
}
