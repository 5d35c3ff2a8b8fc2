package cooldown

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelgateway/modelgateway/cluster/id"
)

// Reason is why a deployment failed.
type Reason uint8

// The reasons.
const (
	ServerError  Reason = iota // 5xx, or an invalid response
	TimedOut                   // no response in time
	Connection                 // no connection
	RateLimited                // 429
	Unauthorized               // 401, 402, 403, 404: the deployment has a wrong credential or model
)

// String returns the name for logs and metrics.
func (r Reason) String() string {
	switch r {
	case ServerError:
		return "server_error"
	case TimedOut:
		return "timeout"
	case Connection:
		return "connection"
	case RateLimited:
		return "rate_limited"
	case Unauthorized:
		return "unauthorized"
	}
	return "unknown"
}

// immediate reports whether the next request would certainly fail too. Such failures
// are not tolerated at all.
func (r Reason) immediate() bool { return r == RateLimited || r == Unauthorized }

// Policy says which failures lead to a cooldown, and how long it is.
type Policy struct {
	Time         time.Duration // length of a cooldown; 0 or less: only what a provider asks for
	AllowedFails int           // failures within a minute that are tolerated; a 429 or 401 never is
	Disabled     bool          // there are no cooldowns
}

const (
	// MaxRetryAfter is the longest cooldown that a provider can ask for. A wrong or
	// hostile header must not disable a deployment permanently.
	MaxRetryAfter = time.Hour
	// window is how long a failure is remembered.
	window = time.Minute
	// jitterPercent is how far a cooldown may be from its nominal length. Otherwise nodes
	// that saw the same failure would all use the deployment again at the same instant.
	jitterPercent = 20
)

// Rest is one deployment's cooldown.
type Rest struct {
	Deployment id.Deployment
	Reason     Reason
	Until      time.Time
}

// Set has the cooldowns and the counts of one node. It is safe for concurrent
// use. Both maps are bounded by the deployments that were ever used; Keep drops
// those that are gone.
type Set struct {
	random func(n uint64) uint64
	rested func(Rest)                // nil: there is no observer
	remote func(id.Deployment) int64 // nil: there are no other nodes
	mu     struct {
		sync.RWMutex
		states map[id.Deployment]*state
		pruned time.Time // when ended hints were last removed
	}
	hinted   atomic.Int64 // how many states have hints; changed under mu
	inFlight counters
}

// state has the failures and hints of one deployment. A plain mutex over a map of these is
// enough: failures are rare, and the hot path (InCooldown, Hinted) only reads.
type state struct {
	until   time.Time
	reason  Reason
	since   time.Time // when the current window began
	fails   int       // failures in it
	hints   []hint    // of other nodes, one for each observer
	probing bool      // a probe is on its way
}

// New returns an empty set. random returns a uniform number in [0, n), for the
// jitter.
func New(random func(n uint64) uint64, options ...Option) *Set {
	s := &Set{random: random}
	s.mu.states = make(map[id.Deployment]*state)
	for _, option := range options {
		option(s)
	}
	return s
}

// Fail records a failure that retries did not cure, and returns the cooldown that
// follows; false if there is none. The failure's RetryAfter is the provider's, or 0. It
// counts from Now and is at most MaxRetryAfter. The jitter never shortens it.
func (s *Set) Fail(d id.Deployment, f Failure, policy Policy) (Rest, bool) {
	if policy.Disabled {
		return Rest{}, false
	}
	rest, longer := s.fail(d, f, policy)
	if longer && s.rested != nil {
		s.rested(rest)
	}
	return rest, !rest.Until.IsZero()
}

// fail is Fail without the report. longer reports whether the cooldown began or became longer.
func (s *Set) fail(d id.Deployment, f Failure, policy Policy) (rest Rest, longer bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.mu.states[d]
	if st == nil {
		st = &state{since: f.Now}
		s.mu.states[d] = st
	}
	st.probing = false
	if f.Now.Sub(st.since) >= window {
		st.since, st.fails = f.Now, 0
	}
	st.fails++
	if !f.Reason.immediate() && f.RetryAfter <= 0 && st.fails <= policy.AllowedFails {
		return Rest{}, false
	}
	length := max(s.jitter(policy.Time, -jitterPercent), s.jitter(min(f.RetryAfter, MaxRetryAfter), 0))
	if length <= 0 {
		return Rest{}, false
	}
	if until := f.Now.Add(length); until.After(st.until) {
		st.until, st.reason, longer = until, f.Reason, true
	}
	return Rest{Deployment: d, Reason: st.reason, Until: st.until}, longer
}

// Failure is one failed attempt.
type Failure struct {
	Reason     Reason
	RetryAfter time.Duration
	Now        time.Time
}

// jitter returns d changed by a random share between least and jitterPercent percent.
func (s *Set) jitter(d time.Duration, least int64) time.Duration {
	if d <= 0 {
		return 0
	}
	const fine = 1000 // steps for each percent
	span := (jitterPercent - least) * fine
	shift := least*fine + int64(s.random(uint64(span)+1))
	return d + d/(100*fine)*time.Duration(shift)
}

// Succeed records a success: earlier failures no longer count towards
// Policy.AllowedFails, and if a probe was in flight, the hints that it checks are void.
// It does not end a local cooldown. The success of any request counts, not only that of
// the probe: the deployment responds in either case, and if that is wrong, this node's
// next failure shows it.
func (s *Set) Succeed(d id.Deployment) {
	s.mu.RLock()
	st := s.mu.states[d]
	clean := st == nil || st.fails == 0 && !st.probing
	s.mu.RUnlock()
	if clean { // the usual case takes no exclusive lock
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if st := s.mu.states[d]; st != nil {
		st.fails = 0
		st.refute()
	}
}

// InCooldown reports whether a deployment is in cooldown because of failures at this
// node, and until when. The end itself is not part of the cooldown.
func (s *Set) InCooldown(d id.Deployment, now time.Time) (until time.Time, resting bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if st := s.mu.states[d]; st != nil && now.Before(st.until) {
		return st.until, true
	}
	return time.Time{}, false
}

// All returns the cooldowns because of failures at this node, sorted by deployment.
func (s *Set) All(now time.Time) []Rest {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var all []Rest
	for d, st := range s.mu.states {
		if now.Before(st.until) {
			all = append(all, Rest{Deployment: d, Reason: st.reason, Until: st.until})
		}
	}
	slices.SortFunc(all, func(a, b Rest) int { return cmp.Compare(a.Deployment, b.Deployment) })
	return all
}

// Keep forgets the deployments that are gone: call it when the catalogue has
// changed as a whole. Counts of requests that still run stay until they end.
func (s *Set) Keep(exists func(id.Deployment) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for d := range s.mu.states {
		if !exists(d) {
			s.forgetLocked(d)
		}
	}
	s.inFlight.keep(exists)
}

// Drop forgets one deployment: Keep for a catalogue that has lost just this one.
func (s *Set) Drop(d id.Deployment) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forgetLocked(d)
	s.inFlight.drop(d)
}

func (s *Set) forgetLocked(d id.Deployment) {
	if st := s.mu.states[d]; st != nil && len(st.hints) > 0 {
		s.hinted.Add(-1)
	}
	delete(s.mu.states, d)
}
