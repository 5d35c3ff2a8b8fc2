package consensus

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/hashicorp/raft"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
)

// comparePause is how long a node waits before it asks the others again, while it does not know
// how far their logs reach.
const comparePause = 100 * time.Millisecond

// Position is a place in the log.
type Position struct{ Index, Term uint64 }

// before orders positions as Raft orders logs: by term, then by index.
func (p Position) before(o Position) bool {
	return p.Term < o.Term || p.Term == o.Term && p.Index < o.Index
}

// Standing is what another member reports to a node that has started.
type Standing struct {
	Node      id.Node
	Applied   Position // the committed log reaches at least this far
	Confirmed Position // how far the requesting node acknowledged the log to this member while it was leader; zero: unknown
}

// comparison has the positions that other members reported since this node started.
//
// Raft relies on a node to keep the entries that it has acknowledged. A node that starts with
// an older copy of its data directory has lost some of them. Its vote could elect a leader
// without committed entries. So a started node neither grants nor requests votes before it has
// compared its log with the others. After that it votes only for logs that contain everything
// the others know to be committed.
type comparison struct {
	mu struct {
		sync.Mutex
		done      bool
		committed Position // the highest reported position
		confirmed Position // what this node acknowledged, as far as a member remembers it
	}
}

func (c *comparison) set(committed, confirmed Position) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mu.done, c.mu.committed, c.mu.confirmed = true, committed, confirmed
}

// allows reports whether this node may vote for a log that ends at p.
func (c *comparison) allows(p Position) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.mu.done && !p.before(c.mu.committed)
}

// end returns the end of this node's log.
func (c *Consensus) end() Position {
	_, last := c.log.ends()
	var entry raft.Log
	if last > 0 && c.log.GetLog(last, &entry) == nil {
		return Position{entry.Index, entry.Term}
	}
	if newest := c.snaps.newest(); newest != nil {
		return Position{newest.index, newest.term}
	}
	return Position{}
}

// compare asks the other members for their positions, until all other voters have responded, or
// enough for a quorum within one heartbeat timeout.
func (c *Consensus) compare(ctx context.Context) {
	began := time.Now()
	heard := map[id.Node]Standing{}
	for {
		round, cancel := context.WithTimeout(ctx, c.cfg.Timing.Heartbeat)
		for _, s := range c.cfg.Standings(round) {
			heard[s.Node] = s
		}
		cancel()
		if c.enough(heard, time.Since(began)) {
			c.compared(ctx, heard)
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(comparePause):
		}
	}
}

// enough reports whether the responses suffice after some time.
func (c *Consensus) enough(heard map[id.Node]Standing, after time.Duration) bool {
	servers, err := c.Servers()
	if err != nil {
		return false
	}
	voters, there, others := 0, 0, 0
	for _, s := range servers {
		if !s.Voter {
			continue
		}
		voters++
		if s.Node == c.cfg.Node {
			there++
			continue
		}
		others++
		if _, ok := heard[s.Node]; ok {
			there++
			others--
		}
	}
	return others == 0 || there > voters/2 && after >= c.cfg.Timing.Heartbeat
}

// compared ends the comparison with the responses of the members.
func (c *Consensus) compared(ctx context.Context, heard map[id.Node]Standing) {
	servers, err := c.Servers()
	if err != nil {
		return // Raft is shut down
	}
	var committed, confirmed Position
	for _, member := range servers {
		s := heard[member.Node]
		if committed.before(s.Applied) {
			committed = s.Applied
		}
		if confirmed.before(s.Confirmed) {
			confirmed = s.Confirmed
		}
	}
	c.comparison.set(committed, confirmed)
	if err := c.OlderCopy(); err != nil {
		c.cfg.Logger.LogAttrs(ctx, slog.LevelWarn, "this node neither votes nor is ready before it has caught up", slog.Any("error", err))
	}
}

// OlderCopy returns an error while the log ends before an entry that this node has acknowledged
// to another member: its data directory is an older copy.
func (c *Consensus) OlderCopy() error {
	c.comparison.mu.Lock()
	confirmed := c.comparison.mu.confirmed
	c.comparison.mu.Unlock()
	if confirmed == (Position{}) {
		return nil
	}
	end := c.end()
	if !end.before(confirmed) {
		return nil
	}
	return fault.New(fault.Unavailable, "older_copy",
		"The data directory is an older copy: its log ends at entry %d, and this node had confirmed entry %d. The node gets the missing entries from the others. If none of them has a leader, start it with an empty data directory, as a new node.",
		end.Index, confirmed.Index)
}

// Standing returns this node's report to a member that has started.
func (c *Consensus) Standing(to id.Node) Standing {
	at := c.state.applied()
	s := Standing{Node: c.cfg.Node, Applied: Position{at.index, at.term}, Confirmed: c.confirmations.of(to)}
	if s.Applied.before(s.Confirmed) {
		s.Confirmed = s.Applied // the entries after it may not be committed
	}
	return s
}

// confirmations are the positions that the other members acknowledged while this node was
// leader.
type confirmations struct {
	mu struct {
		sync.Mutex
		at map[raft.ServerID]Position
	}
}

func (c *confirmations) of(member id.Node) Position {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.mu.at[raft.ServerID(member)]
}

// note records that a member has all of the log up to p.
func (c *confirmations) note(member raft.ServerID, p Position) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.mu.at == nil {
		c.mu.at = map[raft.ServerID]Position{}
	}
	c.mu.at[member] = p
}

// sent returns the lowest possible end of the log of a member that has accepted a request.
func sent(req *raft.AppendEntriesRequest) Position {
	if n := len(req.Entries); n > 0 {
		return Position{req.Entries[n-1].Index, req.Entries[n-1].Term}
	}
	return Position{req.PrevLogEntry, req.PrevLogTerm}
}

// RequestVote implements raft.Transport.
func (g *guard) RequestVote(member raft.ServerID, at raft.ServerAddress, req *raft.RequestVoteRequest, resp *raft.RequestVoteResponse) error {
	if !g.of.comparison.allows(Position{req.LastLogIndex, req.LastLogTerm}) {
		*resp = raft.RequestVoteResponse{RPCHeader: req.RPCHeader, Term: req.Term}
		return nil
	}
	return g.NetworkTransport.RequestVote(member, at, req, resp)
}

// RequestPreVote implements raft.WithPreVote.
func (g *guard) RequestPreVote(member raft.ServerID, at raft.ServerAddress, req *raft.RequestPreVoteRequest, resp *raft.RequestPreVoteResponse) error {
	if !g.of.comparison.allows(Position{req.LastLogIndex, req.LastLogTerm}) {
		*resp = raft.RequestPreVoteResponse{RPCHeader: req.RPCHeader, Term: req.Term}
		return nil
	}
	return g.NetworkTransport.RequestPreVote(member, at, req, resp)
}

// denied responds to a vote request that this node must not grant, and reports whether it did.
func (g *guard) denied(rpc raft.RPC) bool {
	switch req := rpc.Command.(type) {
	case *raft.RequestVoteRequest:
		if g.of.comparison.allows(Position{req.LastLogIndex, req.LastLogTerm}) {
			return false
		}
		rpc.Respond(&raft.RequestVoteResponse{RPCHeader: raft.RPCHeader{ProtocolVersion: req.ProtocolVersion}, Term: req.Term}, nil)
	case *raft.RequestPreVoteRequest:
		if g.of.comparison.allows(Position{req.LastLogIndex, req.LastLogTerm}) {
			return false
		}
		rpc.Respond(&raft.RequestPreVoteResponse{RPCHeader: raft.RPCHeader{ProtocolVersion: req.ProtocolVersion}, Term: req.Term}, nil)
	default:
		return false
	}
	return true
}
