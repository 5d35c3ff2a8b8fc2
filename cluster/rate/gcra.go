package rate

import (
	"math"
	"time"
)

// The generic cell rate algorithm of ITU-T I.371, Annex A, as a continuous-state leaky bucket.
// Usage is added to the bucket, which drains one limit per period; usage that would overflow it
// does not conform. The other form, virtual scheduling, keeps the theoretical arrival time at
// which the bucket is empty, and makes the same decisions. But it needs a conversion when a
// limit changes, and rounds.
//
// All numbers are integers. The level is in units times ticks of the period: one unit is as
// much as a period has ticks, and the bucket drains by the limit in one tick. Ticks are so long
// that nothing overflows.

const (
	// maxAmount is the largest amount; larger ones are clamped to it.
	maxAmount = 10_000_000_000
	// maxHeld is the highest level: more than twice maxAmount tokens per day.
	maxHeld = math.MaxInt64 / 4
)

// scale is the time scale of a kind of bucket.
type scale struct {
	tick   time.Duration
	period int64 // in ticks
}

// scale returns the time scale of the buckets of w.
func (w What) scale() scale {
	if w == TokensPerDay {
		return scale{tick: time.Millisecond, period: int64(24 * time.Hour / time.Millisecond)}
	}
	return scale{tick: time.Microsecond, period: int64(time.Minute / time.Microsecond)}
}

// ticks converts a time since the start of the limiter.
func (s scale) ticks(since time.Duration) int64 { return int64(since / s.tick) }

// units converts an amount.
func (s scale) units(n int64) int64 { return min(max(n, 0), maxAmount) * s.period }

// meter is the level of a bucket.
type meter struct {
	held  int64
	own   int64 // the level from this node's usage only
	at    int64 // in ticks: the time of that level
	limit int64
}

// capacity returns the level at which the bucket is full.
func (m *meter) capacity(s scale) int64 { return m.limit * s.period }

// drain drains the bucket up to a time. If the clock goes back, nothing drains, and nothing
// drains twice.
func (m *meter) drain(at int64) {
	if at <= m.at {
		return
	}
	elapsed := at - m.at
	m.at = at
	m.held, m.own = drained(m.held, m.limit, elapsed), drained(m.own, m.limit, elapsed)
}

func drained(held, limit, elapsed int64) int64 {
	switch {
	case limit == 0:
		return held
	case elapsed > held/limit:
		return 0
	}
	return held - elapsed*limit
}

// fits reports whether an amount fits. An amount above the capacity fits only into an empty
// bucket, and then leaves an overfull one.
func (m *meter) fits(amount int64, s scale) bool {
	capacity := m.capacity(s)
	if amount > capacity {
		return m.held == 0 && capacity > 0
	}
	return m.held <= capacity-amount
}

// wait returns the time until an amount fits, without further usage.
func (m *meter) wait(amount int64, s scale) time.Duration {
	over := m.held
	if capacity := m.capacity(s); amount <= capacity {
		over -= capacity - amount
	}
	return m.after(over, s)
}

// after returns the time in which an amount drains.
func (m *meter) after(amount int64, s scale) time.Duration {
	if m.limit == 0 || amount <= 0 {
		return 0
	}
	ticks := (amount + m.limit - 1) / m.limit
	return time.Duration(min(ticks, int64(math.MaxInt64/s.tick))) * s.tick
}

// pour adds an amount.
func (m *meter) pour(amount int64) { m.held = min(m.held+amount, maxHeld) }

// level returns the level for users.
func (m *meter) level(s scale) Level {
	return Level{
		Limit: uint32(m.limit), Remaining: max(m.capacity(s)-m.held, 0) / s.period, Reset: m.after(m.held, s),
	}
}
