package consensus_test

import (
	"context"
	"errors"
	"net"
	"sync"

	"github.com/modelgateway/modelgateway/cluster/consensus"
)

// network connects nodes in memory. Nodes in different partitions cannot reach each other.
type network struct {
	mu struct {
		sync.Mutex
		ports map[string]*port
		part  map[string]int // 0 for unnamed nodes
		conns map[*link]struct{}
	}
}

func newNetwork() *network {
	n := &network{}
	n.mu.ports, n.mu.part, n.mu.conns = map[string]*port{}, map[string]int{}, map[*link]struct{}{}
	return n
}

// split partitions the network and breaks connections between partitions. Without arguments it
// heals.
func (n *network) split(parts ...[]string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.mu.part = map[string]int{}
	for i, part := range parts {
		for _, name := range part {
			n.mu.part[name] = i + 1
		}
	}
	for l := range n.mu.conns {
		if n.mu.part[l.from] != n.mu.part[l.to] {
			l.breakLocked()
		}
	}
}

// at returns the network of the node at addr.
func (n *network) at(addr string) consensus.Network { return endpoint{n, addr} }

type endpoint struct {
	of   *network
	addr string
}

func (e endpoint) Listener() net.Listener {
	p := &port{of: e.of, addr: e.addr, conns: make(chan net.Conn), done: make(chan struct{})}
	e.of.mu.Lock()
	defer e.of.mu.Unlock()
	e.of.mu.ports[e.addr] = p
	return p
}

func (e endpoint) Dial(ctx context.Context, addr string) (net.Conn, error) {
	n := e.of
	n.mu.Lock()
	p := n.mu.ports[addr]
	if p == nil || n.mu.part[e.addr] != n.mu.part[addr] {
		n.mu.Unlock()
		return nil, errors.New("no route")
	}
	here, there := net.Pipe()
	l := &link{of: n, from: e.addr, to: addr, ends: [2]net.Conn{here, there}}
	n.mu.conns[l] = struct{}{}
	n.mu.Unlock()
	select {
	case p.conns <- &linked{there, l}:
		return &linked{here, l}, nil
	case <-p.done:
	case <-ctx.Done():
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	l.breakLocked()
	return nil, errors.New("connection refused")
}

// link is a connection.
type link struct {
	of       *network
	from, to string
	ends     [2]net.Conn
}

func (l *link) breakLocked() {
	delete(l.of.mu.conns, l)
	_ = errors.Join(l.ends[0].Close(), l.ends[1].Close())
}

// linked is an end of a connection.
type linked struct {
	net.Conn
	l *link
}

func (c *linked) Close() error {
	c.l.of.mu.Lock()
	defer c.l.of.mu.Unlock()
	c.l.breakLocked()
	return nil
}

// port is a listener.
type port struct {
	of    *network
	addr  string
	conns chan net.Conn
	once  sync.Once
	done  chan struct{}
}

func (p *port) Accept() (net.Conn, error) {
	select {
	case conn := <-p.conns:
		return conn, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *port) Close() error {
	p.once.Do(func() { close(p.done) })
	p.of.mu.Lock()
	defer p.of.mu.Unlock()
	if p.of.mu.ports[p.addr] == p {
		delete(p.of.mu.ports, p.addr)
	}
	return nil
}

func (p *port) Addr() net.Addr { return &net.UnixAddr{Name: p.addr, Net: "memory"} }
