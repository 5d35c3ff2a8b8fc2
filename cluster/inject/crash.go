//go:build inject

package inject

import (
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
)

// plan is the point that the environment names.
type plan struct {
	point  string
	passes atomic.Int64 // that are left; the process dies at the last
}

// crash is read at the first call of Crash and only counted down after.
//
//nolint:gochecknoglobals // set once and only in binaries of tests; nobody hands Crash a value
var crash = sync.OnceValue(func() *plan {
	//nolint:forbidigo // any package may call Crash; main would have to hand the value to all of them
	point, count, _ := strings.Cut(os.Getenv(PointVariable), ":")
	n, err := strconv.ParseInt(count, 10, 64)
	if err != nil || n < 1 {
		n = 1
	}
	p := &plan{point: point}
	p.passes.Store(n)
	return p
})

// Crash kills the process if the environment names the point and the process has
// passed it often enough. It does not return then.
func Crash(point string) {
	p := crash()
	if p.point != point || p.passes.Add(-1) != 0 {
		return
	}
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {} // the signal is on its way; no further step may run
}
