package memlink

import (
	"net"
	"os"
	"slices"
	"syscall"
	"time"
)

const (
	// maxPacket is the most that a datagram carries over IPv4.
	maxPacket = 65507
	// inboxSize is how many packets wait for a reader before more are dropped, as
	// the buffer of a socket would.
	inboxSize = 1024
)

// packet is a datagram on its way.
type packet struct {
	data []byte
	from addr
	at   time.Time // when it arrives
}

// WritePacket sends a datagram to an address. It may be lost without a word, and
// is if nobody is there.
func (l *Link) WritePacket(b []byte, address string) error {
	n := l.network
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case l.closed:
		return l.failed("write", net.ErrClosed)
	case len(b) > maxPacket:
		return l.failed("write", syscall.EMSGSIZE)
	}
	way := path{l.address, address}
	lost, at := n.lostLocked(way), time.Now().Add(n.latencyLocked(way))
	to := n.mu.links[address]
	if to == nil || lost || n.mu.faults.blocked(way) || len(to.inbox) >= inboxSize {
		return nil
	}
	// After all that arrive at the same time: without jitter the order stays.
	i, _ := slices.BinarySearchFunc(to.inbox, at, func(p packet, at time.Time) int {
		if p.at.After(at) {
			return 1
		}
		return -1
	})
	to.inbox = slices.Insert(to.inbox, i, packet{data: slices.Clone(b), from: addr(l.address), at: at})
	to.wakeLocked()
	return nil
}

// ReadPacket waits for a datagram; what b has no room for is cut off.
func (l *Link) ReadPacket(b []byte) (int, net.Addr, error) {
	n := l.network
	n.mu.Lock()
	defer n.mu.Unlock()
	for {
		switch {
		case l.closed:
			return 0, nil, l.failed("read", net.ErrClosed)
		case passed(l.reading):
			return 0, nil, l.failed("read", os.ErrDeadlineExceeded)
		}
		var arrival time.Time
		if len(l.inbox) > 0 {
			p := l.inbox[0]
			if !p.at.After(time.Now()) {
				l.inbox = slices.Delete(l.inbox, 0, 1)
				return copy(b, p.data), p.from, nil
			}
			arrival = p.at
		}
		if l.waiting == nil {
			l.waiting = make(chan struct{})
		}
		n.waitLocked(l.waiting, arrival, l.reading)
	}
}

// SetPacketDeadline lets ReadPacket wait no longer than until t; the zero time
// takes that back. Who is waiting is affected as well.
func (l *Link) SetPacketDeadline(t time.Time) error {
	l.network.mu.Lock()
	defer l.network.mu.Unlock()
	if l.closed {
		return l.failed("set", net.ErrClosed)
	}
	l.reading = t
	l.wakeLocked()
	return nil
}

// wakeLocked lets everybody who waits for a packet look again.
func (l *Link) wakeLocked() {
	if l.waiting != nil {
		close(l.waiting)
		l.waiting = nil
	}
}

func (l *Link) failed(op string, err error) error {
	return &net.OpError{Op: op, Net: addr("").Network(), Source: addr(l.address), Err: err}
}
