package gossip

import (
	"time"

	"github.com/modelgateway/modelgateway/cluster/id"
)

// number is a named number.
type number struct {
	name  string
	value int64
}

// part is a part of a node's numbers. It is immutable; updates replace it.
type part struct {
	version  uint64
	heard    time.Time
	inFlight []number
	counters []number
}

func (p *part) size() int { return len(p.inFlight) + len(p.counters) }

// mergePartLocked merges a part of a node's numbers that was received now and reports whether
// it is new.
//
// Invariant: for each part of a node the newest version counts as a whole, so merging is
// idempotent, commutative and associative. Only the node itself assigns versions.
//
// Invariant: an expired part does not return. When a part ends because the node is gone or
// silent, its version becomes the node's floor. Parts up to the floor are rejected: they are
// not newer than the expired one.
func (s *State) mergePartLocked(who id.Node, index uint32, p *part) bool {
	s.overtakeLocked(who, p.version)
	if who == s.cfg.Node {
		return false // this node has the newest numbers itself
	}
	n := s.nodeLocked(who, p.heard)
	if n == nil || p.version <= n.numberFloor {
		return false
	}
	old := n.parts[index]
	room := maxNumbers - s.mu.numbers
	if old != nil {
		if p.version <= old.version {
			return false
		}
		room += old.size()
	}
	if p.size() > room {
		return false
	}
	if old != nil {
		s.countLocked(old, -1)
	}
	s.countLocked(p, 1)
	n.parts[index], n.heard = p, p.heard
	return true
}

// endPartLocked removes a part.
func (s *State) endPartLocked(n *node, index uint32) {
	p := n.parts[index]
	s.countLocked(p, -1)
	delete(n.parts, index)
	n.numberFloor = max(n.numberFloor, p.version)
}

// countLocked adds a part to the sums, or subtracts it with a sign of -1.
func (s *State) countLocked(p *part, sign int64) {
	s.mu.numbers += int(sign) * p.size()
	for _, f := range p.inFlight {
		d := id.Deployment(f.name)
		if sum := s.mu.inFlight[d] + sign*f.value; sum != 0 {
			s.mu.inFlight[d] = sum
		} else {
			delete(s.mu.inFlight, d)
		}
	}
}

// counters returns the counters of the node. After a split, a name may be in two parts; the
// newer one counts.
func (n *node) counters() map[string]int64 {
	out := make(map[string]int64)
	from := make(map[string]uint64)
	for _, p := range n.parts {
		for _, c := range p.counters {
			if p.version > from[c.name] {
				out[c.name], from[c.name] = c.value, p.version
			}
		}
	}
	return out
}

// counter returns one counter.
func (n *node) counter(name string) (value int64) {
	var from uint64
	for _, p := range n.parts {
		for _, c := range p.counters {
			if c.name == name && p.version > from {
				value, from = c.value, p.version
			}
		}
	}
	return value
}
