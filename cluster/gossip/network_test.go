package gossip_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelgateway/modelgateway/cluster/gossip"
	"github.com/modelgateway/modelgateway/cluster/id"
)

// network is a network in memory: packets are in channels, streams are pipes.
type network struct {
	mu struct {
		sync.Mutex
		ports   map[string]*port
		streams func(from, to string) bool // which streams get through; nil: all
		packets func(from, to string) bool // which packets do
		seen    [][]byte                   // every packet that was sent
		written [][]byte                   // everything that was written to streams
	}
}

func newNetwork() *network {
	n := &network{}
	n.mu.ports = make(map[string]*port)
	return n
}

// let says what gets through from now on.
func (n *network) let(streams, packets func(from, to string) bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.mu.streams, n.mu.packets = streams, packets
}

// cut lets only those speak with each other who are in the same group.
func (n *network) cut(groups ...[]string) {
	same := func(from, to string) bool {
		return slices.ContainsFunc(groups, func(g []string) bool { return slices.Contains(g, from) && slices.Contains(g, to) })
	}
	n.let(same, same)
}

func (n *network) heal() { n.let(nil, nil) }

func nothing(string, string) bool { return false }

// sent returns every packet that was sent so far.
func (n *network) sent() [][]byte {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.mu.seen)
}

// port opens an address.
func (n *network) port(address string) *port {
	n.mu.Lock()
	defer n.mu.Unlock()
	p := &port{network: n, address: address, packets: make(chan packet, 1000), streams: make(chan net.Conn), closed: make(chan struct{})}
	n.mu.ports[address] = p
	return p
}

// reach returns the port of an address, nil if nobody gets there.
func (n *network) reach(from, to string, allowed func(from, to string) bool) *port {
	p := n.mu.ports[to]
	if p == nil || allowed != nil && !allowed(from, to) {
		return nil
	}
	select {
	case <-p.closed:
		return nil
	default:
		return p
	}
}

type packet struct {
	data []byte
	from string
}

// port is an address of the network. It is a gossip.Network and its Listener.
type port struct {
	network *network
	address string
	packets chan packet
	streams chan net.Conn
	close   sync.Once
	closed  chan struct{}
}

type address string

func (address) Network() string  { return "memory" }
func (a address) String() string { return string(a) }

func (p *port) Address() string        { return p.address }
func (p *port) Addr() net.Addr         { return address(p.address) }
func (p *port) Listener() net.Listener { return p }

func (p *port) Close() error {
	p.close.Do(func() { close(p.closed) })
	return nil
}

func (p *port) Accept() (net.Conn, error) {
	select {
	case c := <-p.streams:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *port) ReadPacket(b []byte) (int, net.Addr, error) {
	select {
	case got := <-p.packets:
		return copy(b, got.data), address(got.from), nil
	case <-p.closed:
		return 0, nil, net.ErrClosed
	}
}

func (p *port) WritePacket(b []byte, to string) error {
	n := p.network
	n.mu.Lock()
	defer n.mu.Unlock()
	data := bytes.Clone(b)
	n.mu.seen = append(n.mu.seen, data)
	if other := n.reach(p.address, to, n.mu.packets); other != nil {
		select {
		case other.packets <- packet{data, p.address}:
		default: // lost, as when a socket's buffer is full
		}
	}
	return nil
}

func (p *port) Dial(ctx context.Context, to string) (net.Conn, error) {
	n := p.network
	n.mu.Lock()
	other := n.reach(p.address, to, n.mu.streams)
	known := n.mu.ports[to] != nil
	n.mu.Unlock()
	switch {
	case !known:
		return nil, fmt.Errorf("%s: no such host", to)
	case other == nil:
		<-ctx.Done() // a black hole
		return nil, ctx.Err()
	}
	here, there := net.Pipe()
	select {
	case other.streams <- tapped{there, n}:
		return tapped{here, n}, nil
	case <-other.closed:
		return nil, errors.New("refused")
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// tapped is an end of a stream whose bytes are recorded.
type tapped struct {
	net.Conn
	network *network
}

func (c tapped) Write(b []byte) (int, error) {
	c.network.mu.Lock()
	c.network.mu.written = append(c.network.mu.written, bytes.Clone(b))
	c.network.mu.Unlock()
	return c.Conn.Write(b)
}

// key is the key of the tests' clusters.
func key() []byte { return bytes.Repeat([]byte{7}, 32) }

// peer is a node that gossips.
type peer struct {
	*gossip.Gossip
	state *gossip.State
	port  *port
	name  string
	busy  map[id.Deployment]int64
	heard struct {
		sync.Mutex
		hints []gossip.Hint
	}
	cancel context.CancelFunc
	ran    chan error
}

// hints returns what the node was told of.
func (p *peer) hints() []gossip.Hint {
	p.heard.Lock()
	defer p.heard.Unlock()
	return slices.Clone(p.heard.hints)
}

// cluster is some peers on a network, in a bubble of synctest.
type cluster struct {
	*network
	t     *testing.T
	peers []*peer
}

func name(i int) string { return fmt.Sprintf("node%d", i) }
func at(i int) string   { return fmt.Sprintf("10.0.0.%d:7000", i+1) }

// start starts n nodes, which all join the first one, and waits until they know each other.
func start(t *testing.T, n int) *cluster {
	t.Helper()
	c := &cluster{network: newNetwork(), t: t}
	for i := range n {
		c.add(name(i), at(i), func(cfg *gossip.Config) {
			if i%2 == 0 {
				cfg.Join = []string{at(0)}
			} else {
				cfg.Join = []string{at(0), at(i)}
			}
		})
	}
	c.until("everybody knows everybody", func() bool {
		for _, p := range c.peers {
			if c.alive(p) != n {
				return false
			}
		}
		return true
	})
	return c
}

// add starts one node.
func (c *cluster) add(name, address string, change func(*gossip.Config)) *peer {
	c.t.Helper()
	p := &peer{port: c.port(address), name: name, busy: map[id.Deployment]int64{}, ran: make(chan error, 1)}
	p.state = gossip.NewState(gossip.StateConfig{
		Node: id.Node(name),
		Hinted: func(h gossip.Hint) {
			p.heard.Lock()
			defer p.heard.Unlock()
			p.heard.hints = append(p.heard.hints, h)
		},
		InFlight: func(yield func(id.Deployment, int64) bool) {
			p.heard.Lock()
			defer p.heard.Unlock()
			for d, n := range p.busy {
				if !yield(d, n) {
					return
				}
			}
		},
	})
	cfg := gossip.Config{Node: id.Node(name), Network: p.port, Key: key(), State: p.state, Meta: gossip.Meta{Version: "v" + name}}
	cfg.Timing.Lost = time.Minute
	if change != nil {
		change(&cfg)
	}
	g, err := gossip.New(cfg)
	if err != nil {
		c.t.Fatal(err)
	}
	p.Gossip = g
	ctx, cancel := context.WithCancel(context.Background())
	p.cancel = cancel
	go func() { p.ran <- g.Run(ctx) }()
	c.peers = append(c.peers, p)
	return p
}

// rates has a node that is being added share rates.
func (c *cluster) rates(cfg *gossip.Config, r gossip.Rates) {
	cfg.State = gossip.NewState(gossip.StateConfig{Node: cfg.Node, Rates: r})
}

// alive returns how many are alive, as p sees it.
func (c *cluster) alive(p *peer) int {
	n := 0
	for _, m := range p.Members() {
		if m.Alive {
			n++
		}
	}
	return n
}

// until waits until something is so. Time in the bubble costs nothing, and what
// is not so after an hour will never be.
func (c *cluster) until(what string, so func() bool) {
	c.t.Helper()
	for range 3600 * 10 {
		if so() {
			return
		}
		c.pass(100 * time.Millisecond)
	}
	c.t.Fatalf("never: %s", what)
}

// pass lets time pass.
func (c *cluster) pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// busy sets how many requests a node has in flight.
func (c *cluster) busy(p *peer, d id.Deployment, n int64) {
	p.heard.Lock()
	defer p.heard.Unlock()
	p.busy[d] = n
}

// stop has nodes leave.
func (c *cluster) stop(peers ...*peer) {
	c.t.Helper()
	for _, p := range peers {
		p.cancel()
		if err := <-p.ran; err != nil {
			c.t.Errorf("%s: %v", p.name, err)
		}
		c.peers = slices.DeleteFunc(c.peers, func(other *peer) bool { return other == p })
	}
}

// end has everybody leave, and waits for what memberlist still waits for: time
// stands still once a test has returned.
func (c *cluster) end() {
	c.stop(slices.Clone(c.peers)...)
	c.pass(time.Minute)
}
