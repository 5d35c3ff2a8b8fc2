//go:build defects

package defect

import (
	"os"
	"sync"
)

// chosen is read at the first Is.
//
//nolint:gochecknoglobals // set once and in no binary but those of tests; Is has nobody to hand it over
var chosen = sync.OnceValue(func() string {
	return os.Getenv(Variable) //nolint:forbidigo // it is to be there wherever it is asked for; main would have to hand it to every package
})

// Is reports whether the environment names the bug.
func Is(name string) bool { return chosen() == name }
