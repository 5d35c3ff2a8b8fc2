package cluster

import (
	"context"
	"errors"

	"github.com/modelgateway/modelgateway/cluster/block"
	"github.com/modelgateway/modelgateway/cluster/consensus"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/journal"
	"github.com/modelgateway/modelgateway/cluster/lease"
	"github.com/modelgateway/modelgateway/cluster/ledger"
	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/cluster/rate"
	"github.com/modelgateway/modelgateway/cluster/ship"
	"github.com/modelgateway/modelgateway/cluster/store"
	"github.com/modelgateway/modelgateway/cluster/usage"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// Budgets says whether there is money for a request, on this node.
func (n *Node) Budgets() *lease.Manager { return n.manager }

// Rates decides whether a request exceeds a rate limit. It counts the requests of this node and
// those that other nodes report.
func (n *Node) Rates() *rate.Limiter { return n.rates }

// openShipper makes what posts the journal to the ledger.
func (n *Node) openShipper() {
	n.shipper = ship.New(ship.Config{
		Identity: n.Identity(), Journal: n.journal, Posted: n.posted, Clock: n.clock, Now: n.cfg.Now,
		Post: func(ctx context.Context, run *clusterv1.PostUsage) error {
			return n.commit(ctx, &clusterv1.Command{Change: &clusterv1.Command_PostUsage{PostUsage: run}})
		},
		NoLeader: unavailable(consensus.ErrNotLeader), Logger: n.logger,
	})
}

// posted returns the number of the last of this node's events that its state has.
func (n *Node) posted() (seq uint64, err error) {
	identity := n.Identity()
	err = n.consensus.View(func(state *store.Store) error {
		seq, err = ledger.Applied(state, identity.Node, identity.Epoch)
		return err
	})
	return seq, err
}

// openBudgets makes the manager and gives it the spend of this node that is not posted yet.
func (n *Node) openBudgets(ctx context.Context) error {
	n.manager = lease.New(lease.Config{Node: n.Identity().Node, Load: n.account, Move: n.moveLeases, Logger: n.logger})
	posted, err := n.posted()
	if err != nil {
		return err
	}
	n.untold = n.journal.Last()
	return n.journal.Scan(ctx, journal.Filter{}, func(ev journal.Event) bool {
		if ev.ID.Seq <= posted {
			return true
		}
		n.untold = min(n.untold, ev.ID.Seq-1)
		for _, c := range ev.Charges {
			if c.Bounded {
				n.manager.Expect(accountOf(&ev, c), ev.Cost)
			}
		}
		return true
	})
}

// accountOf returns the account that a charge of an event is for.
func accountOf(ev *journal.Event, c usage.Charge) id.Account {
	a, key := id.Account{Kind: c.Kind}, c.Key
	if key == (id.KeyHash{}) {
		key = ev.Account()
	}
	switch c.Kind {
	case id.AccountKey:
		a.Owner = key.Hex()
	case id.AccountKeyModel:
		a.Owner, a.Part = key.Hex(), string(ev.Group)
	case id.AccountTeam:
		a.Owner = string(ev.Team)
	case id.AccountTeamMember:
		a.Owner, a.Part = string(ev.Team), string(ev.Payer())
	case id.AccountTeamModel:
		a.Owner, a.Part = string(ev.Team), string(ev.Group)
	case id.AccountOrganization:
		a.Owner = string(ev.Organization)
	case id.AccountOrganizationMember:
		a.Owner, a.Part = string(ev.Organization), string(ev.Payer())
	case id.AccountOrganizationModel:
		a.Owner, a.Part = string(ev.Organization), string(ev.Group)
	case id.AccountUser:
		a.Owner = string(ev.Payer())
	case id.AccountUserModel:
		a.Owner, a.Part = string(ev.Payer()), string(ev.Group)
	case id.AccountCustomer:
		return ev.EndUserAccount()
	case id.AccountProvider:
		a.Owner = ev.Provider
	}
	return a
}

// account reads an account of this node's state, for the manager.
func (n *Node) account(a id.Account) (out lease.State, err error) {
	err = n.consensus.View(func(state *store.Store) error {
		s, _, err := ledger.Account(state, a)
		out = n.leaseState(s)
		return err
	})
	return out, err
}

// leaseState is an account as this node's manager sees it.
func (n *Node) leaseState(s ledger.State) lease.State {
	out := lease.State{
		Window: s.Window.Pico(), Epoch: s.Epoch, Resets: s.Resets, Duration: s.Duration,
		Scarce: s.Scarce, Max: s.Max, Bounded: s.Bounded,
	}
	for _, l := range s.Leases {
		if l.Node == n.Identity().Node {
			out.Left = l.Left
		} else {
			out.Others = money.Add(out.Others, l.Left)
		}
	}
	return out
}

// told reports whether the manager counts the events of a run as not posted yet. After a
// crash the state may have lost its end, and applies runs again that the journal has
// trimmed. The manager was never told of those events: taken out of what is pending, they
// would hide other events that are not posted yet.
func (n *Node) told(run *clusterv1.PostUsage) bool {
	own := n.Identity()
	last := run.GetFirst() + uint64(len(run.GetEvents())) - 1
	return run.GetNode() == string(own.Node) && run.GetEpoch() == own.Epoch && last > n.untold
}

// updateManager reports the accounts that have changed to the manager.
func (n *Node) updateManager(changed []ledger.Changed) {
	if n.manager == nil { // the state is being opened
		return
	}
	for i := range changed {
		c := &changed[i]
		n.manager.Applied(c.Account, n.leaseState(c.State), c.Own)
	}
}

// Account returns what an account has spent, as this node's state has it. One that
// nothing was posted to is the zero State.
func (n *Node) Account(ctx context.Context, a id.Account) (s ledger.State, err error) {
	if err := context.Cause(ctx); err != nil {
		return s, err
	}
	err = n.consensus.View(func(state *store.Store) error {
		s, _, err = ledger.Account(state, a)
		return err
	})
	return s, err
}

// Spent returns what an account has spent in its window: what this node's state has, and
// what was settled here and is not posted yet.
func (n *Node) Spent(ctx context.Context, a id.Account) (money.Pico, error) {
	if s, pending, known := n.manager.Spent(a); known {
		return money.Add(s.Window, pending), nil
	}
	s, err := n.Account(ctx, a)
	return s.Window.Pico(), err
}

// KeyAccount returns the key whose account another one has used last, as the posted
// events say; the key itself where they say nothing else.
func (n *Node) KeyAccount(ctx context.Context, key id.KeyHash) (account id.KeyHash, err error) {
	if err := context.Cause(ctx); err != nil {
		return account, err
	}
	err = n.consensus.View(func(state *store.Store) error {
		account, err = ledger.KeyAccount(state, key)
		return err
	})
	return account, err
}

// Customers calls fn for each end user that something was posted to, by this node's
// state, from one on in the order of id.EndUser.Compare, until it returns false.
func (n *Node) Customers(ctx context.Context, from id.EndUser, fn func(id.EndUser) bool) error {
	return n.consensus.View(func(state *store.Store) error { return ledger.EndUsers(ctx, state, from, fn) })
}

// Models calls fn for each model that something was posted to as one owner uses it, by
// this node's state and in the order of their names' bytes, until it returns false.
func (n *Node) Models(ctx context.Context, kind id.AccountKind, owner string, fn func(model string, s ledger.State) bool) error {
	return n.consensus.View(func(state *store.Store) error { return ledger.Parts(ctx, state, kind, owner, fn) })
}

// Logs shows posted usage events.
func (n *Node) Logs(ctx context.Context, f ledger.LogFilter, fn func(ledger.Record) bool) error {
	return n.consensus.View(func(state *store.Store) error { return ledger.Logs(ctx, n.records(state), f, fn) })
}

// Daily shows sums by day.
func (n *Node) Daily(ctx context.Context, f ledger.DailyFilter, fn func(ledger.DailyRow) bool) error {
	return n.consensus.View(func(state *store.Store) error { return ledger.Daily(ctx, state, f, fn) })
}

// CheckLedger holds the books against each other, as this node's state has them.
func (n *Node) CheckLedger(ctx context.Context) error {
	return n.consensus.View(func(state *store.Store) error {
		now, done, err := block.Snapshot(n.records(state)) // records are packed and sealed meanwhile
		if err != nil {
			return err
		}
		defer done()
		return errors.Join(ledger.Invariants(ctx, now), context.Cause(ctx))
	})
}
