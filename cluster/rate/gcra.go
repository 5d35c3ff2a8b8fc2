package rate

import (
	"math"
	"time"
)

// The generic cell rate algorithm of ITU-T I.371, Annex A, as its continuous-state leaky bucket:
// what is taken is poured in, the limit runs out in one period, and what would make it
// run over does not conform. The other form of the algorithm, virtual
// scheduling, keeps the theoretical arrival time, at which the bucket is empty, and
// decides the same; but it has to be converted when a limit changes, and rounds.
//
// Here all numbers are whole. What is in a bucket is counted in units times ticks of
// the period: a unit is as much as a period has ticks, and as many of these run out
// in a tick as the limit is. Ticks are so long that nothing overflows.

const (
	// maxAmount is the most that is taken at once; more is taken for that much.
	maxAmount = 10_000_000_000
	// maxHeld is the most that a bucket holds: more than twice maxAmount tokens of a day.
	maxHeld = math.MaxInt64 / 4
)

// scale is how a kind of bucket measures time.
type scale struct {
	tick   time.Duration
	period int64 // in ticks
}

// scale returns that of the buckets of w.
func (w What) scale() scale {
	if w == TokensPerDay {
		return scale{tick: time.Millisecond, period: int64(24 * time.Hour / time.Millisecond)}
	}
	return scale{tick: time.Microsecond, period: int64(time.Minute / time.Microsecond)}
}

// ticks is a time since the limiter began.
func (s scale) ticks(since time.Duration) int64 { return int64(since / s.tick) }

// units is so many units.
func (s scale) units(n int64) int64 { return min(max(n, 0), maxAmount) * s.period }

// meter is what a bucket holds.
type meter struct {
	held  int64
	own   int64 // what it would hold if nobody else had taken anything
	at    int64 // in ticks: when it held that
	limit int64
}

// capacity is as much as it holds without running over.
func (m *meter) capacity(s scale) int64 { return m.limit * s.period }

// drain lets run out what does until a time. A clock that goes back lets nothing
// run out, and what ran out before does not run out again.
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

// fits reports whether there is room. What is larger than the whole bucket finds it
// only where the bucket is empty: it is then in debt for as long as it takes.
func (m *meter) fits(amount int64, s scale) bool {
	capacity := m.capacity(s)
	if amount > capacity {
		return m.held == 0 && capacity > 0
	}
	return m.held <= capacity-amount
}

// wait is how long it takes, if nothing is poured in, until an amount fits that does
// not fit now.
func (m *meter) wait(amount int64, s scale) time.Duration {
	over := m.held
	if capacity := m.capacity(s); amount <= capacity {
		over -= capacity - amount
	}
	return m.after(over, s)
}

// after is how long an amount takes to run out.
func (m *meter) after(amount int64, s scale) time.Duration {
	if m.limit == 0 || amount <= 0 {
		return 0
	}
	ticks := (amount + m.limit - 1) / m.limit
	return time.Duration(min(ticks, int64(math.MaxInt64/s.tick))) * s.tick
}

// pour adds an amount.
func (m *meter) pour(amount int64) { m.held = min(m.held+amount, maxHeld) }

// level is what the meter says to people.
func (m *meter) level(s scale) Level {
	return Level{
		Limit: uint32(m.limit), Remaining: max(m.capacity(s)-m.held, 0) / s.period, Reset: m.after(m.held, s),
	}
}
