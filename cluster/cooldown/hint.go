package cooldown

import (
	"cmp"
	"slices"
	"time"

	"github.com/modelgateway/modelgateway/cluster/id"
)

// Hint is another node's report that a deployment failed there and is in cooldown.
// The package comment has the rules.
type Hint struct {
	Deployment id.Deployment
	Observer   id.Node   // the node that saw it fail
	Version    uint64    // grows with each report of the observer; 0 is no hint
	Reason     Reason    //
	Now        time.Time // when it was received: half-way between this and Until a probe is allowed
	Until      time.Time // by this node's clock; cut to MaxRetryAfter from Now
}

const (
	// maxObservers is how many nodes' hints are kept for one deployment. More would
	// add nothing: the latest end counts.
	maxObservers = 16
	// maxHinted is how many deployments may have hints. It is ten times what a
	// cluster is planned for, and stops a member that invents names from filling the memory.
	maxHinted = 100_000
)

// hint is one observer's hint of one deployment.
type hint struct {
	observer id.Node
	version  uint64
	reason   Reason
	half     time.Time // from here on a probe is allowed
	until    time.Time
	probed   bool // this node's one probe was assigned
	cleared  bool // it succeeded; the hint stays until its end so that a repeat of it is known
}

func (h *hint) inForce(now time.Time) bool { return !h.cleared && now.Before(h.until) }

// Hint adds a hint and reports whether it changed anything. A hint that has ended, is
// no newer than the observer's last one, or exceeds a bound changes nothing.
func (s *Set) Hint(h Hint) bool {
	h.Until = earlier(h.Until, h.Now.Add(MaxRetryAfter))
	if h.Version == 0 || !h.Now.Before(h.Until) {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.mu.states[h.Deployment]
	if st == nil || len(st.hints) == 0 {
		if !s.roomLocked(h.Now) {
			return false
		}
		if st == nil {
			st = &state{since: h.Now}
			s.mu.states[h.Deployment] = st
		}
		s.hinted.Add(1)
	}
	return st.take(&h)
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// take merges one hint.
//
// Law: for each observer the newest version counts. Its end is never before that of the
// version it replaces, unless a probe has refuted that one. Hints of different observers
// are independent.
func (st *state) take(h *Hint) bool {
	made := hint{
		observer: h.Observer, version: h.Version, reason: h.Reason, until: h.Until,
		half: h.Now.Add(h.Until.Sub(h.Now) / 2),
	}
	if i := slices.IndexFunc(st.hints, func(old hint) bool { return old.observer == h.Observer }); i >= 0 {
		old := &st.hints[i]
		if h.Version <= old.version {
			return false
		}
		if old.inForce(h.Now) && made.until.Before(old.until) {
			made.until, made.half = old.until, h.Now.Add(old.until.Sub(h.Now)/2)
		}
		*old = made
		return true
	}
	st.hints = slices.DeleteFunc(st.hints, func(old hint) bool { return !h.Now.Before(old.until) })
	if len(st.hints) < maxObservers {
		st.hints = append(st.hints, made)
		return true
	}
	first := 0 // the one that ends first
	for i := range st.hints {
		if st.hints[i].until.Before(st.hints[first].until) {
			first = i
		}
	}
	if !st.hints[first].until.Before(made.until) {
		return false
	}
	st.hints[first] = made
	return true
}

// roomLocked reports whether one more deployment may have hints. It looks for
// some that have ended only when there is no room, and at most once a second.
func (s *Set) roomLocked(now time.Time) bool {
	if s.hinted.Load() < maxHinted {
		return true
	}
	if now.Sub(s.mu.pruned) < time.Second {
		return false
	}
	s.mu.pruned = now
	for d, st := range s.mu.states {
		if len(st.hints) == 0 || slices.ContainsFunc(st.hints, func(h hint) bool { return now.Before(h.until) }) {
			continue
		}
		st.hints = nil
		s.hinted.Add(-1)
		if st.fails == 0 && !now.Before(st.until) {
			delete(s.mu.states, d)
		}
	}
	return s.hinted.Load() < maxHinted
}

// Hinted reports whether a deployment is in cooldown at other nodes, until when, and
// whether this node may send a probe. It ignores local cooldowns.
func (s *Set) Hinted(d id.Deployment, now time.Time) (until time.Time, probe, hinted bool) {
	if s.hinted.Load() == 0 { // the usual case takes no lock
		return time.Time{}, false, false
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	st := s.mu.states[d]
	if st == nil {
		return time.Time{}, false, false
	}
	return st.hinted(now)
}

// hinted is Hinted for one deployment.
//
// Law: a probe is allowed once every hint in force is past its half, if any of them
// has not had its probe.
func (st *state) hinted(now time.Time) (until time.Time, probe, hinted bool) {
	early := false
	for i := range st.hints {
		h := &st.hints[i]
		if !h.inForce(now) {
			continue
		}
		hinted = true
		early = early || now.Before(h.half)
		probe = probe || !h.probed
		if h.until.After(until) {
			until = h.until
		}
	}
	return until, probe && !early, hinted
}

// Probe assigns the one probe that Hinted offers: of several concurrent callers one
// gets true, and sends a request there. Its Succeed refutes the hints, and its Fail
// counts as usual. A probe that does neither is used up, and the hints expire.
func (s *Set) Probe(d id.Deployment, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.mu.states[d]
	if st == nil {
		return false
	}
	if _, probe, _ := st.hinted(now); !probe {
		return false
	}
	for i := range st.hints {
		if st.hints[i].inForce(now) {
			st.hints[i].probed = true
		}
	}
	st.probing = true
	return true
}

// refute clears the hints that had a probe.
func (st *state) refute() {
	if !st.probing {
		return
	}
	st.probing = false
	for i := range st.hints {
		if st.hints[i].probed {
			st.hints[i].cleared = true
		}
	}
}

// Hints returns the hints in force, sorted by deployment and observer. Their Now
// is now.
func (s *Set) Hints(now time.Time) []Hint {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var all []Hint
	for d, st := range s.mu.states {
		for i := range st.hints {
			if h := &st.hints[i]; h.inForce(now) {
				all = append(all, Hint{Deployment: d, Observer: h.observer, Version: h.version, Reason: h.reason, Now: now, Until: h.until})
			}
		}
	}
	slices.SortFunc(all, func(a, b Hint) int {
		return cmp.Or(cmp.Compare(a.Deployment, b.Deployment), cmp.Compare(a.Observer, b.Observer))
	})
	return all
}
