package consensus

import (
	"context"
	"io"
	"sync"

	"github.com/hashicorp/raft"
)

// guard is a transport that does for Raft what the library leaves out where a snapshot
// meets a log (hashicorp/raft 1.8.0).
//
// A node that is sent a snapshot and has what it says already, because the leader did
// not hear so, keeps its log and its state and says that all is well (Ongaro and
// Ousterhout, In Search of an Understandable Consensus Algorithm, figure 13,
// InstallSnapshot, rule 6). The library installs it all the same (its issue 697): the
// members become those of the snapshot, the log is emptied, and Raft goes on to believe
// that it ends where it ended. The node then takes itself for one that was taken out,
// follows nobody, or panics at the next entry that is committed.
//
// And what a leader sends follows the entry that the newest snapshot ends with, though
// the log begins behind it. The library knows that only as long as the log is empty,
// and then refuses all that the leader sends, down to the next snapshot. To answer for
// that entry in the log would do as well, but a leader reads the log too, and would
// send what it is told there.
type guard struct {
	*raft.NetworkTransport

	of    *Consensus
	rpcs  chan raft.RPC
	reach *reach
}

func newGuard(t *raft.NetworkTransport, of *Consensus) *guard {
	return &guard{NetworkTransport: t, of: of, rpcs: make(chan raft.RPC), reach: newReach()}
}

// Consumer implements raft.Transport.
func (g *guard) Consumer() <-chan raft.RPC { return g.rpcs }

// run hands on what comes in, until ctx is over. What then has no answer gets none
// any more: the transport is closed.
func (g *guard) run(ctx context.Context) {
	var answers sync.WaitGroup
	defer answers.Wait()
	for {
		select {
		case rpc := <-g.NetworkTransport.Consumer():
			if g.denied(rpc) {
				continue
			}
			switch req := rpc.Command.(type) {
			case *raft.InstallSnapshotRequest:
				if g.of.covers(req) {
					answers.Go(func() { skip(rpc, req) })
					continue
				}
			case *raft.AppendEntriesRequest:
				if g.of.log.beginsBehind(req.PrevLogEntry, req.PrevLogTerm) {
					req.PrevLogEntry, req.PrevLogTerm = 0, 0 // it follows: not to be looked up
				}
			}
			select {
			case g.rpcs <- rpc:
			case <-ctx.Done():
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

// skip answers that a snapshot is installed. Its bytes stand between the request and
// the next one, so they have to be read.
func skip(rpc raft.RPC, req *raft.InstallSnapshotRequest) {
	if _, err := io.Copy(io.Discard, rpc.Reader); err != nil {
		rpc.Respond(nil, err)
		return
	}
	rpc.Respond(&raft.InstallSnapshotResponse{
		RPCHeader: raft.RPCHeader{ProtocolVersion: req.ProtocolVersion}, Term: req.Term, Success: true,
	}, nil)
}

// covers reports whether this node has what a snapshot says. It stays so: what a
// snapshot holds is committed. A leader of an earlier term is Raft's to refuse.
func (c *Consensus) covers(req *raft.InstallSnapshotRequest) bool {
	current, err := c.log.GetUint64([]byte(keyTerm))
	return err == nil && req.Term >= current && c.snaps.covered(req.LastLogIndex, req.LastLogTerm)
}

// covered reports whether the log has the entry that a snapshot ends with, or the
// state has come as far: it then went the same way, for only what is committed is
// applied, and a leader has all of that.
func (s *snapshots) covered(index, term uint64) bool {
	return s.log.has(index, term) || s.applied() >= index
}
