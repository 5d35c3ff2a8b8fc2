//go:build inject

package inject

import (
	"os"
	"sync"
)

// defect is read at the first call of HasDefect.
//
//nolint:gochecknoglobals // set once and only in binaries of tests; nobody hands HasDefect a value
var defect = sync.OnceValue(func() string {
	return os.Getenv(DefectVariable) //nolint:forbidigo // any package may call HasDefect; main would have to hand the value to all of them
})

// HasDefect reports whether the environment names the bug.
func HasDefect(name string) bool { return defect() == name }
