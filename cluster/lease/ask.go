package lease

import (
	"time"

	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/money"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// demand is the demand of the requests that wait at an account.
type demand struct {
	asks  bool       // requesting more can help one of them
	bound *Bound     // of the last request
	sum   money.Pico // of their amounts
	least money.Pico // the smallest amount
}

// demandLocked sums up the requests that wait at a, and counts the proposal for each.
func (t *Manager) demandLocked(a *account, now time.Time) demand {
	d := demand{bound: &a.bound}
	for _, w := range a.waiters {
		if w.over() {
			continue
		}
		b, amount := &w.request.bounds[w.bound], w.request.hold.amount
		if t.judgeLocked(a, b, amount, now) == short {
			d.asks = true
		}
		if least := w.request.hold.at(0); d.sum == 0 || least < d.least {
			d.least = least
		}
		d.bound, d.sum = b, money.Add(d.sum, amount)
	}
	if d.asks {
		for _, w := range a.waiters {
			w.asked++
		}
	}
	return d
}

// askLocked returns the lease request for a; nil if nothing is needed.
func (t *Manager) askLocked(a *account, now time.Time) *clusterv1.LeaseAsk {
	d := t.demandLocked(a, now)
	if !d.asks && !a.roll && !a.more {
		return nil
	}
	b := d.bound
	stale := a.stale(b, now)
	if stale {
		a.rolled = now
	}
	more := a.more
	a.more, a.roll = false, false
	ask := &clusterv1.LeaseAsk{Account: record(a.id), Duration: b.Duration}
	if !b.Resets.IsZero() {
		ask.ResetsUnixNano = b.Resets.UnixNano()
	}
	if !b.Bounded {
		if !stale {
			return nil
		}
		return ask
	}
	limit := int64(b.Max)
	ask.MaxPico = &limit
	has := a.usable()
	if stale {
		has = 0 // the window of the lease ends
	}
	want := max(d.sum-has, 0)
	least := min(max(d.least-has, 1), want)
	if more && want == 0 {
		least = 1
	}
	ask.WantPico, ask.LeastPico = int64(want), int64(least)
	ask.AskPico = int64(max(want, a.foreseeLocked(d.sum, now)))
	return ask
}

// foreseeLocked returns the amount for the near future, by the present rate or, without a rate,
// by the current need.
func (a *account) foreseeLocked(need money.Pico, now time.Time) money.Pico {
	elapsed := max(now.Sub(a.since), time.Second)
	rate := a.drawn / money.Pico(elapsed/time.Millisecond)
	a.drawn, a.since = 0, now
	return max(money.Times(need, foreseen), money.Times(rate, int64(foresight/time.Millisecond)))
}

// record returns the account in the form of a proposal.
func record(a id.Account) *clusterv1.AccountID {
	return &clusterv1.AccountID{Kind: clusterv1.AccountKind(a.Kind), Owner: a.Owner, Part: a.Part}
}
