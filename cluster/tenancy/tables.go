package tenancy

import (
	"context"

	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/table"
)

// tables are the records of the replicated state that say who may use the gateway.
type tables struct {
	keys                *table.Table[Key]
	organizations       *table.Table[Organization]
	organizationMembers *table.Table[OrganizationMember]
	teams               *table.Table[Team]
	teamMembers         *table.Table[TeamMember]
	users               *table.Table[User]
	customers           *table.Table[Customer]
	budgets             *table.Table[Budget]
	marks               *table.Table[mark]
}

func newTables() tables {
	return tables{
		keys: newKeys(), organizations: newOrganizations(), organizationMembers: newOrganizationMembers(),
		teams: newTeams(), teamMembers: newTeamMembers(), users: newUsers(), customers: newCustomers(),
		budgets: newBudgets(), marks: newMarks(),
	}
}

// With returns the set as changes of the replicated state leave it; s stays as it
// is. A record that cannot be read is left as it was, and is among the errors. What
// is not this package's is passed over.
func (s *Set) With(changes []record.Change) (*Set, []error) {
	next := *s
	var broken []error
	update(&next.keys, changes, &broken)
	update(&next.organizations, changes, &broken)
	update(&next.organizationMembers, changes, &broken)
	update(&next.teams, changes, &broken)
	update(&next.teamMembers, changes, &broken)
	update(&next.users, changes, &broken)
	update(&next.customers, changes, &broken)
	update(&next.budgets, changes, &broken)
	update(&next.marks, changes, &broken)
	return &next, broken
}

func update[T any](t **table.Table[T], changes []record.Change, broken *[]error) {
	next, _, errs := (*t).With(changes)
	*t, *broken = next, append(*broken, errs...)
}

// Load returns the set with all records of the replicated state. Records that cannot be read are
// left out and are in broken: the others are still served.
func (s *Set) Load(ctx context.Context, state table.Scanner) (loaded *Set, broken []error, err error) {
	next := *s
	l := loader{ctx: ctx, state: state}
	load(&l, &next.keys)
	load(&l, &next.organizations)
	load(&l, &next.organizationMembers)
	load(&l, &next.teams)
	load(&l, &next.teamMembers)
	load(&l, &next.users)
	load(&l, &next.customers)
	load(&l, &next.budgets)
	load(&l, &next.marks)
	if l.err != nil {
		return nil, nil, l.err
	}
	return &next, l.broken, nil
}

// loader reads one table after the other until one cannot be read.
type loader struct {
	ctx    context.Context //nolint:containedctx // it lives for one call of Load
	state  table.Scanner
	broken []error
	err    error
}

func load[T any](l *loader, t **table.Table[T]) {
	if l.err != nil {
		return
	}
	next, broken, err := (*t).Load(l.ctx, l.state)
	if err != nil {
		l.err = err
		return
	}
	*t, l.broken = next, append(l.broken, broken...)
}
