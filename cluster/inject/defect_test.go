//go:build inject

package inject_test

import (
	"strings"
	"testing"

	"github.com/modelgateway/modelgateway/cluster/inject"
)

// TestHasDefect: a process has the bug that the environment names, and no other.
func TestHasDefect(t *testing.T) {
	t.Parallel()
	want := map[string]string{"": "", "other": ""}
	for _, name := range inject.Defects() {
		want[name] = name
	}
	for name, want := range want {
		out, err := process(t.Context(), "defects", inject.DefectVariable+"="+name).Output()
		if got := strings.TrimSpace(string(out)); got != want || err != nil {
			t.Errorf("%q: it has %q, %v", name, got, err)
		}
	}
}
