package lease

import (
	"context"
	"time"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/cluster/usage"
)

// verdict is what becomes of a request at one of its bounds.
type verdict uint8

const (
	fits    verdict = iota // the lease covers it
	over                   // the budget does not
	short                  // the lease does not; asking for more may help
	blocked                // nor do those who could grant: other nodes have what it needs
)

// Reserve reserves one amount at all the bounds of a request, or nothing; each account is
// named once. Where this node's leases cover it, it does not wait for anybody. Where
// they do not it waits for a grant, and if other nodes have what it needs, a quarter
// of a second for them to give it back. Bounds that are not Bounded never wait: of
// these only the account's epoch is of interest.
//
// The amounts are in ascending order; without any Reserve reserves 0. It reserves the
// largest that the leases cover, so that no request waits for more than it must have. If
// they cover none, it waits for the largest that the budgets may allow, and takes a
// smaller one as soon as they do not. Hold.Amount returns which one it was. A request is
// denied only because of the smallest.
//
// It waits while it holds what it has reserved at other bounds. As all of a Teller is
// under one lock and no wait is without an end, requests cannot block each other for good.
//
// Errors: OverBudget with code budget_exceeded, whose cause is an *Exceeded;
// Unavailable with code budget_unavailable where a grant is needed and the cluster
// cannot agree; the context's; Load's.
func (t *Teller) Reserve(ctx context.Context, bounds []Bound, amounts ...money.Pico) (*Hold, error) {
	h := &Hold{teller: t, amounts: amounts}
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

// Check returns the error that Reserve returns if one of the bounds is exhausted: the
// whole of it is spent. It reserves nothing, and waits only for a window to begin.
func (t *Teller) Check(ctx context.Context, bounds []Bound) error {
	h, err := t.Reserve(ctx, bounds, 0)
	if err != nil {
		return err
	}
	h.Cancel()
	return nil
}

// load reads an account from the replica, if it is not known.
func (t *Teller) load(a *account) error {
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
	if !a.known { // else it was applied to meanwhile, which is newer
		t.replaceLocked(a, s)
		t.touchLocked(a)
		t.drainLocked(now)
	}
	return nil
}

// admitLocked reserves at all bounds, or refuses, or returns who waits for what is missing.
func (t *Teller) admitLocked(h *Hold, bounds []Bound, now time.Time) (*request, error) {
	t.chooseLocked(h, bounds, now)
	missing := 0
	for i := range bounds {
		a, b := h.parts[i].account, &bounds[i]
		switch t.judgeLocked(a, b, h.amount, now) {
		case fits:
		case over:
			return nil, exceeded(a.exceeded(b, h.amount, now), now)
		case blocked:
			if !a.vain.IsZero() && now.Sub(a.vain) < barren {
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

// chooseLocked sets the amount that h is to reserve: the largest that the leases cover
// at all bounds, or else the largest that no budget is known to rule out.
func (t *Teller) chooseLocked(h *Hold, bounds []Bound, now time.Time) {
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

// noWorseLocked reports whether h.amount fits at every bound or, if worst is short, may
// fit once this node has asked for it.
func (t *Teller) noWorseLocked(h *Hold, bounds []Bound, worst verdict, now time.Time) bool {
	for i := range bounds {
		if v := t.judgeLocked(h.parts[i].account, &bounds[i], h.amount, now); v != fits && v != worst {
			return false
		}
	}
	return true
}

// judgeLocked says what becomes of a request at a bound. It changes nothing.
func (t *Teller) judgeLocked(a *account, b *Bound, amount money.Pico, now time.Time) verdict {
	if !b.Bounded {
		return fits
	}
	if a.stale(b, now) && now.Sub(a.rolled) >= barren {
		return short // what this window has left says nothing of the next one
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
		// If the others do not know yet that somebody needs what they have, asking
		// tells them.
		return short
	}
	return blocked
}

// takeLocked reserves at one bound, and looks ahead: what will be needed soon is
// asked for before somebody has to wait for it.
func (t *Teller) takeLocked(h *Hold, i int, b *Bound, now time.Time) {
	p, a := &h.parts[i], h.parts[i].account
	h.charges[i] = usage.Charge{Kind: a.id.Kind, Key: b.Parent, Epoch: a.state.Epoch, Soft: b.Soft, Max: b.Max, Bounded: b.Bounded}
	p.taken = true
	if !b.Bounded {
		if !a.roll && a.stale(b, now) && now.Sub(a.rolled) >= barren {
			a.roll, a.bound = true, *b
			t.queueLocked(a)
		}
		return
	}
	a.takeLocked(p, h.amount)
	if len(a.waiters) > 0 {
		t.touchLocked(a) // a waiting request may not fit into the budget any more
	}
	if !a.more && a.usable() < a.low && !a.strict() && !a.state.Scarce && a.free(b.Max) > 0 {
		a.more, a.bound = true, *b
		t.queueLocked(a)
	}
}

// exceeded says why a is in the way of a request of amount.
func (a *account) exceeded(b *Bound, amount money.Pico, now time.Time) *Exceeded {
	e := &Exceeded{Account: a.id, Parent: b.Parent != (id.KeyHash{}), Epoch: a.state.Epoch, Max: b.Max, Spent: a.spent(), Resets: a.state.Resets}
	e.Held = e.Spent < b.Max && money.Add(e.Spent, amount) <= b.Max
	if !e.Resets.After(now) {
		e.Resets = b.Resets
	}
	return e
}
