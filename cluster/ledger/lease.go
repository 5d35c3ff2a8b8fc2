package ledger

import (
	"slices"
	"strings"
	"time"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/inject"
	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/cluster/store"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// strictShare: below budget/strictShare, nodes lease only what a request needs. Otherwise the
// idle lease of one node would make another node reject requests.
const strictShare = 20

// Strict reports whether little of the budget is left. Nodes then lease what one request needs,
// and release the rest at once.
func (s State) Strict() bool { return s.Bounded && strict(s.Max, s.Window.Pico()) }

// strict reports whether less than 1/strictShare of a budget is left. It divides because a
// product might overflow.
func strict(limit, window money.Pico) bool {
	left := money.Add(limit, -window)
	return limit <= 0 || left <= (limit-1)/strictShare
}

// Move first takes the amounts that a node releases, and then grants what it requests. A
// request that cannot be granted is no error: the account shows what is left, and the result
// reports it like all named accounts. at is the stamp of the entry.
func Move(tx Tx, m *clusterv1.MoveLeases, at time.Time) (Moved, *fault.Error) {
	if m.GetNode() == "" {
		return Moved{}, fault.Field("node", "invalid_value", "node is not a node's id.")
	}
	b := newBooks(tx, at)
	for _, r := range m.GetReturns() {
		a, f := b.named(r.GetAccount())
		if f != nil {
			return Moved{}, f
		}
		if r.GetEpoch() == a.GetEpoch() && r.GetAmountPico() > 0 {
			a.spend(m.GetNode(), money.Pico(r.GetAmountPico()))
		}
	}
	timely := near(m.GetAskedUnixNano(), at)
	for _, ask := range m.GetAsks() {
		a, f := b.named(ask.GetAccount())
		if f != nil {
			return Moved{}, f
		}
		if timely {
			b.frame(a, ask)
		}
		b.bound(a, ask)
		if ask.MaxPico != nil {
			a.grant(m.GetNode(), ask)
		}
	}
	return b.moved()
}

// named returns the account of a command, and reports its state in the result.
func (b *books) named(m *clusterv1.AccountID) (*account, *fault.Error) {
	name, f := accountOf(m)
	if f != nil {
		return nil, f
	}
	a, f := b.account(name)
	if f != nil {
		return nil, f
	}
	a.reported = true
	return a, nil
}

func (b *books) moved() (Moved, *fault.Error) {
	changed, f := b.write()
	if f != nil {
		return Moved{}, f
	}
	return Moved{Changed: changed, Notes: b.notes}, nil
}

// askedWithin is the largest accepted difference between the clock of the requesting node and
// the time of the entry.
const askedWithin = time.Minute

// near reports whether a node's clock, if sent, is about right. A node with a wrong clock
// cannot compute the end of a window.
func near(asked int64, at time.Time) bool {
	return asked == 0 || time.Unix(0, asked).Sub(at).Abs() <= askedWithin
}

// frame sets the window of the account to the duration that the requesting node knows, and
// resets the window if it is over.
func (b *books) frame(a *account, ask *clusterv1.LeaseAsk) {
	now, ends := b.at.UnixNano(), ask.GetResetsUnixNano()
	switch {
	case a.GetResetsUnixNano() != 0 && now >= a.GetResetsUnixNano():
		// A node with a slow clock, or a delayed request, also sends an end in the past. The
		// old window then continues.
		if ends == 0 || ends > now {
			if a.GetDuration() != ask.GetDuration() {
				a.Duration, a.AheadUnixNano = ask.GetDuration(), 0
			}
			b.turn(a, ends)
		}
	case a.GetDuration() != ask.GetDuration():
		a.Duration, a.ResetsUnixNano, a.AheadUnixNano, a.dirty = ask.GetDuration(), ends, 0, true
	}
}

// bound stores the budget that the requesting node knows. After a budget is raised above the
// spend, it can be exceeded again.
func (b *books) bound(a *account, ask *clusterv1.LeaseAsk) {
	if a.GetMaxPico() == ask.GetMaxPico() && (a.MaxPico == nil) == (ask.MaxPico == nil) {
		return
	}
	raised := ask.MaxPico == nil || a.MaxPico != nil && ask.GetMaxPico() > a.GetMaxPico()
	if raised && (ask.MaxPico == nil || !a.over(money.Pico(ask.GetMaxPico()))) {
		a.Exceeded = false
	}
	a.MaxPico, a.dirty = nil, true
	if ask.MaxPico != nil {
		a.MaxPico = new(ask.GetMaxPico())
	}
}

// grant leases the requested amount to a node, or what is left. A grant never makes spend plus
// leases exceed the budget.
func (a *account) grant(node string, ask *clusterv1.LeaseAsk) {
	limit, window := money.Pico(ask.GetMaxPico()), a.window().Pico()
	least, want := money.Pico(max(ask.GetLeastPico(), 1)), money.Pico(ask.GetWantPico())
	left := money.Add(limit, -window)
	for _, l := range a.GetLeases() {
		if l.GetNode() != node && inject.HasDefect("leases_ignore_others") {
			continue
		}
		left = money.Add(left, -money.Pico(l.GetLeftPico()))
	}
	i, holds := a.find(node)
	active := int64(len(a.GetLeases()))
	if !holds {
		active++
	}
	amount := want
	if !strict(limit, window) {
		amount = max(want, min(money.Pico(ask.GetAskPico()), left/money.Pico(2*active)))
	}
	amount = min(amount, left)
	if amount < least {
		if others := active > 1; want > 0 && others && !a.GetScarce() {
			a.Scarce, a.dirty = true, true
		}
		return
	}
	if !holds {
		a.Leases = slices.Insert(a.GetLeases(), i, &clusterv1.Lease{Node: node})
	}
	a.GetLeases()[i].LeftPico += int64(amount)
	a.dirty = true
	if amount >= want {
		a.Scarce = false
	}
}

// spend subtracts an amount from a node's lease, down to 0.
func (a *account) spend(node string, amount money.Pico) {
	i, ok := a.find(node)
	if !ok || amount <= 0 {
		return
	}
	a.dirty = true
	if l := a.GetLeases()[i]; money.Pico(l.GetLeftPico()) > amount {
		l.LeftPico -= int64(amount)
		return
	}
	a.Leases = slices.Delete(a.GetLeases(), i, i+1)
	if len(a.GetLeases()) == 0 {
		a.Scarce = false // no node has anything to release
	}
}

// find returns the position of a node's lease, or where to insert it.
func (a *account) find(node string) (int, bool) {
	return slices.BinarySearchFunc(a.GetLeases(), node, func(l *clusterv1.Lease, node string) int {
		return strings.Compare(l.GetNode(), node)
	})
}

// DropNode frees the leases of a removed node. Spend that the node has not posted is lost.
func DropNode(tx Tx, node id.Node) (Moved, *fault.Error) {
	var holds []id.Account
	var broken error
	err := tx.Scan(store.Range{Space: store.SpaceAccount}, func(key, value []byte) bool {
		var name id.Account
		var a account
		if name, a.Account, broken = readAccount(key, value); broken != nil {
			return false
		}
		if _, ok := a.find(string(node)); ok {
			holds = append(holds, name)
		}
		return true
	})
	if err == nil {
		err = broken
	}
	if err != nil {
		return Moved{}, unreadable(err)
	}
	b := newBooks(tx, time.Time{})
	for _, name := range holds {
		a, f := b.account(name)
		if f != nil {
			return Moved{}, f
		}
		i, _ := a.find(string(node))
		a.reported = true
		a.spend(string(node), money.Pico(a.GetLeases()[i].GetLeftPico()))
	}
	return b.moved()
}
