package consensus

import (
	"errors"
	"io"
	"sync"
	"time"

	"github.com/hashicorp/raft"
)

// reachPause is how often a replication that waits for a member checks whether it is still
// needed.
const reachPause = 100 * time.Millisecond

// errAway is Raft's error for a request to an unreachable member, once the member responds
// again or the request is no longer needed. Raft then makes a new request.
var errAway = errors.New("the member did not answer")

// reach knows which members are unreachable.
//
// Raft's leader backs off before it replicates to a member again, up to 10 s after 12 failures,
// and offers no way to shorten that (hashicorp/raft 1.8.0, replicateTo). A member that was down
// for half a minute would get no entry for that long. Heartbeats are a separate loop, at most
// half a heartbeat timeout apart. So while they fail, the guard holds the replication request
// instead of failing it. Raft then counts two failures, however long the member is down, and
// backs off for 10 ms.
type reach struct {
	mu struct {
		sync.Mutex
		away map[raft.ServerID]chan struct{} // closed when the member has responded
	}
}

func newReach() *reach {
	r := &reach{}
	r.mu.away = map[raft.ServerID]chan struct{}{}
	return r
}

// away returns a channel that is closed when a member responds again; nil if it is reachable.
func (r *reach) away(member raft.ServerID) <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	if back, away := r.mu.away[member]; away {
		return back
	}
	return nil
}

// heard records whether a member has responded.
func (r *reach) heard(member raft.ServerID, answered bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	back, away := r.mu.away[member]
	switch {
	case answered && away:
		close(back)
		delete(r.mu.away, member)
	case !answered && !away:
		r.mu.away[member] = make(chan struct{})
	}
}

// isHeartbeat reports whether a request is a heartbeat, by the same test as Raft's transport.
func isHeartbeat(req *raft.AppendEntriesRequest) bool {
	return req.PrevLogEntry == 0 && req.PrevLogTerm == 0 && len(req.Entries) == 0 && req.LeaderCommitIndex == 0
}

// AppendEntries implements raft.Transport.
func (g *guard) AppendEntries(member raft.ServerID, at raft.ServerAddress, req *raft.AppendEntriesRequest, resp *raft.AppendEntriesResponse) error {
	if !isHeartbeat(req) && g.waited(member, req.Term) {
		return errAway
	}
	err := g.NetworkTransport.AppendEntries(member, at, req, resp)
	g.reach.heard(member, err == nil)
	if err == nil && resp.Success && !isHeartbeat(req) {
		g.of.confirmations.note(member, sent(req))
	}
	return err
}

// InstallSnapshot implements raft.Transport.
func (g *guard) InstallSnapshot(member raft.ServerID, at raft.ServerAddress, req *raft.InstallSnapshotRequest, resp *raft.InstallSnapshotResponse, data io.Reader) error {
	if g.waited(member, req.Term) {
		return errAway
	}
	err := g.NetworkTransport.InstallSnapshot(member, at, req, resp, data)
	g.reach.heard(member, err == nil)
	if err == nil && resp.Success {
		g.of.confirmations.note(member, Position{req.LastLogIndex, req.LastLogTerm})
	}
	return err
}

// waited waits while a member is unreachable and this node replicates to it. It reports whether
// it has waited; the request is then outdated.
func (g *guard) waited(member raft.ServerID, term uint64) bool {
	back := g.reach.away(member)
	if back == nil {
		return false
	}
	look := time.NewTicker(reachPause)
	defer look.Stop()
	for g.of.replicates(member, term) {
		select {
		case <-back:
			return true
		case <-look.C:
		}
	}
	return true
}

// replicates reports whether this node is the leader of a term and has the member in its
// configuration. Otherwise Raft's replication goroutine ends.
func (c *Consensus) replicates(member raft.ServerID, term uint64) bool {
	r := c.started()
	if r == nil || r.State() != raft.Leader || r.CurrentTerm() != term {
		return false
	}
	future := r.GetConfiguration()
	if future.Error() != nil {
		return false
	}
	for _, s := range future.Configuration().Servers {
		if s.ID == member {
			return true
		}
	}
	return false
}
