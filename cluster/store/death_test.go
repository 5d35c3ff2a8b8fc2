package store_test

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/modelgateway/modelgateway/cluster/store"
)

// TestFailedCommitIsFatal breaks the log during a commit: Fatal is called, the commit never
// returns, and all later calls fail.
func TestFailedCommitIsFatal(t *testing.T) {
	out, err := runTest(t, "TestFatalInChild", "STORE_TEST_FATAL=goexit")
	if err != nil || !strings.Contains(out, "fatal, then refused") {
		t.Errorf("%v\n%s", err, out)
	}
	// Without a Fatal the process must end, regardless of any recover.
	out, err = runTest(t, "TestFatalInChild", "STORE_TEST_FATAL=none")
	var exit *exec.ExitError
	if !errors.As(err, &exit) || !strings.Contains(out, "failed in the middle of a write") || strings.Contains(out, "went on") {
		t.Errorf("%v\n%s", err, out)
	}
}

func runTest(t *testing.T, name, env string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+name+"$", "-test.v")
	cmd.Env = append(os.Environ(), env)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// TestFatalInChild is the child's part of the test above. A failed store leaves goroutines of
// Pebble behind, so it has its own process.
func TestFatalInChild(t *testing.T) {
	how := os.Getenv("STORE_TEST_FATAL")
	var failing atomic.Bool
	cfg := store.Config{
		Dir: "data", BallastBytes: -1,
		FS: errorfs.Wrap(vfs.NewMem(), errorfs.InjectorFunc(func(op errorfs.Op) error {
			if failing.Load() && op.Kind.ReadOrWrite() == errorfs.OpIsWrite {
				return syscall.EIO
			}
			return nil
		})),
	}
	fatal := make(chan error, 1)
	if how == "goexit" {
		cfg.Fatal = func(err error) {
			fatal <- err
			select {} // like a process that is about to exit
		}
	}
	s, err := store.Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	b := s.NewBatch()
	b.Set(store.SpaceEvent, []byte("a"), nil)
	if how == "" { // in the parent: a working store
		if err := errors.Join(b.Commit(), s.Close()); err != nil {
			t.Error(err)
		}
		return
	}
	failing.Store(true)
	go func() {
		defer func() { _ = recover() }()
		err := b.Commit()
		fmt.Println("went on:", err)
		os.Exit(0)
	}()
	refused(t, <-fatal, "middle of a write")
	refused(t, s.Healthy(), "middle of a write")
	_, _, err = s.Get(store.SpaceEvent, []byte("a"))
	refused(t, err, "middle of a write")
	if !t.Failed() {
		fmt.Println("fatal, then refused")
	}
	os.Exit(0)
}

// TestKill9 kills a committing process several times on one directory, and checks all promises
// to it.
func TestKill9(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	promised := map[string]bool{}
	for round := range 3 {
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env = append(os.Environ(), childDir+"="+dir)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for n := 0; lines.Scan(); n++ {
			promised[lines.Text()] = true
			if n == 50+30*round {
				if err := cmd.Process.Kill(); err != nil {
					t.Fatal(err)
				}
			}
		}
		_ = cmd.Wait() // it was killed
	}
	if len(promised) < 150 {
		t.Fatalf("the children wrote only %d records", len(promised))
	}
	s := open(t, store.Config{Dir: dir, MinFreeBytes: 1})
	for key := range promised {
		if _, ok, err := s.Get(store.SpaceEvent, []byte(key)); !ok || err != nil {
			t.Errorf("%s was promised and is lost: %v", key, err)
		}
	}
}
