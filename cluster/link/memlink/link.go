package memlink

import (
	"context"
	"errors"
	"net"
	"syscall"
	"time"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/link"
)

// Link is one node's part of a Network; its methods are those of link.Link. All are safe for
// concurrent use.
type Link struct {
	network   *Network
	address   string
	node      id.Node
	listeners map[link.Protocol]*listener
	done      chan struct{} // closed with the link

	// Guarded by the network's lock.
	closed  bool
	inbox   []packet // by arrival
	reading time.Time
	waiting chan struct{} // closed when inbox, reading or closed changes; nil: no call waits
}

// dialTime limits Dial, like the default of link.Link.
const dialTime = 5 * time.Second

// Address returns the address of this node.
func (l *Link) Address() string { return l.address }

// Run waits until ctx ends or the link is closed. After that the link accepts neither
// connections nor packets. Existing connections do not need Run.
func (l *Link) Run(ctx context.Context) error {
	select {
	case <-ctx.Done():
	case <-l.done:
	}
	return l.Close()
}

// Close closes the listeners and stops packets. Connections stay with their owners.
func (l *Link) Close() error {
	l.network.mu.Lock()
	defer l.network.mu.Unlock()
	l.closeLocked()
	return nil
}

func (l *Link) closeLocked() {
	if l.closed {
		return
	}
	l.closed = true
	close(l.done)
	delete(l.network.mu.links, l.address)
	for _, ln := range l.listeners {
		ln.closeLocked()
	}
	l.inbox = nil
	l.wakeLocked()
}

// Listener returns the listener of one protocol; the same at each call. It panics for an
// unknown protocol.
func (l *Link) Listener(p link.Protocol) net.Listener {
	ln := l.listeners[p]
	if ln == nil {
		panic("memlink: there is no protocol " + string(p))
	}
	return ln
}

// Dial connects to an address. While either direction is blocked, it waits until ctx ends, at
// most five seconds. A missing node is an error at once.
func (l *Link) Dial(ctx context.Context, address string, p link.Protocol) (net.Conn, error) {
	return l.DialNode(ctx, address, "", p)
}

// DialNode connects to a node, and rejects another node at its address. It accepts a node
// without a name.
func (l *Link) DialNode(ctx context.Context, address string, node id.Node, p link.Protocol) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	conn, err := l.dial(ctx, address, p)
	if err != nil {
		return nil, &net.OpError{Op: "dial", Net: addr("").Network(), Source: addr(l.address), Addr: addr(address), Err: err}
	}
	if got, named := conn.Peer(); node != "" && named && got != node {
		err := fault.New(fault.Unavailable, "wrong_node", "At %s is node %s, not %s.", address, got, node)
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

// dial connects. It releases the lock while it waits.
func (l *Link) dial(ctx context.Context, address string, p link.Protocol) (*conn, error) {
	n := l.network
	there, back := path{l.address, address}, path{address, l.address}
	n.mu.Lock()
	defer n.mu.Unlock()
	// One round trip: the dialing side cannot know earlier whether the node exists.
	if err := n.untilLocked(ctx, time.Now().Add(n.segmentLatencyLocked(there)+n.segmentLatencyLocked(back))); err != nil {
		return nil, err
	}
	for n.mu.faults.blocked(there) || n.mu.faults.blocked(back) {
		if err := n.untilLocked(ctx, time.Time{}); err != nil {
			return nil, err
		}
	}
	if l.closed {
		return nil, net.ErrClosed
	}
	to := n.mu.links[address]
	if to == nil || to.listeners[p] == nil || to.listeners[p].closed {
		return nil, syscall.ECONNREFUSED
	}
	near, far := n.connectLocked(l, to)
	to.listeners[p].queue = append(to.listeners[p].queue, far)
	to.listeners[p].wakeLocked()
	return near, nil
}

// untilLocked waits until a time or, for the zero time, for the next change of the faults.
func (n *Network) untilLocked(ctx context.Context, at time.Time) error {
	var due <-chan time.Time
	var changed <-chan struct{}
	switch {
	case at.IsZero():
		if n.mu.changed == nil {
			n.mu.changed = make(chan struct{})
		}
		changed = n.mu.changed
	case !at.After(time.Now()):
		return ctx.Err()
	default:
		timer := time.NewTimer(time.Until(at))
		defer timer.Stop()
		due = timer.C
	}
	n.mu.Unlock()
	defer n.mu.Lock()
	select {
	case <-due:
	case <-changed:
	case <-ctx.Done():
	}
	return ctx.Err()
}

// listener accepts the connections of one protocol. The network's lock guards it.
type listener struct {
	link    *Link
	queue   []*conn
	closed  bool
	waiting chan struct{} // closed when the state changes; nil: no call waits
}

// Accept implements net.Listener.
func (ln *listener) Accept() (net.Conn, error) {
	n := ln.link.network
	n.mu.Lock()
	defer n.mu.Unlock()
	for {
		if ln.closed {
			return nil, &net.OpError{Op: "accept", Net: addr("").Network(), Addr: ln.Addr(), Err: net.ErrClosed}
		}
		if len(ln.queue) > 0 {
			c := ln.queue[0]
			ln.queue = ln.queue[1:]
			return c, nil
		}
		if ln.waiting == nil {
			ln.waiting = make(chan struct{})
		}
		n.waitLocked(ln.waiting)
	}
}

// Close implements net.Listener: it rejects further connections, and closes those that were not
// accepted yet.
func (ln *listener) Close() error {
	ln.link.network.mu.Lock()
	defer ln.link.network.mu.Unlock()
	ln.closeLocked()
	return nil
}

func (ln *listener) closeLocked() {
	if ln.closed {
		return
	}
	ln.closed = true
	for _, c := range ln.queue {
		c.closeLocked()
	}
	ln.queue = nil
	ln.wakeLocked()
}

func (ln *listener) wakeLocked() {
	if ln.waiting != nil {
		close(ln.waiting)
		ln.waiting = nil
	}
}

// Addr implements net.Listener.
func (ln *listener) Addr() net.Addr { return addr(ln.link.address) }
