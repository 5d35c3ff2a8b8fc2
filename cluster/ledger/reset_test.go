package ledger_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/modelgateway/modelgateway/cluster/ledger"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// midnight returns the end of a time's day.
func midnight(at time.Time) time.Time { return inDays(1, at) }

// inDays returns the end of a window with this number of days that starts at a time.
func inDays(n int, at time.Time) time.Time {
	const day = 24 * time.Hour
	return at.Truncate(day).Add(time.Duration(n) * day)
}

// TestWindowResets runs the windows of a budget, each one or several days, with temporarily wrong
// clocks: the number of windows, and the end of the current one.
func TestWindowResets(t *testing.T) {
	t.Parallel()
	const day, years = 24 * time.Hour, 10 * 365 * 24 * time.Hour
	noon := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	type reset struct {
		Clock time.Duration // from noon, the stamp of the entry
		Epoch uint64
		Ends  time.Duration // of the window, from noon
	}
	for name, tt := range map[string]struct {
		days   int
		resets []reset
	}{
		"right":                    {1, []reset{{0, 0, day / 2}, {day / 2, 1, day * 3 / 2}, {day, 1, day * 3 / 2}, {3 * day, 2, day * 7 / 2}}},
		"an hour ahead":            {1, []reset{{day/2 + time.Minute, 1, day * 3 / 2}, {day/2 - time.Hour, 1, day / 2}, {day / 2, 1, day * 3 / 2}, {day * 3 / 2, 2, day * 5 / 2}}},
		"an hour behind":           {1, []reset{{day / 2, 1, day * 3 / 2}, {day/2 - time.Hour, 1, day / 2}, {day/2 + 1, 1, day * 3 / 2}}},
		"ten years ahead":          {1, []reset{{years, 1, years + day/2}, {1, 1, day / 2}, {day / 2, 2, day * 3 / 2}, {day * 3 / 2, 3, day * 5 / 2}}},
		"ten years back":           {1, []reset{{-years, 0, -years + day/2}, {1, 0, day / 2}, {day / 2, 1, day * 3 / 2}}},
		"ten years back late":      {1, []reset{{-years, 0, -years + day/2}, {day, 1, day * 3 / 2}}},
		"alternating clocks":       {1, []reset{{years, 1, years + day/2}, {1, 1, day / 2}, {years, 1, years + day/2}, {2, 1, day / 2}, {day / 2, 2, day * 3 / 2}}},
		"both ways":                {1, []reset{{years, 1, years + day/2}, {-years, 1, -years + day/2}, {1, 2, day / 2}, {day / 2, 3, day * 3 / 2}}},
		"a little before it":       {1, []reset{{day / 2, 1, day * 3 / 2}, {day/2 - 1, 1, day / 2}, {day / 2, 1, day * 3 / 2}, {day/2 - 1, 1, day / 2}, {day / 2, 1, day * 3 / 2}}},
		"proposed a second time":   {1, []reset{{day / 2, 1, day * 3 / 2}, {day / 2, 1, day * 3 / 2}}},
		"days, ten years ahead":    {5, []reset{{2 * day, 0, day * 9 / 2}, {years, 1, years + day*9/2}, {2 * day, 1, day * 13 / 2}, {day * 13 / 2, 2, day * 23 / 2}}},
		"days, ten years back":     {5, []reset{{-years, 0, -years + day*9/2}, {2 * day, 0, day * 9 / 2}, {day * 9 / 2, 1, day * 19 / 2}}},
		"days, back late":          {5, []reset{{-years, 0, -years + day*9/2}, {6 * day, 1, day * 21 / 2}}},
		"days, alternating clocks": {5, []reset{{years, 1, years + day*9/2}, {1, 1, day * 9 / 2}, {years + day, 1, years + day*9/2}, {2 * day, 1, day * 13 / 2}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t)
			a := keyAccount(1)
			frame := &clusterv1.MoveLeases{Node: "n", Asks: []*clusterv1.LeaseAsk{{Account: accountID(a), Duration: "1d", ResetsUnixNano: inDays(tt.days, noon).UnixNano()}}}
			move(t, s, frame, noon)
			got := make([]reset, 0, len(tt.resets))
			for _, step := range tt.resets {
				now := noon.Add(step.Clock)
				roll(t, s, &clusterv1.RollWindows{Windows: []*clusterv1.WindowEnd{{
					Account: accountID(a), Epoch: balance(t, s, a).Epoch, ResetsUnixNano: inDays(tt.days, now).UnixNano(),
				}}}, now)
				state := balance(t, s, a)
				got = append(got, reset{step.Clock, state.Epoch, state.Resets.Sub(noon)})
				sound(t, s)
			}
			if diff := cmp.Diff(tt.resets, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestRequestWithAWrongClock: a node with a wrong clock gets leases, and sets no window end.
func TestRequestWithAWrongClock(t *testing.T) {
	const year = 365 * 24 * time.Hour
	s := open(t)
	a, noon, limit := keyAccount(1), time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC), int64(100)
	ask := func(at, clock time.Time) ledger.State {
		move(t, s, &clusterv1.MoveLeases{Node: "n", AskedUnixNano: clock.UnixNano(), Asks: []*clusterv1.LeaseAsk{{
			Account: accountID(a), Duration: "1d", ResetsUnixNano: midnight(clock).UnixNano(), MaxPico: &limit, LeastPico: 1, WantPico: 1,
		}}}, at)
		return balance(t, s, a)
	}
	if got := ask(noon, noon.Add(year)); !got.Resets.IsZero() || len(got.Leases) != 1 {
		t.Errorf("it has set %s, and there are %d leases", got.Resets, len(got.Leases))
	}
	if got := ask(noon, noon.Add(time.Second)); !got.Resets.Equal(midnight(noon)) {
		t.Errorf("a node with the right clock has set %s", got.Resets)
	}
	next := midnight(noon)
	for _, clock := range []time.Time{next.Add(year), next.Add(-year), next.Add(2 * time.Minute)} {
		if got := ask(next, clock); got.Epoch != 0 {
			t.Errorf("at %s the window until %s has begun", clock, got.Resets)
		}
	}
	if got := ask(next, next.Add(time.Second)); got.Epoch != 1 || !got.Resets.Equal(midnight(next)) {
		t.Errorf("window %d ends at %s", got.Epoch, got.Resets)
	}
}
