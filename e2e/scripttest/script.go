// Package scripttest writes programs for tests to start.
package scripttest

import (
	"io/fs"
	"os"
	"syscall"
	"testing"
)

// Write writes a file that this process or its children may start as a program. No other
// goroutine can start a process while the file is open: that process would have the open
// file until it runs its own program, and Linux starts no program that somebody may
// write to ("text file busy", https://go.dev/issue/22315).
func Write(t *testing.T, path, text string, mode fs.FileMode) {
	t.Helper()
	syscall.ForkLock.RLock()
	err := os.WriteFile(path, []byte(text), mode)
	syscall.ForkLock.RUnlock()
	if err != nil {
		t.Fatal(err)
	}
}
