package memlink

import (
	"net"
	"os"
	"slices"
	"syscall"
	"time"
)

const (
	// maxPacket is the largest payload of a datagram over IPv4.
	maxPacket = 65507
	// inboxSize is the number of unread packets before more are dropped, like a socket buffer.
	inboxSize = 1024
)

// packet is a datagram in flight.
type packet struct {
	data []byte
	from addr
	at   time.Time // arrival time
}

// WritePacket sends a datagram to an address. It may be lost silently, and always is if there
// is no node.
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
	// After all that arrive at the same time, so that without jitter the order stays.
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

// ReadPacket waits for a datagram, and truncates it to the length of b.
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

// SetPacketDeadline sets the deadline of ReadPacket, also of a running one; the zero time
// removes it.
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

// wakeLocked wakes all calls that wait for a packet.
func (l *Link) wakeLocked() {
	if l.waiting != nil {
		close(l.waiting)
		l.waiting = nil
	}
}

func (l *Link) failed(op string, err error) error {
	return &net.OpError{Op: op, Net: addr("").Network(), Source: addr(l.address), Err: err}
}
