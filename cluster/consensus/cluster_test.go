package consensus_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/modelgateway/modelgateway/cluster/consensus"
	"github.com/modelgateway/modelgateway/cluster/id"
)

// group is an in-memory cluster. Its tests run in a synctest bubble, on virtual time and with
// the default timing.
type group struct {
	t       *testing.T
	net     *network
	servers []consensus.Server
	nodes   map[string]*node
	disks   map[string]*vfs.MemFS
	timing  consensus.Timing
	fatal   func(error) // Config.Fatal of the nodes
}

// newGroup starts a cluster of voters.
func newGroup(t *testing.T, timing consensus.Timing, names ...string) *group {
	t.Helper()
	return newMortal(t, timing, nil, names...)
}

// newMortal is newGroup with a Config.Fatal.
func newMortal(t *testing.T, timing consensus.Timing, fatal func(error), names ...string) *group {
	t.Helper()
	g := &group{t: t, net: newNetwork(), nodes: map[string]*node{}, disks: map[string]*vfs.MemFS{}, timing: timing, fatal: fatal}
	for _, name := range names {
		g.servers = append(g.servers, consensus.Server{Node: id.Node(name), Address: name, Voter: true})
	}
	for _, name := range names {
		g.disks[name] = vfs.NewMem()
		g.start(name, g.servers)
	}
	t.Cleanup(func() {
		for _, n := range g.nodes {
			if err := n.shut(); err != nil {
				t.Error(err)
			}
		}
	})
	return g
}

// start opens and runs a node; if servers are given, it is bootstrapped.
func (g *group) start(name string, servers []consensus.Server) *node {
	g.t.Helper()
	if g.disks[name] == nil {
		g.disks[name] = vfs.NewMem()
	}
	timing := g.timing
	if timing == (consensus.Timing{}) {
		timing.SnapshotInterval = time.Hour
	}
	n, err := open(g.disks[name], consensus.Config{
		Node: id.Node(name), Address: name, Network: g.net.at(name), Timing: timing, Fatal: g.fatal,
	})
	if err != nil {
		g.t.Fatal(err)
	}
	if servers != nil {
		if err := n.Bootstrap(servers); err != nil {
			g.t.Fatal(err)
		}
	}
	n.run()
	g.nodes[name] = n
	return n
}

// stop stops a node like a process that receives SIGTERM.
func (g *group) stop(name string) {
	g.t.Helper()
	if err := g.nodes[name].shut(); err != nil {
		g.t.Fatal(err)
	}
	delete(g.nodes, name)
}

// leader waits for one confirmed leader among the named nodes.
func (g *group) leader(among ...string) *node {
	g.t.Helper()
	if len(among) == 0 {
		for name := range g.nodes {
			among = append(among, name)
		}
	}
	for range 200 {
		for _, name := range among {
			n := g.nodes[name]
			ctx, cancel := context.WithTimeout(g.t.Context(), time.Second)
			_, err := n.ReadIndex(ctx)
			cancel()
			if err == nil {
				return n
			}
		}
		<-time.After(100 * time.Millisecond)
	}
	g.t.Fatal("there is no leader")
	return nil
}

// others returns the names of all nodes except n.
func (g *group) others(n *node) []string {
	var out []string
	for name, other := range g.nodes {
		if other != n {
			out = append(out, name)
		}
	}
	return out
}

func (g *group) same() {
	g.t.Helper()
	all := make([]*node, 0, len(g.nodes))
	last := uint64(0)
	for _, n := range g.nodes {
		all, last = append(all, n), max(last, n.Applied())
	}
	for _, n := range all { // an entry that one has applied reaches the others in a moment
		if err := n.WaitApplied(g.t.Context(), last); err != nil {
			g.t.Fatal(err)
		}
	}
	sameState(g.t, all...)
}

func TestThreeVotersReplicate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGroup(t, consensus.Timing{}, "a", "b", "c")
		leader := g.leader()
		for i := range 50 {
			leader.must(t, fmt.Sprint(i), "append l%d %d", i%3, i)
		}
		index, err := leader.ReadIndex(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range g.nodes {
			if err := n.WaitApplied(t.Context(), index); err != nil {
				t.Fatal(err)
			}
			if got := n.machine.get("l1"); !strings.HasSuffix(got, "46 49 ") {
				t.Errorf("%s has %q", n.cfg.Node, got)
			}
			if at, ok := n.Leader(); !ok || at.Node != leader.cfg.Node || !at.Voter {
				t.Errorf("%s follows %v", n.cfg.Node, at)
			}
			if n == leader {
				continue
			}
			if _, _, err := n.Propose(t.Context(), command("x", "append x x")); !errors.Is(err, consensus.ErrNotLeader) {
				t.Errorf("a follower accepted a proposal: %v", err)
			}
			if _, err := n.ReadIndex(t.Context()); !errors.Is(err, consensus.ErrNotLeader) {
				t.Errorf("a follower returned a read index: %v", err)
			}
		}
		g.same()
	})
}

// TestFailover stops the leader while commands are proposed. Commands with an unknown outcome
// are retried on another node: each takes effect once.
func TestFailover(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGroup(t, consensus.Timing{}, "a", "b", "c")
		var want strings.Builder
		for i := range 60 {
			if i%20 == 10 {
				leader := g.leader()
				name := string(leader.cfg.Node)
				g.net.split([]string{name}) // from now on it cannot know the outcome
				ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
				_, f, err := leader.Propose(ctx, command(fmt.Sprint(i), "append l %d", i))
				cancel()
				if err == nil {
					t.Fatalf("a leader without a quorum committed: %v", f)
				}
				if !errors.Is(err, consensus.ErrUncertain) {
					t.Errorf("the outcome is reported as known: %v", err)
				}
				if leader.IsLeader() {
					t.Error("it is still leader")
				}
				next := g.leader(g.others(leader)...)
				next.must(t, fmt.Sprint(i), "append l %d", i)
				g.net.split()
			} else {
				g.leader().must(t, fmt.Sprint(i), "append l %d", i)
			}
			fmt.Fprintf(&want, "%d ", i)
		}
		g.same()
		for _, n := range g.nodes {
			if got := n.machine.get("l"); got != want.String() {
				t.Errorf("%s has %q", n.cfg.Node, got)
			}
		}
	})
}

// TestTransferOfLeadership: a leader that is stopped transfers its leadership, so that no
// election timeout passes.
func TestTransferOfLeadership(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGroup(t, consensus.Timing{}, "a", "b", "c")
		for i := range 3 {
			leader := g.leader()
			leader.must(t, fmt.Sprint(i), "append l %d", i)
			if i == 2 {
				if err := leader.TransferLeadership(t.Context()); err != nil || leader.IsLeader() {
					t.Errorf("transfer: %v", err)
				}
				break
			}
			name := string(leader.cfg.Node)
			g.stop(name)
			began := time.Now()
			g.leader()
			if took := time.Since(began); took > 500*time.Millisecond { // an election takes at least a second
				t.Errorf("there was no leader for %v", took)
			}
			g.start(name, nil)
		}
		g.leader()
		g.same()
	})
}
