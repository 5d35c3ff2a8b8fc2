package mgmt

import (
	"errors"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/keys"
	"github.com/modelgateway/modelgateway/cluster/record"
	gatewayv1 "github.com/modelgateway/modelgateway/proto/gen/gateway/v1"
)

// The types of what the audit log says of changes.
const (
	auditKeyCreated        = "key.created"
	auditKeyRotated        = "key.rotated"
	auditKeyRevoked        = "key.revoked"
	auditUserProvisioned   = "user.provisioned"
	auditUserDeprovisioned = "user.deprovisioned"
	auditGuardrail         = "guardrail.configured"
	auditPromptVersion     = "prompt.version_published"
	auditManagement        = "management.changed"
)

// trail is what the audit log says of one change. What became of keys, users,
// guardrails and prompts is read from what the transaction writes, so that nothing
// that goes with something else is left out: a team's keys, a user's first key.
type trail struct {
	call  *call
	view  *cluster.View
	tx    *record.Txn
	did   deed
	typed bool // something was said that is more than that something changed
	// amounts are the bounds that change and that nothing was said of yet.
	amounts []amount
}

// trailOf begins the trail of the call's change.
func trailOf(c *call, v *cluster.View, tx *record.Txn) *trail {
	return &trail{call: c, view: v, tx: tx}
}

// write has the transaction carry what the audit log says of it. A transaction that
// changes nothing leaves no trail.
func (t *trail) write(answer proto.Message) error {
	if t.tx.Empty() || t.call.operation == nil {
		return nil
	}
	t.did = deedOf(t.call, answer)
	w, err := cluster.WrittenBy(t.tx)
	if err != nil {
		return err
	}
	after, broken := t.view.Keys.With(w.Puts)
	if err := errors.Join(broken...); err != nil {
		return err
	}
	if in, ok := t.call.request.(*gatewayv1.RegenerateKeyRequest); ok {
		t.rotated(in, answer, after)
		return nil
	}
	t.amounts = append(amountsOf(t.view.Keys, after, w), resetOf(answer)...)
	t.gone(w)
	t.made(w)
	t.deactivated(answer)
	if !t.typed || !t.call.operation.TypedEvents {
		t.management()
	}
	return nil
}

// say has the transaction carry one event.
func (t *trail) say(a record.Audit, resource, of string) {
	t.typed = true
	t.put(a, resource, []string{of}, func(a amount) bool { return a.Resource == resource && a.ID == of })
}

// gone says which keys and users are gone.
func (t *trail) gone(w cluster.Written) {
	for _, h := range w.KeysGone {
		t.key(auditKeyRevoked, h)
	}
	for _, u := range w.UsersGone {
		t.say(record.Audit{Type: auditUserDeprovisioned}, resourceUser, string(u))
	}
}

// made says what is new.
func (t *trail) made(w cluster.Written) {
	for _, h := range w.Keys {
		if _, there := t.view.Keys.Key(nil, h); !there {
			t.key(auditKeyCreated, h)
		}
	}
	for _, u := range w.Users {
		if _, there := t.view.Keys.User(nil, u); !there {
			t.say(record.Audit{Type: auditUserProvisioned}, resourceUser, string(u))
		}
	}
	for _, g := range w.Guardrails {
		t.say(record.Audit{Type: auditGuardrail, Organization: t.did.organization}, resourceGuardrail, g)
	}
	for _, p := range w.Prompts {
		t.say(record.Audit{Type: auditPromptVersion, Organization: t.did.organization}, resourcePrompt, p)
	}
}

// key says what became of a key: of one that is gone, by what it was, and of one
// that is new, by the answer, in which it stands.
func (t *trail) key(of string, h id.KeyHash) {
	a := record.Audit{Type: of, Key: &h, Team: t.did.team, Organization: t.did.organization}
	if k, ok := t.view.Keys.Key(nil, h); ok {
		a.Team, a.Organization = k.Team, k.Organization
		if team, ok := t.view.Keys.Team(nil, k.Team); ok && k.Team != "" {
			a.Organization = team.Organization
		}
	}
	t.say(a, resourceKey, h.String())
}

// rotated says that a key has taken the place of another one, and of which.
func (t *trail) rotated(in *gatewayv1.RegenerateKeyRequest, answer proto.Message, after *keys.Set) {
	r, _ := answer.(*gatewayv1.KeyRecord)
	h, ok := id.ParseKeyHash(r.GetToken())
	if !ok {
		return
	}
	old := t.call.principal.Hash
	if in.GetKey() != "" {
		old, _ = keys.ParseReference(in.GetKey()) // the operation has read it
	}
	t.did.replaces = old.String()
	t.amounts = differing(resourceKey, h.String(), keyAmounts(t.view.Keys, old), keyAmounts(after, h))
	t.say(record.Audit{Type: auditKeyRotated, Key: &h, Team: t.did.team, Organization: t.did.organization}, resourceKey, h.String())
}

// deactivated says of users whose keys are refused from now on that they are gone,
// too.
func (t *trail) deactivated(answer proto.Message) {
	eachMessage(answer.ProtoReflect(), func(m proto.Message) {
		r, ok := m.(*gatewayv1.UserRecord)
		if !ok || !r.GetBlocked() {
			return
		}
		if u, there := t.view.Keys.User(nil, id.User(r.GetUserId())); there && !u.Blocked {
			t.say(record.Audit{Type: auditUserDeprovisioned}, resourceUser, r.GetUserId())
		}
	})
}

// management says that something was changed that has no type of its own.
func (t *trail) management() {
	a := record.Audit{Type: auditManagement, Organization: t.did.organization, Team: t.did.team, Customer: t.did.customer}
	if h, ok := t.did.key(); ok {
		a.Key = &h
	}
	t.put(a, t.did.resource, t.did.ids, func(amount) bool { return true })
}

// put has the transaction carry one event, with those of the changed bounds that
// belong to it.
func (t *trail) put(a record.Audit, resource string, ids []string, belongs func(amount) bool) {
	did := t.did
	for _, one := range t.amounts {
		if belongs(one) {
			did.amounts = append(did.amounts, one)
		}
	}
	t.amounts = slices.DeleteFunc(t.amounts, belongs)
	a.Details = did.details(t.call, resource, ids)
	t.tx.Audit(a)
}
