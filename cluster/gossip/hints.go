package gossip

import (
	"cmp"
	"slices"
	"time"

	"github.com/modelgateway/modelgateway/cluster/id"
)

// hintKey identifies a hint: there is one per key.
type hintKey struct {
	deployment id.Deployment
	observer   id.Node
}

// hintEntry is a current or expired hint. It is immutable; updates replace it.
type hintEntry struct {
	version uint64
	reason  uint8
	until   time.Time
}

func (e *hintEntry) hint(k hintKey) Hint {
	return Hint{Deployment: k.deployment, Observer: k.observer, Version: e.version, Reason: e.reason, Until: e.until}
}

// mergeHintLocked merges a hint that was received now and reports whether it is new.
//
// Invariant: for each deployment and observer the newest version counts, from the first time
// that it was received. So merging is idempotent and, for hints received at the same time,
// commutative and associative. This depends on an observer never shortening its own hint (Cool
// ensures that). If it does, the end still does not move to an earlier time.
//
// Invariant: an expired hint does not return. The expired entry stays as a mark for the longest
// lifetime of any earlier hint. After that, all hints of the observer up to it have certainly
// expired, and one floor for the observer replaces its marks.
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

// sweepHintsLocked drops marks that are no longer necessary and reports whether there is room
// for another hint.
func (s *State) sweepHintsLocked(now time.Time) bool {
	s.mu.swept = now
	for key, e := range s.mu.hints {
		if now.Sub(e.until) < MaxCooldown {
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

// Hints returns the current hints, including this node's own, sorted by deployment and
// observer.
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
