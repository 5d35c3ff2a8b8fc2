package resource

import (
	"fmt"
	"iter"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/record"
)

// Create writes a resource with a new id. It fails with Exists if the name is used in the
// organization, and with Malformed for invalid content.
func (t *Table[T]) Create(tx *record.Txn, r T) (*T, error) {
	if err := t.check(&r); err != nil {
		return nil, err
	}
	h := t.kind.Head(&r)
	h.Meta = tx.Stamped(record.Meta{})
	if err := t.claim(tx, h); err != nil {
		return nil, err
	}
	t.rows.Read(tx, []byte(h.ID))
	t.put(tx, &r)
	return &r, nil
}

// Update writes next, the new content of a resource that Find has returned in the
// same transaction. The name may change too. Errors are those of Create, and Conflict
// if ifRevision is neither 0 nor the resource's revision.
func (t *Table[T]) Update(tx *record.Txn, r *T, next T, ifRevision uint64) (*T, error) {
	before, after := t.kind.Head(r), t.kind.Head(&next)
	if err := record.CheckRevision(t.kind.Noun, before.Revision, ifRevision); err != nil {
		return nil, err
	}
	if err := t.check(&next); err != nil {
		return nil, err
	}
	after.Meta = tx.Stamped(before.Meta)
	if after.Name != before.Name {
		tx.Release(t.kind.Names, before.key())
		if err := t.claim(tx, after); err != nil {
			return nil, err
		}
	}
	t.put(tx, &next)
	if t.kind.Enforced {
		tx.RequireFence()
	}
	return &next, nil
}

// Rewrite writes a resource whose record changes and whose content does not, as when its secrets are sealed with another key.
func (t *Table[T]) Rewrite(tx *record.Txn, r *T) {
	t.rows.Read(tx, []byte(t.kind.Head(r).ID))
	t.rows.Put(tx, r)
}

// All returns all resources, ordered by id.
func (t *Table[T]) All() iter.Seq[*T] { return t.rows.All() }

// put writes a resource and records the change.
func (t *Table[T]) put(tx *record.Txn, r *T) {
	t.rows.Put(tx, r)
	if t.kind.Changed != nil {
		h := t.kind.Head(r)
		tx.Record(t.kind.Changed(h.ID, h.Organization))
	}
}

func (t *Table[T]) check(r *T) error {
	if t.kind.Check == nil {
		return nil
	}
	return t.kind.Check(r)
}

// claim normalizes the name of a resource and claims it.
func (t *Table[T]) claim(tx *record.Txn, h *Head) error {
	param := t.kind.Noun + "_name"
	name, problem := id.CleanName(h.Name)
	if problem != "" {
		return fault.Field(param, "invalid_value", "%s %s; choose another.", param, problem)
	}
	h.Name = name
	if old, taken := t.rows.One(byName, h.key()); taken && t.kind.Head(old).ID != h.ID {
		return &fault.Error{Kind: fault.Exists, Code: "already_exists", Param: param, Detail: fmt.Sprintf("There is a %s of that name already. %s", t.kind.Noun, t.kind.Taken)}
	}
	tx.Claim(t.kind.Names, h.key(), []byte(h.ID))
	return nil
}

// Delete removes a resource that Find has returned in the same transaction, and
// releases its name.
func (t *Table[T]) Delete(tx *record.Txn, r *T) {
	t.rows.Delete(tx, r)
	tx.Release(t.kind.Names, t.kind.Head(r).key())
	tx.RequireFence()
}

// Of returns the resources of an organization.
func (t *Table[T]) Of(org id.Organization) iter.Seq[*T] {
	return t.rows.By(byOrganization, []byte(org))
}
