package auditsink

import (
	"context"
	"math/rand/v2"
	"time"
)

const (
	firstBackoff = 50 * time.Millisecond
	lastBackoff  = 5 * time.Minute
	// maxRetryAfter bounds what a receiver may ask for, so that one answer with a
	// date far away does not stop the deliveries.
	maxRetryAfter = time.Hour
)

// backoff is how long to wait between attempts. The zero backoff begins at the
// beginning.
type backoff struct{ failures int }

// next is the wait after one more failure: doubled each time, and then anything
// from half of it on, so that the nodes of several gateways do not call together.
func (b *backoff) next() time.Duration {
	wait := lastBackoff
	if b.failures < 20 {
		wait = min(firstBackoff<<b.failures, lastBackoff)
	}
	b.failures++
	return wait/2 + rand.N(wait/2+1) //nolint:gosec // it spreads attempts; nobody gains by guessing it
}

// pause waits, and returns early when stop says so.
func pause(ctx context.Context, wait time.Duration, stop func() bool) {
	for wait > 0 && ctx.Err() == nil && !stop() {
		step := min(wait, tick)
		wait -= step
		timer := time.NewTimer(step)
		select {
		case <-ctx.Done():
		case <-timer.C:
		}
		timer.Stop()
	}
}
