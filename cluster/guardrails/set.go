package guardrails

import (
	"context"
	"iter"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/store"
	"github.com/modelgateway/modelgateway/cluster/table"
)

// Set is every guardrail.
type Set struct{ all *table.Table[Guardrail] }

// New returns an empty set.
func New() *Set { return &Set{all: newTable()} }

// With returns the set as changes of the replicated state leave it. A record that
// cannot be read is left as it was, and is among the errors.
func (s *Set) With(changes []record.Change) (*Set, []error) {
	all, _, broken := s.all.With(changes)
	return &Set{all: all}, broken
}

// Load returns the set with everything that the replicated state has. What cannot
// be read is left out, and is among broken.
func (s *Set) Load(ctx context.Context, state table.Scanner) (loaded *Set, broken []error, err error) {
	all, broken, err := s.all.Load(ctx, state)
	if err != nil {
		return nil, nil, err
	}
	return &Set{all: all}, broken, nil
}

// Len returns how many guardrails there are.
func (s *Set) Len() int { return s.all.Len() }

// Newest returns the guardrails, the newest first.
func (s *Set) Newest() iter.Seq[*Guardrail] { return s.all.Sorted(byAge, 0) }

// Who is somebody who looks for a guardrail.
type Who struct {
	Organization id.Organization            // whose names come first; empty for none
	MaySee       func(id.Organization) bool // whether the guardrails of an organization are for them; empty: everybody's
}

// Find returns the guardrail of an id or, failing that, of a name: first among
// those of the asker's organization, then among everybody's, then among the others
// that they may see. It faults with NotFound, in one text whatever the reason, and
// with Conflict where several others have that name.
func (s *Set) Find(tx *record.Txn, param, ref string, who Who) (*Guardrail, error) {
	g, err := s.find(ref, who)
	switch {
	case err != nil:
		return nil, err
	case g == nil:
		return nil, &fault.Error{Kind: fault.NotFound, Code: "guardrail_not_found", Param: param, Detail: "There is no such guardrail, or this API key may not use it."}
	}
	if tx != nil {
		s.all.Read(tx, []byte(g.ID))
	}
	return g, nil
}

func (s *Set) find(ref string, who Who) (*Guardrail, error) {
	if g, ok := s.all.Get([]byte(ref)); ok && who.MaySee(g.Organization) {
		return g, nil
	}
	name, problem := id.CleanName(ref)
	if problem != "" {
		return nil, nil
	}
	for _, org := range []id.Organization{who.Organization, ""} {
		if g, ok := s.all.One(byName, nameKey(org, name)); ok && who.MaySee(org) {
			return g, nil
		}
	}
	var found *Guardrail
	for g := range s.all.By(byNameAlone, []byte(name)) {
		switch {
		case !who.MaySee(g.Organization):
		case found != nil:
			return nil, fault.New(fault.Conflict, "ambiguous_name", "Several organizations have a guardrail of that name. Name it by its guardrail_id.")
		default:
			found = g
		}
	}
	return found, nil
}

// Create makes a guardrail, of an id that is new. It faults with Exists where the
// name is taken in the organization, and is Malformed, perhaps several joined, for
// a name or settings that make no sense.
func (s *Set) Create(tx *record.Txn, g Guardrail) (*Guardrail, error) {
	if err := check(g.Engines); err != nil {
		return nil, err
	}
	g.Meta = tx.Stamped(record.Meta{})
	s.all.Read(tx, []byte(g.ID))
	if err := s.name(tx, &g); err != nil {
		return nil, err
	}
	s.all.Put(tx, &g)
	return &g, nil
}

// Change is what Update changes; nil leaves what is there.
type Change struct {
	Name      *string
	Engines   []Engine
	DefaultOn *bool
}

// Update changes a guardrail, which Find has returned in the same transaction. With
// ifRevision other than 0 it is Conflict if the guardrail is of another revision.
func (s *Set) Update(tx *record.Txn, g *Guardrail, c Change, ifRevision uint64) (*Guardrail, error) {
	if ifRevision != 0 && ifRevision != g.Revision {
		return nil, fault.New(fault.Conflict, "revision_conflict", "The guardrail is of revision %d, not %d; read it again and decide anew.", g.Revision, ifRevision)
	}
	next := *g
	next.Meta = tx.Stamped(g.Meta)
	if c.Engines != nil {
		if err := check(c.Engines); err != nil {
			return nil, err
		}
		next.Engines = c.Engines
	}
	if c.DefaultOn != nil {
		next.DefaultOn = *c.DefaultOn
	}
	if c.Name != nil && *c.Name != g.Name {
		tx.Release(store.SpaceGuardrailName, nameKey(g.Organization, g.Name))
		next.Name = *c.Name
		if err := s.name(tx, &next); err != nil {
			return nil, err
		}
	}
	s.all.Put(tx, &next)
	tx.Revokes() // what is let through from now on is for every node to know at once
	return &next, nil
}

// name takes a guardrail's name for it.
func (s *Set) name(tx *record.Txn, g *Guardrail) error {
	name, problem := id.CleanName(g.Name)
	if problem != "" {
		return fault.Field("guardrail_name", "invalid_value", "guardrail_name %s; choose another.", problem)
	}
	g.Name = name
	if old, taken := s.all.One(byName, nameKey(g.Organization, name)); taken && old.ID != g.ID {
		s.all.Read(tx, []byte(old.ID))
		return &fault.Error{Kind: fault.Exists, Code: "already_exists", Param: "guardrail_name", Detail: "There is a guardrail of that name already. Choose another name."}
	}
	tx.Claim(store.SpaceGuardrailName, nameKey(g.Organization, name), []byte(g.ID))
	return nil
}

// Delete removes a guardrail, which Find has returned in the same transaction.
func (s *Set) Delete(tx *record.Txn, g *Guardrail) {
	s.all.Delete(tx, g)
	tx.Release(store.SpaceGuardrailName, nameKey(g.Organization, g.Name))
	tx.Revokes()
}

// DeleteOrganization removes every guardrail of an organization. One that is made
// at the same time rests on the organization's record, which is deleted with them.
func (s *Set) DeleteOrganization(tx *record.Txn, org id.Organization) {
	if org == "" {
		return
	}
	for g := range s.all.By(byOrganization, []byte(org)) {
		s.Delete(tx, g)
	}
}
