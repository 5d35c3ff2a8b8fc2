package rate

import (
	"slices"
	"time"

	"github.com/modelgateway/modelgateway/cluster/id"
)

const (
	// Silence is how long another node's requests under way are believed without a
	// newer word. They are told anew every third of that.
	Silence = 30 * time.Second
	// fresh is how old the last word may be for the difference to it to count as just taken.
	fresh = 5 * time.Second
	// maxOthers is how many nodes are listened to about one bucket.
	maxOthers = 256
	// maxFlight is how many requests of another node count at most.
	maxFlight = 1 << 20
)

// counter is the state of a bucket.
type counter struct {
	name Name
	what What
	meter
	estimates
	others []other

	// What this node took itself, for the others to know.
	born     uint64 // which counting this is; 0: it has taken nothing
	used     int64
	owed     int64 // what was given back of less than one, and is not in used
	parallel int64
	told     telling
}

// other is what another node said last.
type other struct {
	node     id.Node
	version  uint64
	born     uint64
	used     int64
	parallel int64
	heard    time.Duration
}

// inFlight is how many requests are under way, here and elsewhere.
func (c *counter) inFlight(now time.Duration) int64 {
	n := c.parallel
	for i := range c.others {
		if o := &c.others[i]; now-o.heard < Silence {
			n += o.parallel
		}
	}
	return n
}

// check returns nil if an amount fits, and else what it would exceed.
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

// take takes what check let pass, and returns by which number done knows it.
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

// add counts what this node has taken.
func (c *counter) add(amount int64) uint64 {
	units := c.what.scale().units(amount)
	seq := c.pouring(c.held)
	c.pour(units)
	c.own = min(c.own+units, maxHeld)
	c.used += amount
	return seq
}

// done ends a request that took what was estimated and then used so much more or less.
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
		back += c.owed // or requests that are given back a moment later would count elsewhere
		c.used -= back / s.period
		c.owed = back % s.period
	}
	c.ended()
}

// use is what this node tells of the bucket.
func (c *counter) use() Use {
	s := c.what.scale()
	return Use{
		Bucket: c.name, What: c.what, Limit: uint32(c.limit), Born: c.born,
		Used: c.used, Level: (c.own + s.period - 1) / s.period, InFlight: c.parallel,
	}
}

// hear takes over what another node says of the bucket.
//
// Law: of each node the newest version counts; one that is older, or was heard
// before, changes nothing. What a node took is counted once, as the
// difference to what it said before. Where there is no word before, or an old one, what
// it says is still in the bucket counts: all else would have run out.
func (c *counter) hear(node id.Node, version uint64, u *Use, now time.Duration) {
	if c.born == 0 {
		c.limit = int64(u.Limit) // there is no limit here that it could disagree with
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
	// A debt is paid back, or n nodes would for ever let through n times the limit. But
	// nobody waits for more than a period because others did not hear of each other.
	c.pouring(c.held)
	c.held = max(c.held, min(c.held+s.units(difference), 2*c.capacity(s)))
}

// other returns what a node said before; nil if there is no room for another one.
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

// idle reports whether a bucket is as one that has never been used.
func (c *counter) idle(now time.Duration) bool {
	c.drain(c.what.scale().ticks(now))
	return (c.held == 0 || c.limit == 0) && c.open == 0 && c.inFlight(now) == 0
}
