package inflight

import (
	"context"
	"time"

	"golang.org/x/time/rate"
)

// slowLevel is the level, from 64 MiB on, at which long bodies move at half the speed. At full
// speed, bodies that kept coming made another tenant's p99 three times the quiet one.
const slowLevel = 2

// The bursts of Pace, in seconds of its speed: of bodies that move at the same time, and of a body
// that moves alone.
const (
	burst      = 0.5
	burstAlone = 4
)

// aloneTime is how long a body that has moved counts as moving.
const aloneTime = 20 * time.Millisecond

// Pace limits the total speed of long bodies in bytes per second. A byte counts when it is
// received and when it is sent. The limit has a burst of half a second, and of four seconds for a
// body that moves alone: no other body delays requests then, and this one for no longer than it
// takes. From 64 MiB in flight on, until 16 MiB are left, the speed is half of it. Pace must be
// called before the limiter is used; without it there is no limit.
func (l *Limiter) Pace(perSecond int64) {
	l.fullSpeed = rate.Limit(perSecond)
	l.pace = rate.NewLimiter(l.fullSpeed, l.tokens(burstAlone))
}

// tokens returns what may move in so many seconds at full speed.
func (l *Limiter) tokens(seconds float64) int { return int(max(float64(l.fullSpeed)*seconds, 1)) }

// setPaceLocked sets the speed of the current level.
func (l *Limiter) setPaceLocked() {
	speed := l.fullSpeed
	if l.mu.level >= slowLevel {
		speed /= 2
	}
	if l.pace != nil && l.pace.Limit() != speed {
		l.pace.SetLimit(speed)
	}
}

// Move waits until n more bytes of a body may move. Keys take turns: of each key only one
// request at a time waits for the pace. So the wait does not depend on the number of requests
// that another key has. The reservation must hold bytes. The error is the context's.
func (r *Reservation) Move(ctx context.Context, n int) error {
	if r.limiter == nil || r.limiter.pace == nil {
		return nil
	}
	since := time.Now()
	defer func() { r.limiter.waited.Add(int64(time.Since(since))) }()
	turn := r.limiter.turn(r)
	select {
	case turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-turn }()
	for n > 0 {
		some := min(n, r.limiter.tokens(burst)) // the burst may become this while it waits
		if err := r.limiter.pace.WaitN(ctx, some); err != nil {
			return err
		}
		n -= some
	}
	return nil
}

// turn returns the channel on which the requests of a key take turns. It sets the burst: what was
// saved for a body that moves alone is lost once another one moves as well.
func (l *Limiter) turn(r *Reservation) chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	now, seconds := time.Now(), float64(burst)
	if l.mu.alone == r || now.Sub(l.mu.moved) >= aloneTime {
		l.mu.alone, l.mu.moved, seconds = r, now, burstAlone
	}
	if n := l.tokens(seconds); n != l.pace.Burst() {
		l.pace.SetBurstAt(now, n)
	}
	of := l.mu.keys[r.key]
	if of.turn == nil {
		of.turn = make(chan struct{}, 1)
		l.mu.keys[r.key] = of
	}
	return of.turn
}

// Moved says that the body has been sent, so another one can move alone.
func (r *Reservation) Moved() {
	if l := r.limiter; l != nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.movedLocked(r)
	}
}

func (l *Limiter) movedLocked(r *Reservation) {
	if l.mu.alone == r {
		l.mu.alone, l.mu.moved = nil, time.Time{}
	}
}
