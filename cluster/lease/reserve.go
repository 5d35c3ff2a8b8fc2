package lease

import (
	"context"
	"time"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/cluster/usage"
)

// verdict is the decision about a request at one of its bounds.
type verdict uint8

const (
	fits    verdict = iota // the lease covers the amount
	over                   // the budget is exhausted
	short                  // the lease does not suffice; requesting more may help
	blocked                // other nodes hold what the request needs
)

// Reserve reserves one amount at all bounds of a request, or nothing. The bounds must name each
// account once. If this node's leases cover the amount, Reserve does not wait. Otherwise it
// waits for a grant. If other nodes hold what is needed, it gives them a quarter of a second to
// release it. A bound without a budget never waits; Reserve only records the epoch of its
// account.
//
// The amounts are ascending; without any, Reserve reserves 0. It reserves the largest amount
// that the leases cover, so that no request waits for more than it needs. If they cover none,
// it waits for the largest that the budgets may allow, and takes a smaller one once they do
// not. Hold.Amount returns the chosen amount. Only the smallest amount can cause a denial.
//
// A waiting request keeps its reservations at other bounds. Requests cannot deadlock, because
// one lock guards the Manager and every wait has a time limit.
//
// Errors: OverBudget with code budget_exceeded, whose cause is an *Exceeded; Unavailable with
// code budget_unavailable if a grant is needed and the cluster has no quorum; errors of the
// context and of Load.
func (t *Manager) Reserve(ctx context.Context, bounds []Bound, amounts ...money.Pico) (*Hold, error) {
	h := &Hold{manager: t, amounts: amounts}
	for {
		now := t.cfg.Now()
		t.mu.Lock()
		h.parts, h.charges = h.inlineParts[:0], h.inlineCharges[:0]
		known := true
		for i := range bounds {
			a := t.enterLocked(bounds[i].Account, now)
			t.useLocked(a, now)
			h.parts = append(h.parts, part{account: a})
			h.charges = append(h.charges, usage.Charge{})
			known = known && a.known
		}
		if known {
			r, err := t.admitLocked(h, bounds, now)
			t.mu.Unlock()
			switch {
			case err != nil:
				return nil, err
			case r != nil:
				return t.wait(ctx, r)
			}
			return h, nil
		}
		t.mu.Unlock()
		for i := range bounds {
			if err := t.load(h.parts[i].account); err != nil {
				return nil, err
			}
		}
	}
}

// Check returns the error that Reserve would return if one of the bounds is fully spent. It
// reserves nothing, and waits only for the start of a window.
func (t *Manager) Check(ctx context.Context, bounds []Bound) error {
	if t.admits(bounds) {
		return nil
	}
	h, err := t.Reserve(ctx, bounds, 0)
	if err != nil {
		return err
	}
	h.Cancel()
	return nil
}

// admits reports whether no bound is known to be spent, and none needs to be read or its window to begin.
func (t *Manager) admits(bounds []Bound) bool {
	now := t.cfg.Now()
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range bounds {
		a := t.mu.accounts[bounds[i].Account]
		if a == nil || !a.known || a.stale(&bounds[i], now) || t.judgeLocked(a, &bounds[i], 0, now) != fits {
			return false
		}
		t.useLocked(a, now)
	}
	return true
}

// load reads an account from the replica unless it is known.
func (t *Manager) load(a *account) error {
	t.mu.Lock()
	known := a.known
	t.mu.Unlock()
	if known {
		return nil
	}
	s, err := t.cfg.Load(a.id)
	if err != nil {
		return fault.From(err)
	}
	now := t.cfg.Now()
	t.mu.Lock()
	defer t.mu.Unlock()
	if !a.known { // otherwise Applied was called in between, and is newer
		t.replaceLocked(a, s)
		t.touchLocked(a)
		t.drainLocked(now)
	}
	return nil
}

// admitLocked reserves at all bounds, or rejects the request, or returns the waiting request.
func (t *Manager) admitLocked(h *Hold, bounds []Bound, now time.Time) (*request, error) {
	t.chooseLocked(h, bounds, now)
	missing := 0
	for i := range bounds {
		a, b := h.parts[i].account, &bounds[i]
		switch t.judgeLocked(a, b, h.amount, now) {
		case fits:
		case over:
			return nil, exceeded(a.exceeded(b, h.amount, now), now)
		case blocked:
			if !a.futile.IsZero() && now.Sub(a.futile) < futilePause {
				return nil, exceeded(a.exceeded(b, h.amount, now), now)
			}
			missing++
		case short:
			missing++
		}
	}
	if missing > 0 && t.mu.stopped {
		return nil, unavailable(nil)
	}
	var r *request
	if missing > 0 {
		r = &request{hold: h, bounds: bounds, missing: missing, wake: make(chan struct{}, 1)}
		t.mu.waiting[r] = struct{}{}
	}
	for i := range bounds {
		a := h.parts[i].account
		a.holds++
		if r != nil && t.judgeLocked(a, &bounds[i], h.amount, now) != fits {
			a.waiters = append(a.waiters, &waiter{request: r, bound: i})
			t.touchLocked(a)
			continue
		}
		t.takeLocked(h, i, &bounds[i], now)
	}
	t.drainLocked(now)
	return r, nil
}

// chooseLocked sets the amount that h shall reserve: the largest that the leases cover at all
// bounds, or else the largest that no budget is known to rule out.
func (t *Manager) chooseLocked(h *Hold, bounds []Bound, now time.Time) {
	for _, worst := range [...]verdict{fits, short} {
		for h.step = len(h.amounts) - 1; h.step >= 0; h.step-- {
			h.amount = h.at(h.step)
			if t.noWorseLocked(h, bounds, worst, now) {
				return
			}
		}
	}
	h.step, h.amount = 0, h.at(0)
}

// noWorseLocked reports whether h.amount fits at every bound or, if worst is short, may fit
// after a lease request.
func (t *Manager) noWorseLocked(h *Hold, bounds []Bound, worst verdict, now time.Time) bool {
	for i := range bounds {
		if v := t.judgeLocked(h.parts[i].account, &bounds[i], h.amount, now); v != fits && v != worst {
			return false
		}
	}
	return true
}

// judgeLocked decides about a request at a bound, without side effects.
func (t *Manager) judgeLocked(a *account, b *Bound, amount money.Pico, now time.Time) verdict {
	if !b.Bounded {
		return fits
	}
	if a.stale(b, now) && now.Sub(a.rolled) >= futilePause {
		return short // the rest of this window does not apply to the next one
	}
	spent := a.spent()
	if spent >= b.Max || money.Add(spent, a.reserved+amount) > b.Max {
		return over
	}
	switch {
	case amount == 0:
		return fits
	case !t.mu.sure:
		return short
	case a.usable() >= amount:
		return fits
	case a.free(b.Max) >= amount-a.usable(), !a.state.Scarce:
		// A lease request informs the other nodes that their leases are needed.
		return short
	}
	return blocked
}

// takeLocked reserves at one bound. It also requests more in advance, before a request has to
// wait for it.
func (t *Manager) takeLocked(h *Hold, i int, b *Bound, now time.Time) {
	p, a := &h.parts[i], h.parts[i].account
	h.charges[i] = usage.Charge{Kind: a.id.Kind, Key: b.Parent, Epoch: a.state.Epoch, Soft: b.Soft, Max: b.Max, Bounded: b.Bounded}
	p.taken = true
	if !b.Bounded {
		if !a.roll && a.stale(b, now) && now.Sub(a.rolled) >= futilePause {
			a.roll, a.bound = true, *b
			t.queueLocked(a)
		}
		return
	}
	a.takeLocked(p, h.amount)
	if len(a.waiters) > 0 {
		t.touchLocked(a) // a waiting request may no longer fit into the budget
	}
	if !a.more && a.usable() < a.low && !a.strict() && !a.state.Scarce && a.free(b.Max) > 0 {
		a.more, a.bound = true, *b
		t.queueLocked(a)
	}
}

// exceeded describes why a rejects a request of amount.
func (a *account) exceeded(b *Bound, amount money.Pico, now time.Time) *Exceeded {
	e := &Exceeded{Account: a.id, Parent: b.Parent != (id.KeyHash{}), Epoch: a.state.Epoch, Max: b.Max, Spent: a.spent(), Resets: a.state.Resets}
	e.Held = e.Spent < b.Max && money.Add(e.Spent, amount) <= b.Max
	if !e.Resets.After(now) {
		e.Resets = b.Resets
	}
	return e
}
