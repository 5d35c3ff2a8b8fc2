package lease_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/modelgateway/modelgateway/cluster/money"
)

// step is a step of a random schedule.
type step struct {
	what   string
	member int
	amount money.Pico
	number int
}

func steps() *rapid.Generator[step] {
	return rapid.Custom(func(t *rapid.T) step {
		return step{
			what: rapid.SampledFrom([]string{
				"reserve", "reserve", "reserve", "reserve", "settle", "settle", "settle", "exceed", "cancel", "lower", "reserve one of",
				"ship", "ship", "catch up", "link", "wait", "wait long", "crash", "restore",
			}).Draw(t, "what"),
			member: rapid.IntRange(0, 2).Draw(t, "member"),
			amount: money.Pico(rapid.IntRange(0, 200).Draw(t, "amount")),
			number: rapid.IntRange(0, 1000).Draw(t, "number"),
		}
	})
}

func TestNoScheduleSpendsMoreThanTheBudget(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		limit := money.Pico(rapid.SampledFrom([]int{500, 1000, 10_000}).Draw(rt, "limit"))
		window := time.Duration(rapid.SampledFrom([]int{0, 3}).Draw(rt, "window")) * time.Second
		skew := time.Duration(rapid.IntRange(0, 2).Draw(rt, "skew")) * time.Second
		schedule := rapid.SliceOfN(steps(), 20, 120).Draw(rt, "schedule")
		var failed error
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, limit, window, skew)
			defer w.shut()
			failed = w.play(schedule)
			if failed == nil {
				failed = w.settleAll()
			}
		})
		if failed != nil {
			rt.Fatal(failed)
		}
	})
}

// play plays a schedule and checks the invariant after each step.
func (w *world) play(schedule []step) error {
	for i, s := range schedule {
		w.step(&s)
		synctest.Wait()
		if err := w.check(); err != nil {
			return fmt.Errorf("after step %d, %+v: %w", i, s, err)
		}
	}
	return nil
}

func (w *world) step(s *step) {
	ctx := w.t.Context()
	m := w.members[s.member]
	switch s.what {
	case "reserve":
		for range 1 + s.number%3 {
			go func() { _, _ = m.reserve(ctx, byte(1+s.number%2), s.amount) }()
		}
	case "reserve one of":
		for range 1 + s.number%3 {
			go func() {
				_, _ = m.reserve(ctx, byte(1+s.number%2), s.amount, 2*s.amount, 2*s.amount, 5*s.amount)
			}()
		}
	case "settle", "exceed", "cancel", "lower":
		synctest.Wait()
		if len(m.running) == 0 {
			return
		}
		r := m.running[s.number%len(m.running)]
		switch s.what {
		case "cancel":
			r.cancel()
		case "lower":
			r.lower(r.amount / 3)
		case "exceed":
			r.settle(r.amount + s.amount)
		default:
			r.settle(min(s.amount, r.amount))
		}
	case "ship":
		m.ship()
	case "catch up":
		w.mu.Lock()
		m.catchUpLocked()
		w.mu.Unlock()
	case "link":
		m.fare(link(s.number % 4))
	case "wait":
		wait(time.Duration(s.number) * time.Millisecond)
	case "wait long":
		wait(time.Duration(s.number) * 20 * time.Millisecond)
	case "crash":
		m.crash(s.number % 20)
	case "restore":
		w.mu.Lock()
		m.catchUpLocked()
		w.mu.Unlock()
		m.manager.Restored()
	}
}

// settleAll heals everything, ends all requests and lets time pass. After that no leases, no
// pending amounts and no accounts in memory are left.
func (w *world) settleAll() error {
	for _, m := range w.members {
		m.fare(whole)
	}
	wait(5 * time.Second)
	synctest.Wait()
	for _, r := range w.requests {
		if !r.ended {
			r.settle(r.amount / 2)
		}
	}
	for _, m := range w.members {
		m.ship()
		for _, key := range []byte{1, 2} { // so that it knows the leases of its previous process
			if r, err := m.reserve(w.t.Context(), key, 0); err == nil {
				r.cancel()
			}
		}
	}
	for range 4 {
		wait(13 * time.Second)
		for _, m := range w.members {
			w.mu.Lock()
			m.catchUpLocked()
			w.mu.Unlock()
		}
	}
	if err := w.check(); err != nil {
		return err
	}
	for _, key := range []byte{1, 2} {
		ofKey, ofTeam, ofUser := accounts(key)
		if s := w.account(ofKey); len(s.Leases) > 0 {
			return fmt.Errorf("the key's leases were never released: %+v", s)
		}
		if s := w.account(ofTeam); len(s.Leases) > 0 {
			return fmt.Errorf("the team's leases were never released: %+v", s)
		}
		for _, m := range w.members {
			if _, pending, known := m.manager.Spent(ofKey); known {
				return fmt.Errorf("%s still knows the key; %d are pending", m.node, pending)
			}
			if _, pending, known := m.manager.Spent(ofTeam); known {
				return fmt.Errorf("%s still knows the team; %d are pending", m.node, pending)
			}
			if _, _, known := m.manager.Spent(ofUser); known {
				return fmt.Errorf("%s still knows the user", m.node)
			}
		}
	}
	return nil
}
