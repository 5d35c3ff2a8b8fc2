package lease

import (
	"context"
	"time"

	"github.com/modelgateway/modelgateway/cluster/fault"
)

// request is a Reserve that waits. All but wake is guarded by the Teller's lock.
type request struct {
	hold    *Hold
	bounds  []Bound
	missing int           // at how many bounds nothing is reserved yet
	until   time.Time     // when it has waited long enough for other nodes; zero: it does not wait for them
	last    time.Time     // until may not be put off beyond this
	ended   bool          // with err, or nil if it was admitted
	err     error         //
	wake    chan struct{} // something has changed
}

// waiter is a request at one account that cannot serve it yet.
type waiter struct {
	request *request
	bound   int // index
	asked   int // in how many proposals it was
}

// over reports that w waits no longer.
func (w *waiter) over() bool { return w.request.ended || w.request.hold.parts[w.bound].taken }

func (r *request) nudge() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// wait waits until a request is admitted or refused.
func (t *Teller) wait(ctx context.Context, r *request) (*Hold, error) {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		if err := t.loadAgain(r); err != nil {
			t.refuse(r, err)
		}
		now := t.cfg.Now()
		t.mu.Lock()
		if !r.ended && !r.until.IsZero() && !now.Before(r.until) {
			t.giveUpLocked(r, now)
			t.drainLocked(now)
		}
		ended, err, until := r.ended, r.err, r.until
		t.mu.Unlock()
		switch {
		case ended && err != nil:
			return nil, err
		case ended:
			return r.hold, nil
		}
		if !until.IsZero() {
			timer.Reset(until.Sub(now))
		}
		select {
		case <-r.wake:
		case <-timer.C:
		case <-ctx.Done():
			t.refuse(r, fault.From(ctx.Err()))
		}
	}
}

// loadAgain reads those of a request's accounts that were forgotten while it waits.
func (t *Teller) loadAgain(r *request) error {
	for i := range r.hold.parts {
		if err := t.load(r.hold.parts[i].account); err != nil {
			return err
		}
	}
	return nil
}

// refuse ends a request that waits. If it was admitted meanwhile, what it has is freed.
func (t *Teller) refuse(r *request, err error) {
	admitted := false
	now := t.cfg.Now()
	t.mu.Lock()
	if r.ended {
		admitted = r.err == nil
		r.err = err
	} else {
		t.refuseLocked(r, err)
	}
	t.drainLocked(now)
	t.mu.Unlock()
	if admitted {
		r.hold.Cancel()
	}
}

// refuseLocked ends a request that waits and undoes what it has reserved.
func (t *Teller) refuseLocked(r *request, err error) {
	r.ended, r.err = true, err
	r.hold.ended = true
	delete(t.mu.waiting, r)
	for i := range r.hold.parts {
		p := &r.hold.parts[i]
		p.account.endLocked(p, 0)
		t.touchLocked(p.account)
	}
	r.nudge()
}

// giveUpLocked refuses a request that has waited for other nodes for long enough,
// unless a grant for it is on its way.
func (t *Teller) giveUpLocked(r *request, now time.Time) {
	for i := range r.hold.parts {
		p := &r.hold.parts[i]
		if !p.taken && (p.account.asking || p.account.queued) && now.Before(r.last) {
			r.until = now.Add(grace)
			return
		}
	}
	for i := range r.hold.parts {
		if p := &r.hold.parts[i]; !p.taken {
			if t.lessLocked(r) {
				return
			}
			p.account.vain = now
			t.refuseLocked(r, exceeded(p.account.exceeded(&r.bounds[i], r.hold.amount, now), now))
			return
		}
	}
}

// lessLocked has a request that waits make do with the next smaller amount, if there is
// one, and frees what it has reserved beyond that.
func (t *Teller) lessLocked(r *request) bool {
	h := r.hold
	if r.ended || h.step == 0 {
		return false
	}
	h.step--
	t.lowerLocked(h, h.at(h.step))
	r.until, r.last = time.Time{}, time.Time{}
	for i := range h.parts {
		if !h.parts[i].taken {
			t.touchLocked(h.parts[i].account)
		}
	}
	return true
}

// touchLocked says that something has changed at a: drainLocked looks what follows.
func (t *Teller) touchLocked(a *account) {
	if !a.looked {
		a.looked = true
		t.mu.look = append(t.mu.look, a)
	}
}

// drainLocked looks at what was touched. It comes before every unlock.
func (t *Teller) drainLocked(now time.Time) {
	for len(t.mu.look) > 0 {
		last := len(t.mu.look) - 1
		a := t.mu.look[last]
		t.mu.look[last] = nil
		t.mu.look = t.mu.look[:last]
		a.looked = false
		t.examineLocked(a, now)
	}
}

// examineLocked serves and refuses those who wait at a, in order, and has Run ask
// for what the others need, or give back what nobody here does.
func (t *Teller) examineLocked(a *account, now time.Time) {
	ask := false
	kept := a.waiters[:0]
	for _, w := range a.waiters {
		if w.over() {
			continue
		}
		r := w.request
		if !a.known { // its Reserve loads it
			kept = append(kept, w)
			r.nudge()
			continue
		}
		b := &r.bounds[w.bound]
		v := t.judgeLocked(a, b, r.hold.amount, now)
		switch {
		case v == fits:
			t.takeLocked(r.hold, w.bound, b, now)
			if r.missing--; r.missing == 0 {
				r.ended = true
				delete(t.mu.waiting, r)
				r.nudge()
			}
			continue
		case (v == over || v == blocked) && t.lessLocked(r): // a is touched, and comes again
		case v == over, v == short && !a.asking && w.asked >= maxAsks:
			if t.lessLocked(r) {
				break
			}
			t.refuseLocked(r, exceeded(a.exceeded(b, r.hold.amount, now), now))
			continue
		case v == short:
			ask = true
		case v == blocked && !a.asking && r.until.IsZero():
			r.until, r.last = now.Add(grace), now.Add(moveTimeout)
			r.nudge()
		}
		kept = append(kept, w)
	}
	clear(a.waiters[len(kept):])
	a.waiters = kept
	if ask && !a.asking || !ask && a.spare() {
		t.queueLocked(a)
	}
}

// spare reports that a has something that others may need at once.
func (a *account) spare() bool {
	return a.known && !a.asking && !a.stuck && a.usable() > 0 && (a.state.Scarce || a.strict() && a.state.Others > 0)
}

// queueLocked has Run look at a.
func (t *Teller) queueLocked(a *account) {
	if a.queued {
		return
	}
	a.queued = true
	t.mu.queue = append(t.mu.queue, a)
	select {
	case t.kick <- struct{}{}:
	default:
	}
}
