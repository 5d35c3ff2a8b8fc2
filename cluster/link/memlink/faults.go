package memlink

import "time"

// faults is what is wrong with the network.
type faults struct {
	side     map[string]int // which side of the partition an address is on; 0: none that was named
	oneWay   map[path]bool
	isolated map[string]bool
	delay    time.Duration
	jitter   time.Duration
	loss     float64
}

// blocked reports whether nothing gets through on a path.
func (f *faults) blocked(p path) bool {
	if p.from == p.to {
		return false
	}
	return f.side[p.from] != f.side[p.to] || f.oneWay[p] || f.isolated[p.from] || f.isolated[p.to]
}

// Partition lets only nodes of the same group talk to each other; addresses that
// are in no group are one more. It replaces an earlier partition. Connections
// between groups stay and stand still, packets are dropped.
func (n *Network) Partition(groups ...[]string) {
	side := map[string]int{}
	for i, group := range groups {
		for _, address := range group {
			side[address] = i + 1
		}
	}
	n.change(func(f *faults) { f.side = side })
}

// OneWay drops what goes from one address to another, beside what else is
// blocked. What goes the other way arrives, though a new connection needs both.
func (n *Network) OneWay(from, to string) {
	n.change(func(f *faults) {
		if f.oneWay == nil {
			f.oneWay = map[path]bool{}
		}
		f.oneWay[path{from, to}] = true
	})
}

// Isolate cuts an address off from all others, beside what else is blocked.
func (n *Network) Isolate(address string) {
	n.change(func(f *faults) {
		if f.isolated == nil {
			f.isolated = map[string]bool{}
		}
		f.isolated[address] = true
	})
}

// Heal takes back every Partition, OneWay and Isolate. Delay and Loss stay.
func (n *Network) Heal() {
	n.change(func(f *faults) { f.side, f.oneWay, f.isolated = nil, nil, nil })
}

// Delay makes everything that is sent from now on take base and up to jitter
// more. Streams keep their order, packets do not.
func (n *Network) Delay(base, jitter time.Duration) {
	n.change(func(f *faults) { f.delay, f.jitter = base, jitter })
}

// Loss drops a share of the packets, 0 to less than 1. Streams lose nothing, but
// what would have been lost takes longer, and everything behind it as well.
func (n *Network) Loss(share float64) {
	if share < 0 || share >= 1 {
		panic("memlink: a share of packets is at least 0 and less than 1")
	}
	n.change(func(f *faults) { f.loss = share })
}

// change changes the faults. What has arrived until then stays arrived; what was
// held up and is free now sets out anew, as TCP would send it again.
func (n *Network) change(how func(*faults)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	now := time.Now()
	conns := n.connsLocked()
	for _, c := range conns {
		c.in.deliver(now, &n.mu.faults)
	}
	how(&n.mu.faults)
	for _, c := range conns {
		if !n.mu.faults.blocked(c.in.path) {
			c.in.resend(now, func() time.Duration { return n.segmentLatencyLocked(c.in.path) })
		}
		c.wakeLocked()
	}
	if n.mu.changed != nil {
		close(n.mu.changed)
		n.mu.changed = nil
	}
}

// Crash ends the node at an address as a killed process ends: its connections are
// reset, what it had sent and not yet delivered is lost, its listeners are gone
// and its Link is closed. Who is cut off from it learns that after Heal. The
// address can be attached anew.
func (n *Network) Crash(address string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.crashLocked(address)
}

func (n *Network) crashLocked(address string) {
	if l := n.mu.links[address]; l != nil {
		l.closeLocked()
	}
	// Also those of links that were closed there before and left theirs open.
	for _, c := range n.connsLocked() {
		if c.local.address == address {
			c.dropLocked()
			c.peer.abandoned = true
			c.peer.wakeLocked()
		}
	}
}
