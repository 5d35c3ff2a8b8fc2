package link

import (
	"crypto/tls"
	"errors"
	"net"
	"sync/atomic"
	"time"

	"github.com/modelgateway/modelgateway/cluster/id"
)

// Conn is a connection whose two ends have verified each other.
type Conn struct {
	*tls.Conn

	bounded *boundedConn // below TLS
	node    id.Node
	named   bool
}

// Peer returns the node at the other end; false if its certificate names none.
func (c *Conn) Peer() (id.Node, bool) { return c.node, c.named }

// PeerOf returns the node at the other end of a connection that Dial or Accept
// gave; false if its certificate names none, or the connection is not of this
// package's kind.
func PeerOf(conn net.Conn) (id.Node, bool) {
	if p, ok := conn.(interface{ Peer() (id.Node, bool) }); ok {
		return p.Peer()
	}
	return "", false
}

// newConn makes the connection of a handshake that is done. Its bounds hold until
// trust.
func newConn(stream *tls.Conn, bounded *boundedConn, named nodeName) *Conn {
	return &Conn{Conn: stream, bounded: bounded, node: id.Node(named), named: named != ""}
}

// trust lifts the bounds of the handshake.
func (c *Conn) trust() {
	_ = c.bounded.SetDeadline(time.Time{}) // fails only if it is closed, which the user will notice
	c.bounded.trusted.Store(true)
}

// maxUnverified is how many bytes are read from a peer before it is known: a
// handshake with a chain of some certificates has less than 10 KiB.
const maxUnverified = 64 << 10

var errTooMuch = errors.New("more than 64 KiB before the handshake was done")

// boundedConn is a connection from which only so much is read until it is trusted.
type boundedConn struct {
	net.Conn

	left    int // of maxUnverified; only the handshake's goroutine reads before trust
	trusted atomic.Bool
}

// Read implements net.Conn.
func (c *boundedConn) Read(b []byte) (int, error) {
	if c.trusted.Load() {
		return c.Conn.Read(b)
	}
	if c.left <= 0 {
		return 0, errTooMuch
	}
	n, err := c.Conn.Read(b[:min(len(b), c.left)])
	c.left -= n
	return n, err
}
