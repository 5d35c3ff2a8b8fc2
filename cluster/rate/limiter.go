package rate

import (
	"sync/atomic"
	"time"
)

// Limiter has the buckets of this node. It drops buckets that are equivalent to unused ones. It
// has no goroutine and no clock, and is safe for concurrent use.
type Limiter struct {
	start  time.Time
	born   atomic.Uint64 // the last number that was assigned
	shards [shards]shard
}

// New returns a limiter with empty buckets. The times of later calls are relative to now.
func New(now time.Time) *Limiter {
	l := &Limiter{start: now}
	l.born.Store(uint64(max(now.UnixMicro(), 1))) // so that counts of a restarted node do not continue older ones
	for i := range l.shards {
		l.shards[i].counters = make(map[Name]*counter)
	}
	return l
}

// open is a bucket that a Ticket must correct.
type open struct {
	shard   *shard
	counter *counter
	seq     uint64
}

// slot is a bucket of a request.
type slot struct {
	name    Name
	counter *counter
}

// usual is the number of buckets of a request that fit on the stack.
const usual = 16

// Take takes one request and a number of tokens, which may be an estimate, from all buckets, or
// from none if one has no room. Then it returns a *fault.Error of kind RateLimited, whose cause
// is an *Exceeded for the bucket with the longest wait. The buckets must be distinct. Call the
// Ticket's Done when the request has ended, or Cancel if another check rejects it.
func (l *Limiter) Take(now time.Time, buckets []Bucket, tokens int64) (Ticket, error) {
	if len(buckets) == 0 {
		return Ticket{}, nil
	}
	var space [usual]slot
	slots, set := space[:0], uint64(0)
	for i := range buckets {
		name := buckets[i].name()
		set |= 1 << shardOf(name)
		slots = append(slots, slot{name: name})
	}
	since := now.Sub(l.start)
	l.lock(set)
	defer l.unlock(set)
	request := usage{requests: 1, tokens: tokens}
	if e := l.checkLocked(slots, buckets, request, since); e != nil {
		return Ticket{}, e.fault()
	}
	return Ticket{l.takeLocked(slots, request)}, nil
}

// usage is what a request takes, or has used.
type usage struct{ requests, tokens int64 }

// of returns how much of u counts in a bucket.
func (w What) of(u usage) int64 {
	if w == TokensPerMinute || w == TokensPerDay {
		return min(max(u.tokens, 0), maxAmount)
	}
	return u.requests
}

// checkLocked finds the buckets and returns the limit that a request would exceed.
func (l *Limiter) checkLocked(slots []slot, buckets []Bucket, u usage, now time.Duration) (worst *Exceeded) {
	for i := range slots {
		b, s := &buckets[i], &slots[i]
		s.counter = l.shards[shardOf(s.name)].counterLocked(s.name, b.What, now)
		e := s.counter.check(b, b.What.of(u), now)
		if e != nil && (worst == nil || e.longerThan(worst)) {
			worst = e
		}
	}
	return worst
}

// takeLocked takes a request from all of its buckets.
func (l *Limiter) takeLocked(slots []slot, u usage) *taken {
	t := &taken{limiter: l, estimate: TokensPerMinute.of(u), open: make([]open, 0, len(slots))}
	for i := range slots {
		c, shard := slots[i].counter, &l.shards[shardOf(slots[i].name)]
		if c.born == 0 {
			c.born = l.born.Add(1)
		}
		seq := c.take(c.what.of(u))
		shard.tellLocked(c)
		switch c.what {
		case RequestsPerMinute:
			t.requests = tighter(t.requests, c.level(c.what.scale()))
		case TokensPerMinute, TokensPerDay:
			t.tokens = tighter(t.tokens, c.level(c.what.scale()))
		case Parallel:
		}
		t.open = append(t.open, open{shard, c, seq})
	}
	return t
}

// end corrects the usage of a request.
func (l *Limiter) end(now time.Time, t *taken, used usage) {
	took := usage{requests: 1, tokens: t.estimate}
	since := now.Sub(l.start)
	for i := range t.open {
		o := &t.open[i]
		what := o.counter.what
		o.shard.mu.Lock()
		o.counter.drain(what.scale().ticks(since))
		difference := what.of(used) - what.of(took)
		o.counter.done(o.seq, difference)
		if what != RequestsPerMinute || difference != 0 { // otherwise nothing has changed
			o.shard.tellLocked(o.counter)
		}
		o.shard.mu.Unlock()
	}
}

// Tighter returns the level with the smaller remaining share of its limit. A level without a
// limit does not count.
func Tighter(a, b Level) Level {
	if b.Limit == 0 {
		return a
	}
	return tighter(a, b)
}

// tighter is Tighter for an existing b.
func tighter(a, b Level) Level {
	if a.Limit == 0 || uint64(b.Remaining)*uint64(a.Limit) < uint64(a.Remaining)*uint64(b.Limit) {
		return b
	}
	return a
}

// Len returns the number of buckets.
func (l *Limiter) Len() int {
	n := 0
	for i := range l.shards {
		s := &l.shards[i]
		s.mu.Lock()
		n += len(s.counters)
		s.mu.Unlock()
	}
	return n
}
