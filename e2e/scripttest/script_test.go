package scripttest_test

import (
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"github.com/modelgateway/modelgateway/e2e/scripttest"
)

// TestWrite: a program can be started at once, whatever else the process starts meanwhile.
func TestWrite(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var wait sync.WaitGroup
	for worker := range 8 {
		wait.Go(func() {
			for i := range 25 {
				path := filepath.Join(dir, strconv.Itoa(worker)+"-"+strconv.Itoa(i))
				scripttest.Write(t, path, "#!/bin/sh\nexit 0\n", 0o700)
				if err := exec.CommandContext(t.Context(), path).Run(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wait.Wait()
}
