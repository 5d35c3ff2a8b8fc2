//go:build inject

package inject_test

import (
	"strings"
	"syscall"
	"testing"

	"github.com/modelgateway/modelgateway/cluster/inject"
)

func TestCrash(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		chosen string
		passes int // that begin
		dies   bool
	}{
		{"", 5, false},
		{"third", 5, false},
		{"one", 1, true},
		{"other:1", 1, true},
		{"one:3", 3, true},
		{"other:5", 5, true},
		{"one:6", 5, false},
		{"one:x", 1, true},
	} {
		t.Run(tc.chosen, func(t *testing.T) {
			t.Parallel()
			cmd := process(t.Context(), "points", inject.PointVariable+"="+tc.chosen)
			out, err := cmd.Output()
			status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus)
			if dead := ok && status.Signaled() && status.Signal() == syscall.SIGKILL; dead != tc.dies || dead != (err != nil) {
				t.Errorf("killed %v, want %v; %v", dead, tc.dies, err)
			}
			if got := strings.Count(string(out), "\n"); got != tc.passes {
				t.Errorf("%d passes, want %d", got, tc.passes)
			}
		})
	}
}
