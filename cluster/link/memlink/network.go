package memlink

import (
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/link"
)

// Network connects the links of a test. It is safe for concurrent use.
//
// One lock guards the network, its links and its connections, so that a fault happens between
// two operations and never within one. Tests are small enough for that.
type Network struct {
	seed uint64

	mu struct {
		sync.Mutex
		links   map[string]*Link // open links by address
		conns   map[uint64]*conn // the open ends, by order of creation
		born    uint64           // number of ends ever created
		paths   map[path]*rand.Rand
		faults  faults
		changed chan struct{} // closed when faults change; nil: no call waits
	}
}

// path is a direction from one node to another.
type path struct{ from, to string }

// New returns a network without nodes, delays and faults.
func New(seed uint64) *Network {
	n := &Network{seed: seed}
	n.mu.links = map[string]*Link{}
	n.mu.conns = map[uint64]*conn{}
	n.mu.paths = map[path]*rand.Rand{}
	return n
}

// Node attaches a node. address is usually host:port. node is the id that its certificate would
// name, empty for none. A node that was attached at the address crashes, as when a machine
// restarts.
func (n *Network) Node(address string, node id.Node) *Link {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.crashLocked(address)
	l := &Link{network: n, address: address, node: node, done: make(chan struct{})}
	l.listeners = map[link.Protocol]*listener{}
	for _, p := range []link.Protocol{link.Raft, link.Gossip, link.Peer} {
		l.listeners[p] = &listener{link: l}
	}
	n.mu.links[address] = l
	return l
}

// connectLocked creates the two ends of a connection.
func (n *Network) connectLocked(from, to *Link) (near, far *conn) {
	out, in := &stream{path: path{from.address, to.address}}, &stream{path: path{to.address, from.address}}
	near = &conn{network: n, local: from, remote: to, in: in, out: out}
	far = &conn{network: n, local: to, remote: from, in: out, out: in}
	near.peer, far.peer = far, near
	for _, c := range []*conn{near, far} {
		n.mu.born++
		c.number = n.mu.born
		n.mu.conns[c.number] = c
	}
	return near, far
}

// connsLocked returns the open ends in order of creation, so that random draws do not depend on
// the order of a map.
func (n *Network) connsLocked() []*conn {
	out := make([]*conn, 0, len(n.mu.conns))
	for _, number := range slices.Sorted(maps.Keys(n.mu.conns)) {
		out = append(out, n.mu.conns[number])
	}
	return out
}

// randomLocked returns the random source of a path's delays and losses.
func (n *Network) randomLocked(p path) *rand.Rand {
	r := n.mu.paths[p]
	if r == nil {
		h := fnv.New64a()
		_, _ = h.Write([]byte(p.from + "\x00" + p.to)) // a hash never fails
		r = rand.New(rand.NewPCG(n.seed, h.Sum64()))   //nolint:gosec // reproducible on purpose
		n.mu.paths[p] = r
	}
	return r
}

// latencyLocked draws the latency of a transfer on a path.
func (n *Network) latencyLocked(p path) time.Duration {
	f := &n.mu.faults
	if p.from == p.to {
		return 0
	}
	d := f.delay
	if f.jitter > 0 {
		d += time.Duration(n.randomLocked(p).Int64N(int64(f.jitter)))
	}
	return d
}

// lostLocked draws whether a packet on a path is lost.
func (n *Network) lostLocked(p path) bool {
	return p.from != p.to && n.mu.faults.loss > 0 && n.randomLocked(p).Float64() < n.mu.faults.loss
}

// A lost segment is sent again after firstRepeat, and each repetition waits twice as long, like
// TCP.
const (
	firstRepeat = 200 * time.Millisecond
	lastRepeat  = 5 * time.Second
)

// segmentLatencyLocked draws the latency of a segment of a stream: that of a packet plus the
// retransmissions.
func (n *Network) segmentLatencyLocked(p path) time.Duration {
	d := n.latencyLocked(p)
	for repeat := firstRepeat; n.lostLocked(p); repeat = min(2*repeat, lastRepeat) {
		d += repeat
	}
	return d
}
