package tenancy_test

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/record/recordtest"
	"github.com/modelgateway/modelgateway/cluster/store"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	"github.com/modelgateway/modelgateway/cluster/vault"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// office is a replicated state and the set that goes with it.
type office struct {
	tb    rapid.TB
	state recordtest.State
	set   *tenancy.Set
	time  time.Time
}

func newOffice(tb rapid.TB) *office {
	tb.Helper()
	s, err := tenancy.New(nil, vault.NewSecret(master))
	if err != nil {
		tb.Fatal(err)
	}
	return &office{tb: tb, set: s, time: now()}
}

// begin is a transaction of the office's next second.
func (o *office) begin() *record.Txn {
	o.time = o.time.Add(time.Second)
	return record.NewTxn(o.time, "ada")
}

// commit makes a transaction and returns whether it revokes.
func (o *office) commit(tx *record.Txn) (revokes bool, err error) {
	changes, _, err := o.state.Commit(tx)
	if err != nil {
		return false, err
	}
	next, broken := o.set.With(changes)
	if len(broken) > 0 {
		o.tb.Fatalf("records that cannot be read: %v", broken)
	}
	o.set = next
	return tx.NeedsFence(), nil
}

// try runs an operation and makes what it wants. It returns whether it revokes.
func (o *office) try(op func(s *tenancy.Set, tx *record.Txn) error) (bool, error) {
	tx := o.begin()
	if err := op(o.set, tx); err != nil {
		return false, err
	}
	return o.commit(tx)
}

// must is try for what has to work.
func (o *office) must(op func(s *tenancy.Set, tx *record.Txn) error) bool {
	revokes, err := o.try(op)
	if err != nil {
		o.tb.Fatal(err)
	}
	return revokes
}

// The operations of these tests.

func createOrganization(org tenancy.Organization) func(*tenancy.Set, *record.Txn) error {
	return func(s *tenancy.Set, tx *record.Txn) error {
		_, err := s.CreateOrganization(tx, org)
		return err
	}
}

func updateOrganization(org tenancy.Organization, ifRevision uint64) func(*tenancy.Set, *record.Txn) error {
	return func(s *tenancy.Set, tx *record.Txn) error {
		_, err := s.UpdateOrganization(tx, org, ifRevision)
		return err
	}
}

func deleteOrganization(org id.Organization) func(*tenancy.Set, *record.Txn) error {
	return func(s *tenancy.Set, tx *record.Txn) error {
		_, err := s.DeleteOrganization(tx, org)
		return err
	}
}

func createUser(u tenancy.User) func(*tenancy.Set, *record.Txn) error {
	return func(s *tenancy.Set, tx *record.Txn) error {
		_, err := s.UserBatch(tx).Create(u)
		return err
	}
}

func updateUser(u tenancy.User, ifRevision uint64) func(*tenancy.Set, *record.Txn) error {
	return func(s *tenancy.Set, tx *record.Txn) error {
		_, err := s.UserBatch(tx).Update(u, ifRevision)
		return err
	}
}

func deleteUser(u id.User) func(*tenancy.Set, *record.Txn) error {
	return func(s *tenancy.Set, tx *record.Txn) error {
		_, err := s.DeleteUser(tx, u)
		return err
	}
}

func joinOrganization(m tenancy.OrganizationMember) func(*tenancy.Set, *record.Txn) error {
	return func(s *tenancy.Set, tx *record.Txn) error {
		u, ok := s.User(tx, m.User)
		if !ok {
			return fault.New(fault.NotFound, "user_not_found", "There is no such user.")
		}
		_, err := s.AddOrganizationMember(tx, u, m)
		return err
	}
}

func leaveOrganization(org id.Organization, u id.User) func(*tenancy.Set, *record.Txn) error {
	return func(s *tenancy.Set, tx *record.Txn) error {
		_, err := s.DeleteOrganizationMember(tx, org, u)
		return err
	}
}

func joinTeam(m tenancy.TeamMember) func(*tenancy.Set, *record.Txn) error {
	return func(s *tenancy.Set, tx *record.Txn) error {
		u, ok := s.User(tx, m.User)
		if !ok {
			return fault.New(fault.NotFound, "user_not_found", "There is no such user.")
		}
		t, err := s.NeedTeam(tx, m.Team)
		if err == nil {
			_, err = s.JoinTeam(tx, t, u, m)
		}
		return err
	}
}

func createTeam(team tenancy.Team) func(*tenancy.Set, *record.Txn) error {
	return func(s *tenancy.Set, tx *record.Txn) error {
		_, err := s.CreateTeam(tx, team)
		return err
	}
}

func createKey(k tenancy.Key) func(*tenancy.Set, *record.Txn) error {
	return func(s *tenancy.Set, tx *record.Txn) error {
		_, err := s.CreateKey(tx, k)
		return err
	}
}

// invited is the invitation of a proxy_admin to no place.
func invited(s *tenancy.Set, tx *record.Txn, u tenancy.User, fresh id.User) tenancy.Invitation {
	return tenancy.Invitation{User: u, Fresh: fresh, Rights: s.Rights(tx, tenancy.Principal{Master: true})}
}

// refusal is the param and the code of a fault; empty for none.
func refusal(err error) string {
	if err == nil {
		return ""
	}
	f := fault.From(err)
	return strings.TrimSpace(f.Param + " " + f.Code)
}

// claims returns the names of a space that are taken, and by whom.
func (o *office) claims(space store.Space) map[string]string {
	out := map[string]string{}
	err := o.state.Scan(context.Background(), store.Range{Space: space}, func(key, value []byte) bool {
		c := &clusterv1.Claim{}
		if err := proto.Unmarshal(value, c); err != nil {
			o.tb.Fatal(err)
		}
		out[string(key)] = string(c.GetOwner())
		return true
	})
	if err != nil {
		o.tb.Fatal(err)
	}
	return out
}

// check holds the state to what has to be so after every transaction: whatever a
// record refers to is there, and the names that are taken are those that are used.
func (o *office) check() {
	o.tb.Helper()
	s := o.set
	organizations, emails := map[string]string{}, map[string]string{}
	need := func(what string, ok bool) {
		if !ok {
			o.tb.Fatalf("%s is not there", what)
		}
	}
	for org := range s.Organizations() {
		organizations[org.Alias] = string(org.ID)
		for m := range s.OrganizationMembers(org.ID) {
			_, ok := s.User(nil, m.User)
			need(fmt.Sprintf("user %s of organization %s", m.User, org.ID), ok)
		}
	}
	users, _ := s.Users(tenancy.UserQuery{Limit: 1000})
	for _, u := range users {
		if u.Email != "" {
			name := "e\x00" + strings.ToLower(u.Email)
			switch d := u.Directory; {
			case d.Organization != "":
				name += "\x00o\x00" + string(d.Organization)
			case d.Team != "":
				name += "\x00t\x00" + string(d.Team)
			}
			emails[name] = string(u.ID)
		}
		if u.SSO != "" {
			emails["s\x00"+u.SSO] = string(u.ID)
		}
		for m := range s.OrganizationsOf(u.ID) {
			_, ok := s.Organization(nil, m.Organization)
			need(fmt.Sprintf("organization %s of user %s", m.Organization, u.ID), ok)
		}
		for m := range s.TeamsOf(u.ID) {
			_, ok := s.Team(nil, m.Team)
			need(fmt.Sprintf("team %s of user %s", m.Team, u.ID), ok)
		}
	}
	list, _ := s.List(0, 1000)
	for _, k := range list {
		if k.User != "" {
			_, ok := s.User(nil, k.User)
			need(fmt.Sprintf("user %s of key %s", k.User, k.Alias), ok)
		}
		if k.Organization != "" {
			_, ok := s.Organization(nil, k.Organization)
			need(fmt.Sprintf("organization %s of key %s", k.Organization, k.Alias), ok)
		}
		if k.Team != "" {
			t, ok := s.Team(nil, k.Team)
			need(fmt.Sprintf("team %s of key %s", k.Team, k.Alias), ok)
			if t.Organization != k.Organization {
				o.tb.Fatalf("key %s is of organization %q, its team of %q", k.Alias, k.Organization, t.Organization)
			}
		}
	}
	o.checkMemberships()
	for _, want := range []struct {
		space store.Space
		names map[string]string
	}{{store.SpaceOrganizationAlias, organizations}, {store.SpaceUserName, emails}, {store.SpaceKeyAlias, o.aliases()}} {
		if diff := cmp.Diff(want.names, o.claims(want.space)); diff != "" {
			o.tb.Fatalf("names of the space %q (- used, + taken):\n%s", string(rune(want.space)), diff)
		}
	}
}

// aliases returns the names that claim the aliases of keys, by the records of the state.
func (o *office) aliases() map[string]string {
	out := map[string]string{}
	err := o.state.Scan(context.Background(), store.Range{Space: store.SpaceKey}, func(key, value []byte) bool {
		k := &clusterv1.VirtualKey{}
		if err := proto.Unmarshal(value, k); err != nil {
			o.tb.Fatal(err)
		}
		name := k.GetAlias()
		switch {
		case name == "":
			return true
		case k.GetAliasInPlace() && k.GetTeamId() != "":
			name = "\x00t\x00" + k.GetTeamId() + "\x00" + name
		case k.GetAliasInPlace():
			name = "\x00u\x00" + k.GetOrganizationId() + "\x00" + k.GetUserId() + "\x00" + name
		}
		if other, twice := out[name]; twice {
			o.tb.Fatalf("the keys %x and %x both have the alias %q", other, key, name)
		}
		out[name] = string(key)
		return true
	})
	if err != nil {
		o.tb.Fatal(err)
	}
	return out
}

// checkMemberships reads memberships from the state, where those are found as well
// that are of nobody.
func (o *office) checkMemberships() {
	o.tb.Helper()
	for c := range o.set.Customers() {
		if _, ok := o.set.Organization(nil, c.Organization); c.Organization != "" && !ok {
			o.tb.Fatalf("the customer %s is of %s, which is not there", c.ID, c.Organization)
		}
	}
	for _, of := range []store.Space{store.SpaceOrganizationMember, store.SpaceTeamMember} {
		err := o.state.Scan(context.Background(), store.Range{Space: of}, func(key, _ []byte) bool {
			where, who, _ := strings.Cut(string(key), "\x00")
			_, user := o.set.User(nil, id.User(who))
			_, organization := o.set.Organization(nil, id.Organization(where))
			_, team := o.set.Team(nil, id.Team(where))
			if !user || of == store.SpaceOrganizationMember && !organization || of == store.SpaceTeamMember && !team {
				o.tb.Fatalf("the membership %q is of what is not there", key)
			}
			return true
		})
		if err != nil {
			o.tb.Fatal(err)
		}
	}
}
