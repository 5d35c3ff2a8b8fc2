package link

import (
	"crypto/tls"
	"errors"
	"net"
	"sync/atomic"
	"time"

	"github.com/modelgateway/modelgateway/cluster/id"
)

// Conn is a mutually verified connection.
type Conn struct {
	*tls.Conn

	bounded *boundedConn // below TLS
	node    id.Node
	named   bool
}

// Peer returns the node at the other end; false if its certificate names no node.
func (c *Conn) Peer() (id.Node, bool) { return c.node, c.named }

// PeerOf returns the node at the other end of a connection of Dial or Accept; false if its
// certificate names no node, or the connection is of another type.
func PeerOf(conn net.Conn) (id.Node, bool) {
	if p, ok := conn.(interface{ Peer() (id.Node, bool) }); ok {
		return p.Peer()
	}
	return "", false
}

// newConn returns the connection of a completed handshake. Its limits hold until trust.
func newConn(stream *tls.Conn, bounded *boundedConn, named nodeName) *Conn {
	return &Conn{Conn: stream, bounded: bounded, node: id.Node(named), named: named != ""}
}

// trust lifts the limits of the handshake.
func (c *Conn) trust() {
	_ = c.bounded.SetDeadline(time.Time{}) // fails only if it is closed, which the user will notice
	c.bounded.trusted.Store(true)
}

// maxUnverified is the number of bytes that are read from an unverified peer. A handshake with
// a chain of several certificates has less than 10 KiB.
const maxUnverified = 64 << 10

var errTooMuch = errors.New("more than 64 KiB before the handshake was done")

// boundedConn is a connection that limits the bytes read until it is trusted.
type boundedConn struct {
	net.Conn

	left    int // rest of maxUnverified; before trust, only the handshake's goroutine reads
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
