package gossip

import (
	"time"

	"github.com/modelgateway/modelgateway/cluster/id"
)

// Full is what a node tells in a full exchange.
func (s *State) Full(now time.Time) []byte { return s.full(now) }

// Sweep forgets what has ended.
func (s *State) Sweep(now time.Time) { s.sweep(now) }

// Drop forgets the numbers of a node that is gone.
func (s *State) Drop(who id.Node) { s.drop(who) }

// Changes are the messages by which a node tells its numbers.
func (s *State) Changes(now time.Time) [][]byte {
	var out [][]byte
	for _, p := range s.changes(now) {
		out = append(out, appendPart(newDelta(), s.cfg.Node, &p))
	}
	return out
}

// ChangedRates are the messages by which a node tells its rates.
func (s *State) ChangedRates(now time.Time, most int) [][]byte { return s.changedRates(now, most) }

// Announcements has hints that are news collected as messages sent at a time.
func (s *State) Announcements(now time.Time, collect func([]byte)) {
	s.attach(func(h Hint) { collect(encodeHint(h, now)) })
}
