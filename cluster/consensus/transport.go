package consensus

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"github.com/hashicorp/raft"
)

// minRPCTimeout is the shortest timeout of a request between nodes. It is short because a
// connection that lost packets backs off longer and longer; a new connection does not.
const minRPCTimeout = 2 * time.Second

// streams adapts a Network to Raft. It tracks its connections, so that none of their goroutines
// outlives Run.
type streams struct {
	net.Listener

	network Network
	address string
	ctx     context.Context //nolint:containedctx // ends what Raft dials without a context

	mu struct {
		sync.Mutex
		conns  map[*trackedConn]struct{} // nil when closed
		closed bool
	}
}

func newStreams(ctx context.Context, n Network, address string) *streams {
	s := &streams{Listener: n.Listener(), network: n, address: address, ctx: ctx}
	s.mu.conns = map[*trackedConn]struct{}{}
	return s
}

// Addr returns the address of this node for the others, not its listening address.
func (s *streams) Addr() net.Addr { return address(s.address) }

// Accept implements net.Listener.
func (s *streams) Accept() (net.Conn, error) {
	conn, err := s.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return s.track(conn)
}

// Dial implements raft.StreamLayer.
func (s *streams) Dial(to raft.ServerAddress, timeout time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(s.ctx, timeout)
	defer cancel()
	conn, err := s.network.Dial(ctx, string(to))
	if err != nil {
		return nil, err
	}
	return s.track(conn)
}

func (s *streams) track(conn net.Conn) (net.Conn, error) {
	t := &trackedConn{Conn: conn, of: s}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.closed {
		return nil, errors.Join(net.ErrClosed, conn.Close())
	}
	s.mu.conns[t] = struct{}{}
	return t, nil
}

// closeAll closes every connection and rejects new ones.
func (s *streams) closeAll() {
	s.mu.Lock()
	conns := s.mu.conns
	s.mu.conns, s.mu.closed = nil, true
	s.mu.Unlock()
	for conn := range conns {
		_ = conn.Conn.Close() // no longer used
	}
}

// trackedConn is a connection that streams tracks until it is closed.
type trackedConn struct {
	net.Conn

	of *streams
}

// Close implements net.Conn.
func (c *trackedConn) Close() error {
	c.of.mu.Lock()
	delete(c.of.mu.conns, c)
	c.of.mu.Unlock()
	return c.Conn.Close()
}

// address is a net.Addr of an address that Network.Dial accepts.
type address string

// Network implements net.Addr.
func (address) Network() string { return "cluster" }

// String implements net.Addr.
func (a address) String() string { return string(a) }
