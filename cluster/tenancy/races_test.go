package tenancy_test

import (
	"testing"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
)

// TestRaces: of two operations that are decided by one set and do not go together,
// the later one is refused as stale, whichever that is.
func TestRaces(t *testing.T) {
	t.Parallel()
	type operation = func(*tenancy.Set, *record.Txn) error
	key := func(k tenancy.Key) operation {
		k.Hash = id.HashKey("sk-made-meanwhile")
		return createKey(k)
	}
	deleteTeam := func(s *tenancy.Set, tx *record.Txn) error {
		_, _, err := s.DeleteTeam(tx, "team")
		return err
	}
	leaveTeam := func(s *tenancy.Set, tx *record.Txn) error {
		_, err := s.DeleteTeamMember(tx, "team", "ada")
		return err
	}
	bobJoinsTeam := joinTeam(tenancy.TeamMember{Team: "team", User: "bob", Role: tenancy.TeamUser})
	bobJoins := joinOrganization(tenancy.OrganizationMember{Organization: "acme", User: "bob", Role: tenancy.RoleInternalUser})
	for _, test := range []struct {
		name string
		a, b operation
	}{
		{"user, its key", deleteUser("ada"), key(tenancy.Key{User: "ada"})},
		{"user, its key in a team", deleteUser("ada"), key(tenancy.Key{User: "ada", Team: "team"})},
		{"user, its place in a team", deleteUser("bob"), bobJoinsTeam},
		{"user, its place in an organization", deleteUser("bob"), bobJoins},
		{"user, itself", deleteUser("ada"), updateUser(tenancy.User{ID: "ada"}, 0)},
		{"team, its key", deleteTeam, key(tenancy.Key{Team: "team"})},
		{"team, its member", deleteTeam, bobJoinsTeam},
		{"place in a team, a key there", leaveTeam, key(tenancy.Key{User: "ada", Team: "team"})},
		{"organization, its key", deleteOrganization("acme"), key(tenancy.Key{Organization: "acme"})},
		{"organization, a key of its team", deleteOrganization("acme"), key(tenancy.Key{Team: "team"})},
		{"organization, its team", deleteOrganization("acme"), createTeam(tenancy.Team{ID: "new", Organization: "acme"})},
		{"organization, its member", deleteOrganization("acme"), bobJoins},
		{"organization, a member of its team", deleteOrganization("acme"), bobJoinsTeam},
		{"place in an organization, a key in its team", leaveOrganization("acme", "ada"), key(tenancy.Key{User: "ada", Team: "team"})},
		{"two users, one address", createUser(tenancy.User{ID: "x", Email: "x@x.org"}), createUser(tenancy.User{ID: "y", Email: "X@x.org"})},
		{"two users, one sso id", createUser(tenancy.User{ID: "x", SSO: "s"}), updateUser(tenancy.User{ID: "bob", SSO: "s"}, 0)},
		{"two users, one id", createUser(tenancy.User{ID: "x"}), createUser(tenancy.User{ID: "x"})},
		{"two organizations, one name", createOrganization(tenancy.Organization{ID: "x", Alias: "X"}), createOrganization(tenancy.Organization{ID: "y", Alias: "X"})},
		{"two changes of one organization", updateOrganization(tenancy.Organization{ID: "acme", Alias: "A"}, 0), updateOrganization(tenancy.Organization{ID: "acme", Alias: "B"}, 0)},
		{"one user, twice a member", bobJoins, bobJoins},
	} {
		for order, pair := range [][2]operation{{test.a, test.b}, {test.b, test.a}} {
			o := newOffice(t)
			o.must(createOrganization(tenancy.Organization{ID: "acme", Alias: "Acme"}))
			o.must(createTeam(tenancy.Team{ID: "team", Organization: "acme"}))
			o.must(createUser(tenancy.User{ID: "ada"}))
			o.must(createUser(tenancy.User{ID: "bob"}))
			o.must(joinOrganization(tenancy.OrganizationMember{Organization: "acme", User: "ada", Role: tenancy.RoleInternalUser}))
			o.must(joinTeam(tenancy.TeamMember{Team: "team", User: "ada", Role: tenancy.TeamUser}))
			first, second := o.begin(), o.begin()
			for i, tx := range []*record.Txn{first, second} {
				if err := pair[i](o.set, tx); err != nil {
					t.Fatalf("%s: %v", test.name, err)
				}
			}
			if _, err := o.commit(first); err != nil {
				t.Fatalf("%s: %v", test.name, err)
			}
			if _, err := o.commit(second); err == nil || fault.From(err).Code != record.CodeStale {
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
	o.must(createOrganization(tenancy.Organization{ID: "acme", Alias: "Acme"}))
	o.must(createUser(tenancy.User{ID: "ada"}))
	o.must(joinOrganization(tenancy.OrganizationMember{Organization: "acme", User: "ada", Role: tenancy.RoleInternalUser}))
	leave := o.begin()
	if err := leaveOrganization("acme", "ada")(o.set, leave); err != nil {
		t.Fatal(err)
	}
	o.must(createKey(tenancy.Key{Hash: id.HashKey("sk-just-before"), User: "ada", Organization: "acme"}))
	o.must(createKey(tenancy.Key{Hash: id.HashKey("sk-elsewhere"), User: "ada"}))
	if _, err := o.commit(leave); err == nil {
		t.Fatal("a key was not seen")
	}
	o.must(leaveOrganization("acme", "ada"))
	if _, ok := o.set.Get(id.HashKey("sk-just-before")); ok {
		t.Error("the key in the organization is still there")
	}
	if _, ok := o.set.Get(id.HashKey("sk-elsewhere")); !ok {
		t.Error("a key that is not in the organization has gone")
	}
	o.check()
}
