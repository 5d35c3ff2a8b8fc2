package rate

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/modelgateway/modelgateway/cluster/id"
)

const (
	// again is how long after it was told something is told again, in case the
	// first word was lost, and repeats how many times.
	again   = time.Second
	repeats = 2
	// maxUsed is more than anybody uses.
	maxUsed = 1 << 60
)

// Use is what a node says that it took of a bucket.
type Use struct {
	Bucket   Name
	What     What
	Limit    uint32 // that counts there
	Born     uint64 // another one begins to count at 0
	Used     int64  // in all; less than before where an estimate was too high
	Level    int64  // how much of it has not run out
	InFlight int64  // requests under way
}

// telling is what has been told of a bucket.
type telling struct {
	listed   bool // it is in the shard's list
	ever     bool
	used     int64
	parallel int64
	at       time.Duration
	times    int
}

// told is a bucket that may be told, and how much there is to tell.
type told struct {
	counter *counter
	shard   *shard
	use     Use
	news    float64 // as share of the limit
}

// due returns how much there is to tell of a bucket, as a share of its limit, and
// whether there may be later.
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

// Changed returns what is to be told now: what has changed since it was last told,
// and some of it again in case it was not heard. If that is more than so many, it is
// those with the largest changes as share of their limit, and the rest will come later.
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

// dueLocked appends what is to be told, and drops from the list what is not to be.
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

// tell notes that something was told.
func (t *telling) tell(u *Use, now time.Duration) {
	if t.ever && t.used == u.Used && t.parallel == u.InFlight {
		t.times++
	} else {
		t.times = 0
	}
	t.ever, t.used, t.parallel, t.at = true, u.Used, u.InFlight, now
}

// Recent returns what this node took that has not run out yet, or is under way: of so
// many buckets at most, those that are fullest with it.
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

// busiest returns those of which there is most to tell. found begins with them then.
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

// Hear takes over what another node says. Its words have versions that grow; what is
// older than what was heard of it, or makes no sense, changes nothing.
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

// heardLocked returns the bucket of which another node speaks; nil if there is none and no
// room for it, or it is another's kind.
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
