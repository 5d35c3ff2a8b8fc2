package consensus_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/modelgateway/modelgateway/cluster/consensus"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/store"
)

// node is a running member.
type node struct {
	*consensus.Consensus
	machine *lists
	cfg     consensus.Config
	store   *store.Store
	cancel  context.CancelFunc
	ran     chan error
}

// quick returns election timeouts for tests in real time.
func quick() consensus.Timing {
	return consensus.Timing{
		Heartbeat: 20 * time.Millisecond, Election: 20 * time.Millisecond,
		LeaderLease: 20 * time.Millisecond, Commit: time.Millisecond,
		SnapshotInterval: time.Hour,
	}
}

// open opens a node on a file system, with defaults for missing fields of cfg.
func open(fsys vfs.FS, cfg consensus.Config) (*node, error) {
	s, err := store.Open(store.Config{Dir: "data/store", FS: fsys, BallastBytes: -1, Fatal: cfg.Fatal})
	if err != nil {
		return nil, err
	}
	n := &node{machine: &lists{}, store: s, ran: make(chan error, 1)}
	cfg.Log, cfg.Dir, cfg.FS, cfg.Machine, cfg.CommandID = s, "data", fsys, n.machine, commandID
	if cfg.Node == "" {
		cfg.Node = "one"
	}
	if cfg.Timing == (consensus.Timing{}) {
		cfg.Timing = quick()
	}
	n.cfg = cfg
	if n.Consensus, err = consensus.Open(cfg); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return n, nil
}

func (n *node) run() {
	ctx, cancel := context.WithCancel(context.Background())
	n.cancel = cancel
	go func() { n.ran <- n.Run(ctx) }()
}

// shut stops the node and closes everything.
func (n *node) shut() error {
	var err error
	if n.cancel != nil {
		n.cancel()
		err = <-n.ran
	}
	return errors.Join(err, n.Close(), n.store.Close())
}

// alone boots a single node that becomes leader.
func alone(tb testing.TB, fsys vfs.FS, cfg consensus.Config) *node {
	tb.Helper()
	n, err := bootAlone(fsys, cfg)
	if err != nil {
		tb.Fatal(err)
	}
	return n
}

func bootAlone(fsys vfs.FS, cfg consensus.Config) (*node, error) {
	n, err := open(fsys, cfg)
	if err != nil {
		return nil, err
	}
	if err := n.Bootstrap([]consensus.Server{{Node: n.cfg.Node, Address: string(n.cfg.Node), Voter: true}}); err != nil {
		return nil, errors.Join(err, n.shut())
	}
	n.run()
	return n, n.lead(context.Background())
}

// lead waits until the node is leader.
func (n *node) lead(ctx context.Context) error {
	for {
		changed := n.LeadershipChanged()
		if n.IsLeader() {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// must proposes a command that must succeed.
func (n *node) must(tb testing.TB, name, format string, args ...any) uint64 {
	tb.Helper()
	index, f, err := n.Propose(context.Background(), command(name, format, args...))
	if f != nil || err != nil {
		tb.Fatalf("proposal: %v, %v", f, err)
	}
	return index
}

func sameState(tb testing.TB, nodes ...*node) {
	tb.Helper()
	ctx := tb.Context()
	var top uint64
	for _, n := range nodes {
		top = max(top, n.Applied())
	}
	var first string
	for i, n := range nodes {
		if err := n.WaitApplied(ctx, top); err != nil {
			tb.Fatal(err)
		}
		index, sum, err := n.Checksum(ctx)
		if err != nil {
			tb.Fatal(err)
		}
		got := fmt.Sprintf("%d %x", index, sum)
		if i == 0 {
			first = got
		}
		if got != first {
			tb.Errorf("node %s is at %s, the first at %s", n.cfg.Node, got, first)
		}
	}
}

// TestBootstrapAtTheStart bootstraps a cluster while the node starts to run. In either order
// the node becomes leader.
func TestBootstrapAtTheStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for i := range 100 {
			n, err := open(vfs.NewMem(), consensus.Config{})
			if err != nil {
				t.Fatal(err)
			}
			n.run()
			for range i { // a different moment each time
				runtime.Gosched()
			}
			if err := n.Bootstrap([]consensus.Server{{Node: "one", Address: "one", Voter: true}}); err != nil {
				t.Error(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			if err := n.lead(ctx); err != nil {
				t.Errorf("attempt %d: it does not become leader: %v", i, err)
			}
			cancel()
			if err := n.shut(); err != nil {
				t.Error(err)
			}
		}
	})
}

func TestAlone(t *testing.T) {
	fsys := vfs.NewMem()
	n := alone(t, fsys, consensus.Config{})
	first := n.must(t, "1", "append a x")
	if again := n.must(t, "1", "append a x"); again != first {
		t.Errorf("the same command has index %d, not %d", again, first)
	}
	n.must(t, "2", "append a y")
	n.must(t, "", "append a z") // without an id it cannot be recognized
	n.must(t, "5", "append a w")
	n.must(t, "", "append a z")
	_, f, err := n.Propose(t.Context(), command("3", "create a z"))
	if err != nil || f == nil || f.Kind != fault.Exists {
		t.Errorf("got %v, %v", f, err)
	}
	n.must(t, "4", "create b z")
	_, g, err := n.Propose(t.Context(), command("3", "create c z"))
	if err != nil || g == nil || g.Kind != fault.Exists || g.Detail != f.Detail {
		t.Errorf("a repeated command has another outcome: %v, %v", g, err)
	}
	if got := n.machine.get("a"); got != "x y z w z " {
		t.Errorf("a is %q", got)
	}
	if got := n.machine.get("touched"); got != "b" {
		t.Errorf("a rejected command left effects: %q", got)
	}
	index, err := n.ReadIndex(t.Context())
	if err != nil || index < first || n.WaitApplied(t.Context(), index) != nil {
		t.Errorf("read index %d: %v", index, err)
	}
	if leader, ok := n.Leader(); !ok || leader != (consensus.Server{Node: "one", Address: "one", Voter: true}) {
		t.Errorf("the leader is %v", leader)
	}
	if _, ok := n.LastContact(); !ok || n.State() != "leader" || n.Term() == 0 || n.Committed() < first || n.Removed() {
		t.Error("it does not know that it is the leader")
	}
	before, err := n.Servers()
	if err != nil {
		t.Fatal(err)
	}
	// The configuration, Raft's first entry, this node's own entry, which may come after the
	// first commands, and nine of those.
	if err := n.WaitApplied(t.Context(), 12); err != nil {
		t.Fatal(err)
	}
	at, sum, err := n.Checksum(t.Context())
	if err != nil || at != 12 {
		t.Fatalf("the state is at %d: %v", at, err)
	}
	if err := n.shut(); err != nil {
		t.Fatal(err)
	}
	if _, _, err := n.Propose(t.Context(), command("9", "append a z")); !errors.Is(err, consensus.ErrNotLeader) {
		t.Errorf("after Run: %v", err)
	}

	n, err = open(fsys, consensus.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if got := n.machine.get("a"); got != "x y z w z " {
		t.Errorf("after a restart a is %q", got)
	}
	if gotAt, got, err := n.Checksum(t.Context()); err != nil || gotAt != at || got != sum {
		t.Errorf("after a restart the state differs: %v", err)
	}
	if now, err := n.Servers(); err != nil || len(now) != 1 || now[0] != before[0] || !n.Bootstrapped() {
		t.Errorf("after a restart the servers are %v: %v", now, err)
	}
	if err := n.Bootstrap(before); err != nil {
		t.Errorf("the same bootstrap again: %v", err)
	}
	if err := n.Bootstrap([]consensus.Server{{Node: id.Node("two"), Address: "two", Voter: true}}); err == nil {
		t.Error("it accepted another bootstrap")
	}
	n.run()
	if err := n.lead(t.Context()); err != nil {
		t.Fatal(err)
	}
	if again := n.must(t, "1", "append a x"); again != first {
		t.Errorf("after a restart the same command has index %d, not %d", again, first)
	}
	if err := n.shut(); err != nil {
		t.Fatal(err)
	}
}
