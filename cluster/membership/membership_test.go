package membership_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/modelgateway/modelgateway/cluster/consensus"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/membership"
	"github.com/modelgateway/modelgateway/cluster/peer"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/store"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// noMachine applies nothing: these tests commit nothing.
type noMachine struct{}

func (noMachine) Apply(*store.Tx, consensus.Entry) consensus.Outcome { return consensus.Outcome{} }
func (noMachine) Restored(*store.Store, uint64) error                { return nil }

// opened is a node that is open. It reaches no other node.
type opened struct {
	*membership.Members
	close func()
}

// open opens a node with the data of a file system. With peers it is to be part of a cluster of
// three.
func open(t *testing.T, fsys vfs.FS, node string, peers *peer.Clients) opened {
	t.Helper()
	s, err := store.Open(store.Config{Dir: "data/store", FS: fsys, BallastBytes: -1})
	if err != nil {
		t.Fatal(err)
	}
	c, err := consensus.Open(consensus.Config{Log: s, Dir: "data", FS: fsys, Machine: noMachine{}, Node: id.Node(node)})
	if err != nil {
		t.Fatal(err)
	}
	m, err := membership.Open(membership.Config{
		Self: server(node), Expect: 3, Dir: "data", Store: s, Consensus: c, Peers: peers, Strangers: peers, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	return opened{m, func() {
		for _, closed := range []error{c.Close(), s.Close()} {
			if closed != nil {
				t.Error(closed)
			}
		}
	}}
}

func server(node string) consensus.Server {
	return consensus.Server{Node: id.Node(node), Address: node + ":7400", Voter: true}
}

func configuration(nodes ...string) (out []*clusterv1.Server) {
	for _, n := range nodes {
		out = append(out, membership.Wire(server(n)))
	}
	return out
}

func (o opened) promise(nodes ...string) string {
	_, err := o.Service().Promise(context.Background(), &clusterv1.PromiseRequest{Servers: configuration(nodes...)})
	return codeOf(err)
}

func (o opened) form(nodes ...string) string {
	_, err := o.Service().Form(context.Background(), &clusterv1.FormRequest{Servers: configuration(nodes...)})
	return codeOf(err)
}

func codeOf(err error) string {
	if err == nil {
		return ""
	}
	return fault.From(err).Code
}

// TestOnePromise: a node joins one first configuration only, whatever it is asked to, and
// also after a restart.
func TestOnePromise(t *testing.T) {
	t.Parallel()
	peers := peer.NewClients(nil)
	fsys := vfs.NewMem()
	expect := func(what, got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
	}
	b := open(t, fsys, "b", peers)
	expect("a configuration without the node", b.promise("a", "c", "d"), "not_meant")
	expect("no configuration", b.promise(), "not_the_proposer")
	expect("the first promise", b.promise("c", "b", "a"), "") // in any order: a proposes it
	expect("another one of the same node", b.promise("a", "b", "d"), "")
	expect("of another node", b.promise("aa", "b", "d"), "promised")
	b.close()

	b = open(t, fsys, "b", peers)
	expect("of another node, after a restart", b.promise("aa", "b", "d"), "promised")
	expect("a start with another configuration", b.form("a", "b", "c"), "not_promised")
	if b.Cluster() != "" {
		t.Errorf("a promise makes it part of cluster %s", b.Cluster())
	}
	expect("the start", b.form("a", "b", "d"), "")
	cluster := b.Cluster()
	expect("the start again", b.form("d", "b", "a"), "")
	expect("a promise after the start", b.promise("a", "b", "d"), "formed")
	expect("the start of another cluster", b.form("a", "b", "c"), "not_promised")
	b.close()

	b = open(t, fsys, "b", peers)
	defer b.close()
	if cluster == "" || b.Cluster() != cluster {
		t.Errorf("it began cluster %q, and after a restart it is part of %q", cluster, b.Cluster())
	}
}

// TestAlone: a node without other nodes is a cluster of its own, and stays the same one.
func TestAlone(t *testing.T) {
	t.Parallel()
	fsys := vfs.NewMem()
	a := open(t, fsys, "a", nil)
	cluster := a.Cluster()
	a.close()
	a = open(t, fsys, "a", nil)
	defer a.close()
	if cluster == "" || a.Cluster() != cluster {
		t.Errorf("cluster %q, after a restart %q", cluster, a.Cluster())
	}
}

// TestRemovedNodesAreRejected: usage of a node that was removed is rejected, with what the
// operator can do.
func TestRemovedNodesAreRejected(t *testing.T) {
	t.Parallel()
	s, err := store.Open(store.Config{Dir: "state", Kind: store.StateStore, FS: vfs.NewMem()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	tx := s.NewTx()
	defer tx.Close()
	by := record.Stamp{Index: 7, Actor: "ada", Time: time.Unix(1_700_000_000, 0)}
	for _, node := range []string{"", " a", "a\n"} {
		if f := membership.Retire(tx, &clusterv1.RetireNode{Node: node}, by); f == nil || f.Param != "node_id" {
			t.Errorf("removing %q: %v", node, f)
		}
	}
	if f := membership.Retire(tx, &clusterv1.RetireNode{Node: "a"}, by); f != nil {
		t.Fatal(f)
	}
	if f := record.Store(tx, store.SpaceRetired, []byte("old"), &clusterv1.RetiredNode{Node: "old", Restored: true}); f != nil {
		t.Fatal(f)
	}
	for node, want := range map[string]string{"a": "node_removed", "old": "node_of_backup", "b": ""} {
		got := ""
		if f := membership.Rejected(tx, node); f != nil {
			got = f.Code
		}
		if got != want {
			t.Errorf("node %s: %q, want %q", node, got, want)
		}
	}
}
