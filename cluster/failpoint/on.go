//go:build failpoints

package failpoint

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
	name   string
	passes atomic.Int64 // that are left; it dies at the last
}

// chosen is read at the first Hit and only counted down after.
//
//nolint:gochecknoglobals // set once and in no binary but those of tests; Hit has nobody to hand it over
var chosen = sync.OnceValue(func() *plan {
	//nolint:forbidigo // the process is to die of it, wherever it is; main would have to hand it to every package
	name, count, _ := strings.Cut(os.Getenv(Variable), ":")
	n, err := strconv.ParseInt(count, 10, 64)
	if err != nil || n < 1 {
		n = 1
	}
	p := &plan{name: name}
	p.passes.Store(n)
	return p
})

// Hit kills the process if the environment names the point and it has been passed
// often enough. It does not return then.
func Hit(name string) {
	p := chosen()
	if p.name != name || p.passes.Add(-1) != 0 {
		return
	}
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {} // the signal is on its way: not a step further
}
