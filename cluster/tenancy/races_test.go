package tenancy_test

import (
	"testing"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	"github.com/modelgateway/modelgateway/cluster/tenancy/tenancytest"
)

// TestRaces: of two operations that are decided by one set and do not go together,
// the later one is refused as stale, whichever that is.
func TestRaces(t *testing.T) {
	t.Parallel()
	type operation = func(*tenancy.Set, *record.Txn) error
	key := func(k tenancy.Key) operation {
		k.Hash = id.HashKey("sk-made-meanwhile")
		return tenancytest.CreateKey(k)
	}
	deleteTeam := func(s *tenancy.Set, tx *record.Txn) error {
		_, _, err := s.DeleteTeam(tx, "team")
		return err
	}
	leaveTeam := func(s *tenancy.Set, tx *record.Txn) error {
		_, err := s.DeleteTeamMember(tx, "team", "ada")
		return err
	}
	bobJoinsTeam := tenancytest.JoinTeam(tenancy.TeamMember{Team: "team", User: "bob", Role: tenancy.TeamUser})
	bobJoins := tenancytest.JoinOrganization(tenancy.OrganizationMember{Organization: "acme", User: "bob", Role: tenancy.RoleInternalUser})
	for _, test := range []struct {
		name string
		a, b operation
	}{
		{"user, its key", tenancytest.DeleteUser("ada"), key(tenancy.Key{User: "ada"})},
		{"user, its key in a team", tenancytest.DeleteUser("ada"), key(tenancy.Key{User: "ada", Team: "team"})},
		{"user, its place in a team", tenancytest.DeleteUser("bob"), bobJoinsTeam},
		{"user, its place in an organization", tenancytest.DeleteUser("bob"), bobJoins},
		{"user, itself", tenancytest.DeleteUser("ada"), tenancytest.UpdateUser(tenancy.User{ID: "ada"}, 0)},
		{"team, its key", deleteTeam, key(tenancy.Key{Team: "team"})},
		{"team, its member", deleteTeam, bobJoinsTeam},
		{"place in a team, a key there", leaveTeam, key(tenancy.Key{User: "ada", Team: "team"})},
		{"organization, its key", tenancytest.DeleteOrganization("acme"), key(tenancy.Key{Organization: "acme"})},
		{"organization, a key of its team", tenancytest.DeleteOrganization("acme"), key(tenancy.Key{Team: "team"})},
		{"organization, its team", tenancytest.DeleteOrganization("acme"), tenancytest.CreateTeam(tenancy.Team{ID: "new", Organization: "acme"})},
		{"organization, its member", tenancytest.DeleteOrganization("acme"), bobJoins},
		{"organization, a member of its team", tenancytest.DeleteOrganization("acme"), bobJoinsTeam},
		{"place in an organization, a key in its team", tenancytest.LeaveOrganization("acme", "ada"), key(tenancy.Key{User: "ada", Team: "team"})},
		{"two users, one address", tenancytest.CreateUser(tenancy.User{ID: "x", Email: "x@x.org"}), tenancytest.CreateUser(tenancy.User{ID: "y", Email: "X@x.org"})},
		{"two users, one sso id", tenancytest.CreateUser(tenancy.User{ID: "x", SSO: "s"}), tenancytest.UpdateUser(tenancy.User{ID: "bob", SSO: "s"}, 0)},
		{"two users, one id", tenancytest.CreateUser(tenancy.User{ID: "x"}), tenancytest.CreateUser(tenancy.User{ID: "x"})},
		{"two organizations, one name", tenancytest.CreateOrganization(tenancy.Organization{ID: "x", Alias: "X"}), tenancytest.CreateOrganization(tenancy.Organization{ID: "y", Alias: "X"})},
		{"two changes of one organization", tenancytest.UpdateOrganization(tenancy.Organization{ID: "acme", Alias: "A"}, 0), tenancytest.UpdateOrganization(tenancy.Organization{ID: "acme", Alias: "B"}, 0)},
		{"one user, twice a member", bobJoins, bobJoins},
	} {
		for order, pair := range [][2]operation{{test.a, test.b}, {test.b, test.a}} {
			o := newOffice(t)
			o.Must(tenancytest.CreateOrganization(tenancy.Organization{ID: "acme", Alias: "Acme"}))
			o.Must(tenancytest.CreateTeam(tenancy.Team{ID: "team", Organization: "acme"}))
			o.Must(tenancytest.CreateUser(tenancy.User{ID: "ada"}))
			o.Must(tenancytest.CreateUser(tenancy.User{ID: "bob"}))
			o.Must(tenancytest.JoinOrganization(tenancy.OrganizationMember{Organization: "acme", User: "ada", Role: tenancy.RoleInternalUser}))
			o.Must(tenancytest.JoinTeam(tenancy.TeamMember{Team: "team", User: "ada", Role: tenancy.TeamUser}))
			first, second := o.Begin(), o.Begin()
			for i, tx := range []*record.Txn{first, second} {
				if err := pair[i](o.Set, tx); err != nil {
					t.Fatalf("%s: %v", test.name, err)
				}
			}
			if _, err := o.Commit(first); err != nil {
				t.Fatalf("%s: %v", test.name, err)
			}
			if _, err := o.Commit(second); err == nil || fault.From(err).Code != record.CodeStale {
				t.Errorf("%s, order %d: the second was answered with %v", test.name, order, err)
			}
			o.check()
		}
	}
}

// TestKeysGoWithTheirPlace: a key that a user gets in an organization just before
// leaving it does not stay behind. One that an admin makes later does.
func TestKeysGoWithTheirPlace(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.Must(tenancytest.CreateOrganization(tenancy.Organization{ID: "acme", Alias: "Acme"}))
	o.Must(tenancytest.CreateUser(tenancy.User{ID: "ada"}))
	o.Must(tenancytest.JoinOrganization(tenancy.OrganizationMember{Organization: "acme", User: "ada", Role: tenancy.RoleInternalUser}))
	leave := o.Begin()
	if err := tenancytest.LeaveOrganization("acme", "ada")(o.Set, leave); err != nil {
		t.Fatal(err)
	}
	o.Must(tenancytest.CreateKey(tenancy.Key{Hash: id.HashKey("sk-just-before"), User: "ada", Organization: "acme"}))
	o.Must(tenancytest.CreateKey(tenancy.Key{Hash: id.HashKey("sk-elsewhere"), User: "ada"}))
	if _, err := o.Commit(leave); err == nil {
		t.Fatal("a key was not seen")
	}
	o.Must(tenancytest.LeaveOrganization("acme", "ada"))
	if _, ok := o.Set.Get(id.HashKey("sk-just-before")); ok {
		t.Error("the key in the organization is still there")
	}
	if _, ok := o.Set.Get(id.HashKey("sk-elsewhere")); !ok {
		t.Error("a key that is not in the organization has gone")
	}
	o.check()
}
