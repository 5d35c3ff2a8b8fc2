package rate

import (
	"slices"
	"time"

	"github.com/modelgateway/modelgateway/cluster/id"
)

const (
	// Silence is how long another node's requests in flight count after its last update. A node
	// repeats them every third of that.
	Silence = 30 * time.Second
	// fresh is the highest age of the previous update at which the difference counts as usage
	// of just now.
	fresh = 5 * time.Second
	// maxOthers is the highest number of other nodes per bucket.
	maxOthers = 256
	// maxFlight is the highest number of requests in flight that count for another node.
	maxFlight = 1 << 20
)

// counter is the state of a bucket.
type counter struct {
	name Name
	what What
	meter
	estimates
	others []other

	// The usage of this node, for the others.
	born     uint64 // identifies this count; 0: nothing was taken
	used     int64
	owed     int64 // released fractions of one unit, not yet subtracted from used
	parallel int64
	told     telling
}

// other is the last update of another node.
type other struct {
	node     id.Node
	version  uint64
	born     uint64
	used     int64
	parallel int64
	heard    time.Duration
}

// inFlight returns the number of requests in flight on all nodes.
func (c *counter) inFlight(now time.Duration) int64 {
	n := c.parallel
	for i := range c.others {
		if o := &c.others[i]; now-o.heard < Silence {
			n += o.parallel
		}
	}
	return n
}

// check returns nil if an amount fits, and otherwise the limit that it would exceed.
func (c *counter) check(b *Bucket, amount int64, now time.Duration) *Exceeded {
	c.limit = int64(b.limit())
	if c.what == Parallel {
		running := c.inFlight(now)
		if running < c.limit {
			return nil
		}
		return &Exceeded{Bucket: *b, Level: Level{Limit: uint32(c.limit)}}
	}
	s := c.what.scale()
	if c.fits(s.units(amount), s) {
		return nil
	}
	return &Exceeded{Bucket: *b, Level: c.level(s), Wait: c.wait(s.units(amount), s)}
}

// take takes an amount that passed check, and returns its number for done.
func (c *counter) take(amount int64) (seq uint64) {
	if c.what == Parallel {
		c.parallel++
		c.open++
		return 0
	}
	seq = c.add(min(max(amount, 0), maxAmount))
	c.open++
	return seq
}

// add counts usage of this node.
func (c *counter) add(amount int64) uint64 {
	units := c.what.scale().units(amount)
	seq := c.pouring(c.held)
	c.pour(units)
	c.own = min(c.own+units, maxHeld)
	c.used += amount
	return seq
}

// done ends a request and corrects its estimate by a difference.
func (c *counter) done(seq uint64, difference int64) {
	switch {
	case c.what == Parallel:
		c.parallel--
	case difference > 0:
		c.add(min(difference, maxAmount))
	case difference < 0:
		s := c.what.scale()
		back := c.back(s.units(-difference), seq, c.held)
		c.held -= back
		c.own = max(c.own-back, 0)
		back += c.owed // otherwise requests that are released a moment later would count on other nodes
		c.used -= back / s.period
		c.owed = back % s.period
	}
	c.ended()
}

// use returns this node's usage of the bucket for the others.
func (c *counter) use() Use {
	s := c.what.scale()
	return Use{
		Bucket: c.name, What: c.what, Limit: uint32(c.limit), Born: c.born,
		Used: c.used, Level: (c.own + s.period - 1) / s.period, InFlight: c.parallel,
	}
}

// hear applies another node's update.
//
// Invariant: for each node the newest version counts; an older or repeated one changes nothing.
// Usage counts once, as the difference to the node's previous update. Without a recent previous
// update, the level that the node reports counts, because everything else would have drained.
func (c *counter) hear(node id.Node, version uint64, u *Use, now time.Duration) {
	if c.born == 0 {
		c.limit = int64(u.Limit) // without a local limit there is no conflict
	}
	o, known := c.other(node, now)
	if o == nil || known && version <= o.version && now-o.heard < Silence {
		return
	}
	difference := u.Used - o.used
	if !known || o.born != u.Born || now-o.heard > fresh {
		difference = min(max(difference, 0), u.Level)
		if o.born != u.Born {
			difference = min(u.Used, u.Level)
		}
	}
	*o = other{node, version, u.Born, u.Used, u.InFlight, now}
	if c.what == Parallel {
		return
	}
	s := c.what.scale()
	if difference < 0 {
		c.held -= c.elsewhere(min(s.units(-difference), c.held))
		return
	}
	// Excess is paid back, because otherwise n nodes would permanently allow n times the limit.
	// But the payback is limited to one period, so that no caller waits longer because nodes
	// missed updates of each other.
	c.pouring(c.held)
	c.held = max(c.held, min(c.held+s.units(difference), 2*c.capacity(s)))
}

// other returns the previous update of a node; nil if there is no room for another node.
func (c *counter) other(node id.Node, now time.Duration) (o *other, known bool) {
	for i := range c.others {
		if c.others[i].node == node {
			return &c.others[i], true
		}
	}
	if len(c.others) >= maxOthers {
		c.others = slices.DeleteFunc(c.others, func(o other) bool { return now-o.heard >= Silence })
	}
	if len(c.others) >= maxOthers {
		return nil, false
	}
	c.others = append(c.others, other{node: node, heard: now})
	return &c.others[len(c.others)-1], false
}

// idle reports whether a bucket is equivalent to an unused one.
func (c *counter) idle(now time.Duration) bool {
	c.drain(c.what.scale().ticks(now))
	return (c.held == 0 || c.limit == 0) && c.open == 0 && c.inFlight(now) == 0
}
