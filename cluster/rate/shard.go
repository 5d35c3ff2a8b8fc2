package rate

import (
	"slices"
	"sync"
	"time"
)

const (
	shards = 64 // as many as a word has bits, see lock
	// minSweep is from how many buckets on idle ones are looked for.
	minSweep = 64
	// maxHeard is how many buckets there may be in a shard for what others say to
	// make another.
	maxHeard = 1 << 14
)

// shard holds the buckets whose names begin alike.
type shard struct {
	mu       sync.Mutex
	counters map[Name]*counter
	sweepAt  int // how many buckets there are when idle ones are looked for again
	swept    time.Duration
	telling  []*counter // what is to be told, or told again
}

// shardOf returns the number of a bucket's shard.
func shardOf(name Name) int { return int(name[0]) % shards }

// lock takes the locks of the shards in a set, always in the same order.
func (l *Limiter) lock(set uint64) {
	for i := range l.shards {
		if set&(1<<i) != 0 {
			l.shards[i].mu.Lock()
		}
	}
}

// unlock releases them.
func (l *Limiter) unlock(set uint64) {
	for i := range l.shards {
		if set&(1<<i) != 0 {
			l.shards[i].mu.Unlock()
		}
	}
}

// counterLocked returns a bucket as it is now, and makes it if need be.
func (s *shard) counterLocked(name Name, what What, now time.Duration) *counter {
	ticks := what.scale().ticks(now)
	if c, ok := s.counters[name]; ok {
		c.drain(ticks)
		return c
	}
	if len(s.counters) >= max(s.sweepAt, minSweep) {
		s.sweepLocked(now)
	}
	c := &counter{name: name, what: what}
	c.at = ticks
	s.counters[name] = c
	return c
}

// sweepLocked forgets the buckets that are idle. It is called when there are twice as many as
// it left the last time, so it costs each new bucket the same.
func (s *shard) sweepLocked(now time.Duration) {
	for name, c := range s.counters {
		if c.idle(now) {
			delete(s.counters, name)
		}
	}
	s.telling = slices.DeleteFunc(s.telling, func(c *counter) bool { return s.counters[c.name] != c })
	s.sweepAt, s.swept = 2*len(s.counters), now
}

// tellLocked has a bucket told to the others.
func (s *shard) tellLocked(c *counter) {
	if !c.told.listed {
		c.told.listed = true
		s.telling = append(s.telling, c)
	}
}
