package consensus_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/raft"

	"github.com/modelgateway/modelgateway/cluster/consensus"
)

// sender is the transport of a leader that the test plays.
type sender struct {
	consensus.Network

	done chan struct{}
}

func (s sender) Accept() (net.Conn, error) { <-s.done; return nil, net.ErrClosed }
func (s sender) Close() error              { close(s.done); return nil }
func (s sender) Addr() net.Addr            { return &net.UnixAddr{Name: "sender", Net: "memory"} }

func (s sender) Dial(to raft.ServerAddress, timeout time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	return s.Network.Dial(ctx, string(to))
}

// plays returns the transport of a leader that calls from an address; end closes it.
func (g *group) plays(from *node, at string) (transport *raft.NetworkTransport, header raft.RPCHeader, end func()) {
	transport = raft.NewNetworkTransport(sender{g.net.at(at), make(chan struct{})}, 1, 10*time.Second, io.Discard)
	header = raft.RPCHeader{ProtocolVersion: raft.ProtocolVersionMax, ID: []byte(from.cfg.Node), Addr: []byte(from.cfg.Node)}
	return transport, header, func() { _ = transport.Close() }
}

// send sends the newest snapshot of a node to another one, like a leader at an address, and
// returns the response.
func (g *group) send(from *node, at, to string, term uint64) (*raft.InstallSnapshotResponse, error) {
	g.t.Helper()
	meta, data, err := from.NewestSnapshot()
	if err != nil {
		g.t.Fatal(err)
	}
	defer func() { _ = data.Close() }()
	transport, header, end := g.plays(from, at)
	defer end()
	var answer raft.InstallSnapshotResponse
	err = transport.InstallSnapshot(raft.ServerID(to), raft.ServerAddress(to), &raft.InstallSnapshotRequest{
		RPCHeader: header, SnapshotVersion: meta.Version, Term: term, Leader: []byte(from.cfg.Node),
		LastLogIndex: meta.Index, LastLogTerm: meta.Term,
		Configuration: raft.EncodeConfiguration(meta.Configuration), ConfigurationIndex: meta.ConfigurationIndex, Size: meta.Size,
	}, &answer, data)
	return &answer, err
}

// TestSnapshotOfPresentEntries: a follower receives a snapshot although its log has all of it,
// and more that is not committed yet. It confirms, and keeps its log and its members.
func TestSnapshotOfPresentEntries(t *testing.T) {
	t.Run("the state is ahead of it", func(t *testing.T) { synctest.Test(t, func(t *testing.T) { presentEntries(t, true) }) })
	t.Run("the state ends with it", func(t *testing.T) { synctest.Test(t, func(t *testing.T) { presentEntries(t, false) }) })
}

func presentEntries(t *testing.T, ahead bool) { //nolint:revive // flag-parameter: the two cases of one test
	t.Helper()
	g := newGroup(t, short(), "a", "b", "c", "d", "e")
	leader := g.leader()
	fill(t, leader)
	g.same()
	name := string(leader.cfg.Node)
	to := g.others(leader)[0]
	follower := g.nodes[to]
	if ahead {
		// Another member, which that snapshot does not have.
		if err := leader.AddNonvoter(t.Context(), "f", "f"); err != nil {
			t.Fatal(err)
		}
		for i := range 3 {
			leader.must(t, fmt.Sprint("ahead", i), "append l%d ahead", i)
		}
		g.same()
		// The follower's log no longer has any entry of it.
		if err := follower.TakeSnapshot(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	applied := follower.Applied()
	g.net.split([]string{name, to}) // later entries cannot be committed
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	for i := range 3 {
		go func() { _, _, _ = leader.Propose(ctx, command(fmt.Sprint("cut off", i), "append l%d cut", i)) }()
	}
	<-ctx.Done()
	synctest.Wait()
	read := follower.machine.mu.restored // once, and again if it lagged at the beginning
	for range 2 {                        // sent again regardless of the response
		term := leader.Term()
		answer, err := g.send(leader, name, to, term)
		if err != nil || !answer.Success || answer.Term != term {
			t.Fatalf("the follower responded with %+v: %v", answer, err)
		}
	}
	if answer, err := g.send(leader, name, to, leader.Term()-1); err == nil && answer.Success {
		t.Error("it accepts a leader of an earlier term")
	}
	servers, err := follower.Servers()
	if err != nil || slices.ContainsFunc(servers, func(s consensus.Server) bool { return s.Node == "f" }) != ahead || follower.Applied() != applied {
		t.Errorf("it is at %d, was at %d, with %v: %v", follower.Applied(), applied, servers, err)
	}
	if restored := follower.machine.mu.restored; restored != read {
		t.Errorf("the state was read %d more times", restored-read)
	}
	g.net.split()
	g.leader().must(t, "after", "append l after")
	g.same()
}

// TestSnapshotOfUncommittedEntries: it suffices that the log has all of the snapshot, even
// before the follower knows that it is committed.
func TestSnapshotOfUncommittedEntries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGroup(t, short(), "a", "b", "c")
		leader := g.leader()
		leader.must(t, "before", "append l before")
		g.same()
		to := g.others(leader)[0]
		follower := g.nodes[to]
		applied := follower.Applied()
		g.net.split([]string{to, "x"}) // the test is the leader at x
		for i := range 3 {
			leader.must(t, fmt.Sprint(i), "append l %d", i)
		}
		var entries []*raft.Log
		for index := applied; index <= leader.Applied(); index++ {
			entry, err := leader.Entry(index)
			if err != nil {
				t.Fatal(err)
			}
			entries = append(entries, entry)
		}
		if err := leader.TakeSnapshot(t.Context()); err != nil {
			t.Fatal(err)
		}
		transport, header, end := g.plays(leader, "x")
		defer end()
		var answer raft.AppendEntriesResponse
		if err := transport.AppendEntries(raft.ServerID(to), raft.ServerAddress(to), &raft.AppendEntriesRequest{
			RPCHeader: header, Term: leader.Term(), PrevLogEntry: entries[0].Index, PrevLogTerm: entries[0].Term, Entries: entries[1:],
		}, &answer); err != nil || !answer.Success {
			t.Fatalf("the follower responded with %+v: %v", answer, err)
		}
		read := follower.machine.mu.restored
		if said, err := g.send(leader, "x", to, leader.Term()); err != nil || !said.Success {
			t.Errorf("the follower responded with %+v: %v", said, err)
		}
		meta, data, err := leader.NewestSnapshot()
		if err != nil {
			t.Fatal(err)
		}
		_ = data.Close()
		if err := follower.Receive(meta); err == nil || !strings.Contains(err.Error(), "already has the content of the snapshot") {
			t.Errorf("after the guard: %v", err)
		}
		if follower.machine.mu.restored != read || follower.Applied() != applied {
			t.Errorf("it is at %d, was at %d, and was read %d more times", follower.Applied(), applied, follower.machine.mu.restored-read)
		}
		g.net.split()
		g.leader().must(t, "after", "append l after")
		g.same()
	})
}

// TestFollowsSnapshot: a node whose log begins after a snapshot accepts the entries that follow
// the snapshot, even if it already has some of them.
func TestFollowsSnapshot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGroup(t, short(), "a", "b", "c")
		leader := g.leader()
		fill(t, leader)
		if err := leader.AddNonvoter(t.Context(), "d", "d"); err != nil {
			t.Fatal(err)
		}
		d := g.start("d", nil)
		g.same()
		meta, data, err := leader.NewestSnapshot()
		if err != nil {
			t.Fatal(err)
		}
		_ = data.Close()
		if meta.Index >= d.Applied() {
			t.Fatalf("there is no entry after the snapshot at %d", meta.Index)
		}
		transport, header, end := g.plays(leader, string(leader.cfg.Node))
		defer end()
		for term, want := range map[uint64]bool{meta.Term: true, meta.Term + 1: false} {
			var answer raft.AppendEntriesResponse
			err := transport.AppendEntries("d", "d", &raft.AppendEntriesRequest{
				RPCHeader: header, Term: leader.Term(), PrevLogEntry: meta.Index, PrevLogTerm: term,
			}, &answer)
			if err != nil || answer.Success != want {
				t.Errorf("after entry %d of term %d: %+v, %v", meta.Index, term, answer, err)
			}
		}
	})
}

// TestSnapshotOfADivergedLog: a follower whose log diverges after the snapshot stops, and
// rejoins the others after a restart.
func TestSnapshotOfADivergedLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		died := make(chan error, 1)
		g := newMortal(t, short(), func(err error) {
			died <- err
			runtime.Goexit()
		}, "a", "b", "c")
		lost := g.leader()
		name := string(lost.cfg.Node)
		lost.must(t, "before", "append l before")
		g.same()
		g.net.split([]string{name})
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		for i := range 40 {
			go func() { _, _, _ = lost.Propose(ctx, command(fmt.Sprint("cut off", i), "append l cut")) }()
		}
		<-ctx.Done()
		next := g.leader(g.others(lost)...)
		for i := range 4 {
			next.must(t, fmt.Sprint(i), "append l %d", i)
		}
		if err := next.TakeSnapshot(t.Context()); err != nil {
			t.Fatal(err)
		}
		next.must(t, "behind it", "append l behind")
		g.net.split()
		select {
		case err := <-died:
			if !strings.Contains(err.Error(), "Start it again") {
				t.Errorf("it reports %v", err)
			}
		case <-time.After(time.Minute):
			t.Error("it continues")
		}
		g.stop(name)
		g.start(name, nil)
		g.leader().must(t, "after", "append l after")
		g.same()
		if got := g.nodes[name].machine.get("l"); strings.Contains(got, "cut") || !strings.HasSuffix(got, "behind after ") {
			t.Errorf("it has %q", got)
		}
	})
}
