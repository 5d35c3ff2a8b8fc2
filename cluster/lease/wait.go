package lease

import (
	"context"
	"time"

	"github.com/modelgateway/modelgateway/cluster/fault"
)

// request is a waiting Reserve. The Manager's lock guards all of it except wake.
type request struct {
	hold    *Hold
	bounds  []Bound
	missing int           // number of bounds without a reservation
	until   time.Time     // end of the wait for other nodes; zero: it does not wait for them
	last    time.Time     // limit of until
	ended   bool          // ended with err, or with nil if it was admitted
	err     error         //
	wake    chan struct{} // signals a change
}

// waiter is a request that waits at one account.
type waiter struct {
	request *request
	bound   int // index
	asked   int // number of proposals that included it
}

// over reports whether w no longer waits.
func (w *waiter) over() bool { return w.request.ended || w.request.hold.parts[w.bound].taken }

func (r *request) nudge() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// wait waits until a request is admitted or rejected.
func (t *Manager) wait(ctx context.Context, r *request) (*Hold, error) {
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

// loadAgain reads the accounts of a request that were evicted while it waited.
func (t *Manager) loadAgain(r *request) error {
	for i := range r.hold.parts {
		if err := t.load(r.hold.parts[i].account); err != nil {
			return err
		}
	}
	return nil
}

// refuse rejects a waiting request. If it was admitted in the meantime, its reservation is
// released.
func (t *Manager) refuse(r *request, err error) {
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

// refuseLocked rejects a waiting request and undoes its reservations.
func (t *Manager) refuseLocked(r *request, err error) {
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

// giveUpLocked rejects a request that has waited for other nodes long enough, unless a grant
// for it is in flight.
func (t *Manager) giveUpLocked(r *request, now time.Time) {
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
			p.account.futile = now
			t.refuseLocked(r, exceeded(p.account.exceeded(&r.bounds[i], r.hold.amount, now), now))
			return
		}
	}
}

// lessLocked switches a waiting request to the next smaller amount, if there is one, and
// releases its reservations beyond that.
func (t *Manager) lessLocked(r *request) bool {
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

// touchLocked marks a as changed, so that drainLocked examines it.
func (t *Manager) touchLocked(a *account) {
	if !a.looked {
		a.looked = true
		t.mu.look = append(t.mu.look, a)
	}
}

// drainLocked examines the changed accounts. Every unlock must be preceded by it.
func (t *Manager) drainLocked(now time.Time) {
	for len(t.mu.look) > 0 {
		last := len(t.mu.look) - 1
		a := t.mu.look[last]
		t.mu.look[last] = nil
		t.mu.look = t.mu.look[:last]
		a.looked = false
		t.examineLocked(a, now)
	}
}

// examineLocked admits or rejects the requests that wait at a, in order. It makes Run request
// what the others need, or release what no request here needs.
func (t *Manager) examineLocked(a *account, now time.Time) {
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
		case (v == over || v == blocked) && t.lessLocked(r): // a is marked and examined again
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

// spare reports whether a has an amount that other nodes may need at once.
func (a *account) spare() bool {
	return a.known && !a.asking && !a.stuck && a.usable() > 0 && (a.state.Scarce || a.strict() && a.state.Others > 0)
}

// queueLocked makes Run examine a.
func (t *Manager) queueLocked(a *account) {
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
