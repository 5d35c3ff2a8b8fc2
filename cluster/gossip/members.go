package gossip

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/modelgateway/modelgateway/cluster/id"
)

const (
	// conflictFor is how long two addresses of one node remain a problem after the last
	// occurrence.
	conflictFor = time.Minute
	// lostPackets is how often in a row a member must be reached by a stream but not by packets
	// to be a problem: a single packet may get lost.
	lostPackets = 3
)

// Member is a node in the view of gossip. Alive means that some member reaches it; otherwise
// probably none does.
type Member struct {
	Node    id.Node
	Address string // host:port as advertised
	Alive   bool
	Version string // of the gateway
	// Transactions is the highest version of transactions that the member knows; 0: it does not tell.
	Transactions uint32
}

// members are the known nodes. memberlist's own list is not usable, because its entries change
// during reads. memberlist calls these methods under its locks, so they must not call it.
type members struct {
	mu struct {
		sync.RWMutex
		all   map[id.Node]*member
		alive int
		join  string // why no node could be joined; empty if one was
	}
}

type member struct {
	Member
	gone      time.Time // when it was lost
	unpacked  int       // how often in a row only a stream reached it
	conflict  string    // another address that was announced for the same node
	conflicts time.Time // when that last happened
}

func newMembers() *members {
	m := &members{}
	m.mu.all = make(map[id.Node]*member)
	return m
}

// admit reports whether an announced node may become a member.
func (m *members) admit(who id.Node) error {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if old := m.mu.all[who]; (old == nil || !old.Alive) && m.mu.alive >= maxNodes {
		return fmt.Errorf("gossip: %d members are the most there can be", maxNodes)
	}
	return nil
}

// joined adds a live node.
func (m *members) joined(as Member) {
	m.mu.Lock()
	defer m.mu.Unlock()
	old := m.mu.all[as.Node]
	if old == nil {
		if len(m.mu.all) >= 2*maxNodes {
			m.forgetLocked(time.Time{}) // regardless of when they were lost
		}
		old = &member{}
		m.mu.all[as.Node] = old
	}
	if !old.Alive {
		m.mu.alive++
		old.unpacked = 0
	}
	old.Member = as
	old.Alive = true
	if m.mu.alive > 1 {
		m.mu.join = ""
	}
}

// left marks a node as gone.
func (m *members) left(who id.Node, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if old := m.mu.all[who]; old != nil && old.Alive {
		old.Alive, old.gone = false, now
		m.mu.alive--
	}
}

// forget drops the nodes that were gone before a time.
func (m *members) forget(then time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.forgetLocked(then)
}

// forgetLocked drops the nodes that were gone before then; all that are gone if then is zero.
func (m *members) forgetLocked(then time.Time) {
	for who, old := range m.mu.all {
		if !old.Alive && (then.IsZero() || old.gone.Before(then)) {
			delete(m.mu.all, who)
		}
	}
}

// conflict records that a node was announced with another address.
func (m *members) conflict(who id.Node, address string, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if old := m.mu.all[who]; old != nil {
		old.conflict, old.conflicts = address, now
	}
}

// reached records a successful packet round trip to a member.
func (m *members) reached(who id.Node) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if old := m.mu.all[who]; old != nil {
		old.unpacked = 0
	}
}

// unreached records that a member was reached by a stream but not by packets, and reports
// whether that has just become a problem.
func (m *members) unreached(who id.Node) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	old := m.mu.all[who]
	if old == nil {
		return false
	}
	old.unpacked++
	return old.unpacked == lostPackets
}

// alone records that no node could be joined, unless there is a member by now, and reports
// whether that is new.
func (m *members) alone(why string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.mu.alive > 1 {
		return false
	}
	fresh := m.mu.join == ""
	m.mu.join = why
	return fresh
}

// count returns the number of live nodes, including this one; at least 1.
func (m *members) count() int {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return max(m.mu.alive, 1)
}

// address returns the address of a member.
func (m *members) address(who string) (string, bool) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	old := m.mu.all[id.Node(who)]
	if old == nil {
		return "", false
	}
	return old.Address, true
}

// list returns all known nodes, sorted.
func (m *members) list() []Member {
	m.mu.RLock()
	defer m.mu.RUnlock()
	out := make([]Member, 0, len(m.mu.all))
	for _, old := range m.mu.all {
		out = append(out, old.Member)
	}
	slices.SortFunc(out, func(a, b Member) int { return cmp.Compare(a.Node, b.Node) })
	return out
}

// problems returns the problems for the operator.
func (m *members) problems(now time.Time) []string {
	m.mu.RLock()
	defer m.mu.RUnlock()
	var out []string
	for _, old := range m.mu.all {
		if old.Alive && old.unpacked >= lostPackets {
			out = append(out, fmt.Sprintf("gossip: node %s at %s answers over TCP but not over UDP; open UDP on the same port in both directions", old.Node, old.Address))
		}
		if old.conflict != "" && now.Sub(old.conflicts) < conflictFor {
			out = append(out, fmt.Sprintf("gossip: node %s is announced from %s and from %s; if both run, one has a copy of the other's data directory", old.Node, old.Address, old.conflict))
		}
	}
	if m.mu.join != "" {
		out = append(out, m.mu.join)
	}
	slices.Sort(out)
	return out
}
