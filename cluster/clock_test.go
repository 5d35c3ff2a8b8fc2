package cluster_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

const (
	anHour   = time.Hour
	tenYears = 10 * 365 * 24 * time.Hour
)

// wrongBy is how far clocks are wrong that somebody has set.
func wrongBy() []time.Duration { return []time.Duration{anHour, -anHour, tenYears, -tenYears} }

// TestWrongClock has the clock of one of three nodes be wrong for a while, of the one
// that leads or of another. Nobody else's time changes: a budget's windows begin when
// they are due, once each, and the books say so. The node knows that it is wrong.
func TestWrongClock(t *testing.T) {
	for _, tt := range []struct {
		wrong time.Duration
		leads bool
	}{
		{anHour, true},
		{-anHour, true},
		{tenYears, true},
		{-tenYears, true},
		{tenYears, false},
	} {
		t.Run(fmt.Sprintf("%s leads %t", tt.wrong, tt.leads), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := startedLab(t, 3, 3)
				defer l.close()
				leader := l.leader(settleTime)
				h := leader
				for _, other := range l.hosts {
					if !tt.leads && other != leader {
						h = other
					}
				}
				s := newSpender(l, "s", 20*perRequest)
				s.window = "1m"
				s.until(40 * time.Second)
				h.skew.Store(int64(tt.wrong))
				s.until(70 * time.Second)
				if said := problemsOf(h); !strings.Contains(said, "clock") {
					t.Errorf("the node whose clock is wrong says %q", said)
				}
				// Whoever leads next, it may be that node, knows what time it is.
				l.network.Isolate(leader.address)
				s.until(100 * time.Second)
				l.network.Heal()
				s.until(130 * time.Second)
				h.skew.Store(0)
				s.until(190 * time.Second)
				if said := problemsOf(h); strings.Contains(said, "clock") {
					t.Errorf("the node whose clock is right again says %q", said)
				}
				s.balanced(3)
			})
		})
	}
}

// TestWrongClockAlone has the clock of a cluster of one be wrong for a while. There is
// nobody who knows better: so a window begins too early. But none begins twice, and
// those that are due when the clock is right again begin.
func TestWrongClockAlone(t *testing.T) {
	for _, tt := range []struct {
		wrong time.Duration
		want  uint64 // windows, of a minute each, that begin in four minutes and a half
	}{
		{anHour, 5},
		{tenYears, 5},
		{-anHour, 4},
		{-tenYears, 4},
	} {
		t.Run(tt.wrong.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLab(t, 4)
				defer l.close()
				l.add(1).start()
				if err := l.ready(l.hosts, settleTime); err != nil {
					t.Fatal(err)
				}
				s := newSpender(l, "s", 20*perRequest)
				s.window = "1m"
				for at := 70 * time.Second; at < 110*time.Second; at += 20 * time.Second { // the second time begins nothing
					s.until(at)
					l.hosts[0].skew.Store(int64(tt.wrong))
					s.until(at + 10*time.Second)
					l.hosts[0].skew.Store(0)
				}
				s.until(275 * time.Second)
				s.early = tt.want - 4
				s.balanced(tt.want)
			})
		})
	}
}

// TestWrongClockDropsNothing starts a node whose clock is ten years ahead: what it has
// recorded is not too old because of that.
func TestWrongClockDropsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, 5)
		defer l.close()
		h := l.add(1)
		h.start()
		s := newSpender(l, "s", 0)
		for _, wrong := range []time.Duration{0, tenYears} {
			h.shut()
			h.skew.Store(int64(wrong))
			h.start()
			if err := l.ready(l.hosts, settleTime); err != nil {
				t.Fatal(err)
			}
			s.work(time.Now().Add(30*time.Second), l.hosts) // the leader looks after ten
		}
		l.balance([]*spender{s})
	})
}

// until spends, at all nodes, until so long after the spender was born.
func (c *spender) until(passed time.Duration) { c.work(c.born.Add(passed), c.lab.hosts) }

// balanced checks that so many windows have begun, and the books.
func (c *spender) balanced(windows uint64) {
	l := c.lab
	l.balance([]*spender{c})
	for _, h := range l.hosts {
		state, err := h.node().Account(context.Background(), c.account())
		if err != nil {
			l.t.Fatal(err)
		}
		if state.Epoch != windows {
			l.t.Errorf("%s: %d windows have begun, want %d", h.name, state.Epoch, windows)
		}
	}
}

func problemsOf(h *host) string {
	status, err := h.node().Status(context.Background(), false)
	if err != nil {
		return err.Error()
	}
	return strings.Join(status.Problems, "; ")
}
