package tenancy_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
)

func pico(n int64) *money.Pico { p := money.Pico(n); return &p }

func TestOrganizations(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	acme := tenancy.Organization{ID: "acme", Alias: "Acme", Models: []string{"gpt-*"}, Metadata: `{"a":1}`}
	o.must(createOrganization(acme))
	o.must(createOrganization(tenancy.Organization{ID: "zeta", Alias: "Zeta"}))
	for _, test := range []struct {
		name string
		op   func(*tenancy.Set, *record.Txn) error
		want string
		kind fault.Kind
	}{
		{"id taken", createOrganization(tenancy.Organization{ID: "acme", Alias: "Other"}), "organization_id already_exists", fault.Exists},
		{"name taken", createOrganization(tenancy.Organization{ID: "other", Alias: "Acme"}), "organization_alias already_exists", fault.Exists},
		{"no such budget", createOrganization(tenancy.Organization{ID: "other", Alias: "Other", Limits: tenancy.Limits{Budget: "gold"}}), "budget_id budget_not_found", fault.NotFound},
		{"soft budget", createOrganization(tenancy.Organization{ID: "other", Alias: "Other", Limits: tenancy.Limits{MaxBudget: pico(1), SoftBudget: pico(1)}}), "soft_budget invalid_value", fault.Malformed},
		{"pattern", createOrganization(tenancy.Organization{ID: "other", Alias: "Other", Models: []string{"a", "*/*"}}), "models[1] invalid_value", fault.Malformed},
		{"update: not there", updateOrganization(tenancy.Organization{ID: "other", Alias: "Other"}, 0), "organization_id organization_not_found", fault.NotFound},
		{"update: name taken", updateOrganization(tenancy.Organization{ID: "acme", Alias: "Zeta"}, 0), "organization_alias already_exists", fault.Exists},
		{"update: revision", updateOrganization(tenancy.Organization{ID: "acme", Alias: "Acme"}, 99), "revision_conflict", fault.Conflict},
		{"delete: not there", deleteOrganization("other"), "organization_id organization_not_found", fault.NotFound},
	} {
		_, err := o.try(test.op)
		if got := refusal(err); got != test.want || fault.KindOf(err) != test.kind {
			t.Errorf("%s: %q, %v; want %q", test.name, got, err, test.want)
		}
	}
	renamed := acme
	renamed.Alias = "Acme Inc"
	if o.must(updateOrganization(renamed, 1)) {
		t.Error("another name revokes")
	}
	o.must(createOrganization(tenancy.Organization{ID: "new", Alias: "Acme"}))
	var names []string
	for org := range o.set.Organizations() {
		names = append(names, org.Alias)
	}
	if want := []string{"Acme", "Acme Inc", "Zeta"}; !slices.Equal(names, want) {
		t.Errorf("organizations are %v, want %v", names, want)
	}
	got, _ := o.set.Organization(nil, "acme")
	if diff := cmp.Diff(&renamed, got, cmpopts.IgnoreUnexported(tenancy.Organization{}), cmpopts.IgnoreFields(tenancy.Organization{}, "Meta")); diff != "" {
		t.Errorf("the organization differs (- want):\n%s", diff)
	}
	if got.Revision != 3 || got.CreatedBy != "ada" || !got.UpdatedAt.After(got.CreatedAt) {
		t.Errorf("stamped with %+v", got.Meta)
	}
	o.check()
}

func TestWhatRevokes(t *testing.T) {
	t.Parallel()
	some := tenancy.User{ID: "ada", Role: tenancy.RoleInternalUser, Models: []string{"a", "b"}, Limits: tenancy.Limits{RPM: new(uint32(5))}}
	with := func(change func(*tenancy.User)) tenancy.User {
		u := some
		change(&u)
		return u
	}
	for _, test := range []struct {
		name string
		next tenancy.User
		want bool
	}{
		{"nothing", some, false},
		{"the name", with(func(u *tenancy.User) { u.Alias, u.Email, u.SSO, u.Metadata = "Ada", "a@x.org", "s", `{}` }), false},
		{"the role", with(func(u *tenancy.User) { u.Role = tenancy.RoleInternalUserViewer }), true},
		{"blocked", with(func(u *tenancy.User) { u.Blocked = true }), true},
		{"fewer models", with(func(u *tenancy.User) { u.Models = []string{"a"} }), true},
		{"every model", with(func(u *tenancy.User) { u.Models = nil }), false},
		{"less", with(func(u *tenancy.User) { u.Limits.RPM = new(uint32(4)) }), true},
		{"no limits", with(func(u *tenancy.User) { u.Limits = tenancy.Limits{} }), false},
	} {
		o := newOffice(t)
		o.must(createUser(some))
		if got := o.must(updateUser(test.next, 0)); got != test.want {
			t.Errorf("%s: revokes is %v", test.name, got)
		}
	}
	o := newOffice(t)
	o.must(createUser(some))
	o.must(createOrganization(tenancy.Organization{ID: "acme", Alias: "Acme"}))
	o.must(joinOrganization(tenancy.OrganizationMember{Organization: "acme", User: "ada", Role: tenancy.RoleOrgAdmin}))
	if !o.must(func(s *tenancy.Set, tx *record.Txn) error {
		_, err := s.UpdateOrganizationMember(tx, tenancy.OrganizationMember{Organization: "acme", User: "ada", Role: tenancy.RoleInternalUser}, 0)
		return err
	}) {
		t.Error("an admin who is none any more keeps the rights for a while")
	}
	if !o.must(leaveOrganization("acme", "ada")) || !o.must(deleteUser("ada")) || !o.must(deleteOrganization("acme")) {
		t.Error("what is deleted keeps its rights for a while")
	}
	o.check()
}

func TestUsers(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.must(createUser(tenancy.User{ID: "ada", Email: "Ada@Example.com", SSO: "sso|1", Role: tenancy.RoleInternalUser}))
	o.must(createUser(tenancy.User{ID: "grace", Role: tenancy.RoleInternalUser}))
	for _, test := range []struct {
		name string
		op   func(*tenancy.Set, *record.Txn) error
		want string
	}{
		{"id taken", createUser(tenancy.User{ID: "ada"}), "user_id already_exists"},
		{"address taken", createUser(tenancy.User{ID: "other", Email: "aDA@example.COM"}), "user_email already_exists"},
		{"sso taken", createUser(tenancy.User{ID: "other", SSO: "sso|1"}), "sso_user_id already_exists"},
		{"no such budget", createUser(tenancy.User{ID: "other", Limits: tenancy.Limits{Budget: "gold"}}), "budget_id budget_not_found"},
		{"pattern", createUser(tenancy.User{ID: "other", Models: []string{"**"}}), "models[0] invalid_value"},
		{"update: not there", updateUser(tenancy.User{ID: "other"}, 0), "user_id user_not_found"},
		{"update: revision", updateUser(tenancy.User{ID: "ada"}, 2), "revision_conflict"},
		{"update: address taken", updateUser(tenancy.User{ID: "grace", Email: "ada@example.com"}, 0), "user_email already_exists"},
		{"delete: not there", deleteUser("other"), "user_id user_not_found"},
		{"member: no organization", joinOrganization(tenancy.OrganizationMember{Organization: "acme", User: "ada"}), "organization_id organization_not_found"},
		{"member of a team that is not there", joinTeam(tenancy.TeamMember{Team: "t", User: "ada"}), "team_id team_not_found"},
	} {
		if _, err := o.try(test.op); refusal(err) != test.want {
			t.Errorf("%s: %q, want %q", test.name, refusal(err), test.want)
		}
	}
	// Only the case of the address changes, which is the same address.
	o.must(updateUser(tenancy.User{ID: "ada", Email: "ada@example.com", Role: tenancy.RoleInternalUser}, 1))
	if u := slices.Collect(o.set.UsersByEmail(nil, "ADA@EXAMPLE.COM")); len(u) != 1 || u[0].Email != "ada@example.com" || u[0].SSO != "" {
		t.Errorf("found %+v", u)
	}
	if u := slices.Collect(o.set.UsersByEmail(nil, "")); len(u) != 0 {
		t.Errorf("no address is that of %v", u)
	}
	o.check()
}

// TestBatch: the users of one transaction do not get one name, and what is refused
// of them leaves nothing behind.
func TestBatch(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.must(createUser(tenancy.User{ID: "ada", Email: "ada@x.org", Role: tenancy.RoleInternalUser}))
	o.must(createUser(tenancy.User{ID: "grace", Role: tenancy.RoleInternalUser}))
	var got []string
	o.must(func(s *tenancy.Set, tx *record.Txn) error {
		got = nil
		b := s.UserBatch(tx)
		note := func(err error) { got = append(got, refusal(err)) }
		_, err := b.Update(tenancy.User{ID: "ada", Email: "new@x.org"}, 0)
		note(err)
		_, err = b.Update(tenancy.User{ID: "ada", Email: "newer@x.org"}, 0)
		note(err)
		_, err = b.Update(tenancy.User{ID: "grace", Email: "NEW@x.org", SSO: "sso|g"}, 0)
		note(err)
		_, err = b.Create(tenancy.User{ID: "edsger", SSO: "sso|g"})
		note(err)
		_, err = b.Create(tenancy.User{ID: "edsger"})
		note(err)
		_, _, err = b.Invite(invited(s, tx, tenancy.User{Email: "new@X.org"}, "fresh"))
		note(err)
		_, made, err := b.Invite(invited(s, tx, tenancy.User{Email: "fresh@x.org"}, "fresh"))
		note(err)
		if !made {
			t.Error("nobody was made")
		}
		_, made, err = b.Invite(invited(s, tx, tenancy.User{ID: "grace"}, "unused"))
		note(err)
		if made {
			t.Error("grace was made again")
		}
		_, _, err = b.Invite(invited(s, tx, tenancy.User{ID: "grace"}, "unused"))
		note(err)
		return nil
	})
	want := []string{
		"", "user_id duplicate_value", "user_email duplicate_value", "", "user_id duplicate_value",
		"user_email duplicate_value", "", "", "user_id duplicate_value",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("refusals (- want):\n%s", diff)
	}
	if _, err := o.try(func(s *tenancy.Set, tx *record.Txn) error {
		_, _, err := s.UserBatch(tx).Invite(invited(s, tx, tenancy.User{ID: "ada", Email: "fresh@x.org"}, ""))
		return err
	}); refusal(err) != "user_email invalid_value" {
		t.Errorf("an id and another's address: %v", err)
	}
	o.check()
}

func TestUserLists(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.must(createOrganization(tenancy.Organization{ID: "acme", Alias: "Acme"}))
	for _, u := range []tenancy.User{
		{ID: "c", Email: "B@x.org", Alias: "Zoe", Role: tenancy.RoleProxyAdmin},
		{ID: "a", Email: "c@x.org", Alias: "Yan", Role: tenancy.RoleInternalUser, SSO: "s1"},
		{ID: "b", Alias: "Xi", Role: tenancy.RoleInternalUser, SSO: "s2"},
	} {
		o.must(createUser(u))
	}
	o.must(joinOrganization(tenancy.OrganizationMember{Organization: "acme", User: "a", Role: tenancy.RoleInternalUser}))
	o.must(joinOrganization(tenancy.OrganizationMember{Organization: "acme", User: "c", Role: tenancy.RoleInternalUser}))
	for _, test := range []struct {
		name  string
		query tenancy.UserQuery
		want  string
		total int
	}{
		{"all", tenancy.UserQuery{Limit: 10}, "cab", 3},
		{"newest first", tenancy.UserQuery{Limit: 10, Descending: true}, "bac", 3},
		{"second", tenancy.UserQuery{Limit: 1, Offset: 1}, "a", 3},
		{"second, newest first", tenancy.UserQuery{Limit: 1, Offset: 2, Descending: true}, "c", 3},
		{"behind the end", tenancy.UserQuery{Limit: 5, Offset: 5}, "", 3},
		{"by id", tenancy.UserQuery{Limit: 2, Sort: tenancy.UsersByID}, "ab", 3},
		{"by id, last first", tenancy.UserQuery{Limit: 2, Sort: tenancy.UsersByID, Descending: true}, "cb", 3},
		{"by address", tenancy.UserQuery{Limit: 9, Sort: tenancy.UsersByEmail}, "bca", 3},
		{"by name", tenancy.UserQuery{Limit: 9, Sort: tenancy.UsersByAlias}, "bac", 3},
		{"by role", tenancy.UserQuery{Limit: 9, Sort: tenancy.UsersByRole}, "abc", 3},
		{"of a role", tenancy.UserQuery{Limit: 9, Role: tenancy.RoleInternalUser}, "ab", 2},
		{"of ids", tenancy.UserQuery{Limit: 9, IDs: []id.User{"b", "x", "b"}}, "b", 1},
		{"of sso", tenancy.UserQuery{Limit: 9, SSO: []string{"s2", "s1"}}, "ab", 2},
		{"of an address", tenancy.UserQuery{Limit: 9, Email: "b@X"}, "c", 1},
		{"search", tenancy.UserQuery{Limit: 9, Search: "YA"}, "a", 1},
		{"search in address", tenancy.UserQuery{Limit: 9, Search: "x.org"}, "ca", 2},
		{"of an organization", tenancy.UserQuery{Limit: 9, Organizations: []id.Organization{"none", "acme"}}, "ca", 2},
		{"of no organization", tenancy.UserQuery{Limit: 9, Organizations: []id.Organization{"none"}}, "", 0},
		{"of a team", tenancy.UserQuery{Limit: 9, Team: "none"}, "", 0},
		{"seen", tenancy.UserQuery{Limit: 9, May: func(u *tenancy.User) bool { return u.ID != "a" }, Near: []id.User{"a", "b"}}, "b", 1},
		{"not near", tenancy.UserQuery{Limit: 9, May: func(*tenancy.User) bool { return true }}, "", 0},
		{"ids that are not to be seen", tenancy.UserQuery{Limit: 9, IDs: []id.User{"a", "b"}, May: func(u *tenancy.User) bool { return u.ID == "b" }}, "b", 1},
	} {
		page, total := o.set.Users(test.query)
		got := ""
		for _, u := range page {
			got += string(u.ID)
		}
		if got != test.want || total != test.total {
			t.Errorf("%s: %q of %d, want %q of %d", test.name, got, total, test.want, test.total)
		}
	}
}
