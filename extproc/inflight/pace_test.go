package inflight_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelgateway/modelgateway/extproc/inflight"
)

// holds is a reservation that holds a byte.
func holds(t *testing.T, l *inflight.Limiter, key string) *inflight.Reservation {
	t.Helper()
	r := begin(l, key)
	if err := r.Grow(1); err != nil {
		t.Fatal(err)
	}
	return r
}

// Bodies move at the pace, beyond what half a second allows at once.
func TestPace(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := inflight.New(4000)
		l.Pace(1000)
		start := time.Now()
		a, b := holds(t, l, "a"), holds(t, l, "b")
		for _, step := range []struct {
			r    *inflight.Reservation
			n    int
			want time.Duration // since the start, when the bytes have moved
		}{
			{a, 500, 0},
			{a, 100, 100 * time.Millisecond},
			{b, 100, 200 * time.Millisecond},
			{b, 1300, 1500 * time.Millisecond}, // more than half a second allows
		} {
			if err := step.r.Move(t.Context(), step.n); err != nil {
				t.Fatal(err)
			}
			if took := time.Since(start); took < step.want || took > step.want+time.Millisecond {
				t.Errorf("%d more bytes had moved after %s, want %s", step.n, took, step.want)
			}
		}
	})
}

// Bodies move at half the speed while much is in flight.
func TestPaceOfMany(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const mib = 1 << 20
		l := inflight.New(1024 * mib)
		l.Pace(mib)
		a, many := holds(t, l, "a"), holds(t, l, "b")
		takes := func(n int) time.Duration {
			start := time.Now()
			if err := a.Move(t.Context(), n); err != nil {
				t.Fatal(err)
			}
			return time.Since(start).Round(time.Millisecond)
		}
		if got := takes(mib / 2); got != 0 {
			t.Errorf("the burst took %s", got)
		}
		if got := takes(mib); got != time.Second {
			t.Errorf("1 MiB took %s, want 1s", got)
		}
		if err := many.Grow(64 * mib); err != nil {
			t.Fatal(err)
		}
		if got := takes(mib); got != 2*time.Second {
			t.Errorf("1 MiB took %s while 64 MiB are in flight, want 2s", got)
		}
		many.Release()
		if got := takes(mib); got != time.Second {
			t.Errorf("1 MiB took %s when they have gone, want 1s", got)
		}
	})
}

// A body waits as long for its pace next to a key with hundreds of bodies as next to one.
func TestKeysTakeTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := inflight.New(1 << 20)
		l.Pace(1000)
		_ = holds(t, l, "first").Move(t.Context(), 500)
		ctx, cancel := context.WithCancel(t.Context())
		var crowd sync.WaitGroup
		for range 300 {
			r := holds(t, l, "crowd")
			crowd.Go(func() {
				for r.Move(ctx, 100) == nil {
				}
			})
		}
		synctest.Wait()
		other, start := holds(t, l, "other"), time.Now()
		for range 10 {
			if err := other.Move(t.Context(), 100); err != nil {
				t.Fatal(err)
			}
		}
		// Its ten pieces and one of the crowd's before each.
		if took := time.Since(start); took < time.Second || took > 2100*time.Millisecond {
			t.Errorf("10 pieces took %s, want 1 s and as many pieces of the crowd", took)
		}
		cancel()
		crowd.Wait()
	})
}

// Who leaves while it waits, leaves at once, and the next one of its key goes on.
func TestLeavesWhileItWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := inflight.New(4000)
		l.Pace(10)
		first, second := holds(t, l, "a"), holds(t, l, "a")
		_ = first.Move(t.Context(), 5)
		ctx, cancel := context.WithCancel(t.Context())
		left := make(chan error, 2)
		go func() { left <- first.Move(ctx, 100) }()
		synctest.Wait()
		go func() { left <- second.Move(ctx, 1) }()
		synctest.Wait()
		cancel()
		for range 2 {
			if err := <-left; !errors.Is(err, context.Canceled) {
				t.Errorf("a request that has left got %v", err)
			}
		}
		if err := second.Move(t.Context(), 1); err != nil {
			t.Error(err)
		}
	})
}

// Without a pace nothing waits.
func TestNoPace(t *testing.T) {
	t.Parallel()
	if err := holds(t, inflight.New(4000), "a").Move(t.Context(), 1<<30); err != nil {
		t.Error(err)
	}
}
