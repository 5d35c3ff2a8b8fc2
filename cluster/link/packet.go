package link

import (
	"context"
	"net"
	"net/netip"
	"sync"
	"time"
)

// ReadPacket waits for a datagram; what b has no room for is cut off. Nobody has
// verified where it comes from or what it says. After Close it returns
// net.ErrClosed.
func (l *Link) ReadPacket(b []byte) (n int, from net.Addr, err error) {
	n, addr, err := l.udp.ReadFromUDPAddrPort(b)
	if err != nil {
		return 0, nil, err
	}
	return n, net.UDPAddrFromAddrPort(netip.AddrPortFrom(addr.Addr().Unmap(), addr.Port())), nil
}

// SetPacketDeadline lets ReadPacket wait no longer than until t; the zero time
// takes that back. Who is waiting is affected as well.
func (l *Link) SetPacketDeadline(t time.Time) error { return l.udp.SetReadDeadline(t) }

// WritePacket sends a datagram to host:port. It may be lost without a word. A name
// is looked up at most every few seconds.
func (l *Link) WritePacket(b []byte, address string) error {
	targets, err := l.names.lookup(address)
	if err != nil {
		return err
	}
	for _, target := range targets {
		// The first that this socket can send to at all: a socket of version 4 cannot
		// to version 6.
		if _, err = l.udp.WriteToUDPAddrPort(b, target); err == nil {
			return nil
		}
	}
	return err
}

const (
	// nameTTL is how long a name is not looked up again. In clusters of containers
	// names move within seconds.
	nameTTL = 5 * time.Second
	// nameWait is how long a packet waits for its name; it is one of many.
	nameWait = time.Second
	// maxNames bounds what is remembered: many more than a cluster has nodes.
	maxNames = 1024
)

// names remembers what names stand for. The zero value is empty.
type names struct {
	mu struct {
		sync.Mutex
		known map[string]known
	}
}

// known is what a name stood for when it was asked for.
type known struct {
	targets []netip.AddrPort
	err     error
	until   time.Time
}

// lookup returns what an address stands for. An error is remembered as well, or
// each packet to a name that is gone would wait for it; who was found before is
// kept then.
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
	// Without the lock: two who ask at once ask twice, and nobody else waits.
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
