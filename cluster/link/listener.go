package link

import (
	"net"
	"sync"
)

// backlog is how many verified connections of one protocol may wait for Accept;
// more than the nodes of a cluster that all come at once.
const backlog = 128

// listener gives the connections of one protocol.
type listener struct {
	addr net.Addr
	mu   struct {
		sync.Mutex
		queue    []*Conn
		reserved int // places in the queue for connections that are being greeted
		closed   bool
	}
	changed *sync.Cond // on mu
}

func newListener(addr net.Addr) *listener {
	ln := &listener{addr: addr}
	ln.changed = sync.NewCond(&ln.mu)
	return ln
}

// reserve takes a place for a connection that is about to be told that it is
// welcome; false if there is none. hand or release has to follow.
func (ln *listener) reserve() bool {
	ln.mu.Lock()
	defer ln.mu.Unlock()
	if ln.mu.closed || len(ln.mu.queue)+ln.mu.reserved >= backlog {
		return false
	}
	ln.mu.reserved++
	return true
}

// release gives a place back that is not needed.
func (ln *listener) release() {
	ln.mu.Lock()
	defer ln.mu.Unlock()
	ln.mu.reserved--
}

// hand puts a connection at the place that was reserved; false if the listener was
// closed meanwhile.
func (ln *listener) hand(c *Conn) bool {
	ln.mu.Lock()
	defer ln.mu.Unlock()
	ln.mu.reserved--
	if ln.mu.closed {
		return false
	}
	ln.mu.queue = append(ln.mu.queue, c)
	ln.changed.Signal()
	return true
}

// Accept implements net.Listener.
func (ln *listener) Accept() (net.Conn, error) {
	ln.mu.Lock()
	defer ln.mu.Unlock()
	for !ln.mu.closed && len(ln.mu.queue) == 0 {
		ln.changed.Wait()
	}
	if ln.mu.closed {
		return nil, &net.OpError{Op: "accept", Net: ln.addr.Network(), Addr: ln.addr, Err: net.ErrClosed}
	}
	c := ln.mu.queue[0]
	ln.mu.queue[0] = nil // or the array would keep it for as long as the queue is not empty
	ln.mu.queue = ln.mu.queue[1:]
	return c, nil
}

// Close implements net.Listener: who connects from now on is refused, and who has
// not been accepted yet is let down.
func (ln *listener) Close() error {
	ln.mu.Lock()
	queue := ln.mu.queue
	ln.mu.queue, ln.mu.closed = nil, true
	ln.changed.Broadcast()
	ln.mu.Unlock()
	for _, c := range queue {
		_ = c.Close() // nobody has used it
	}
	return nil
}

// Addr implements net.Listener.
func (ln *listener) Addr() net.Addr { return ln.addr }
