package peer

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"

	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// Dial opens a connection to another node. It has verified the other side when
// it returns.
type Dial func(ctx context.Context, address string) (net.Conn, error)

// Clients calls other nodes. It is safe for concurrent use.
type Clients struct {
	dial Dial
	mu   struct {
		sync.Mutex
		conns  map[string]*grpc.ClientConn // by address
		closed bool
	}
}

// NewClients returns clients without a connection.
func NewClients(dial Dial) *Clients {
	c := &Clients{dial: dial}
	c.mu.conns = make(map[string]*grpc.ClientConn)
	return c
}

const (
	// A connection that is silent for so long is asked whether it still is one; a
	// peer that vanished without a word would else hold calls until they time out.
	keepaliveTime = 10 * time.Second
	keepaliveWait = 3 * time.Second
	// A node that comes back should be found soon; there are few to try.
	maxBackoff  = time.Second
	connectTime = 3 * time.Second
)

// At returns a client for the node at an address. Its calls fail at once while no
// connection can be made: whoever calls has better things to do than to wait for
// a node that may be gone.
func (c *Clients) At(address string) (clusterv1.PeerServiceClient, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.mu.closed {
		return nil, errors.New("the clients are closed")
	}
	conn, ok := c.mu.conns[address]
	if !ok {
		var err error
		// passthrough: the address is the link's to resolve.
		conn, err = grpc.NewClient("passthrough:///"+address,
			grpc.WithContextDialer(c.dial),
			grpc.WithTransportCredentials(insecure.NewCredentials()), // the connection is mutual TLS below
			grpc.WithDisableServiceConfig(),
			grpc.WithNoProxy(),
			grpc.WithConnectParams(grpc.ConnectParams{
				Backoff:           backoff.Config{BaseDelay: 50 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: maxBackoff},
				MinConnectTimeout: connectTime,
			}),
			grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: keepaliveTime, Timeout: keepaliveWait}),
			grpc.WithUnaryInterceptor(receive),
		)
		if err != nil {
			return nil, err
		}
		c.mu.conns[address] = conn
	}
	return clusterv1.NewPeerServiceClient(conn), nil
}

// Keep closes the connections to addresses that are no node's any more.
func (c *Clients) Keep(wanted func(address string) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for address, conn := range c.mu.conns {
		if !wanted(address) {
			_ = conn.Close() // says only that it was closed before
			delete(c.mu.conns, address)
		}
	}
}

// Close ends all connections. Calls under way fail.
func (c *Clients) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mu.closed = true
	var errs []error
	for address, conn := range c.mu.conns {
		errs = append(errs, conn.Close())
		delete(c.mu.conns, address)
	}
	return errors.Join(errs...)
}
