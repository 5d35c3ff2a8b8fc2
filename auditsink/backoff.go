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

// backoff is how long to wait between attempts. The zero value has seen no failure.
type backoff struct{ failures int }

// next returns the wait after one more failure: none after the first, so that a receiver
// that fails now and then costs a request and no time. From the second on it doubles, and
// is anything from half of that, so that several gateways do not call together.
func (b *backoff) next() time.Duration {
	b.failures++
	if b.failures == 1 {
		return 0
	}
	wait := lastBackoff
	if doubled := b.failures - 2; doubled < 20 {
		wait = min(firstBackoff<<doubled, lastBackoff)
	}
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
