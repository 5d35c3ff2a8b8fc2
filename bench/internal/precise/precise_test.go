package precise

import (
	"context"
	"testing"
	"time"
)

// How late a sleep ends depends on who else is on the machine, so only being
// early is an error.
func TestSleepIsNotEarly(t *testing.T) {
	for range 50 {
		start := time.Now()
		if err := Sleep(300 * time.Microsecond); err != nil {
			t.Fatal(err)
		}
		if early := 300*time.Microsecond - time.Since(start); early > 0 {
			t.Fatalf("woke %v early", early)
		}
	}
}

func TestTickKeepsItsTimes(t *testing.T) {
	start := time.Now()
	n := 0
	err := Tick(context.Background(), start, 2*time.Millisecond, 20, func(k int) bool {
		if early := time.Until(start.Add(time.Duration(k) * 2 * time.Millisecond)); early > 0 || k != n {
			t.Errorf("tick %d as number %d, %v early", k, n, early)
		}
		n++
		return true
	})
	if err != nil || n != 20 {
		t.Fatalf("n=%d err=%v", n, err)
	}
}

func TestTickStops(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	n := 0
	_ = Tick(ctx, time.Now(), time.Millisecond, 100, func(k int) bool {
		n++
		if k == 3 {
			cancel()
		}
		return true
	})
	if n != 4 {
		t.Errorf("ran %d ticks after cancel at the fourth", n)
	}
}
