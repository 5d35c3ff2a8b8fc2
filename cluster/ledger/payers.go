package ledger

import (
	"bytes"
	"encoding/hex"

	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/money"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// payer is an account to which an event is posted.
type payer struct {
	account id.Account
	amount  money.Pico
	charge  *clusterv1.Charge // nil: no limit applied at admission
	// inherited means that the account belongs to a parent of the key, or to the user who bounds
	// it. The cost counts in its window and against its leases, but not in its total. The key's
	// own total has it; the sum of all key totals balances the providers' accounts.
	inherited bool
}

// appendPayers appends the accounts to which an attempt is posted, always in the same order.
// Keys and providers are the two sides of the books; the others are sums of the same amounts.
func appendPayers(to []payer, e *clusterv1.UsageEvent) []payer {
	cost := money.Pico(e.GetCostPico())
	group, team := clean(e.GetGroup()), clean(e.GetTeam())
	user, bounding := clean(e.GetUser()), false
	if user == "" {
		user, bounding = clean(e.GetBoundedByUser()), true
	}
	organization, endUser := clean(e.GetOrganization()), endUserOf(e)
	add := func(kind id.AccountKind, owner, part string) {
		to = append(to, payer{account: id.Account{Kind: kind, Owner: owner, Part: part}, amount: cost, charge: chargeOf(e, kind, nil)})
	}
	ofUser := func(kind id.AccountKind, owner, part string) {
		add(kind, owner, part)
		to[len(to)-1].inherited = bounding
	}
	key := keyAccount(e).Hex()
	add(id.AccountKey, key, "")
	add(id.AccountKeyModel, key, group)
	for _, hash := range e.GetParentHashes() {
		parent := hex.EncodeToString(hash)
		to = append(to,
			payer{account: id.Account{Kind: id.AccountKey, Owner: parent}, amount: cost, charge: chargeOf(e, id.AccountKey, hash), inherited: true},
			payer{account: id.Account{Kind: id.AccountKeyModel, Owner: parent, Part: group}, amount: cost, charge: chargeOf(e, id.AccountKeyModel, hash), inherited: true})
	}
	if team != "" {
		add(id.AccountTeam, team, "")
		add(id.AccountTeamModel, team, group)
		if user != "" {
			ofUser(id.AccountTeamMember, team, user)
		}
	}
	if organization != "" {
		add(id.AccountOrganization, organization, "")
		add(id.AccountOrganizationModel, organization, group)
		if user != "" {
			ofUser(id.AccountOrganizationMember, organization, user)
		}
	}
	if user != "" {
		ofUser(id.AccountUser, user, "")
		ofUser(id.AccountUserModel, user, group)
	}
	if endUser.Owner != "" {
		add(id.AccountCustomer, endUser.Owner, endUser.Part)
	}
	return append(to, payer{account: id.Account{Kind: id.AccountProvider, Owner: clean(e.GetProvider())}, amount: -cost})
}

// chargeOf returns the limits by which an event was admitted at its account of a kind, or at
// that of a parent of its key.
func chargeOf(e *clusterv1.UsageEvent, kind id.AccountKind, parent []byte) *clusterv1.Charge {
	for _, c := range e.GetCharges() {
		if c.GetKind() == clusterv1.AccountKind(kind) && bytes.Equal(c.GetKeyHash(), parent) {
			return c
		}
	}
	return nil
}

// endUserOf returns the account of the event's end user; its owner is empty if there is none.
func endUserOf(e *clusterv1.UsageEvent) id.Account {
	a := id.Account{Kind: id.AccountCustomer, Owner: clean(e.GetEndUser())}
	if e.GetEndUserOfOrganization() {
		a.Part = clean(e.GetOrganization())
	}
	return a
}

// keyAccount returns the key to whose account an event is posted: its own, or the one from
// which it was regenerated.
func keyAccount(e *clusterv1.UsageEvent) (h id.KeyHash) {
	if len(e.GetOriginHash()) == len(h) {
		return id.KeyHash(e.GetOriginHash())
	}
	return hashOf(e)
}

// hashOf returns the hash of an event's key; zeros if the key is unknown.
func hashOf(e *clusterv1.UsageEvent) (h id.KeyHash) {
	copy(h[:], e.GetKeyHash())
	return h
}
