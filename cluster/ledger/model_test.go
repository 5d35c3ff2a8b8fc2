package ledger_test

import (
	"encoding/hex"
	"time"

	"github.com/modelgateway/modelgateway/cluster/event"
	"github.com/modelgateway/modelgateway/cluster/id"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// naive is a model of the ledger: the rules, applied to one event after the other, without
// regard to speed. The tests' amounts are small.
type naive struct {
	accounts  map[id.Account]*naiveAccount
	posted    map[journalName]uint64
	crossings []string // types of crossings since the last comparison
}

// journalName is one epoch of one node's journal.
type journalName struct {
	node  string
	epoch uint64
}

type naiveAccount struct {
	total, window    int64
	epoch            uint64
	resets           int64
	duration         string
	leases           map[string]int64
	warned, exceeded bool
	scarce           bool
	max              *int64
}

func newNaive() *naive {
	return &naive{accounts: map[id.Account]*naiveAccount{}, posted: map[journalName]uint64{}}
}

func (n *naive) account(a id.Account) *naiveAccount {
	if n.accounts[a] == nil {
		n.accounts[a] = &naiveAccount{leases: map[string]int64{}}
	}
	return n.accounts[a]
}

func (a *naiveAccount) leased() (sum int64) {
	for _, left := range a.leases {
		sum += left
	}
	return sum
}

func (a *naiveAccount) take(node string, amount int64) {
	if _, ok := a.leases[node]; !ok || amount <= 0 {
		return
	}
	if a.leases[node] -= amount; a.leases[node] <= 0 {
		delete(a.leases, node)
	}
	if len(a.leases) == 0 {
		a.scarce = false
	}
}

// post posts one event, if it is the next of its journal.
func (n *naive) post(from journalName, seq uint64, e *clusterv1.UsageEvent) {
	if seq != n.posted[from]+1 {
		return
	}
	n.posted[from] = seq
	if notice := e.GetNotice(); notice != nil {
		if a := n.account(accountNamed(notice.GetAccount())); notice.GetType() == "request.blocked" && a.epoch == notice.GetAccountEpoch() {
			n.exceeded(a, id.AccountKind(notice.GetAccount().GetKind()))
		}
		return
	}
	key, cost := hex.EncodeToString(paidBy(e)), e.GetCostPico()
	n.charge(from.node, e, id.Account{Kind: id.AccountKey, Owner: key}, cost)
	n.charge(from.node, e, id.Account{Kind: id.AccountKeyModel, Owner: key, Part: e.GetGroup()}, cost)
	for _, owner := range []struct {
		name                  string
		kind, model, together id.AccountKind
	}{
		{e.GetTeam(), id.AccountTeam, id.AccountTeamModel, id.AccountTeamMember},
		{e.GetOrganization(), id.AccountOrganization, id.AccountOrganizationModel, id.AccountOrganizationMember},
		{e.GetUser(), id.AccountUser, id.AccountUserModel, 0},
	} {
		if owner.name == "" {
			continue
		}
		n.charge(from.node, e, id.Account{Kind: owner.kind, Owner: owner.name}, cost)
		n.charge(from.node, e, id.Account{Kind: owner.model, Owner: owner.name, Part: e.GetGroup()}, cost)
		if owner.together != 0 && e.GetUser() != "" {
			n.charge(from.node, e, id.Account{Kind: owner.together, Owner: owner.name, Part: e.GetUser()}, cost)
		}
	}
	if e.GetEndUser() != "" {
		n.charge(from.node, e, endUser(e), cost)
	}
	n.charge(from.node, e, id.Account{Kind: id.AccountProvider, Owner: e.GetProvider()}, -cost)
}

func (n *naive) charge(node string, e *clusterv1.UsageEvent, name id.Account, amount int64) {
	a := n.account(name)
	a.total += amount
	var c *clusterv1.Charge
	for _, of := range e.GetCharges() {
		if of.GetKind() == clusterv1.AccountKind(name.Kind) {
			c = of
		}
	}
	if c == nil {
		a.window += amount
		return
	}
	if c.GetEpoch() < a.epoch {
		return
	}
	before := a.window
	a.window += amount
	if c.MaxPico != nil && c.GetEpoch() == a.epoch {
		a.take(node, max(amount, c.GetHoldPico()))
	}
	if soft := c.GetSoftPico(); soft > 0 && before < soft && a.window >= soft && !a.warned {
		a.warned = true
		n.crossings = append(n.crossings, event.TypeBudgetThreshold)
	}
	if c.MaxPico != nil && a.window >= c.GetMaxPico() {
		n.exceeded(a, name.Kind)
	}
}

func (n *naive) exceeded(a *naiveAccount, kind id.AccountKind) {
	if a.exceeded {
		return
	}
	a.exceeded = true
	n.crossings = append(n.crossings, event.TypeBudgetExceeded)
	if kind == id.AccountKey {
		n.crossings = append(n.crossings, event.TypeKeyBudgetExceeded)
	}
}

func (n *naive) roll(a *naiveAccount, ends int64) {
	*a = naiveAccount{total: a.total, epoch: a.epoch + 1, resets: ends, duration: a.duration, leases: map[string]int64{}, max: a.max}
	n.crossings = append(n.crossings, event.TypeBudgetReset)
}

// ask grants by the rule: below one twentieth the wanted amount, otherwise up to a share of
// half of the rest.
func (n *naive) ask(node string, ask *clusterv1.LeaseAsk, at time.Time) {
	a := n.account(accountNamed(ask.GetAccount()))
	now := at.UnixNano()
	if a.resets != 0 && now >= a.resets {
		if ask.GetResetsUnixNano() == 0 || ask.GetResetsUnixNano() > now {
			a.duration = ask.GetDuration()
			n.roll(a, ask.GetResetsUnixNano())
		}
	} else if a.duration != ask.GetDuration() {
		a.duration, a.resets = ask.GetDuration(), ask.GetResetsUnixNano()
	}
	if a.max != nil && (ask.MaxPico == nil || ask.GetMaxPico() > *a.max) && (ask.MaxPico == nil || a.window < ask.GetMaxPico()) {
		a.exceeded = false
	}
	a.max = ask.MaxPico
	if a.max == nil {
		return
	}
	left := *a.max - a.window - a.leased()
	active := int64(len(a.leases))
	if _, holds := a.leases[node]; !holds {
		active++
	}
	amount := ask.GetWantPico()
	if (*a.max-a.window)*20 >= *a.max && *a.max > 0 {
		amount = max(amount, min(ask.GetAskPico(), left/(2*active)))
	}
	amount = min(amount, left)
	if amount < max(ask.GetLeastPico(), 1) {
		if ask.GetWantPico() > 0 && active > 1 {
			a.scarce = true
		}
		return
	}
	a.leases[node] += amount
	if amount >= ask.GetWantPico() {
		a.scarce = false
	}
}

func (n *naive) set(name id.Account, value int64) {
	a := n.account(name)
	if value == a.window {
		return
	}
	if value < a.window {
		a.warned = false
	}
	a.window = value
	if a.max == nil || value < *a.max {
		a.exceeded = false
	}
}
