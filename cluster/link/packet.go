package link

import (
	"context"
	"net"
	"net/netip"
	"sync"
	"time"
)

// ReadPacket waits for a datagram, and truncates it to the length of b. Neither its origin nor
// its content is verified. After Close it returns net.ErrClosed.
func (l *Link) ReadPacket(b []byte) (n int, from net.Addr, err error) {
	n, addr, err := l.udp.ReadFromUDPAddrPort(b)
	if err != nil {
		return 0, nil, err
	}
	return n, net.UDPAddrFromAddrPort(netip.AddrPortFrom(addr.Addr().Unmap(), addr.Port())), nil
}

// SetPacketDeadline sets the deadline of ReadPacket, also of a running one; the zero time
// removes it.
func (l *Link) SetPacketDeadline(t time.Time) error { return l.udp.SetReadDeadline(t) }

// WritePacket sends a datagram to host:port. It may be lost silently. A name is resolved at
// most every few seconds.
func (l *Link) WritePacket(b []byte, address string) error {
	targets, err := l.names.lookup(address)
	if err != nil {
		return err
	}
	for _, target := range targets {
		// The first address that this socket can send to: an IPv4 socket cannot send to IPv6.
		if _, err = l.udp.WriteToUDPAddrPort(b, target); err == nil {
			return nil
		}
	}
	return err
}

const (
	// nameTTL is how long a resolved name is cached. In clusters of containers names move
	// within seconds.
	nameTTL = 5 * time.Second
	// nameWait limits the resolution of a packet's name.
	nameWait = time.Second
	// maxNames limits the cache: many more than a cluster has nodes.
	maxNames = 1024
)

// names caches resolved names. The zero value is empty.
type names struct {
	mu struct {
		sync.Mutex
		known map[string]known
	}
}

// known is a cached name.
type known struct {
	targets []netip.AddrPort
	err     error
	until   time.Time
}

// lookup resolves an address. It also caches errors; otherwise each packet to a missing name
// would wait. After an error it keeps the previous addresses.
func (c *names) lookup(address string) ([]netip.AddrPort, error) {
	if literal, err := netip.ParseAddrPort(address); err == nil {
		return []netip.AddrPort{literal}, nil
	}
	now := time.Now()
	c.mu.Lock()
	old, ok := c.mu.known[address]
	c.mu.Unlock()
	if ok && now.Before(old.until) {
		return old.targets, old.err
	}
	// Without the lock: two concurrent callers resolve twice, and no other caller waits.
	ctx, cancel := context.WithTimeout(context.Background(), nameWait)
	defer cancel()
	_, targets, err := resolve(ctx, address)
	if err != nil && len(old.targets) > 0 {
		targets, err = old.targets, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.mu.known == nil || len(c.mu.known) >= maxNames {
		c.mu.known = map[string]known{}
	}
	c.mu.known[address] = known{targets: targets, err: err, until: time.Now().Add(nameTTL)}
	return targets, err
}
