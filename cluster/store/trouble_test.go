package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/modelgateway/modelgateway/cluster/store"
)

// TestFailedFlushIsReportedAndRetried fails the first write of a table. Committed data is in
// the log anyway, so the store continues.
func TestFailedFlushIsReportedAndRetried(t *testing.T) {
	var armed atomic.Bool
	armed.Store(true)
	fsys := errorfs.Wrap(vfs.NewMem(), errorfs.InjectorFunc(func(op errorfs.Op) error {
		if op.Kind == errorfs.OpCreate && strings.HasSuffix(op.Path, ".sst") && armed.Swap(false) {
			return syscall.EIO
		}
		return nil
	}))
	told := make(chan error, 8)
	var log bytes.Buffer
	s, err := store.Open(store.Config{
		Dir: "data", FS: fsys, BallastBytes: -1,
		Logger: slog.New(slog.NewJSONHandler(&log, nil)),
		Events: store.Events{Background: func(err error) { told <- err }},
	})
	if err != nil {
		t.Fatal(err)
	}
	large := strings.Repeat("x", 5<<20) // larger than a memtable: it is flushed
	set(t, s, "large", large)
	if err := <-told; !errors.Is(err, syscall.EIO) {
		t.Errorf("reported %v", err)
	}
	if v, ok, err := s.Get(store.SpaceEvent, []byte("large")); !ok || err != nil || string(v) != large {
		t.Errorf("lost: %v, %v", ok, err)
	}
	if err := s.Close(); err != nil { // waits for the flush, so that the log is complete
		t.Error(err)
	}
	if !strings.Contains(log.String(), `"msg":"storage background work failed"`) {
		t.Errorf("the log is silent: %s", log.String())
	}
}

func TestScanEndsWithItsContext(t *testing.T) {
	s := open(t, store.Config{FS: vfs.NewMem()})
	set(t, s, "a", "1", "b", "2")
	ctx, cancel := context.WithCancel(t.Context())
	calls := 0
	err := s.Scan(ctx, store.Range{Space: store.SpaceEvent}, func([]byte, []byte) bool {
		calls++
		cancel()
		return true
	})
	if !errors.Is(err, context.Canceled) || calls != 1 {
		t.Errorf("%d calls, %v", calls, err)
	}
}

// TestFailedDirectorySyncs fails each sync of the directory while a store is created. Pebble
// panics at some, which becomes an error, and calls Fatal at others. Both leave goroutines
// behind, so a child process does it.
func TestFailedDirectorySyncs(t *testing.T) {
	out, err := runTest(t, "TestDirectorySyncsInChild", "STORE_TEST_FATAL=syncs")
	if err != nil || !strings.Contains(out, "each was refused or fatal") {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestDirectorySyncsInChild is the child's part of the test above.
func TestDirectorySyncsInChild(t *testing.T) {
	if os.Getenv("STORE_TEST_FATAL") != "syncs" {
		return // the test above runs it
	}
	refusals, deaths := 0, 0
	for fail := 1; fail < 100; fail++ {
		syncs := 0
		died := make(chan struct{}, 1)
		cfg := store.Config{Dir: "data", BallastBytes: -1, Fatal: func(error) {
			died <- struct{}{}
			runtime.Goexit()
		}}
		cfg.FS = errorfs.Wrap(vfs.NewMem(), errorfs.InjectorFunc(func(op errorfs.Op) error {
			if op.Kind == errorfs.OpFileSync && op.Path == "data" {
				if syncs++; syncs == fail {
					return syscall.EIO
				}
			}
			return nil
		}))
		ended := make(chan struct{})
		var s *store.Store
		var err error
		go func() { // Fatal may end it
			defer close(ended)
			s, err = store.Open(cfg)
		}()
		<-ended
		switch {
		case s != nil:
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			if refusals == 0 || deaths == 0 {
				t.Errorf("%d refusals and %d deaths prove nothing", refusals, deaths)
			}
			if !t.Failed() {
				fmt.Println("each was refused or fatal")
				os.Exit(0)
			}
			return
		case len(died) > 0:
			deaths++
		default:
			refusals++
			refused(t, err, "disk reports errors")
		}
	}
	t.Error("the store never opens")
}
