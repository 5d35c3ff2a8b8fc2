// Package resource keeps the named resources of organizations: records with an id, and
// a name that is unique in the organization that owns them. Prompts and guardrails
// are such resources.
//
// A Table is immutable and safe for concurrent use: With returns the next one as
// the replicated state changes. Create, Update and Delete collect what they write
// in a transaction.
package resource

import (
	"context"
	"fmt"
	"iter"

	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster/event"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/store"
	"github.com/modelgateway/modelgateway/cluster/table"
)

// Head is what all named resources have. Each type embeds it.
type Head struct {
	ID           string // a UUID that never changes
	Name         string
	Organization id.Organization // empty: every organization may use the resource
	record.Meta
}

// Kind describes one type of resource.
type Kind[T any] struct {
	Noun     string      // "prompt": names the fields prompt_id and prompt_name, the code prompt_not_found, and the type in errors
	Records  store.Space // the records, by id
	Names    store.Space // the claims of names, by organization and name
	Taken    string      // a hint for the error about a name that is in use
	Enforced bool        // every node must know an update before it is acknowledged
	Head     func(*T) *Head
	Changed  func(id string, of id.Organization) event.Event // what Create and Update record; nil: nothing
	Check    func(*T) error                                  // of content; nil if any is valid. Errors may be joined
	Encode   func(*T) proto.Message                          // without the stamp
	Decode   func(value []byte) (*T, error)                  // with the stamp
}

// Who is a caller, and which resources it may see and change.
type Who struct {
	Organization id.Organization             // its names take precedence; empty for none
	MaySee       func(id.Organization) bool  // of the owner, which may be empty
	MayChange    func(id.Organization) error // of the owner; only FindToChange needs it
}

// Everybodys is a caller that may see only the resources without an organization.
func Everybodys() Who {
	return Who{MaySee: func(owner id.Organization) bool { return owner == "" }}
}

// Table holds all resources of a kind. Callers must not change the resources that it returns.
type Table[T any] struct {
	kind *Kind[T]
	rows *table.Table[T]
}

const (
	byName         = 0 // organization, 0, name
	byAge          = 1
	byOrganization = 2
	byNameAlone    = 3
)

// New returns an empty table.
func New[T any](kind *Kind[T]) *Table[T] {
	return &Table[T]{kind: kind, rows: table.New(&table.Spec[T]{
		Space:    kind.Records,
		Key:      func(r *T) []byte { return []byte(kind.Head(r).ID) },
		Revision: func(r *T) uint64 { return kind.Head(r).Revision },
		Encode:   kind.Encode,
		Decode:   func(_, value []byte) (*T, error) { return kind.Decode(value) },
		Indexes: []func(*T) [][]byte{
			byName:         func(r *T) [][]byte { return [][]byte{kind.Head(r).key()} },
			byAge:          func(r *T) [][]byte { return [][]byte{record.Newest(kind.Head(r).CreatedAt)} },
			byOrganization: func(r *T) [][]byte { return [][]byte{[]byte(kind.Head(r).Organization)} },
			byNameAlone:    func(r *T) [][]byte { return [][]byte{[]byte(kind.Head(r).Name)} },
		},
	})}
}

// key is unique to a name within an organization.
func (h *Head) key() []byte { return record.Join(string(h.Organization), h.Name) }

// With returns the table after changes of the replicated state. A record that
// cannot be decoded stays as it was and is among the errors.
func (t *Table[T]) With(changes []record.Change) (*Table[T], []error) {
	rows, _, broken := t.rows.With(changes)
	return &Table[T]{t.kind, rows}, broken
}

// Load returns the table with all records of the replicated state. Records that
// cannot be decoded are left out and are among broken.
func (t *Table[T]) Load(ctx context.Context, state table.Scanner) (loaded *Table[T], broken []error, err error) {
	rows, broken, err := t.rows.Load(ctx, state)
	if err != nil {
		return nil, nil, err
	}
	return &Table[T]{t.kind, rows}, broken, nil
}

// Len returns the number of resources.
func (t *Table[T]) Len() int { return t.rows.Len() }

// Get returns the resource with an id, without asking who may see it.
func (t *Table[T]) Get(id string) (*T, bool) { return t.rows.Get([]byte(id)) }

// Newest yields the resources that a caller may see, the newest first. If org is
// not empty, it yields only the resources of that organization.
func (t *Table[T]) Newest(who Who, org string) iter.Seq[*T] {
	return func(yield func(*T) bool) {
		for r := range t.rows.Sorted(byAge, 0) {
			owner := t.kind.Head(r).Organization
			if who.MaySee(owner) && (org == "" || string(owner) == org) && !yield(r) {
				return
			}
		}
	}
}

// Find returns the resource with an id, or else with a name. Names of the caller's organization
// come first, then those without an organization, then the others that the caller may see. It
// fails with NotFound, with the same text for every reason, and with Conflict if several of the
// others have the name. With a transaction, the read becomes a precondition of the commit.
func (t *Table[T]) Find(tx *record.Txn, param, ref string, who Who) (*T, error) {
	r, err := t.find(ref, who)
	switch {
	case err != nil:
		return nil, err
	case r == nil:
		return nil, t.NotFound(param)
	}
	if tx != nil {
		t.rows.Read(tx, []byte(t.kind.Head(r).ID))
	}
	return r, nil
}

// NotFound returns the error of Find.
func (t *Table[T]) NotFound(param string) error {
	return &fault.Error{Kind: fault.NotFound, Code: t.kind.Noun + "_not_found", Param: param, Detail: fmt.Sprintf("There is no such %s, or this API key may not use it.", t.kind.Noun)}
}

// FindToChange is Find for a caller that also needs the permission to change the resource.
func (t *Table[T]) FindToChange(tx *record.Txn, param, ref string, who Who) (*T, error) {
	r, err := t.Find(tx, param, ref, who)
	if err != nil {
		return nil, err
	}
	return r, who.MayChange(t.kind.Head(r).Organization)
}

func (t *Table[T]) find(ref string, who Who) (*T, error) {
	if r, ok := t.rows.Get([]byte(ref)); ok && who.MaySee(t.kind.Head(r).Organization) {
		return r, nil
	}
	name, problem := id.CleanName(ref)
	if problem != "" {
		return nil, nil
	}
	for _, org := range []id.Organization{who.Organization, ""} {
		if r, ok := t.rows.One(byName, (&Head{Organization: org, Name: name}).key()); ok && who.MaySee(org) {
			return r, nil
		}
	}
	var found *T
	for r := range t.rows.By(byNameAlone, []byte(name)) {
		switch {
		case !who.MaySee(t.kind.Head(r).Organization):
		case found != nil:
			return nil, fault.New(fault.Conflict, "ambiguous_name", "Several organizations have a %s of that name. Name it by its %s_id.", t.kind.Noun, t.kind.Noun)
		default:
			found = r
		}
	}
	return found, nil
}
