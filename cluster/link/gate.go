package link

import (
	"container/list"
	"net"
	"net/netip"
	"sync"
)

// gate bounds how many connections are unverified at once. Who is new always gets
// in; who has taken longest makes way. A verification takes milliseconds, so that
// whoever opens connections and says nothing drives out others of the kind, and
// not a node; refusing who is new would let them keep the nodes out.
type gate struct {
	total, each int // the bounds: of all, and of one origin
	mu          struct {
		sync.Mutex
		inside list.List // of *pass, in the order they came
		from   map[netip.Prefix]int
	}
}

// pass is one connection's leave to be verified.
type pass struct {
	from    netip.Prefix
	evict   func()        // closes the connection; is called without the lock
	place   *list.Element // in inside; nil when it is out; guarded by the gate
	evicted bool          // it made way for another; guarded by the gate
}

// init sets the bounds. One origin gets a quarter, so that a single machine takes
// the places of its own connections first; nodes behind one address of a NAT still
// fit.
func (g *gate) init(total int) {
	g.total, g.each = total, max(total/4, 1)
	g.mu.from = map[netip.Prefix]int{}
}

// enter lets one more in, for which another may have to make way. leave has to
// follow.
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

// leave gives the place back, if that has not been done yet; false if the
// connection had to make way.
func (g *gate) leave(p *pass) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.outLocked(p)
	return !p.evicted
}

// victimLocked returns who makes way for a connection of an origin; nil if there
// is room. Looking through all of them is cheap beside a handshake.
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

// originOf is what counts as one machine: an address of version 4, and of version
// 6 the network of 64 bits that a machine can take all its addresses from.
func originOf(a net.Addr) netip.Prefix {
	ap, err := netip.ParseAddrPort(a.String())
	if err != nil {
		return netip.Prefix{} // all that have no address count as one
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
