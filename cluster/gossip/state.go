package gossip

import (
	"iter"
	"maps"
	"math"
	"sync"
	"time"

	"github.com/modelgateway/modelgateway/cluster/id"
)

// Limits of what is kept of other nodes' words.
const (
	// MaxRest is the longest that a hint lasts: what a provider can ask for at most.
	MaxRest = time.Hour
	// Silence is how long a node's numbers are believed without a newer word.
	// They are told anew every third of that.
	Silence = 15 * time.Second

	maxHints   = 100_000 // of all observers, those that have ended included
	maxNumbers = 200_000 // of all nodes: 10,000 deployments at 20 nodes
	maxNodes   = 4096    // four times what one pool is meant for
	maxParts   = 4096    // of one node's numbers
	maxName    = 256     // bytes of a deployment's or counter's name
	maxNode    = 64      // bytes of a node's name; ours have 32
	maxFlight  = 1 << 20 // requests of one node at one deployment; more are taken for that many

	// remember is how long it is known of a silent node what it said last.
	remember = 24 * time.Hour
	// sweepHints is how often hints that have ended are looked for. Readers look
	// at the end themselves; this is about memory.
	sweepHints = 10 * time.Second
	// maxVersion leaves room above every version that can be heard for one's own.
	maxVersion = math.MaxInt64
)

// Hint is what a node says of a deployment that failed there.
type Hint struct {
	Deployment id.Deployment
	Observer   id.Node
	Version    uint64    // grows with everything the observer says
	Reason     uint8     // a cooldown.Reason; nothing is made of it here
	Until      time.Time // by this node's clock
}

// StateConfig is what a State is made from.
type StateConfig struct {
	// Node is this node. Required.
	Node id.Node
	// Hinted is told every hint of another node that is news. It is called without
	// any lock, from memberlist's goroutines: it must not block, and two hints of one
	// deployment may come in either order (their versions tell). Nil: nobody listens.
	Hinted func(Hint)
	// InFlight lists this node's requests in flight by deployment. It is read five
	// times a second. Nil: there are none.
	InFlight iter.Seq2[id.Deployment, int64]
	// Rates are this node's rate limits. Nil: there are none, and nothing is heard of others'.
	Rates Rates
}

// State is what this node tells and what it has heard. It is safe for concurrent use.
type State struct {
	cfg StateConfig
	mu  struct {
		sync.RWMutex
		version  uint64 // the last that this node gave out
		announce func(Hint)
		hints    map[hintKey]*hintEntry
		swept    time.Time // when hints were last swept
		nodes    map[id.Node]*node
		numbers  int                     // how many numbers of others are kept
		inFlight map[id.Deployment]int64 // their sum over the others
		own      own
	}
}

// node is what is remembered of another node, or of this one's former lives.
type node struct {
	heard time.Time // when it last said something new
	// Versions up to the floors are of things that have ended. They come into force
	// no more, whoever repeats them.
	hintFloor   uint64
	numberFloor uint64
	rates       uint64 // the newest version of what it said of its rates
	hints       int    // how many there are of it
	parts       map[uint32]*part
}

// NewState returns a State that knows nothing yet. Versions begin with the time,
// so that what this node says after a restart is newer than what it said before.
func NewState(cfg StateConfig) *State {
	s := &State{cfg: cfg}
	s.mu.version = uint64(max(time.Now().UnixMicro(), 1))
	s.mu.hints = make(map[hintKey]*hintEntry)
	s.mu.nodes = make(map[id.Node]*node)
	s.mu.inFlight = make(map[id.Deployment]int64)
	s.mu.own = own{counters: make(map[string]int64), sent: make([]sentPart, 1)}
	s.mu.nodes[cfg.Node] = &node{} // there is always room for this one
	return s
}

// attach has hints that are news passed on.
func (s *State) attach(announce func(Hint)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.announce = announce
}

// nextLocked gives out a version.
func (s *State) nextLocked() uint64 {
	s.mu.version++
	return s.mu.version
}

// overtakeLocked makes this node's versions newer than what others have from a
// former life of it, in case its clock has been set back since.
func (s *State) overtakeLocked(who id.Node, version uint64) {
	if who == s.cfg.Node && version > s.mu.version {
		s.mu.version = version
	}
}

// nodeLocked returns what is remembered of a node; nil if that would be one too many.
func (s *State) nodeLocked(who id.Node, now time.Time) *node {
	n := s.mu.nodes[who]
	if n == nil {
		if len(s.mu.nodes) >= maxNodes {
			return nil
		}
		n = &node{parts: make(map[uint32]*part), heard: now}
		s.mu.nodes[who] = n
	}
	return n
}

// Cool says that a deployment rests on this node until then. A rest that is no
// longer than what was said before is not said again.
func (s *State) Cool(d id.Deployment, reason uint8, until time.Time) {
	if d == "" || len(d) > maxName {
		return // it could not be told
	}
	h, announce := s.cool(d, reason, until)
	if announce != nil {
		announce(h)
	}
}

func (s *State) cool(d id.Deployment, reason uint8, until time.Time) (h Hint, announce func(Hint)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := hintKey{d, s.cfg.Node}
	old := s.mu.hints[key]
	if old != nil && !until.After(old.until) {
		return Hint{}, nil
	}
	if old == nil {
		s.mu.nodes[s.cfg.Node].hints++
	}
	e := &hintEntry{version: s.nextLocked(), reason: reason, until: until}
	s.mu.hints[key] = e
	return e.hint(key), s.mu.announce
}

// SetCounter sets one of this node's numbers. Others hear it within a second,
// and for as long as this node lives. Zero is the same as never having set it.
func (s *State) SetCounter(name string, v int64) {
	if name == "" || len(name) > maxName {
		return // it could not be told
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if v == 0 {
		delete(s.mu.own.counters, name)
		return
	}
	s.mu.own.counters[name] = v
}

// Counters returns the numbers of every node that has any, this one included.
func (s *State) Counters() map[id.Node]map[string]int64 {
	s.mu.RLock()
	defer s.mu.RUnlock()
	out := make(map[id.Node]map[string]int64)
	if len(s.mu.own.counters) > 0 {
		out[s.cfg.Node] = maps.Clone(s.mu.own.counters)
	}
	for who, n := range s.mu.nodes {
		if c := n.counters(); len(c) > 0 {
			out[who] = c
		}
	}
	return out
}

// Sum returns the sum of a number over all nodes, this one included. It stays
// within an int64 whatever other nodes say.
func (s *State) Sum(name string) int64 {
	s.mu.RLock()
	defer s.mu.RUnlock()
	sum := s.mu.own.counters[name]
	for _, n := range s.mu.nodes {
		sum = add(sum, n.counter(name))
	}
	return sum
}

// add is a + b, or the nearest number there is.
func add(a, b int64) int64 {
	switch {
	case b > 0 && a > math.MaxInt64-b:
		return math.MaxInt64
	case b < 0 && a < math.MinInt64-b:
		return math.MinInt64
	}
	return a + b
}

// InFlight returns how many requests all other nodes together have in flight at
// a deployment. It neither allocates nor waits for more than a merge.
func (s *State) InFlight(d id.Deployment) int64 {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.mu.inFlight[d]
}

// drop forgets the numbers of a node that is gone. They do not come back: only
// newer ones do.
func (s *State) drop(who id.Node) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := s.mu.nodes[who]; n != nil {
		for number := range n.parts {
			s.endPartLocked(n, number)
		}
	}
}

// sweep forgets what has ended.
func (s *State) sweep(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for who, n := range s.mu.nodes {
		for number, p := range n.parts {
			if now.Sub(p.heard) >= Silence {
				s.endPartLocked(n, number)
			}
		}
		if who != s.cfg.Node && len(n.parts) == 0 && n.hints == 0 && now.Sub(n.heard) >= remember {
			delete(s.mu.nodes, who)
		}
	}
	if now.Sub(s.mu.swept) >= sweepHints {
		s.sweepHintsLocked(now)
	}
}
