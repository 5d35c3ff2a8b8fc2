package rate

import (
	"slices"
	"sync"
	"time"
)

const (
	shards = 64 // as many as a word has bits, see lock
	// minSweep is the number of buckets from which on idle ones are dropped.
	minSweep = 64
	// maxHeard is the size of a shard above which updates of other nodes create no more
	// buckets.
	maxHeard = 1 << 14
)

// shard holds the buckets whose names have the same first bits.
type shard struct {
	mu       sync.Mutex
	counters map[Name]*counter
	sweepAt  int // number of buckets at the next sweep
	swept    time.Duration
	telling  []*counter // to be sent, or repeated
}

// shardOf returns the index of a bucket's shard.
func shardOf(name Name) int { return int(name[0]) % shards }

// lock locks the shards in a set, always in the same order.
func (l *Limiter) lock(set uint64) {
	for i := range l.shards {
		if set&(1<<i) != 0 {
			l.shards[i].mu.Lock()
		}
	}
}

// unlock unlocks them.
func (l *Limiter) unlock(set uint64) {
	for i := range l.shards {
		if set&(1<<i) != 0 {
			l.shards[i].mu.Unlock()
		}
	}
}

// counterLocked returns a bucket, drained to now, and creates it if necessary.
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

// sweepLocked drops idle buckets. It runs when the number has doubled since the last sweep, so
// its amortized cost per new bucket is constant.
func (s *shard) sweepLocked(now time.Duration) {
	for name, c := range s.counters {
		if c.idle(now) {
			delete(s.counters, name)
		}
	}
	s.telling = slices.DeleteFunc(s.telling, func(c *counter) bool { return s.counters[c.name] != c })
	s.sweepAt, s.swept = 2*len(s.counters), now
}

// tellLocked schedules a bucket for the next update.
func (s *shard) tellLocked(c *counter) {
	if !c.told.listed {
		c.told.listed = true
		s.telling = append(s.telling, c)
	}
}
