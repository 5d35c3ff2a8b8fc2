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
	// conflictFor is how long two addresses of one node are shown as a problem
	// after they were last seen.
	conflictFor = time.Minute
	// lostPackets is how many times in a row a member has to be reached by a
	// stream and not by packets before that is called a problem: one packet may get lost.
	lostPackets = 3
)

// Member is a node as gossip sees it. That it is alive means that some member
// reaches it; that it is not means little more than that nobody does.
type Member struct {
	Node    id.Node
	Address string // host:port, as it advertises itself
	Alive   bool
	Version string // the gateway's
}

// members is who is known. memberlist's own list is not used, for its entries
// change while they are read. Its methods call nothing of memberlist, which calls them under its locks.
type members struct {
	mu struct {
		sync.RWMutex
		all   map[id.Node]*member
		alive int
		join  string // why nobody could be joined; empty: that is not so
	}
}

type member struct {
	Member
	gone      time.Time // when it ceased to be alive
	unpacked  int       // how many times in a row only a stream reached it
	conflict  string    // another address that the same node was announced from
	conflicts time.Time // when it last was
}

func newMembers() *members {
	m := &members{}
	m.mu.all = make(map[id.Node]*member)
	return m
}

// admit reports whether a node that is announced may become a member, for all that
// is known of it here.
func (m *members) admit(who id.Node) error {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if old := m.mu.all[who]; (old == nil || !old.Alive) && m.mu.alive >= maxNodes {
		return fmt.Errorf("gossip: %d members are the most there can be", maxNodes)
	}
	return nil
}

// joined takes a node for alive.
func (m *members) joined(as Member) {
	m.mu.Lock()
	defer m.mu.Unlock()
	old := m.mu.all[as.Node]
	if old == nil {
		if len(m.mu.all) >= 2*maxNodes {
			m.forgetLocked(time.Time{}) // no matter for how long they have been gone
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

// left takes a node for gone.
func (m *members) left(who id.Node, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if old := m.mu.all[who]; old != nil && old.Alive {
		old.Alive, old.gone = false, now
		m.mu.alive--
	}
}

// forget drops those that were gone by then.
func (m *members) forget(then time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.forgetLocked(then)
}

// forgetLocked drops those that were gone by then; all that are gone if then is zero.
func (m *members) forgetLocked(then time.Time) {
	for who, old := range m.mu.all {
		if !old.Alive && (then.IsZero() || old.gone.Before(then)) {
			delete(m.mu.all, who)
		}
	}
}

// conflict notes that a node was announced from another address than its own.
func (m *members) conflict(who id.Node, address string, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if old := m.mu.all[who]; old != nil {
		old.conflict, old.conflicts = address, now
	}
}

// reached notes that a packet came back from a member.
func (m *members) reached(who id.Node) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if old := m.mu.all[who]; old != nil {
		old.unpacked = 0
	}
}

// unreached notes that a member was reached by a stream and not by packets, and
// reports whether that has just become a problem.
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

// alone notes that nobody could be joined, unless somebody is there by now, and
// reports whether that is something new.
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

// count returns how many are alive, this node included; at least 1.
func (m *members) count() int {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return max(m.mu.alive, 1)
}

// address returns where a member is reached.
func (m *members) address(who string) (string, bool) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	old := m.mu.all[id.Node(who)]
	if old == nil {
		return "", false
	}
	return old.Address, true
}

// list returns everybody who is known, sorted by node.
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

// problems returns what an operator should look at.
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
