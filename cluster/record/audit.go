package record

import (
	"slices"

	"github.com/modelgateway/modelgateway/cluster/event"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/money"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// Audit is the audit event of a transaction. Fields that do not apply are empty.
type Audit struct {
	Type         string // such as key.created
	Organization id.Organization
	Team         id.Team
	Key          *id.KeyHash // the affected key, not the caller's key
	Customer     id.Customer
	Details      string // a JSON object as text: further details, without secrets
}

// Audit adds an event to the audit log. The same log entry carries the transaction and the
// event, so one never exists without the other. The event has the actor and the time of the
// transaction.
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

// Record adds an audit event. The order of the stored events does not depend on the order of
// the calls.
func (t *Txn) Record(e event.Event) { t.events.Record(e) }

// Recorded reports whether Record was called.
func (t *Txn) Recorded() bool { return !t.events.Empty() }

// By adds the request that causes the change to the details of all events.
func (t *Txn) By(r event.Request) { t.events.Request = r }

// Amounts adds the amounts that change in a record. They replace the amounts that an earlier
// call added for it.
func (t *Txn) Amounts(at At, changed []event.Amount) { t.events.Amounts(at.name(), changed) }

// auditEvents returns the audit events of the transaction.
func (t *Txn) auditEvents() []*clusterv1.AuditEvent {
	out := slices.Clone(t.audit)
	t.events.Each(func(e event.Event, details string) {
		out = append(out, t.auditEvent(Audit{
			Type: e.Type, Organization: e.Organization, Team: e.Team, Key: e.Key, Customer: e.Customer, Details: details,
		}))
	})
	return out
}

// SetSpend sets the spend of an account in its current window, as reset_spend does, and adds
// the changed amount to the events.
func (t *Txn) SetSpend(a id.Account, spend money.Pico, changed event.Amount) {
	t.events.Amounts("spend of "+a.Owner, []event.Amount{changed})
	t.spends = append(t.spends, &clusterv1.SetSpend{
		Account:    &clusterv1.AccountID{Kind: clusterv1.AccountKind(a.Kind), Owner: a.Owner, Part: a.Part},
		WindowPico: int64(spend),
	})
}
