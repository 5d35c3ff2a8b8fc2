package lease

import (
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/money"
)

// Expect says of an event that is in the journal from before the start, and has a
// charge with a budget for the account, that it will be posted. It comes before Run.
func (t *Teller) Expect(account id.Account, cost money.Pico) {
	now := t.cfg.Now()
	t.mu.Lock()
	defer t.mu.Unlock()
	a := t.enterLocked(account, now)
	a.pending = money.Add(a.pending, max(cost, 0))
}

// Applied says that the replica has changed: after every change of an account, in the
// order of the changes. own is the cost of those of this node's events, and of no other
// node's, that were posted by it and have a charge with a budget for the account,
// whatever its epoch; of events before the start only those that Expect was called for. A lease of an account that nobody asks for here is known from
// this call too, and so is given back when others need it.
func (t *Teller) Applied(account id.Account, s State, own money.Pico) {
	now := t.cfg.Now()
	t.mu.Lock()
	defer t.mu.Unlock()
	a := t.mu.accounts[account]
	if a == nil {
		if s.Left <= 0 {
			return
		}
		a = t.enterLocked(account, now)
	}
	a.postedLocked(own)
	t.replaceLocked(a, s)
	t.touchLocked(a)
	t.drainLocked(now)
}

// Restored says that the replica as a whole is another one. Accounts are read from it
// again when they are needed; what is reserved and what is not posted yet stays.
func (t *Teller) Restored() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, a := range t.mu.accounts {
		a.known = false
	}
	for r := range t.mu.waiting {
		r.nudge()
	}
}

// Spent returns an account as it stands: the replica's state, and what was settled
// here beyond that; false if it is not known here at the moment.
func (t *Teller) Spent(account id.Account) (State, money.Pico, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	a := t.mu.accounts[account]
	if a == nil || !a.known {
		return State{}, 0, false
	}
	return a.state, max(a.pending, 0), true
}
