package journal_test

import (
	"context"
	"os"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"go.uber.org/goleak"

	"github.com/modelgateway/modelgateway/cluster/journal"
	"github.com/modelgateway/modelgateway/cluster/store"
)

// Variables that make the test binary a child process.
const (
	childDir   = "JOURNAL_TEST_CHILD_DIR"   // writes there until it is killed
	childFault = "JOURNAL_TEST_CHILD_FAULT" // runs a test that leaves goroutines behind
)

func TestMain(m *testing.M) {
	switch {
	case os.Getenv(childDir) != "":
		childMain(os.Getenv(childDir))
		os.Exit(1)
	case os.Getenv(childFault) != "":
		os.Exit(m.Run())
	}
	goleak.VerifyTestMain(m)
}

// node is an open store with a running journal.
type node struct {
	*journal.Journal
	store  *store.Store
	cancel context.CancelFunc
	ran    chan error
}

// config configures a small in-memory store.
func config(fsys vfs.FS) store.Config {
	return store.Config{Dir: "data", FS: fsys, BallastBytes: -1}
}

// boot opens the store and the journal and runs it.
func boot(cfg store.Config, jcfg journal.Config) (*node, error) {
	s, err := store.Open(cfg)
	if err != nil {
		return nil, err
	}
	jcfg.Store = s
	j, err := journal.Open(jcfg)
	if err != nil {
		_ = s.Close()
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	n := &node{Journal: j, store: s, cancel: cancel, ran: make(chan error, 1)}
	go func() { n.ran <- j.Run(ctx) }()
	return n, nil
}

// shut stops the journal and closes the store.
func (n *node) shut() error {
	n.cancel()
	if err := <-n.ran; err != nil {
		return err
	}
	return n.store.Close()
}

// start is boot with a cleanup at the end of the test.
func start(tb testing.TB, cfg store.Config, jcfg journal.Config) *node {
	tb.Helper()
	n, err := boot(cfg, jcfg)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := n.shut(); err != nil {
			tb.Error(err)
		}
	})
	return n
}

// list returns the events that match f.
func list(t fataler, j *journal.Journal, f journal.Filter) []journal.Event {
	t.Helper()
	var out []journal.Event
	err := j.Scan(context.Background(), f, func(ev journal.Event) bool {
		out = append(out, ev)
		return true
	})
	if err != nil {
		t.Fatalf("scan: %v", err)
	}
	return out
}

// fataler is the common part of testing.TB and rapid.T.
type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}
