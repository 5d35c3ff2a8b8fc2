package inflight

import (
	"context"
	"time"

	"golang.org/x/time/rate"
)

// Pace has long bodies move no faster than a number of bytes per second, all together. A
// byte counts when it comes and when it goes on. What half a second allows is not held up.
// It must be called before the limiter is used; without it bodies are not held up.
func (l *Limiter) Pace(perSecond int64) {
	l.pace = rate.NewLimiter(rate.Limit(perSecond), int(max(perSecond/2, 1)))
}

// Move waits until n more bytes of a body may move. Keys take turns: only one request of
// a key waits for the pace at a time, and its others wait for it. So a body waits as long
// whether another key has one request or hundreds. The reservation must hold bytes. The
// error is the context's.
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
	pace := r.limiter.pace
	for n > 0 {
		some := min(n, pace.Burst())
		if err := pace.WaitN(ctx, some); err != nil {
			return err
		}
		n -= some
	}
	return nil
}

// turn returns what the requests of a reservation's key take turns at.
func (l *Limiter) turn(r *Reservation) chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	of := l.mu.keys[r.key]
	if of.turn == nil {
		of.turn = make(chan struct{}, 1)
		l.mu.keys[r.key] = of
	}
	return of.turn
}
