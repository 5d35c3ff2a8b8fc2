package clock_test

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelgateway/modelgateway/cluster/clock"
)

// TestTheTimeIsThatOfMost: with the clocks of the voters, as far as they respond, the cluster's time is
// the one of a majority, and an operator reads which clock is wrong.
func TestTheTimeIsThatOfMost(t *testing.T) {
	t.Parallel()
	const never = 1000 * time.Hour
	for _, tt := range []struct {
		name    string
		ahead   []time.Duration // of this node's clock, before the others
		voters  int
		floor   time.Duration // what is over, after this node's clock
		off     time.Duration // of this node's clock, before the cluster's time; never: not known
		problem string
	}{
		{"all agree", []time.Duration{0, 0, 0}, 3, -time.Hour, 0, ""},
		{"a little off is believed", []time.Duration{0, 3 * time.Second, 3 * time.Second}, 3, -time.Hour, 0, ""},
		{"another is wrong", []time.Duration{0, -time.Hour, 0}, 3, -time.Hour, 0, ""},
		{"this one is ahead", []time.Duration{0, time.Hour, time.Hour}, 3, -2 * time.Hour, time.Hour, "1h0m0s ahead"},
		{"this one is behind", []time.Duration{0, -time.Hour, -time.Hour}, 3, -time.Hour, -time.Hour, "1h0m0s behind"},
		{"two of three respond", []time.Duration{0, 0}, 3, -time.Hour, 0, ""},
		{"one of three responds", []time.Duration{0}, 3, -time.Hour, never, ""},
		{"nobody agrees: the earliest that is not over", []time.Duration{0, time.Hour, 2 * time.Hour}, 3, -90 * time.Minute, time.Hour, "no majority"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				floor := time.Now().Add(tt.floor)
				var problem error
				c := clock.New(clock.Config{
					Now: time.Now, Logger: slog.New(slog.DiscardHandler), Floor: func() time.Time { return floor },
					Ask: func(context.Context, func() time.Time) ([]time.Duration, int) {
						return slices.Clone(tt.ahead), tt.voters
					},
					Problem: func(err error) bool { problem = err; return false },
				})
				go func() { _ = c.Run(ctx) }()
				time.Sleep(time.Minute)
				synctest.Wait()
				now, known := c.Time()
				if known != (tt.off != never) || c.Steady() != known {
					t.Fatalf("known %t, reliable %t", known, c.Steady())
				}
				if known && !now.Equal(time.Now().Add(-tt.off).Round(0)) {
					t.Errorf("the cluster's time is %s off, want %s", time.Since(now), tt.off)
				}
				if (problem != nil) != (tt.problem != "") || problem != nil && !strings.Contains(problem.Error(), tt.problem) {
					t.Errorf("problem %v, want %q", problem, tt.problem)
				}
			})
		})
	}
}

// TestAJumpIsNotSteady: after the time jumped by a day, nothing may be deleted for a day.
func TestAJumpIsNotSteady(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var skew atomic.Int64
		c := clock.New(clock.Config{
			Now: func() time.Time { return time.Now().Add(time.Duration(skew.Load())) }, Alone: true, Logger: slog.New(slog.DiscardHandler),
			Floor: func() time.Time { return time.Time{} }, Problem: func(error) bool { return false },
			Ask: func(context.Context, func() time.Time) ([]time.Duration, int) { return []time.Duration{0}, 1 },
		})
		go func() { _ = c.Run(ctx) }()
		for _, step := range []struct {
			skew, pass time.Duration
			steady     bool
		}{
			{0, time.Minute, true},
			{23 * time.Hour, time.Minute, true},
			{48 * time.Hour, time.Minute, false},
			{48 * time.Hour, 25 * time.Hour, true},
		} {
			skew.Store(int64(step.skew))
			time.Sleep(step.pass)
			synctest.Wait()
			if c.Steady() != step.steady {
				t.Errorf("%s ahead for %s: reliable %t, want %t", step.skew, step.pass, c.Steady(), step.steady)
			}
		}
	})
}
