package gossip

import (
	"cmp"
	"slices"
	"time"

	"github.com/modelgateway/modelgateway/cluster/id"
)

// hintKey is what there is one hint of.
type hintKey struct {
	deployment id.Deployment
	observer   id.Node
}

// hintEntry is a hint, in force or ended. It is never changed, only replaced.
type hintEntry struct {
	version uint64
	reason  uint8
	until   time.Time
}

func (e *hintEntry) hint(k hintKey) Hint {
	return Hint{Deployment: k.deployment, Observer: k.observer, Version: e.version, Reason: e.reason, Until: e.until}
}

// mergeHintLocked takes over a hint that was heard now and reports whether it
// was news.
//
// Law: for each deployment and observer the newest version stands, from the
// moment at which it was first heard; so merging is idempotent, and, of what is heard at the
// same moment, commutative and associative. It rests on each observer never
// taking back what it said (Cool sees to that); should one do so, the
// end still does not move forward.
//
// Law: what has ended does not come back. An entry that has ended stays, as a
// mark, for as long as anything may last that was said before it. Then all its
// observer said up to it is over for certain, and one floor for the observer takes the
// place of its marks.
func (s *State) mergeHintLocked(h Hint, now time.Time) bool {
	s.overtakeLocked(h.Observer, h.Version)
	n := s.nodeLocked(h.Observer, now)
	if n == nil || h.Version <= n.hintFloor {
		return false
	}
	key := hintKey{h.Deployment, h.Observer}
	old := s.mu.hints[key]
	switch {
	case old == nil:
		if len(s.mu.hints) >= maxHints && (now.Sub(s.mu.swept) < time.Second || !s.sweepHintsLocked(now)) {
			return false
		}
		n.hints++
	case h.Version <= old.version:
		return false
	case old.until.After(h.Until):
		h.Until = old.until
	}
	n.heard = now
	s.mu.hints[key] = &hintEntry{version: h.Version, reason: h.Reason, until: h.Until}
	return true
}

// sweepHintsLocked forgets the marks that have done their duty and reports
// whether there is room for another hint.
func (s *State) sweepHintsLocked(now time.Time) bool {
	s.mu.swept = now
	for key, e := range s.mu.hints {
		if now.Sub(e.until) < MaxRest {
			continue
		}
		delete(s.mu.hints, key)
		if n := s.mu.nodes[key.observer]; n != nil {
			n.hints--
			n.hintFloor = max(n.hintFloor, e.version)
		}
	}
	return len(s.mu.hints) < maxHints
}

// Hints returns the hints in force, this node's own included, sorted by
// deployment and observer.
func (s *State) Hints(now time.Time) []Hint {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var out []Hint
	for key, e := range s.mu.hints {
		if now.Before(e.until) {
			out = append(out, e.hint(key))
		}
	}
	slices.SortFunc(out, func(a, b Hint) int {
		return cmp.Or(cmp.Compare(a.Deployment, b.Deployment), cmp.Compare(a.Observer, b.Observer))
	})
	return out
}
