package cluster

import (
	"bytes"

	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/keys"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/store"
)

// Written is what a transaction does to the resources whose fate the audit log has
// types of events for. New and changed ones are not told apart: the View that it was
// decided from knows which are there.
type Written struct {
	Keys, KeysGone   []id.KeyHash
	Users, UsersGone []id.User
	Guardrails       []string // ids
	Prompts          []string // ids of those that get a version
	Prices           int      // models of the table of prices, those that go included

	// Those that have limits beside keys and users. None of them is gone.
	Organizations       []id.Organization
	Teams               []id.Team
	Customers           []id.EndUser
	Budgets             []id.Budget
	OrganizationMembers []Membership
	TeamMembers         []Membership

	// Puts are the records that it writes, without their stamps.
	Puts []record.Change
}

// Membership names a user in an organization or in a team.
type Membership struct {
	Of   string // the organization or the team
	User id.User
}

// WrittenBy reads a transaction, in the order of the state.
func WrittenBy(tx *record.Txn) (Written, error) {
	var out Written
	m, err := tx.Message()
	if err != nil {
		return out, err
	}
	for _, d := range m.GetDeletes() {
		switch key := d.GetKey(); store.Space(d.GetSpace()) { //nolint:exhaustive // the others have no events
		case store.SpaceKey:
			if len(key) == len(id.KeyHash{}) {
				out.KeysGone = append(out.KeysGone, id.KeyHash(key))
			}
		case store.SpaceUser:
			out.UsersGone = append(out.UsersGone, id.User(key))
		case store.SpacePriceMap:
			out.Prices++
		}
	}
	for _, p := range m.GetPuts() {
		space, key := store.Space(p.GetAt().GetSpace()), p.GetAt().GetKey()
		out.Puts = append(out.Puts, record.Change{Space: space, Key: key, Value: p.GetRecord()})
		switch space { //nolint:exhaustive // as above
		case store.SpaceKey:
			if len(key) == len(id.KeyHash{}) {
				out.Keys = append(out.Keys, id.KeyHash(key))
			}
		case store.SpaceUser:
			out.Users = append(out.Users, id.User(key))
		case store.SpaceGuardrail:
			out.Guardrails = append(out.Guardrails, string(key))
		case store.SpacePromptVersion:
			of, _, _ := bytes.Cut(key, []byte{0})
			out.Prompts = append(out.Prompts, string(of))
		case store.SpacePriceMap:
			out.Prices++
		default:
			out.limited(space, key)
		}
	}
	return out, nil
}

// limited notes what has limits and no events of its own.
func (w *Written) limited(space store.Space, key []byte) {
	switch space { //nolint:exhaustive // the others have no limits
	case store.SpaceOrganization:
		w.Organizations = append(w.Organizations, id.Organization(key))
	case store.SpaceTeam:
		w.Teams = append(w.Teams, id.Team(key))
	case store.SpaceCustomer:
		w.Customers = append(w.Customers, keys.CustomerOf(key))
	case store.SpaceBudget:
		w.Budgets = append(w.Budgets, id.Budget(key))
	case store.SpaceOrganizationMember:
		w.OrganizationMembers = append(w.OrganizationMembers, membership(key))
	case store.SpaceTeamMember:
		w.TeamMembers = append(w.TeamMembers, membership(key))
	}
}

func membership(key []byte) Membership {
	of, user, _ := bytes.Cut(key, []byte{0})
	return Membership{Of: string(of), User: id.User(user)}
}
