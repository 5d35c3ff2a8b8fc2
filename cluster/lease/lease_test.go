package lease_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/lease"
	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/cluster/usage"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// inWorld runs a test in a cluster of three with a team's budget.
func inWorld(t *testing.T, limit money.Pico, window time.Duration, test func(*world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, limit, window, 0)
		defer w.shut()
		synctest.Wait()
		test(w)
		if err := w.check(); err != nil {
			t.Error(err)
		}
	})
}

// mustReserve reserves an amount that must be available.
func mustReserve(t *testing.T, m *member, key byte, amount money.Pico) *request {
	t.Helper()
	r, err := m.reserve(t.Context(), key, amount)
	if err != nil {
		t.Fatalf("%d of %s: %v", amount, m.node, err)
	}
	return r
}

// catchUp makes all members apply the log repeatedly while time passes.
func (w *world) catchUp(rounds int) {
	for range rounds {
		for _, m := range w.members {
			w.mu.Lock()
			m.catchUpLocked()
			w.mu.Unlock()
		}
		wait(time.Millisecond)
	}
}

func TestTheLastCentIsSpentOnce(t *testing.T) {
	for _, c := range []struct {
		name          string
		limit, amount money.Pico
		most          int
	}{
		{"a thousand for a tenth of them", 1000, 10, 100},
		{"an amount that does not divide it", 1000, 70, 14},
		{"one request's worth", 100, 99, 1},
		{"nothing", 100, 101, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			inWorld(t, c.limit, 0, func(w *world) {
				t := w.t
				admitted, other := w.rush(t, 1000, c.amount)
				if admitted < c.most-1 || admitted > c.most || other != nil {
					t.Errorf("%d were admitted, %d fit; %v", admitted, c.most, other)
				}
			})
		})
	}
}

func TestIdleLeasesOfOthersAreReleased(t *testing.T) {
	inWorld(t, 900, 0, func(w *world) {
		t := w.t
		for _, m := range w.members {
			mustReserve(t, m, 2, 100).cancel() // its lease is more than that, and stays for a while
		}
		admitted, other := w.rush(t, 3, 300)
		if admitted != 3 || other != nil {
			t.Errorf("%d of 3 were admitted, which is all of the budget; %v", admitted, other)
		}
	})
}

// rush makes concurrent requests at all members, at the team's account only.
func (w *world) rush(t *testing.T, requests int, amount money.Pico) (admitted int, other error) {
	t.Helper()
	var mu sync.Mutex
	var all sync.WaitGroup
	for i := range requests {
		m := w.members[i%len(w.members)]
		all.Go(func() {
			_, err := m.manager.Reserve(t.Context(), m.bounds(1)[1:2], amount)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				admitted++
			case fault.From(err).Code != "budget_exceeded":
				other = err
			}
		})
	}
	done := make(chan struct{})
	go func() { all.Wait(); close(done) }()
	for {
		select {
		case <-done:
			return admitted, other
		default:
			w.catchUp(1)
		}
	}
}

// A waiting request is denied when another request takes so much that the budget no longer has
// room, even if no lease request is pending.
func TestDeniesAWaitingRequestWhenAnotherTakesTheRest(t *testing.T) {
	inWorld(t, 1000, 0, func(w *world) {
		t := w.t
		m := w.members[0]
		team := m.bounds(1)[1:2]
		first, err := m.manager.Reserve(t.Context(), team, 50) // its lease is half of the budget
		if err != nil {
			t.Fatal(err)
		}
		first.Cancel()
		go func() { _, _ = m.reserve(t.Context(), 2, 20) }() // keeps Run busy
		synctest.Wait()
		denied := make(chan error, 1)
		go func() {
			_, err := m.manager.Reserve(t.Context(), team, 700)
			denied <- err
		}()
		synctest.Wait()
		if _, err := m.manager.Reserve(t.Context(), team, 350); err != nil {
			t.Fatal(err)
		}
		wait(time.Second)
		select {
		case err := <-denied:
			if fault.From(err).Code != "budget_exceeded" {
				t.Error(err)
			}
		default:
			t.Error("the request waits for room that the budget does not have")
		}
	})
}

func TestRequestsWithinALeaseMakeNoProposal(t *testing.T) {
	inWorld(t, 1_000_000, 0, func(w *world) {
		t := w.t
		m := w.members[0]
		mustReserve(t, m, 1, 10).settle(5)
		moves := m.proposals()
		m.fare(down)
		for range 3 {
			mustReserve(t, m, 1, 10).settle(10)
		}
		if now := m.proposals(); now != moves {
			t.Errorf("%d proposals were made", now-moves)
		}
	})
}

func TestWithoutALeaderOnlyRequestsBeyondTheLeaseAreRejected(t *testing.T) {
	inWorld(t, 1_000_000, 0, func(w *world) {
		t := w.t
		m := w.members[0]
		mustReserve(t, m, 1, 10)
		m.fare(down)
		began := time.Now()
		_, err := m.reserve(t.Context(), 1, 450_000)
		f := fault.From(err)
		if f == nil || f.Kind != fault.Unavailable || f.Code != "budget_unavailable" || f.RetryAfter <= 0 {
			t.Errorf("got %v", err)
		}
		if took := time.Since(began); took > 2500*time.Millisecond {
			t.Errorf("it took %s", took)
		}
		mustReserve(t, m, 1, 10)
		if _, err := m.manager.Reserve(t.Context(), m.bounds(1)[2:], 450_000); err != nil {
			t.Errorf("without a budget: %v", err)
		}
		m.fare(whole)
		mustReserve(t, m, 1, 450_000)
	})
}

func TestBoundsWithoutABudgetNeverWait(t *testing.T) {
	inWorld(t, 1000, time.Minute, func(w *world) {
		t := w.t
		m := w.members[0]
		_, _, user := accounts(1)
		began := time.Now()
		hold, err := m.manager.Reserve(t.Context(), m.bounds(1)[2:], 5_000_000)
		if err != nil || !time.Now().Equal(began) {
			t.Fatalf("after %s: %v", time.Since(began), err)
		}
		want := []usage.Charge{{Kind: id.AccountUser, Soft: 500}}
		if diff := cmp.Diff(want, hold.Charges()); diff != "" {
			t.Error(diff)
		}
		hold.Cancel()
		wait(100 * time.Millisecond)
		if s := w.account(user); s.Duration != "1m0s" || s.Resets.IsZero() {
			t.Errorf("the state of the window is missing: %+v", s)
		}
		wait(time.Minute)
		hold, err = m.manager.Reserve(t.Context(), m.bounds(1)[2:], 1)
		if err != nil {
			t.Fatal(err)
		}
		hold.Cancel()
		wait(100 * time.Millisecond)
		if s := w.account(user); s.Epoch != 1 {
			t.Errorf("the expired window was not reset: %+v", s)
		}
	})
}

func TestARejectionExplainsItself(t *testing.T) {
	inWorld(t, 1000, time.Hour, func(w *world) {
		t := w.t
		m := w.members[0]
		key, _, _ := accounts(1)
		mustReserve(t, m, 1, 300).settle(400)
		_, err := m.reserve(t.Context(), 1, 101)
		why, ok := errors.AsType[*lease.Exceeded](err)
		if !ok {
			t.Fatalf("got %v", err)
		}
		ends := m.bounds(1)[0].Resets
		want := &lease.Exceeded{Account: key, Max: 500, Spent: 400, Resets: ends}
		if diff := cmp.Diff(want, why); diff != "" {
			t.Error(diff)
		}
		f := fault.From(err)
		if f.Kind != fault.OverBudget || f.Code != "budget_exceeded" || !f.NoRetry || f.RetryAfter != time.Until(ends) {
			t.Errorf("got %+v", f)
		}
		if !strings.Contains(f.Detail, "this API key ") || strings.Contains(f.Error(), key.Owner) {
			t.Errorf("the text is %q", f.Error())
		}
		mustReserve(t, m, 1, 100)
	})
}

// A budget whose rest is only reserved by requests in flight is not exhausted.
func TestReservedAmountsMayBeReleased(t *testing.T) {
	inWorld(t, 1000, time.Hour, func(w *world) {
		t := w.t
		m, other := w.members[0], w.members[1]
		held := mustReserve(t, m, 1, 300)
		for _, asks := range []*member{m, other} {
			_, err := asks.reserve(t.Context(), 1, 300)
			why, ok := errors.AsType[*lease.Exceeded](err)
			if f := fault.From(err); !ok || !why.Held || f.Kind != fault.OverBudget || f.NoRetry || f.RetryAfter != time.Second {
				t.Errorf("got %+v because of %+v", f, why)
			}
		}
		held.settle(201)
		_, err := m.reserve(t.Context(), 1, 300)
		if why, ok := errors.AsType[*lease.Exceeded](err); !ok || why.Held || !fault.From(err).NoRetry {
			t.Errorf("got %v because of %+v", err, why)
		}
		mustReserve(t, m, 1, 299)
	})
}

func TestARejectionAtOneBoundUndoesTheOthers(t *testing.T) {
	inWorld(t, 1000, 0, func(w *world) {
		t := w.t
		m := w.members[0]
		bounds := m.bounds(1)
		bounds[0].Max, bounds[1].Max = 1000, 300
		if _, err := m.manager.Reserve(t.Context(), bounds, 400); fault.From(err).Code != "budget_exceeded" {
			t.Fatalf("got %v", err)
		}
		bounds[1].Max = 1000
		if _, err := m.manager.Reserve(t.Context(), bounds, 1000); err != nil {
			t.Errorf("all of it: %v", err)
		}
	})
}

func TestALoweredBudgetCountsAtOnce(t *testing.T) {
	inWorld(t, 1_000_000, 0, func(w *world) {
		t := w.t
		m := w.members[0]
		mustReserve(t, m, 1, 1000).settle(1000)
		bounds := m.bounds(1)
		bounds[0].Max = 1500
		m.fare(down) // the lease would suffice
		if _, err := m.manager.Reserve(t.Context(), bounds, 501); fault.From(err).Code != "budget_exceeded" {
			t.Errorf("beyond the new budget: %v", err)
		}
		if _, err := m.manager.Reserve(t.Context(), bounds, 500); err != nil {
			t.Errorf("within the new budget: %v", err)
		}
	})
}

func TestAFreeRequestIsRejectedWhenTheBudgetIsExhausted(t *testing.T) {
	inWorld(t, 1000, 0, func(w *world) {
		t := w.t
		m := w.members[0]
		mustReserve(t, m, 1, 0).settle(0)
		mustReserve(t, m, 1, 500).settle(500)
		if _, err := m.reserve(t.Context(), 1, 0); fault.From(err).Code != "budget_exceeded" {
			t.Errorf("got %v", err)
		}
	})
}

func TestANewWindowBeginsWithTheFirstRequest(t *testing.T) {
	inWorld(t, 1000, time.Minute, func(w *world) {
		t := w.t
		m := w.members[0]
		late := mustReserve(t, m, 1, 500)
		if _, err := m.reserve(t.Context(), 1, 1); err == nil {
			t.Error("more than the budget was admitted")
		}
		wait(time.Minute)
		fresh := mustReserve(t, m, 1, 500)
		if was, is := late.hold.Charges()[0].Epoch, fresh.hold.Charges()[0].Epoch; is != was+1 {
			t.Errorf("the windows are %d and %d", was, is)
		}
		late.settle(500)
		m.ship()
		fresh.settle(100)
		mustReserve(t, m, 1, 400)
	})
}

func TestAHoldEndsOnce(t *testing.T) {
	inWorld(t, 1000, 0, func(w *world) {
		t := w.t
		m := w.members[0]
		key, _, _ := accounts(1)
		hold, err := m.manager.Reserve(t.Context(), m.bounds(1), 500)
		if err != nil {
			t.Fatal(err)
		}
		hold.Settle(200)
		hold.Settle(200)
		hold.Cancel()
		if _, pending, known := m.manager.Spent(key); pending != 200 || !known {
			t.Errorf("%d are pending", pending)
		}
		m.manager.Applied(key, lease.State{}, 200) // as if it had been posted
		var none *lease.Hold
		none.Settle(1)
		none.Cancel()
		if none.Charges() != nil {
			t.Error("no hold has charges")
		}
	})
}

func TestACanceledWaitLeavesNothing(t *testing.T) {
	inWorld(t, 1000, 0, func(w *world) {
		t := w.t
		m, other := w.members[0], w.members[1]
		held := mustReserve(t, other, 1, 300)
		w.catchUp(1)
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		if _, err := m.reserve(ctx, 1, 300); fault.From(err).Kind != fault.Timeout {
			t.Errorf("got %v", err)
		}
		began := time.Now()
		if _, err := m.reserve(t.Context(), 1, 300); fault.From(err).Code != "budget_exceeded" {
			t.Errorf("got %v", err)
		}
		if took := time.Since(began); took < 200*time.Millisecond || took > 300*time.Millisecond {
			t.Errorf("it waited for %s", took)
		}
		held.cancel()
		w.catchUp(20)
		mustReserve(t, m, 1, 300)
	})
}

func TestALeaseOfThePreviousProcessCountsWhenTheReplicaIsSure(t *testing.T) {
	inWorld(t, 1000, 0, func(w *world) {
		t := w.t
		m, other := w.members[0], w.members[1]
		mustReserve(t, m, 1, 500).cancel()
		had := m.applied()
		w.catchUp(1)
		got := make(chan error, 1)
		go func() {
			_, err := other.reserve(t.Context(), 1, 500)
			got <- err
		}()
		wait(20 * time.Millisecond)
		w.catchUp(20)
		if err := <-got; err != nil {
			t.Fatal(err)
		}
		m.crash(m.applied() - had) // as if it had not learned of its release
		m.fare(down)
		if _, err := m.reserve(t.Context(), 1, 500); fault.From(err).Code != "budget_unavailable" {
			t.Errorf("got %v", err)
		}
		m.fare(whole)
	})
}

func TestLoadErrorsAreReturned(t *testing.T) {
	broken := errors.New("broken")
	manager := lease.New(lease.Config{
		Load: func(id.Account) (lease.State, error) { return lease.State{}, broken },
		Move: func(context.Context, *clusterv1.MoveLeases) error { return nil },
	})
	_, err := manager.Reserve(t.Context(), []lease.Bound{{Account: id.Account{Kind: id.AccountKey, Owner: "k"}}}, 1)
	if !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

func BenchmarkReserve(b *testing.B) {
	state := lease.State{Left: 1 << 60, Max: 1 << 61, Bounded: true}
	manager := lease.New(lease.Config{
		Load: func(id.Account) (lease.State, error) { return state, nil },
		Move: func(context.Context, *clusterv1.MoveLeases) error { return nil },
	})
	ctx, cancel := context.WithCancel(b.Context())
	ran := make(chan error, 1)
	go func() { ran <- manager.Run(ctx) }()
	b.Cleanup(func() {
		cancel()
		if err := <-ran; err != nil {
			b.Error(err)
		}
	})
	m := &member{world: &world{limit: 1 << 61}}
	bounds := m.bounds(1)
	b.ReportAllocs()
	for b.Loop() {
		hold, err := manager.Reserve(ctx, bounds, 100)
		if err != nil {
			b.Fatal(err)
		}
		hold.Cancel()
	}
}
