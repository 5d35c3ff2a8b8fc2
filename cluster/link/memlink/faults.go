package memlink

import "time"

// faults are the current faults of the network.
type faults struct {
	side     map[string]int // the group of each address in a partition; 0: not named
	oneWay   map[path]bool
	isolated map[string]bool
	delay    time.Duration
	jitter   time.Duration
	loss     float64
}

// blocked reports whether a path is blocked.
func (f *faults) blocked(p path) bool {
	if p.from == p.to {
		return false
	}
	return f.side[p.from] != f.side[p.to] || f.oneWay[p] || f.isolated[p.from] || f.isolated[p.to]
}

// Partition lets only nodes of the same group communicate; addresses without a group form one
// more group. It replaces an earlier partition. Connections between groups stall, and packets
// are dropped.
func (n *Network) Partition(groups ...[]string) {
	side := map[string]int{}
	for i, group := range groups {
		for _, address := range group {
			side[address] = i + 1
		}
	}
	n.change(func(f *faults) { f.side = side })
}

// OneWay also blocks the path from one address to another. The other direction works, but a new
// connection needs both.
func (n *Network) OneWay(from, to string) {
	n.change(func(f *faults) {
		if f.oneWay == nil {
			f.oneWay = map[path]bool{}
		}
		f.oneWay[path{from, to}] = true
	})
}

// Isolate also blocks all paths from and to an address.
func (n *Network) Isolate(address string) {
	n.change(func(f *faults) {
		if f.isolated == nil {
			f.isolated = map[string]bool{}
		}
		f.isolated[address] = true
	})
}

// Heal removes all effects of Partition, OneWay and Isolate. Delay and Loss stay.
func (n *Network) Heal() {
	n.change(func(f *faults) { f.side, f.oneWay, f.isolated = nil, nil, nil })
}

// Delay adds base and up to jitter to the latency of everything sent from now on. Streams keep
// their order, packets do not.
func (n *Network) Delay(base, jitter time.Duration) {
	n.change(func(f *faults) { f.delay, f.jitter = base, jitter })
}

// Loss drops a share of the packets, 0 to less than 1. Streams lose nothing; a lost segment and
// everything after it is delayed.
func (n *Network) Loss(share float64) {
	if share < 0 || share >= 1 {
		panic("memlink: a share of packets is at least 0 and less than 1")
	}
	n.change(func(f *faults) { f.loss = share })
}

// change changes the faults. Delivered data stays delivered. Data that was blocked and is now
// free is sent again, like a TCP retransmission.
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

// Crash ends the node at an address like a killed process. Its connections are reset,
// undelivered data is lost, and its listeners and its Link are closed. A partitioned peer
// notices after Heal. The address can be attached again.
func (n *Network) Crash(address string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.crashLocked(address)
}

func (n *Network) crashLocked(address string) {
	if l := n.mu.links[address]; l != nil {
		l.closeLocked()
	}
	// Also connections of links that were closed there before and left theirs open.
	for _, c := range n.connsLocked() {
		if c.local.address == address {
			c.dropLocked()
			c.peer.abandoned = true
			c.peer.wakeLocked()
		}
	}
}
