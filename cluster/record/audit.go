package record

import (
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
func (t *Txn) Audit(a Audit) {
	e := &clusterv1.AuditEvent{
		Type: a.Type, TimeUnixNano: Nanos(t.now), Actor: t.actor,
		OrgId: string(a.Organization), TeamId: string(a.Team), CustomerId: string(a.Customer), DetailsJson: a.Details,
	}
	if a.Key != nil {
		e.KeyHash = a.Key[:]
	}
	t.audit = append(t.audit, e)
}

// Audited reports whether Audit was called.
func (t *Txn) Audited() bool { return len(t.audit) > 0 }

// SetSpend sets what an account has spent in its window, as reset_spend does.
func (t *Txn) SetSpend(a id.Account, spend money.Pico) {
	t.spends = append(t.spends, &clusterv1.SetSpend{
		Account:    &clusterv1.AccountID{Kind: clusterv1.AccountKind(a.Kind), Owner: a.Owner, Part: a.Part},
		WindowPico: int64(spend),
	})
}
