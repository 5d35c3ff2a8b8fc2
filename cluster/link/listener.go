package link

import (
	"net"
	"sync"
)

// backlog is how many verified connections of one protocol may wait for Accept: more than the
// nodes of a cluster that connect at the same time.
const backlog = 128

// listener accepts the connections of one protocol.
type listener struct {
	addr net.Addr
	mu   struct {
		sync.Mutex
		queue    []*Conn
		reserved int // slots for connections that are being greeted
		closed   bool
	}
	changed *sync.Cond // on mu
}

func newListener(addr net.Addr) *listener {
	ln := &listener{addr: addr}
	ln.changed = sync.NewCond(&ln.mu)
	return ln
}

// reserve reserves a slot for a connection before its greeting; false if there is none. Each
// call needs a call of hand or release.
func (ln *listener) reserve() bool {
	ln.mu.Lock()
	defer ln.mu.Unlock()
	if ln.mu.closed || len(ln.mu.queue)+ln.mu.reserved >= backlog {
		return false
	}
	ln.mu.reserved++
	return true
}

// release frees an unused slot.
func (ln *listener) release() {
	ln.mu.Lock()
	defer ln.mu.Unlock()
	ln.mu.reserved--
}

// hand puts a connection into its reserved slot; false if the listener was closed in the
// meantime.
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
	ln.mu.queue[0] = nil // otherwise the array would keep it until the queue is empty
	ln.mu.queue = ln.mu.queue[1:]
	return c, nil
}

// Close implements net.Listener: it rejects further connections, and closes those that were not
// accepted yet.
func (ln *listener) Close() error {
	ln.mu.Lock()
	queue := ln.mu.queue
	ln.mu.queue, ln.mu.closed = nil, true
	ln.changed.Broadcast()
	ln.mu.Unlock()
	for _, c := range queue {
		_ = c.Close() // not used yet
	}
	return nil
}

// Addr implements net.Listener.
func (ln *listener) Addr() net.Addr { return ln.addr }
