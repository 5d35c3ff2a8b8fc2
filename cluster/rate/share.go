package rate

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/modelgateway/modelgateway/cluster/id"
)

const (
	// again is the delay after which an update is repeated, in case it was lost, and repeats
	// the number of repetitions.
	again   = time.Second
	repeats = 2
	// maxUsed is above any real usage.
	maxUsed = 1 << 60
)

// Use is a node's usage of a bucket.
type Use struct {
	Bucket   Name
	What     What
	Limit    uint32 // the effective limit at that node
	Born     uint64 // a new value restarts the count at 0
	Used     int64  // total; it decreases after an estimate that was too high
	Level    int64  // the part that has not drained
	InFlight int64  // requests in flight
}

// telling is the state of the updates of a bucket.
type telling struct {
	listed   bool // in the list of the shard
	ever     bool
	used     int64
	parallel int64
	at       time.Duration
	times    int
}

// told is a candidate for an update, with its priority.
type told struct {
	counter *counter
	shard   *shard
	use     Use
	news    float64 // as a share of the limit
}

// due returns the size of a bucket's change as a share of its limit, whether an update is due,
// and whether one may be due later.
func (c *counter) due(now time.Duration) (news float64, due, later bool) {
	t := &c.told
	since := now - t.at
	changed := math.Abs(float64(c.used-t.used)) + math.Abs(float64(c.parallel-t.parallel))
	switch {
	case !t.ever || changed > 0:
		return changed / float64(max(c.limit, 1)), true, true
	case t.times < repeats:
		return 0, since >= again, true
	}
	return 0, since >= Silence/3, c.parallel > 0
}

// Changed returns the updates to send now: changes since the last update, and some repetitions
// in case one was lost. It returns a limited number of buckets: those with the largest changes as
// a share of their limits. The others come later.
func (l *Limiter) Changed(now time.Time, most int) []Use {
	since := now.Sub(l.start)
	var found []told
	for i := range l.shards {
		s := &l.shards[i]
		s.mu.Lock()
		found = s.dueLocked(found, since)
		s.mu.Unlock()
	}
	out := busiest(found, most)
	for i := range out {
		t := &found[i]
		t.shard.mu.Lock()
		t.counter.told.tell(&out[i], since)
		t.shard.mu.Unlock()
	}
	return out
}

// dueLocked appends the due buckets, and removes the others from the list.
func (s *shard) dueLocked(found []told, now time.Duration) []told {
	s.telling = slices.DeleteFunc(s.telling, func(c *counter) bool {
		if s.counters[c.name] != c {
			return true
		}
		c.drain(c.what.scale().ticks(now))
		news, due, later := c.due(now)
		if due {
			found = append(found, told{c, s, c.use(), news})
		}
		c.told.listed = due || later
		return !c.told.listed
	})
	return found
}

// tell records that an update was sent.
func (t *telling) tell(u *Use, now time.Duration) {
	if t.ever && t.used == u.Used && t.parallel == u.InFlight {
		t.times++
	} else {
		t.times = 0
	}
	t.ever, t.used, t.parallel, t.at = true, u.Used, u.InFlight, now
}

// Recent returns the usage of this node that has not drained or is in flight: a limited
// number of buckets, the fullest ones.
func (l *Limiter) Recent(now time.Time, most int) []Use {
	since := now.Sub(l.start)
	var found []told
	for i := range l.shards {
		s := &l.shards[i]
		s.mu.Lock()
		for _, c := range s.counters {
			c.drain(c.what.scale().ticks(since))
			if c.own > 0 || c.parallel > 0 {
				u := c.use()
				found = append(found, told{c, s, u, float64(u.Level+u.InFlight) / float64(max(c.limit, 1))})
			}
		}
		s.mu.Unlock()
	}
	return busiest(found, most)
}

// busiest returns the uses with the highest priority, and moves them to the front of found.
func busiest(found []told, most int) []Use {
	if len(found) > most {
		slices.SortFunc(found, func(a, b told) int { return cmp.Compare(b.news, a.news) })
		found = found[:max(most, 0)]
	}
	out := make([]Use, len(found))
	for i := range found {
		out[i] = found[i].use
	}
	return out
}

// Hear applies the updates of another node. Their versions increase; older or invalid ones
// change nothing.
func (l *Limiter) Hear(now time.Time, node id.Node, version uint64, uses []Use) {
	since := now.Sub(l.start)
	for i := range uses {
		u := &uses[i]
		if u.What < RequestsPerMinute || u.What > Parallel || u.Level < 0 || u.InFlight < 0 || u.Used < 0 || u.Used > maxUsed {
			continue
		}
		u.InFlight = min(u.InFlight, maxFlight)
		s := &l.shards[shardOf(u.Bucket)]
		s.mu.Lock()
		if c := s.heardLocked(u, since); c != nil {
			c.hear(node, version, u, since)
		}
		s.mu.Unlock()
	}
}

// heardLocked returns the bucket of an update; nil if there is none and no room for it, or if
// its kind differs.
func (s *shard) heardLocked(u *Use, now time.Duration) *counter {
	known, ok := s.counters[u.Bucket]
	if ok && known.what != u.What {
		return nil
	}
	if !ok && len(s.counters) >= maxHeard {
		if now-s.swept < Silence {
			return nil
		}
		if s.sweepLocked(now); len(s.counters) >= maxHeard {
			return nil
		}
	}
	return s.counterLocked(u.Bucket, u.What, now)
}
