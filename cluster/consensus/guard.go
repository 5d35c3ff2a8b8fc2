package consensus

import (
	"context"
	"io"
	"sync"

	"github.com/hashicorp/raft"
)

// guard wraps Raft's transport and corrects how hashicorp/raft 1.8.0 installs snapshots.
//
// A leader may send a snapshot whose content a node already has, because an acknowledgement was
// lost. The node must then keep its log and state, and confirm (Ongaro and Ousterhout, In
// Search of an Understandable Consensus Algorithm, figure 13, InstallSnapshot, rule 6). The
// library installs the snapshot all the same (its issue 697). It sets the members to those of
// the snapshot and empties the log, but keeps the old last index. The node then believes that
// it was removed and follows no leader, or panics at the next committed entry.
//
// Also, a leader may send entries that follow the last entry of the newest snapshot while the
// log begins after it. The library knows that snapshot entry only while the log is empty.
// Otherwise it rejects everything that the leader sends, until the next snapshot. The log could
// report that entry instead, but a leader reads the log too, and would send it.
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

// run forwards incoming requests until ctx ends. Requests without a response then get none,
// because the transport is closed.
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
					req.PrevLogEntry, req.PrevLogTerm = 0, 0 // it follows the snapshot: Raft must not look the entry up
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

// skip responds that a snapshot is installed. It must read the bytes of the snapshot, which
// come before the next request.
func skip(rpc raft.RPC, req *raft.InstallSnapshotRequest) {
	if _, err := io.Copy(io.Discard, rpc.Reader); err != nil {
		rpc.Respond(nil, err)
		return
	}
	rpc.Respond(&raft.InstallSnapshotResponse{
		RPCHeader: raft.RPCHeader{ProtocolVersion: req.ProtocolVersion}, Term: req.Term, Success: true,
	}, nil)
}

// covers reports whether this node has the content of a snapshot. That cannot change, because
// the content is committed. Raft itself rejects a leader of an earlier term.
func (c *Consensus) covers(req *raft.InstallSnapshotRequest) bool {
	current, err := c.log.GetUint64([]byte(keyTerm))
	return err == nil && req.Term >= current && c.snaps.covered(req.LastLogIndex, req.LastLogTerm)
}

// covered reports whether the log has the last entry of a snapshot, or the applied index has
// reached it. An applied entry equals the snapshot's, because only committed entries are
// applied and every leader has them.
func (s *snapshots) covered(index, term uint64) bool {
	return s.log.has(index, term) || s.applied() >= index
}
