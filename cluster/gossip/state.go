package gossip

import (
	"iter"
	"maps"
	"math"
	"sync"
	"time"

	"github.com/modelgateway/modelgateway/cluster/id"
)

// Limits of the data that is kept of other nodes.
const (
	// MaxCooldown is the longest lifetime of a hint: the longest that a provider can request.
	MaxCooldown = time.Hour
	// Silence is how long a node's numbers count after its last update. They are sent again
	// every third of that.
	Silence = 15 * time.Second

	maxHints   = 100_000 // of all observers, including expired ones
	maxNumbers = 200_000 // of all nodes: 10,000 deployments on 20 nodes
	maxNodes   = 4096    // four times the intended size of a pool
	maxParts   = 4096    // of one node's numbers
	maxName    = 256     // bytes of a deployment's or counter's name
	maxNode    = 64      // bytes of a node name; ours have 32
	maxFlight  = 1 << 20 // requests of one node at one deployment; larger numbers are clamped to it

	// remember is how long the last version of a silent node is kept.
	remember = 24 * time.Hour
	// sweepHints is the interval in which expired hints are dropped. Readers check the end
	// themselves; this only limits memory.
	sweepHints = 10 * time.Second
	// maxVersion leaves room for own versions above every version that can be received.
	maxVersion = math.MaxInt64
)

// Hint is a node's report about a deployment that failed there.
type Hint struct {
	Deployment id.Deployment
	Observer   id.Node
	Version    uint64    // increases with everything that the observer sends
	Reason     uint8     // a cooldown.Reason; not interpreted here
	Until      time.Time // by this node's clock
}

// StateConfig configures a State.
type StateConfig struct {
	// Node is this node. It is required.
	Node id.Node
	// Hinted is called with every new hint of another node. It is called without locks, from
	// memberlist's goroutines, and must not block. Two hints of one deployment may come in
	// either order; their versions give the order. It may be nil.
	Hinted func(Hint)
	// InFlight iterates over this node's requests in flight by deployment. It is read five
	// times a second. nil: there are none.
	InFlight iter.Seq2[id.Deployment, int64]
	// Rates are this node's rate limits. nil: there are none, and received rates are ignored.
	Rates Rates
}

// State is the local and the received data. It is safe for concurrent use.
type State struct {
	cfg StateConfig
	mu  struct {
		sync.RWMutex
		version  uint64 // the last version that this node assigned
		announce func(Hint)
		hints    map[hintKey]*hintEntry
		swept    time.Time // time of the last sweep
		nodes    map[id.Node]*node
		numbers  int                     // number of received numbers
		inFlight map[id.Deployment]int64 // sum over the other nodes
		own      own
	}
}

// node is the data about another node, or about earlier processes of this one.
type node struct {
	heard time.Time // time of its last new data
	// Versions up to the floors have expired. They are never accepted again, whichever node
	// repeats them.
	hintFloor   uint64
	numberFloor uint64
	rates       uint64 // the newest version of its rates
	hints       int    // number of its hints
	parts       map[uint32]*part
}

// NewState returns an empty State. Versions begin with the time, so that data after a restart
// is newer than before.
func NewState(cfg StateConfig) *State {
	s := &State{cfg: cfg}
	s.mu.version = uint64(max(time.Now().UnixMicro(), 1))
	s.mu.hints = make(map[hintKey]*hintEntry)
	s.mu.nodes = make(map[id.Node]*node)
	s.mu.inFlight = make(map[id.Deployment]int64)
	s.mu.own = own{counters: make(map[string]int64), sent: make([]sentPart, 1)}
	s.mu.nodes[cfg.Node] = &node{} // there is always room for this node
	return s
}

// attach sets the function that passes on new hints.
func (s *State) attach(announce func(Hint)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.announce = announce
}

// nextLocked assigns a version.
func (s *State) nextLocked() uint64 {
	s.mu.version++
	return s.mu.version
}

// overtakeLocked raises this node's versions above those that others have of its earlier
// process, in case its clock was set back.
func (s *State) overtakeLocked(who id.Node, version uint64) {
	if who == s.cfg.Node && version > s.mu.version {
		s.mu.version = version
	}
}

// nodeLocked returns the data about a node; nil if there would be too many nodes.
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

// Cool reports that a deployment is in cooldown on this node until a time. A cooldown that does
// not end later than the previous one is not sent again.
func (s *State) Cool(d id.Deployment, reason uint8, until time.Time) {
	if d == "" || len(d) > maxName {
		return // not representable
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

// SetCounter sets one of this node's numbers. Others receive it within a second, as long as
// this node lives. Zero is equivalent to not set.
func (s *State) SetCounter(name string, v int64) {
	if name == "" || len(name) > maxName {
		return // not representable
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if v == 0 {
		delete(s.mu.own.counters, name)
		return
	}
	s.mu.own.counters[name] = v
}

// Counters returns the numbers of all nodes that have any, including this one.
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

// Sum returns the sum of a number over all nodes, including this one. It saturates at the range
// of int64.
func (s *State) Sum(name string) int64 {
	s.mu.RLock()
	defer s.mu.RUnlock()
	sum := s.mu.own.counters[name]
	for _, n := range s.mu.nodes {
		sum = add(sum, n.counter(name))
	}
	return sum
}

// add returns a + b, saturated.
func add(a, b int64) int64 {
	switch {
	case b > 0 && a > math.MaxInt64-b:
		return math.MaxInt64
	case b < 0 && a < math.MinInt64-b:
		return math.MinInt64
	}
	return a + b
}

// InFlight returns the requests in flight of all other nodes at a deployment. It does not
// allocate, and blocks at most for a merge.
func (s *State) InFlight(d id.Deployment) int64 {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.mu.inFlight[d]
}

// drop drops the numbers of a node that is gone. Only newer ones are accepted again.
func (s *State) drop(who id.Node) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := s.mu.nodes[who]; n != nil {
		for number := range n.parts {
			s.endPartLocked(n, number)
		}
	}
}

// sweep drops expired data.
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
