package lease

import (
	"time"

	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/money"
)

// account is what a Teller knows of an account. All of it is guarded by the Teller's lock.
//
// Law: usable = left - pending - reserved - returning, and only what is usable is
// reserved or given back.
type account struct {
	id    id.Account
	older *account // its neighbours by last use
	newer *account
	used  time.Time // when it was last asked for

	known bool // state is the replica's
	state State
	bound Bound // for which more or roll is set

	// These count in the window of epoch. What belongs to an earlier one neither
	// lessens a lease nor counts as spent in this one.
	met       bool // epoch is one that the replica had
	epoch     uint64
	reserved  money.Pico // by requests that run
	pending   money.Pico // settled and not posted; below 0 while a request runs of which a part is posted
	returning money.Pico // in a proposal that is not, or may not be, in the replica
	open      int        // requests with a budget here that run
	late      money.Pico // as pending, of earlier windows
	lateOpen  int        // as open, of earlier windows

	holds   int       // Holds that refer to it
	waiters []*waiter // who needs more than is usable, in the order of their coming

	queued bool // Run is to look at it
	asking bool // it is in the proposal that is on its way
	looked bool // it is in mu.look
	more   bool // the lease runs low
	roll   bool // the window or its duration is not the bound's
	unused bool // the lease was not used for a while
	stuck  bool // a return of it changed nothing, and nothing has changed since

	low    money.Pico // below this the lease runs low
	drawn  money.Pico // what was reserved since
	since  time.Time
	rolled time.Time // when the window was last asked for
	vain   time.Time // when somebody last waited for others in vain and nothing has changed since
}

// usable is what of the lease is free; below 0 where requests cost more than they had reserved.
func (a *account) usable() money.Pico {
	return a.state.Left - a.pending - a.reserved - a.returning
}

// spent is what counts as spent in the window.
func (a *account) spent() money.Pico { return money.Add(a.state.Window, a.pending) }

// free is what is left of the budget beyond what was spent and what is leased.
func (a *account) free(limit money.Pico) money.Pico {
	leased := money.Add(a.state.Left, a.state.Others)
	return money.Add(limit, -money.Add(a.state.Window, leased))
}

// strict reports that so little is left of the budget that leases are granted for
// single requests only.
func (a *account) strict() bool {
	return a.state.Bounded && a.state.Max-a.state.Window <= (a.state.Max-1)/strictShare
}

// stale reports that the replica's window is not the one that b is about.
func (a *account) stale(b *Bound, now time.Time) bool {
	return a.state.Duration != b.Duration || !a.state.Resets.IsZero() && !now.Before(a.state.Resets)
}

// idle reports that nothing is at stake: the account can be forgotten.
func (a *account) idle() bool {
	return a.holds == 0 && len(a.waiters) == 0 && !a.asking && !a.queued &&
		a.pending == 0 && a.late == 0 && a.reserved == 0 && a.returning == 0 && a.state.Left == 0
}

// useLocked makes a the account that was used last.
func (t *Teller) useLocked(a *account, now time.Time) {
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

// unlinkLocked takes a out of the order of use; no harm if it is not in it.
func (t *Teller) unlinkLocked(a *account) {
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

// enterLocked returns the account and makes it if it is not known.
func (t *Teller) enterLocked(which id.Account, now time.Time) *account {
	a := t.mu.accounts[which]
	if a == nil {
		a = &account{id: which, since: now}
		t.mu.accounts[which] = a
		t.useLocked(a, now)
	}
	return a
}
