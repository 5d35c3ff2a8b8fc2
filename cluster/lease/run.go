package lease

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/modelgateway/modelgateway/cluster/money"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// sweepStep is the number of accounts that a sweep examines before it releases the lock.
const sweepStep = 1000

// moved is the part of a proposal for one account.
type moved struct {
	account *account
	epoch   uint64     // of the account's counts
	amount  money.Pico // released amount; 0: a lease request
	left    money.Pico // lease before the proposal
}

// Run moves leases until ctx ends, with one proposal at a time. Each contains everything that
// came up during the previous one. At the end it releases unused amounts, within a short time,
// and rejects waiting requests.
func (t *Manager) Run(ctx context.Context) error {
	defer t.close(ctx)
	tick := time.NewTicker(max(t.cfg.Idle/5, time.Millisecond))
	defer tick.Stop()
	for {
		for t.move(ctx) {
			if ctx.Err() != nil {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-t.kick:
		case <-tick.C:
			t.sweep(ctx)
		}
	}
}

// move makes one proposal and reports whether another may be needed.
func (t *Manager) move(ctx context.Context) bool {
	t.mu.Lock()
	proposal, batch := t.gatherLocked(t.cfg.Now())
	t.mu.Unlock()
	if proposal == nil {
		return false
	}
	moving, cancel := context.WithTimeout(ctx, moveTimeout)
	defer cancel()
	err := t.cfg.Move(moving, proposal)
	if err != nil && ctx.Err() == nil && len(batch) > 0 { // the first one fails if there is no leader yet
		t.cfg.Logger.LogAttrs(ctx, slog.LevelWarn, "leases could not be moved",
			slog.Int("accounts", len(batch)), slog.String("error", err.Error()))
	}
	t.finish(batch, err)
	return err == nil
}

// gatherLocked returns the next proposal; nil if there is nothing to move. The first one of a
// process is empty. Until it is applied here, the replica may miss what the previous process
// released.
func (t *Manager) gatherLocked(now time.Time) (*clusterv1.MoveLeases, []moved) {
	proposal := &clusterv1.MoveLeases{Node: string(t.cfg.Node)}
	if !t.mu.sure {
		return proposal, nil
	}
	var batch []moved
	n := 0
	for ; n < len(t.mu.queue) && len(batch) < maxMoves; n++ {
		a := t.mu.queue[n]
		a.queued = false
		if !a.known {
			continue // examined when it is loaded
		}
		m := moved{account: a, epoch: a.epoch, left: a.state.Left}
		if ask := t.askLocked(a, now); ask != nil {
			proposal.Asks = append(proposal.Asks, ask)
		} else if m.amount = a.givesLocked(); m.amount > 0 {
			a.returning += m.amount
			proposal.Returns = append(proposal.Returns, &clusterv1.LeaseReturn{
				Account: record(a.id), Epoch: a.epoch, AmountPico: int64(m.amount),
			})
		} else {
			continue
		}
		a.asking = true
		batch = append(batch, m)
	}
	t.mu.queue = slices.Delete(t.mu.queue, 0, n)
	probe := t.mu.probe
	t.mu.probe = false
	if len(batch) == 0 && !probe {
		return nil, nil
	}
	return proposal, batch
}

// givesLocked returns the amount that a releases: everything unused if other nodes need it or
// it was unused for a while.
func (a *account) givesLocked() money.Pico {
	unused := a.unused
	a.unused = false
	if unused || a.spare() {
		return max(a.usable(), 0)
	}
	return 0
}

// finish processes the result of a proposal.
func (t *Manager) finish(batch []moved, err error) {
	now := t.cfg.Now()
	t.mu.Lock()
	defer t.mu.Unlock()
	if err != nil {
		t.failLocked(batch, err)
	} else {
		if !t.mu.sure {
			t.mu.sure = true
			for r := range t.mu.waiting {
				for i := range r.hold.parts {
					t.touchLocked(r.hold.parts[i].account)
				}
			}
		}
		// Earlier proposals can no longer take effect.
		for i := range t.mu.doubts {
			m := &t.mu.doubts[i]
			m.settleLocked()
			t.touchLocked(m.account)
		}
		t.mu.doubts = nil
	}
	for _, m := range batch {
		m.account.asking = false
		if err == nil {
			m.settleLocked()
			m.account.low = max(m.account.usable(), 0) / 4
			m.account.stuck = m.amount > 0 && m.account.state.Left == m.left
		} else if m.amount > 0 {
			t.mu.doubts = append(t.mu.doubts, m)
		}
		t.touchLocked(m.account)
	}
	t.drainLocked(now)
}

// settleLocked ends a release in flight: the replica has it, or never will.
func (m *moved) settleLocked() {
	if m.epoch == m.account.epoch {
		m.account.returning -= m.amount
	}
}

// failLocked rejects the requests that needed a failed proposal, and those that would need the
// next one: the cluster has no quorum.
func (t *Manager) failLocked(batch []moved, err error) {
	for _, m := range batch {
		m.account.rolled = time.Time{}
	}
	for r := range t.mu.waiting {
		for i := range r.hold.parts {
			p := &r.hold.parts[i]
			if !p.taken && (p.account.asking || p.account.queued) {
				t.refuseLocked(r, unavailable(err))
				break
			}
		}
	}
}

// sweep releases unused leases, and removes idle accounts from memory.
func (t *Manager) sweep(ctx context.Context) {
	limit := t.cfg.Now().Add(-t.cfg.Idle)
	var unread []*account
	for more := true; more; {
		t.mu.Lock()
		t.mu.probe = len(t.mu.doubts) > 0
		unread, more = t.sweepLocked(limit, unread)
		t.mu.Unlock()
	}
	for _, a := range unread {
		if err := t.load(a); err != nil {
			t.cfg.Logger.LogAttrs(ctx, slog.LevelWarn, "an account could not be read", slog.String("error", err.Error()))
			return // the next sweep retries
		}
	}
}

// sweepLocked is one step of sweep. It appends the accounts that are not idle and must be read
// again, and reports whether there are more.
func (t *Manager) sweepLocked(limit time.Time, unread []*account) ([]*account, bool) {
	now := t.cfg.Now()
	for range sweepStep {
		a := t.mu.oldest
		if a == nil || a.used.After(limit) {
			return unread, false
		}
		if a.idle() {
			t.unlinkLocked(a)
			delete(t.mu.accounts, a.id)
			continue
		}
		switch {
		case !a.known:
			unread = append(unread, a)
		case a.usable() > 0 && !a.asking:
			a.unused = true
			t.queueLocked(a)
		}
		t.useLocked(a, now) // examined again after a while
	}
	return unread, true
}

// close ends all waits and releases idle leases.
func (t *Manager) close(ctx context.Context) {
	t.mu.Lock()
	t.mu.stopped = true
	for r := range t.mu.waiting {
		t.refuseLocked(r, unavailable(context.Cause(ctx)))
	}
	t.drainLocked(t.cfg.Now())
	for a := t.mu.oldest; a != nil; a = a.newer {
		if a.known && a.usable() > 0 {
			a.unused = true
			t.queueLocked(a)
		}
	}
	sure := t.mu.sure
	t.mu.Unlock()
	if !sure {
		return
	}
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), moveTimeout)
	defer cancel()
	for t.move(closing) {
		if closing.Err() != nil {
			return
		}
	}
}
