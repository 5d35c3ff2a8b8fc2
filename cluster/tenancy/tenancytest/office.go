// Package tenancytest provides a small gateway of organizations, teams, users and keys on which the
// tests of tenancy, rights and listing run operations as the state machine does.
package tenancytest

import (
	"time"

	"pgregory.net/rapid"

	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/record/recordtest"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	"github.com/modelgateway/modelgateway/cluster/vault"
)

// Office is a replicated state and the set that goes with it. It is not safe for concurrent use.
type Office struct {
	TB    rapid.TB
	State recordtest.State
	Set   *tenancy.Set
	Time  time.Time // of the last transaction
}

// NewOffice returns an office that has the master key only.
func NewOffice(tb rapid.TB) *Office {
	tb.Helper()
	s, err := tenancy.New(nil, vault.NewSecret(Master))
	if err != nil {
		tb.Fatal(err)
	}
	return &Office{TB: tb, Set: s, Time: Now()}
}

// Begin is a transaction of the office's next second.
func (o *Office) Begin() *record.Txn {
	o.Time = o.Time.Add(time.Second)
	return record.NewTxn(o.Time, "ada")
}

// Commit makes a transaction and returns whether it revokes.
func (o *Office) Commit(tx *record.Txn) (revokes bool, err error) {
	changes, _, err := o.State.Commit(tx)
	if err != nil {
		return false, err
	}
	next, broken := o.Set.With(changes)
	if len(broken) > 0 {
		o.TB.Fatalf("records that cannot be read: %v", broken)
	}
	o.Set = next
	return tx.NeedsFence(), nil
}

// Try runs an operation and makes what it wants. It returns whether it revokes.
func (o *Office) Try(op Operation) (bool, error) {
	tx := o.Begin()
	if err := op(o.Set, tx); err != nil {
		return false, err
	}
	return o.Commit(tx)
}

// Must is Try for what has to work.
func (o *Office) Must(op Operation) bool {
	revokes, err := o.Try(op)
	if err != nil {
		o.TB.Fatal(err)
	}
	return revokes
}

// AddOwners gives an empty office two organizations, a team of one of them, users, of whom one is in
// the team, and a key of the file.
func (o *Office) AddOwners() {
	o.TB.Helper()
	s, err := tenancy.New([]tenancy.Key{Called("file", nil)}, vault.NewSecret(Master))
	if err != nil {
		o.TB.Fatal(err)
	}
	o.Set = s
	o.Must(CreateOrganization(tenancy.Organization{ID: "acme", Alias: "Acme"}))
	o.Must(CreateOrganization(tenancy.Organization{ID: "zeta", Alias: "Zeta"}))
	o.Must(CreateTeam(tenancy.Team{ID: "research", Organization: "acme", MemberKeyDuration: "30d"}))
	o.Must(CreateTeam(tenancy.Team{ID: "free"}))
	o.Must(CreateUser(tenancy.User{ID: "ada", Role: tenancy.RoleInternalUser}))
	o.Must(CreateUser(tenancy.User{ID: "bob", Role: tenancy.RoleInternalUser}))
	o.Must(JoinTeam(tenancy.TeamMember{Team: "research", User: "ada", Role: tenancy.TeamUser}))
	o.Must(func(s *tenancy.Set, tx *record.Txn) error {
		_, err := s.CreateBudget(tx, tenancy.Budget{ID: "gold"})
		return err
	})
}
