package record

import (
	"slices"

	"github.com/modelgateway/modelgateway/cluster/event"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/money"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// Audit is what the audit log says of a transaction. What does not apply is empty.
type Audit struct {
	Type         string // such as key.created
	Organization id.Organization
	Team         id.Team
	Key          *id.KeyHash // the key concerned, not the one that asks
	Customer     id.Customer
	Details      string // text of a JSON object: more about it, without secrets
}

// Audit has the audit log say something of the transaction. It is written with it,
// in the same entry: neither is there without the other. The actor and the time are
// the transaction's.
func (t *Txn) Audit(a Audit) { t.audit = append(t.audit, t.auditEvent(a)) }

func (t *Txn) auditEvent(a Audit) *clusterv1.AuditEvent {
	e := &clusterv1.AuditEvent{
		Type: a.Type, TimeUnixNano: Nanos(t.now), Actor: t.actor,
		OrgId: string(a.Organization), TeamId: string(a.Team), CustomerId: string(a.Customer), DetailsJson: a.Details,
	}
	if a.Key != nil {
		e.KeyHash = a.Key[:]
	}
	return e
}

// Record adds an event of what the transaction does. The audit log gets it as Audit says,
// in an order that does not depend on the order of the calls.
func (t *Txn) Record(e event.Event) { t.events.Record(e) }

// Recorded reports whether Record was called.
func (t *Txn) Recorded() bool { return !t.events.Empty() }

// By adds the request that makes the change to the details of all events.
func (t *Txn) By(r event.Request) { t.events.Request = r }

// Amounts adds the amounts that change in a record, in place of those added for it before.
func (t *Txn) Amounts(at At, changed []event.Amount) { t.events.Amounts(at.name(), changed) }

// auditEvents returns what the audit log gets of the transaction.
func (t *Txn) auditEvents() []*clusterv1.AuditEvent {
	out := slices.Clone(t.audit)
	t.events.Each(func(e event.Event, details string) {
		out = append(out, t.auditEvent(Audit{
			Type: e.Type, Organization: e.Organization, Team: e.Team, Key: e.Key, Customer: e.Customer, Details: details,
		}))
	})
	return out
}

// SetSpend sets what an account has spent in its window, as reset_spend does, and adds
// the amount that this changes to the events.
func (t *Txn) SetSpend(a id.Account, spend money.Pico, changed event.Amount) {
	t.events.Amounts("spend of "+a.Owner, []event.Amount{changed})
	t.spends = append(t.spends, &clusterv1.SetSpend{
		Account:    &clusterv1.AccountID{Kind: clusterv1.AccountKind(a.Kind), Owner: a.Owner, Part: a.Part},
		WindowPico: int64(spend),
	})
}
