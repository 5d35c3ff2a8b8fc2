package memlink

import (
	"io"
	"net"
	"os"
	"slices"
	"syscall"
	"time"

	"github.com/modelgateway/modelgateway/cluster/id"
)

// addr is the address of an attached node.
type addr string

// Network implements net.Addr.
func (addr) Network() string { return "mem" }

// String implements net.Addr.
func (a addr) String() string { return string(a) }

// conn is one end of a connection. The network's lock guards the fields that change.
//
// Deadlines have no timers: each waiting call knows its own deadline, so that nothing must be
// stopped.
type conn struct {
	network       *Network
	number        uint64
	local, remote *Link
	peer          *conn
	in, out       *stream

	closed    bool // by this end, or with its node
	abandoned bool // the other end crashed; this one may not have noticed yet
	reset     bool // this end has noticed
	writing   bool // a Write is in progress; its bytes stay together
	read      time.Time
	write     time.Time
	waiting   chan struct{} // closed when the state changes; nil: no call waits
}

// Peer returns the node at the other end; link.PeerOf uses it.
func (c *conn) Peer() (id.Node, bool) { return c.remote.node, c.remote.node != "" }

// LocalAddr implements net.Conn.
func (c *conn) LocalAddr() net.Addr { return addr(c.local.address) }

// RemoteAddr implements net.Conn.
func (c *conn) RemoteAddr() net.Addr { return addr(c.remote.address) }

// Read implements net.Conn.
func (c *conn) Read(b []byte) (int, error) {
	n := c.network
	n.mu.Lock()
	defer n.mu.Unlock()
	for {
		if err := c.failureLocked(c.read); err != nil {
			return 0, c.failed("read", err)
		}
		if len(b) == 0 {
			return 0, nil
		}
		c.in.deliver(time.Now(), &n.mu.faults)
		if got := c.in.read(b); got > 0 {
			c.peer.wakeLocked() // there is room for more
			return got, nil
		}
		if c.in.ended {
			return 0, io.EOF
		}
		var arrival time.Time
		if !n.mu.faults.blocked(c.in.path) {
			arrival = c.in.next()
		}
		c.waitLocked(c.read, arrival)
	}
}

// Write implements net.Conn. It returns when everything is sent, not when it has arrived.
func (c *conn) Write(b []byte) (int, error) {
	n := c.network
	n.mu.Lock()
	defer n.mu.Unlock()
	for c.writing {
		if err := c.failureLocked(c.write); err != nil {
			return 0, c.failed("write", err)
		}
		c.waitLocked(c.write)
	}
	c.writing = true
	defer func() {
		c.writing = false
		c.wakeLocked()
	}()
	sent := 0
	for {
		if err := c.failureLocked(c.write); err != nil {
			return sent, c.failed("write", err)
		}
		if c.peer.closed && !n.mu.faults.blocked(c.in.path) && !n.mu.faults.blocked(c.out.path) {
			// Readers and writers learn that the other end has gone when its end arrives. Until
			// then all written bytes are lost.
			if c.in.deliver(time.Now(), &n.mu.faults); c.in.ended {
				return sent, c.failed("write", syscall.EPIPE)
			}
			return len(b), nil
		}
		if sent == len(b) {
			return sent, nil
		}
		if room := window - c.out.size; room > 0 {
			piece := slices.Clone(b[sent:min(len(b), sent+room)])
			c.out.send(segment{data: piece, at: time.Now().Add(n.segmentLatencyLocked(c.out.path))})
			c.peer.wakeLocked()
			if sent += len(piece); sent == len(b) {
				return sent, nil
			}
			continue
		}
		c.waitLocked(c.write)
	}
}

// Close implements net.Conn. Bytes written before still arrive.
func (c *conn) Close() error {
	n := c.network
	n.mu.Lock()
	defer n.mu.Unlock()
	if c.closed {
		return c.failed("close", net.ErrClosed)
	}
	c.closeLocked()
	return nil
}

func (c *conn) closeLocked() {
	c.out.send(segment{end: true, at: time.Now().Add(c.network.segmentLatencyLocked(c.out.path))})
	c.dropLocked()
	c.peer.wakeLocked()
}

// dropLocked closes this end without notifying the other.
func (c *conn) dropLocked() {
	c.closed = true
	delete(c.network.mu.conns, c.number)
	c.wakeLocked()
}

// SetDeadline implements net.Conn.
func (c *conn) SetDeadline(t time.Time) error {
	return c.setDeadlines(func() { c.read, c.write = t, t })
}

// SetReadDeadline implements net.Conn.
func (c *conn) SetReadDeadline(t time.Time) error {
	return c.setDeadlines(func() { c.read = t })
}

// SetWriteDeadline implements net.Conn.
func (c *conn) SetWriteDeadline(t time.Time) error {
	return c.setDeadlines(func() { c.write = t })
}

func (c *conn) setDeadlines(set func()) error {
	c.network.mu.Lock()
	defer c.network.mu.Unlock()
	if c.closed {
		return c.failed("set", net.ErrClosed)
	}
	set()
	c.wakeLocked()
	return nil
}

// failureLocked returns why no read or write is possible any more.
func (c *conn) failureLocked(deadline time.Time) error {
	if c.abandoned && !c.network.mu.faults.blocked(c.in.path) {
		c.reset = true
	}
	switch {
	case c.closed:
		return net.ErrClosed
	case passed(deadline):
		return os.ErrDeadlineExceeded
	case c.reset:
		return syscall.ECONNRESET
	}
	return nil
}

// passed reports whether there is a deadline and it has passed.
func passed(deadline time.Time) bool {
	return !deadline.IsZero() && !time.Now().Before(deadline)
}

// failed returns an error like those of sockets, which report timeouts.
func (c *conn) failed(op string, err error) error {
	return &net.OpError{Op: op, Net: addr("").Network(), Source: c.LocalAddr(), Addr: c.RemoteAddr(), Err: err}
}

// waitLocked waits, without the lock, until the state changes or the earliest of the times.
// Zero times are ignored.
func (c *conn) waitLocked(until ...time.Time) {
	if c.waiting == nil {
		c.waiting = make(chan struct{})
	}
	c.network.waitLocked(c.waiting, until...)
}

// wakeLocked wakes all waiting calls.
func (c *conn) wakeLocked() {
	if c.waiting != nil {
		close(c.waiting)
		c.waiting = nil
	}
}

// waitLocked waits, without the lock, until a channel is closed or the earliest of the times.
// Zero times are ignored.
func (n *Network) waitLocked(changed <-chan struct{}, until ...time.Time) {
	var first time.Time
	for _, t := range until {
		if !t.IsZero() && (first.IsZero() || t.Before(first)) {
			first = t
		}
	}
	n.mu.Unlock()
	defer n.mu.Lock()
	if first.IsZero() {
		<-changed
		return
	}
	timer := time.NewTimer(time.Until(first))
	defer timer.Stop()
	select {
	case <-changed:
	case <-timer.C:
	}
}
