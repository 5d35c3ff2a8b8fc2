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

// moves has a body move in pieces, of which each takes a moment.
func moves(t *testing.T, r *inflight.Reservation, bytes, piece int) {
	t.Helper()
	for ; bytes > 0; bytes -= piece {
		time.Sleep(time.Nanosecond)
		if err := r.Move(t.Context(), piece); err != nil {
			t.Error(err)
		}
	}
}

// takes returns how long two bodies take that move at the same time.
func takes(t *testing.T, bytes, piece int, two ...*inflight.Reservation) time.Duration {
	t.Helper()
	start := time.Now()
	var wg sync.WaitGroup
	for _, r := range two {
		wg.Go(func() { moves(t, r, bytes, piece) })
	}
	wg.Wait()
	return time.Since(start)
}

func wantTook(t *testing.T, what string, got, least, most time.Duration) {
	t.Helper()
	if got < least || got > most {
		t.Errorf("%s took %s, want %s to %s", what, got, least, most)
	}
}

// Bodies that move at the same time move at the pace, beyond what half a second allows at once.
func TestPace(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := inflight.New(4000)
		l.Pace(1000)
		a, b := holds(t, l, "a"), holds(t, l, "b")
		wantTook(t, "the burst", takes(t, 250, 50, a, b), 0, 100*time.Millisecond)
		wantTook(t, "2000 bytes", takes(t, 1000, 50, a, b), 1900*time.Millisecond, 2*time.Second)
		// More at once than half a second allows.
		wantTook(t, "3000 bytes in two pieces", takes(t, 1500, 1500, a, b), 2900*time.Millisecond, 3*time.Second)
	})
}

// A body that moves alone has what four seconds allow, unless bodies have moved at the same time before it.
func TestABodyAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := inflight.New(1 << 20)
		l.Pace(1000)
		a, b := holds(t, l, "a"), holds(t, l, "b")
		wantTook(t, "4000 bytes", takes(t, 4000, 10, a), 0, time.Millisecond)
		wantTook(t, "1000 more bytes", takes(t, 1000, 10, a), 990*time.Millisecond, 1010*time.Millisecond)
		a.Moved()
		time.Sleep(4 * time.Second)
		wantTook(t, "the next body, four seconds later", takes(t, 4000, 10, b), 0, time.Millisecond)
		b.Moved()
		time.Sleep(4 * time.Second)
		wantTook(t, "two bodies at the same time", takes(t, 1250, 10, a, b), 1900*time.Millisecond, 2100*time.Millisecond)
	})
}

// Bodies move at half the speed while much is in flight.
func TestPaceOfMany(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const mib = 1 << 20
		l := inflight.New(1024 * mib)
		l.Pace(mib)
		a, b, many := holds(t, l, "a"), holds(t, l, "b"), holds(t, l, "many")
		wantTook(t, "the burst", takes(t, mib/4, mib/16, a, b), 0, 100*time.Millisecond)
		wantTook(t, "1 MiB", takes(t, mib/2, mib/16, a, b), 800*time.Millisecond, time.Second)
		if err := many.Grow(64 * mib); err != nil {
			t.Fatal(err)
		}
		wantTook(t, "1 MiB while 64 MiB are in flight", takes(t, mib/2, mib/16, a, b), 1600*time.Millisecond, 2100*time.Millisecond)
		many.Release()
		wantTook(t, "1 MiB when they have gone", takes(t, mib/2, mib/16, a, b), 800*time.Millisecond, time.Second)
	})
}

// A body waits as long for its pace next to a key with hundreds of bodies as next to one.
func TestKeysTakeTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := inflight.New(1 << 20)
		l.Pace(1000)
		moves(t, holds(t, l, "first"), 4000, 500)
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
		other, first, second := holds(t, l, "b"), holds(t, l, "a"), holds(t, l, "a")
		moves(t, other, 40, 5) // what four seconds allow
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
