package link

import (
	"container/list"
	"net"
	"net/netip"
	"sync"
)

// gate limits the number of unverified connections. A new connection is always accepted; the
// oldest one is evicted. A verification takes milliseconds, so idle connections of an attacker
// evict each other and not a node. If the gate rejected new ones instead, an attacker could
// keep the nodes out.
type gate struct {
	total, each int // the limits: in total, and per origin
	mu          struct {
		sync.Mutex
		inside list.List // of *pass, in order of arrival
		from   map[netip.Prefix]int
	}
}

// pass is the slot of one unverified connection.
type pass struct {
	from    netip.Prefix
	evict   func()        // closes the connection; called without the lock
	place   *list.Element // in inside; nil once it has left; guarded by the gate
	evicted bool          // another connection took its slot; guarded by the gate
}

// init sets the limits. One origin gets a quarter, so that a single machine first evicts its
// own connections. Nodes behind one NAT address still fit.
func (g *gate) init(total int) {
	g.total, g.each = total, max(total/4, 1)
	g.mu.from = map[netip.Prefix]int{}
}

// enter adds a connection and may evict another. Each call needs a call of leave.
func (g *gate) enter(from netip.Prefix, evict func()) *pass {
	p := &pass{from: from, evict: evict}
	g.mu.Lock()
	victim := g.victimLocked(from)
	if victim != nil {
		g.outLocked(victim)
		victim.evicted = true
	}
	p.place = g.mu.inside.PushBack(p)
	g.mu.from[from]++
	g.mu.Unlock()
	if victim != nil {
		victim.evict()
	}
	return p
}

// leave removes the connection, if it is still inside; false if it was evicted.
func (g *gate) leave(p *pass) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.outLocked(p)
	return !p.evicted
}

// victimLocked returns the connection to evict for a new one of an origin; nil if there is
// room. A linear search is cheap compared with a handshake.
func (g *gate) victimLocked(from netip.Prefix) *pass {
	crowded := g.mu.from[from] >= g.each
	if !crowded && g.mu.inside.Len() < g.total {
		return nil
	}
	for at := g.mu.inside.Front(); at != nil; at = at.Next() {
		if p, ok := at.Value.(*pass); ok && (!crowded || p.from == from) {
			return p
		}
	}
	return nil
}

func (g *gate) outLocked(p *pass) {
	if p.place == nil {
		return
	}
	g.mu.inside.Remove(p.place)
	p.place = nil
	if g.mu.from[p.from]--; g.mu.from[p.from] <= 0 {
		delete(g.mu.from, p.from)
	}
}

// originOf returns the addresses that count as one machine: an IPv4 address, or a /64 network
// of IPv6, because a machine can use all its addresses.
func originOf(a net.Addr) netip.Prefix {
	ap, err := netip.ParseAddrPort(a.String())
	if err != nil {
		return netip.Prefix{} // connections without an address count as one machine
	}
	ip, bits := ap.Addr().Unmap().WithZone(""), 64
	if ip.Is4() {
		bits = 32
	}
	prefix, err := ip.Prefix(bits)
	if err != nil {
		return netip.Prefix{}
	}
	return prefix
}
