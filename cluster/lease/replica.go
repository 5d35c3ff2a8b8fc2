package lease

import (
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/money"
)

// Expect announces an event that was in the journal before the start, has a charge with a
// budget for the account, and will be posted. It must be called before Run.
func (t *Manager) Expect(account id.Account, cost money.Pico) {
	now := t.cfg.Now()
	t.mu.Lock()
	defer t.mu.Unlock()
	a := t.enterLocked(account, now)
	a.pending = money.Add(a.pending, max(cost, 0))
}

// Applied reports a change of the replica. It must be called for every change of an account, in
// order. own is the cost of this node's events that the change posted and that have a charge
// with a budget for the account, in any epoch. Events from before the start count only if
// Expect was called for them. Applied also makes leases of otherwise unused accounts known, so
// that they are released when other nodes need them.
func (t *Manager) Applied(account id.Account, s State, own money.Pico) {
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

// Restored reports that the whole replica was replaced. Accounts are read again when they are
// needed. Reservations and unposted amounts stay.
func (t *Manager) Restored() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, a := range t.mu.accounts {
		a.known = false
	}
	for r := range t.mu.waiting {
		r.nudge()
	}
}

// Spent returns the replica's state of an account, and the settled amount that is not posted
// yet; false if the account is not in memory.
func (t *Manager) Spent(account id.Account) (State, money.Pico, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	a := t.mu.accounts[account]
	if a == nil || !a.known {
		return State{}, 0, false
	}
	return a.state, max(a.pending, 0), true
}
