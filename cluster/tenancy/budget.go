package tenancy

import (
	"iter"

	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster/event"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/store"
	"github.com/modelgateway/modelgateway/cluster/table"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// Budget is a set of limits that several may have. Each counts its own spend.
type Budget struct {
	ID     id.Budget
	Limits Limits // its own Budget is empty
	record.Meta
}

func newBudgets() *table.Table[Budget] {
	return table.New(&table.Spec[Budget]{
		Space:    store.SpaceBudget,
		Key:      func(b *Budget) []byte { return []byte(b.ID) },
		Revision: func(b *Budget) uint64 { return b.Revision },
		Resource: event.ResourceBudget,
		Bounds:   func(b *Budget) (string, event.Bounds) { return string(b.ID), b.Limits.bounds() },
		Encode: func(b *Budget) proto.Message {
			return &clusterv1.Budget{Id: string(b.ID), Limits: b.Limits.record()}
		},
		Decode: func(_, value []byte) (*Budget, error) {
			r := &clusterv1.Budget{}
			if err := proto.Unmarshal(value, r); err != nil {
				return nil, err
			}
			return &Budget{ID: id.Budget(r.GetId()), Limits: limitsFrom(r.GetLimits()), Meta: record.MetaOf(r.GetStamp())}, nil
		},
	})
}

// Budget returns a budget. With a transaction, the read is a precondition of its commit.
func (s *Set) Budget(tx *record.Txn, b id.Budget) (*Budget, bool) {
	return find(tx, s.budgets, []byte(b))
}

// Budgets returns all budgets, ordered by id.
func (s *Set) Budgets() iter.Seq[*Budget] { return s.budgets.All() }

// NeedBudget returns a budget that a request names by a field; its error is that
// there is none.
func (s *Set) NeedBudget(tx *record.Txn, param string, b id.Budget) (*Budget, error) {
	found, ok := s.Budget(tx, b)
	if !ok {
		return nil, absent(codeNoBudget, param, "There is no budget %s.", fault.Short(string(b)))
	}
	return found, nil
}

// CreateBudget adds a budget, in a transaction that is decided by this set. It
// returns Exists if the id is taken.
func (s *Set) CreateBudget(tx *record.Txn, b Budget) (*Budget, error) {
	if _, ok := s.Budget(tx, b.ID); ok {
		return nil, occupied("budget_id", "There is a budget %s already; choose another budget_id, or leave it out to have one made.", fault.Short(string(b.ID)))
	}
	return s.putBudget(tx, &Budget{}, b)
}

// UpdateBudget puts a budget in place of the one with its id, for everybody who
// has its terms. It returns NotFound if there is none, and Conflict if
// ifRevision is given and is not its current revision.
func (s *Set) UpdateBudget(tx *record.Txn, b Budget, ifRevision uint64) (*Budget, error) {
	before, err := s.NeedBudget(tx, "budget_id", b.ID)
	if err != nil {
		return nil, err
	}
	if err := record.CheckRevision("record", before.Revision, ifRevision); err != nil {
		return nil, err
	}
	return s.putBudget(tx, before, b)
}

// putBudget replaces a budget. before is empty for a new one, whose terms no record has.
func (s *Set) putBudget(tx *record.Txn, before *Budget, b Budget) (*Budget, error) {
	if err := b.Limits.Check(""); err != nil {
		return nil, err
	}
	b.Limits.Models = s.models(b.Limits)
	if before.ID != "" && narrows(nil, nil, before.Limits, b.Limits) {
		tx.RequireFence()
	}
	b.Meta = tx.Stamped(before.Meta)
	s.budgets.Put(tx, &b)
	return &b, nil
}

// DeleteBudget removes a budget and returns it as it was. It returns Conflict while
// something has its terms. param is the field that names it.
func (s *Set) DeleteBudget(tx *record.Txn, param string, b id.Budget) (*Budget, error) {
	old, err := s.NeedBudget(tx, param, b)
	if err != nil {
		return nil, err
	}
	s.sawAll(tx, collection{ofBudget, string(b)})
	if who := s.underBudget(b); who != "" {
		return nil, &fault.Error{
			Op: "keys", Kind: fault.Conflict, Code: "budget_in_use", Param: param,
			Detail: "The " + who + " has the terms of this budget and would have no bound without it. Give it another budget_id, or limits of its own, first.",
		}
	}
	s.budgets.Delete(tx, old)
	return old, nil
}

// underBudget names something that has the terms of a budget; it is empty if
// nothing has.
func (s *Set) underBudget(b id.Budget) string {
	if o, ok := firstOf(s.organizations, organizationByBudget, b); ok {
		return "organization " + fault.Short(string(o.ID))
	}
	if t, ok := firstOf(s.teams, teamByBudget, b); ok {
		return "team " + fault.Short(string(t.ID))
	}
	if u, ok := firstOf(s.users, userByBudget, b); ok {
		return "user " + fault.Short(string(u.ID))
	}
	if c, ok := firstOf(s.customers, customerByBudget, b); ok {
		return "customer " + fault.Short(string(c.ID))
	}
	if k, ok := firstOf(s.keys, keyByBudget, b); ok {
		return "key " + k.Hash.String()
	}
	return ""
}

func firstOf[T any](t *table.Table[T], index int, b id.Budget) (*T, bool) {
	return t.One(index, []byte(b))
}
