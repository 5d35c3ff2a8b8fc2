package lease

import (
	"time"

	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/money"
)

// account is the Manager's view of an account. The Manager's lock guards all of it.
//
// Invariant: usable = left - pending - reserved - returning. Only usable amounts are reserved
// or released to the cluster.
type account struct {
	id    id.Account
	older *account // neighbors in order of last use
	newer *account
	used  time.Time // last use by a request

	known bool // state is the replica's
	state State
	bound Bound // bound for which more or roll is set

	// These count in the window of epoch. Amounts of earlier windows neither reduce the lease
	// nor count as spent in this window.
	met       bool // the replica has had this epoch
	epoch     uint64
	reserved  money.Pico // by requests in flight
	pending   money.Pico // settled and not posted; below 0 while a request runs whose events are partly posted
	returning money.Pico // in a proposal that is not, or may not be, in the replica
	open      int        // requests in flight with a budget here
	late      money.Pico // like pending, of earlier windows
	lateOpen  int        // like open, of earlier windows

	holds   int       // number of Holds that refer to it
	waiters []*waiter // requests that need more than is usable, in order of arrival

	queued bool // in the queue of Run
	asking bool // in the proposal in flight
	looked bool // in mu.look
	more   bool // the lease runs low
	roll   bool // the window or its duration differs from the bound's
	unused bool // the lease was not used for a while
	stuck  bool // a release changed nothing, and nothing has changed since

	low    money.Pico // below this amount the lease runs low
	drawn  money.Pico // amount reserved since the time in since
	since  time.Time
	rolled time.Time // last request for the window
	futile time.Time // last time that a wait for other nodes failed, unless something has changed since
}

// usable returns the free part of the lease; below 0 if requests cost more than they had
// reserved.
func (a *account) usable() money.Pico {
	return a.state.Left - a.pending - a.reserved - a.returning
}

// spent returns the spend that counts in the window.
func (a *account) spent() money.Pico { return money.Add(a.state.Window, a.pending) }

// free returns the part of the budget that is neither spent nor leased.
func (a *account) free(limit money.Pico) money.Pico {
	leased := money.Add(a.state.Left, a.state.Others)
	return money.Add(limit, -money.Add(a.state.Window, leased))
}

// strict reports whether so little of the budget is left that leases are granted for single
// requests only.
func (a *account) strict() bool {
	return a.state.Bounded && a.state.Max-a.state.Window <= (a.state.Max-1)/strictShare
}

// stale reports whether the window of the replica differs from that of b.
func (a *account) stale(b *Bound, now time.Time) bool {
	return a.state.Duration != b.Duration || !a.state.Resets.IsZero() && !now.Before(a.state.Resets)
}

// idle reports whether the account has no amounts or requests, and can be forgotten.
func (a *account) idle() bool {
	return a.holds == 0 && len(a.waiters) == 0 && !a.asking && !a.queued &&
		a.pending == 0 && a.late == 0 && a.reserved == 0 && a.returning == 0 && a.state.Left == 0
}

// useLocked moves a to the end of the order of use.
func (t *Manager) useLocked(a *account, now time.Time) {
	a.used = now
	if t.mu.newest == a {
		return
	}
	t.unlinkLocked(a)
	a.older = t.mu.newest
	if a.older != nil {
		a.older.newer = a
	} else {
		t.mu.oldest = a
	}
	t.mu.newest = a
}

// unlinkLocked removes a from the order of use, if it is in it.
func (t *Manager) unlinkLocked(a *account) {
	if a.older != nil {
		a.older.newer = a.newer
	} else if t.mu.oldest == a {
		t.mu.oldest = a.newer
	}
	if a.newer != nil {
		a.newer.older = a.older
	} else if t.mu.newest == a {
		t.mu.newest = a.older
	}
	a.older, a.newer = nil, nil
}

// enterLocked returns the account and creates it if it is unknown.
func (t *Manager) enterLocked(which id.Account, now time.Time) *account {
	a := t.mu.accounts[which]
	if a == nil {
		a = &account{id: which, since: now}
		t.mu.accounts[which] = a
		t.useLocked(a, now)
	}
	return a
}
