//go:build linux

package clustertest

import (
	"fmt"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// Disk makes a directory a disk of so many megabytes, which lasts as long as the test.
// The test must have been started by RerunMounting.
func Disk(t *testing.T, dir string, megabytes int) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%dm,mode=0700", megabytes)); err != nil {
		t.Fatalf("a disk cannot be mounted at %s: %v", dir, err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
}
