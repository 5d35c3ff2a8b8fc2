package tenancy_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/rights"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	"github.com/modelgateway/modelgateway/cluster/tenancy/tenancytest"
)

func pico(n int64) *money.Pico { p := money.Pico(n); return &p }

func TestOrganizations(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	acme := tenancy.Organization{ID: "acme", Alias: "Acme", Models: []string{"gpt-*"}, Metadata: `{"a":1}`}
	o.Must(tenancytest.CreateOrganization(acme))
	o.Must(tenancytest.CreateOrganization(tenancy.Organization{ID: "zeta", Alias: "Zeta"}))
	for _, test := range []struct {
		name string
		op   func(*tenancy.Set, *record.Txn) error
		want string
		kind fault.Kind
	}{
		{"id taken", tenancytest.CreateOrganization(tenancy.Organization{ID: "acme", Alias: "Other"}), "organization_id already_exists", fault.Exists},
		{"name taken", tenancytest.CreateOrganization(tenancy.Organization{ID: "other", Alias: "Acme"}), "organization_alias already_exists", fault.Exists},
		{"no such budget", tenancytest.CreateOrganization(tenancy.Organization{ID: "other", Alias: "Other", Limits: tenancy.Limits{Budget: "gold"}}), "budget_id budget_not_found", fault.NotFound},
		{"soft budget", tenancytest.CreateOrganization(tenancy.Organization{ID: "other", Alias: "Other", Limits: tenancy.Limits{MaxBudget: pico(1), SoftBudget: pico(1)}}), "soft_budget invalid_value", fault.Malformed},
		{"pattern", tenancytest.CreateOrganization(tenancy.Organization{ID: "other", Alias: "Other", Models: []string{"a", "*/*"}}), "models[1] invalid_value", fault.Malformed},
		{"update: not there", tenancytest.UpdateOrganization(tenancy.Organization{ID: "other", Alias: "Other"}, 0), "organization_id organization_not_found", fault.NotFound},
		{"update: name taken", tenancytest.UpdateOrganization(tenancy.Organization{ID: "acme", Alias: "Zeta"}, 0), "organization_alias already_exists", fault.Exists},
		{"update: revision", tenancytest.UpdateOrganization(tenancy.Organization{ID: "acme", Alias: "Acme"}, 99), "revision_conflict", fault.Conflict},
		{"delete: not there", tenancytest.DeleteOrganization("other"), "organization_id organization_not_found", fault.NotFound},
	} {
		_, err := o.Try(test.op)
		if got := tenancytest.Refusal(err); got != test.want || fault.KindOf(err) != test.kind {
			t.Errorf("%s: %q, %v; want %q", test.name, got, err, test.want)
		}
	}
	renamed := acme
	renamed.Alias = "Acme Inc"
	if o.Must(tenancytest.UpdateOrganization(renamed, 1)) {
		t.Error("another name revokes")
	}
	o.Must(tenancytest.CreateOrganization(tenancy.Organization{ID: "new", Alias: "Acme"}))
	var names []string
	for org := range o.Set.Organizations() {
		names = append(names, org.Alias)
	}
	if want := []string{"Acme", "Acme Inc", "Zeta"}; !slices.Equal(names, want) {
		t.Errorf("organizations are %v, want %v", names, want)
	}
	got, _ := o.Set.Organization(nil, "acme")
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
		o.Must(tenancytest.CreateUser(some))
		if got := o.Must(tenancytest.UpdateUser(test.next, 0)); got != test.want {
			t.Errorf("%s: revokes is %v", test.name, got)
		}
	}
	o := newOffice(t)
	o.Must(tenancytest.CreateUser(some))
	o.Must(tenancytest.CreateOrganization(tenancy.Organization{ID: "acme", Alias: "Acme"}))
	o.Must(tenancytest.JoinOrganization(tenancy.OrganizationMember{Organization: "acme", User: "ada", Role: tenancy.RoleOrgAdmin}))
	if !o.Must(func(s *tenancy.Set, tx *record.Txn) error {
		_, err := s.UpdateOrganizationMember(tx, tenancy.OrganizationMember{Organization: "acme", User: "ada", Role: tenancy.RoleInternalUser}, 0)
		return err
	}) {
		t.Error("an admin who is none any more keeps the rights for a while")
	}
	if !o.Must(tenancytest.LeaveOrganization("acme", "ada")) || !o.Must(tenancytest.DeleteUser("ada")) || !o.Must(tenancytest.DeleteOrganization("acme")) {
		t.Error("what is deleted keeps its rights for a while")
	}
	o.check()
}

func TestUsers(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.Must(tenancytest.CreateUser(tenancy.User{ID: "ada", Email: "Ada@Example.com", SSO: "sso|1", Role: tenancy.RoleInternalUser}))
	o.Must(tenancytest.CreateUser(tenancy.User{ID: "grace", Role: tenancy.RoleInternalUser}))
	for _, test := range []struct {
		name string
		op   func(*tenancy.Set, *record.Txn) error
		want string
	}{
		{"id taken", tenancytest.CreateUser(tenancy.User{ID: "ada"}), "user_id already_exists"},
		{"address taken", tenancytest.CreateUser(tenancy.User{ID: "other", Email: "aDA@example.COM"}), "user_email already_exists"},
		{"sso taken", tenancytest.CreateUser(tenancy.User{ID: "other", SSO: "sso|1"}), "sso_user_id already_exists"},
		{"no such budget", tenancytest.CreateUser(tenancy.User{ID: "other", Limits: tenancy.Limits{Budget: "gold"}}), "budget_id budget_not_found"},
		{"pattern", tenancytest.CreateUser(tenancy.User{ID: "other", Models: []string{"**"}}), "models[0] invalid_value"},
		{"update: not there", tenancytest.UpdateUser(tenancy.User{ID: "other"}, 0), "user_id user_not_found"},
		{"update: revision", tenancytest.UpdateUser(tenancy.User{ID: "ada"}, 2), "revision_conflict"},
		{"update: address taken", tenancytest.UpdateUser(tenancy.User{ID: "grace", Email: "ada@example.com"}, 0), "user_email already_exists"},
		{"delete: not there", tenancytest.DeleteUser("other"), "user_id user_not_found"},
		{"member: no organization", tenancytest.JoinOrganization(tenancy.OrganizationMember{Organization: "acme", User: "ada"}), "organization_id organization_not_found"},
		{"member of a team that is not there", tenancytest.JoinTeam(tenancy.TeamMember{Team: "t", User: "ada"}), "team_id team_not_found"},
	} {
		if _, err := o.Try(test.op); tenancytest.Refusal(err) != test.want {
			t.Errorf("%s: %q, want %q", test.name, tenancytest.Refusal(err), test.want)
		}
	}
	// Only the case of the address changes, which is the same address.
	o.Must(tenancytest.UpdateUser(tenancy.User{ID: "ada", Email: "ada@example.com", Role: tenancy.RoleInternalUser}, 1))
	if u := slices.Collect(o.Set.UsersByEmail(nil, "ADA@EXAMPLE.COM")); len(u) != 1 || u[0].Email != "ada@example.com" || u[0].SSO != "" {
		t.Errorf("found %+v", u)
	}
	if u := slices.Collect(o.Set.UsersByEmail(nil, "")); len(u) != 0 {
		t.Errorf("no address is that of %v", u)
	}
	o.check()
}

// TestBatch: the users of one transaction do not get one name, and what is refused
// of them leaves nothing behind.
func TestBatch(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.Must(tenancytest.CreateUser(tenancy.User{ID: "ada", Email: "ada@x.org", Role: tenancy.RoleInternalUser}))
	o.Must(tenancytest.CreateUser(tenancy.User{ID: "grace", Role: tenancy.RoleInternalUser}))
	var got []string
	o.Must(func(s *tenancy.Set, tx *record.Txn) error {
		got = nil
		b := s.UserBatch(tx)
		note := func(err error) { got = append(got, tenancytest.Refusal(err)) }
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
		_, _, err = operator(s, tx).Invite(b, rights.Invitation{User: tenancy.User{Email: "new@X.org"}, Fresh: "fresh"})
		note(err)
		_, made, err := operator(s, tx).Invite(b, rights.Invitation{User: tenancy.User{Email: "fresh@x.org"}, Fresh: "fresh"})
		note(err)
		if !made {
			t.Error("nobody was made")
		}
		_, made, err = operator(s, tx).Invite(b, rights.Invitation{User: tenancy.User{ID: "grace"}, Fresh: "unused"})
		note(err)
		if made {
			t.Error("grace was made again")
		}
		_, _, err = operator(s, tx).Invite(b, rights.Invitation{User: tenancy.User{ID: "grace"}, Fresh: "unused"})
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
	if _, err := o.Try(func(s *tenancy.Set, tx *record.Txn) error {
		_, _, err := operator(s, tx).Invite(s.UserBatch(tx), rights.Invitation{User: tenancy.User{ID: "ada", Email: "fresh@x.org"}, Fresh: ""})
		return err
	}); tenancytest.Refusal(err) != "user_email invalid_value" {
		t.Errorf("an id and another's address: %v", err)
	}
	o.check()
}
