package tenancy_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/rights"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	"github.com/modelgateway/modelgateway/cluster/tenancy/tenancytest"
)

func updateTeamMember(m tenancy.TeamMember, ifRevision uint64) func(*tenancy.Set, *record.Txn) error {
	return func(s *tenancy.Set, tx *record.Txn) error {
		_, err := s.UpdateTeamMember(tx, m, ifRevision)
		return err
	}
}

// newTeams is an office with two organizations, two teams and two users.
func newTeams(t *testing.T) *office {
	t.Helper()
	o := newOffice(t)
	o.Must(tenancytest.CreateOrganization(tenancy.Organization{ID: "acme", Alias: "Acme"}))
	o.Must(tenancytest.CreateOrganization(tenancy.Organization{ID: "zeta", Alias: "Zeta"}))
	o.Must(tenancytest.CreateTeam(tenancy.Team{ID: "red", Alias: "Red", Organization: "acme", Models: []string{"a", "b"}}))
	o.Must(tenancytest.CreateTeam(tenancy.Team{ID: "blue", Alias: "Blue"}))
	o.Must(tenancytest.CreateUser(tenancy.User{ID: "ada", Role: tenancy.RoleInternalUser, Email: "ada@x.org"}))
	o.Must(tenancytest.CreateUser(tenancy.User{ID: "bob", Role: tenancy.RoleInternalUser}))
	o.Must(tenancytest.JoinTeam(tenancy.TeamMember{Team: "red", User: "ada", Role: tenancy.TeamAdmin}))
	return o
}

func TestTeamRefusals(t *testing.T) {
	t.Parallel()
	o := newTeams(t)
	for _, test := range []struct {
		name string
		op   func(*tenancy.Set, *record.Txn) error
		want string
		kind fault.Kind
	}{
		{"id taken", tenancytest.CreateTeam(tenancy.Team{ID: "red"}), "team_id already_exists", fault.Exists},
		{"no such organization", tenancytest.CreateTeam(tenancy.Team{ID: "x", Organization: "none"}), "organization_id organization_not_found", fault.NotFound},
		{"no such budget", tenancytest.CreateTeam(tenancy.Team{ID: "x", Limits: tenancy.Limits{Budget: "gold"}}), "budget_id budget_not_found", fault.NotFound},
		{"soft budget", tenancytest.CreateTeam(tenancy.Team{ID: "x", Limits: tenancy.Limits{MaxBudget: pico(1), SoftBudget: pico(1)}}), "soft_budget invalid_value", fault.Malformed},
		{"pattern", tenancytest.CreateTeam(tenancy.Team{ID: "x", Models: []string{"a", "*/*"}}), "models[1] invalid_value", fault.Malformed},
		{"member budget", tenancytest.CreateTeam(tenancy.Team{ID: "x", MemberBudget: pico(-1)}), "team_member_budget invalid_value", fault.Malformed},
		{"member duration", tenancytest.CreateTeam(tenancy.Team{ID: "x", MemberBudgetDuration: "never"}), "team_member_budget_duration invalid_value", fault.Malformed},
		{"key duration", tenancytest.CreateTeam(tenancy.Team{ID: "x", MemberKeyDuration: "0d"}), "team_member_key_duration invalid_value", fault.Malformed},
		{"update: not there", tenancytest.UpdateTeam(tenancy.Team{ID: "x"}, 0), "team_id team_not_found", fault.NotFound},
		{"update: revision", tenancytest.UpdateTeam(tenancy.Team{ID: "red"}, 99), "revision_conflict", fault.Conflict},
		{"update: no such organization", tenancytest.UpdateTeam(tenancy.Team{ID: "red", Organization: "none"}, 0), "organization_id organization_not_found", fault.NotFound},
		{"delete: not there", tenancytest.DeleteTeam("x"), "team_id team_not_found", fault.NotFound},
		{"join: is in it", tenancytest.JoinTeam(tenancy.TeamMember{Team: "red", User: "ada"}), "user_id already_exists", fault.Exists},
		{"join: no such team", tenancytest.JoinTeam(tenancy.TeamMember{Team: "x", User: "ada"}), "team_id team_not_found", fault.NotFound},
		{"join: pattern", tenancytest.JoinTeam(tenancy.TeamMember{Team: "red", User: "bob", AllowedModels: []string{"**"}}), "allowed_models[0] invalid_value", fault.Malformed},
		{"join: duration", tenancytest.JoinTeam(tenancy.TeamMember{Team: "red", User: "bob", BudgetDuration: "x"}), "budget_duration invalid_value", fault.Malformed},
		{"member: not in it", updateTeamMember(tenancy.TeamMember{Team: "red", User: "bob"}, 0), "user_id member_not_found", fault.NotFound},
		{"member: revision", updateTeamMember(tenancy.TeamMember{Team: "red", User: "ada"}, 99), "revision_conflict", fault.Conflict},
		{"member: no such team", updateTeamMember(tenancy.TeamMember{Team: "x", User: "ada"}, 0), "team_id team_not_found", fault.NotFound},
		{"leave: not in it", tenancytest.LeaveTeam("red", "bob"), "user_id member_not_found", fault.NotFound},
	} {
		_, err := o.Try(test.op)
		if got := tenancytest.Refusal(err); got != test.want || fault.KindOf(err) != test.kind {
			t.Errorf("%s: %q, %v; want %q", test.name, got, err, test.want)
		}
	}
	o.check()
}

// TestTeamChangesThatRevoke says which changes of a team are answered only when
// every node goes by them.
func TestTeamChangesThatRevoke(t *testing.T) {
	t.Parallel()
	some := tenancy.Team{
		ID: "green", Organization: "acme", Models: []string{"a", "b"}, Limits: tenancy.Limits{RPM: new(uint32(5))},
		MemberPermissions: []string{"/key/info", "/key/list"}, MemberBudget: pico(5),
	}
	for _, test := range []struct {
		name   string
		change func(*tenancy.Team)
		want   bool
	}{
		{"name", func(t *tenancy.Team) { t.Alias = "Green" }, false},
		{"metadata", func(t *tenancy.Team) { t.Metadata = `{}` }, false},
		{"all models", func(t *tenancy.Team) { t.Models = nil }, false},
		{"no limits", func(t *tenancy.Team) { t.Limits = tenancy.Limits{} }, false},
		{"no member budget", func(t *tenancy.Team) { t.MemberBudget = nil }, false},
		{"more permissions", func(t *tenancy.Team) { t.MemberPermissions = []string{"/key/list", "/key/delete", "/key/info"} }, false},
		{"fewer models", func(t *tenancy.Team) { t.Models = []string{"a"} }, true},
		{"less", func(t *tenancy.Team) { t.Limits.RPM = new(uint32(4)) }, true},
		{"blocked", func(t *tenancy.Team) { t.Blocked = true }, true},
		{"member budget", func(t *tenancy.Team) { t.MemberBudget = pico(4) }, true},
		{"fewer permissions", func(t *tenancy.Team) { t.MemberPermissions = []string{"/key/info"} }, true},
		{"permissions left to the default", func(t *tenancy.Team) { t.MemberPermissions = nil }, true},
		{"organization", func(t *tenancy.Team) { t.Organization = "zeta" }, true},
	} {
		o := newTeams(t)
		if o.Must(tenancytest.CreateTeam(some)) {
			t.Errorf("%s: a new team revokes", test.name)
		}
		after := some
		test.change(&after)
		if got := o.Must(tenancytest.UpdateTeam(after, 0)); got != test.want {
			t.Errorf("%s: revokes is %v", test.name, got)
		}
		got, _ := o.Set.Team(nil, "green")
		if diff := cmp.Diff(&after, got, cmpopts.IgnoreUnexported(tenancy.Team{}), cmpopts.IgnoreFields(tenancy.Team{}, "Meta")); diff != "" {
			t.Errorf("%s: the team differs (- want):\n%s", test.name, diff)
		}
	}
}

func TestTeamTakesItsKeysAlong(t *testing.T) {
	t.Parallel()
	o := newTeams(t)
	k := tenancy.Key{Hash: id.HashKey("sk-of-the-red-team-0001"), Alias: "red-1", Team: "red", User: "ada"}
	o.Must(tenancytest.CreateKey(k))
	o.Must(tenancytest.UpdateTeam(tenancy.Team{ID: "red", Organization: "zeta"}, 0))
	if got, _ := o.Set.Get(k.Hash); got.Organization != "zeta" || got.Alias != "red-1" || got.User != "ada" {
		t.Errorf("the key is %+v", got)
	}
	o.check()
	o.Must(tenancytest.UpdateTeam(tenancy.Team{ID: "red"}, 0))
	if got, _ := o.Set.Get(k.Hash); got.Organization != "" {
		t.Errorf("the key is of %q, its team of no organization", got.Organization)
	}
	o.Must(tenancytest.DeleteOrganization("zeta"))
	if _, ok := o.Set.Get(k.Hash); !ok {
		t.Error("the key went with an organization that its team had left")
	}
	o.check()
}

func TestWhoLeavesATeam(t *testing.T) {
	t.Parallel()
	o := newTeams(t)
	o.Must(tenancytest.JoinTeam(tenancy.TeamMember{Team: "red", User: "bob", Role: tenancy.TeamUser}))
	o.Must(tenancytest.JoinTeam(tenancy.TeamMember{Team: "blue", User: "ada", Role: tenancy.TeamUser}))
	hashes := map[string]id.KeyHash{}
	for name, k := range map[string]tenancy.Key{
		"ada in red": {Team: "red", User: "ada"}, "ada in blue": {Team: "blue", User: "ada"}, "ada": {User: "ada"},
		"bob in red": {Team: "red", User: "bob"}, "red": {Team: "red"},
	} {
		k.Hash = id.HashKey("sk-" + name + "-0123456789")
		hashes[name] = k.Hash
		o.Must(tenancytest.CreateKey(k))
	}
	left := func() (names []string) {
		for name, h := range hashes {
			if _, ok := o.Set.Get(h); ok {
				names = append(names, name)
			}
		}
		slices.Sort(names)
		return names
	}
	if !o.Must(tenancytest.LeaveTeam("red", "ada")) {
		t.Error("leaving does not revoke")
	}
	if diff := cmp.Diff([]string{"ada", "ada in blue", "bob in red", "red"}, left()); diff != "" {
		t.Errorf("keys when ada has left (- want):\n%s", diff)
	}
	var count int
	if !o.Must(func(s *tenancy.Set, tx *record.Txn) (err error) {
		_, count, err = s.DeleteTeam(tx, "red")
		return err
	}) {
		t.Error("deleting a team does not revoke")
	}
	if diff := cmp.Diff([]string{"ada", "ada in blue"}, left()); diff != "" || count != 2 {
		t.Errorf("keys when the team is gone, %d of them (- want):\n%s", count, diff)
	}
	o.check()
}

func TestTeamMemberChangesThatRevoke(t *testing.T) {
	t.Parallel()
	some := tenancy.TeamMember{Team: "red", User: "bob", Role: tenancy.TeamUser, AllowedModels: []string{"a", "b"}, RPM: new(uint32(5))}
	for name, test := range map[string]struct {
		change func(*tenancy.TeamMember)
		want   bool
	}{
		"nothing":      {func(*tenancy.TeamMember) {}, false},
		"all models":   {func(m *tenancy.TeamMember) { m.AllowedModels = nil }, false},
		"no bound":     {func(m *tenancy.TeamMember) { m.RPM = nil }, false},
		"role":         {func(m *tenancy.TeamMember) { m.Role = tenancy.TeamAdmin }, true},
		"fewer models": {func(m *tenancy.TeamMember) { m.AllowedModels = []string{"a"} }, true},
		"less":         {func(m *tenancy.TeamMember) { m.RPM = new(uint32(4)) }, true},
		"budget":       {func(m *tenancy.TeamMember) { m.MaxBudget = pico(4) }, true},
	} {
		o := newTeams(t)
		o.Must(tenancytest.JoinTeam(some))
		after := some
		test.change(&after)
		if got := o.Must(updateTeamMember(after, 0)); got != test.want {
			t.Errorf("%s: revokes is %v", name, got)
		}
		got, _ := o.Set.TeamMember(nil, "red", "bob")
		if diff := cmp.Diff(&after, got, cmpopts.IgnoreUnexported(tenancy.TeamMember{}), cmpopts.IgnoreFields(tenancy.TeamMember{}, "Meta")); diff != "" {
			t.Errorf("%s: the member differs (- want):\n%s", name, diff)
		}
	}
}

func TestModelsOfATeam(t *testing.T) {
	t.Parallel()
	team := tenancy.Team{Models: []string{"a", "b"}}
	if got := team.WithModels([]string{"b", "c", "c"}).Models; !slices.Equal(got, []string{"a", "b", "c"}) {
		t.Errorf("with b and c: %v", got)
	}
	if got := (&tenancy.Team{}).WithModels([]string{"b"}).Models; len(got) > 0 {
		t.Errorf("a team that may use everything gets the list %v", got)
	}
	got, err := team.WithoutModels([]string{"b"})
	if err != nil || !slices.Equal(got.Models, []string{"a"}) {
		t.Errorf("without b: %v, %v", got.Models, err)
	}
	for _, models := range [][]string{{"a", "b"}, {"c"}} {
		if _, err := team.WithoutModels(models); fault.KindOf(err) != fault.Malformed {
			t.Errorf("without %v: %v", models, err)
		}
	}
	if !slices.Equal(team.Models, []string{"a", "b"}) {
		t.Errorf("the team itself has changed: %v", team.Models)
	}
}

// Admins of a team invite the users of its organization. They learn of no others.
func TestWhomATeamIsOpenTo(t *testing.T) {
	t.Parallel()
	o := newTeams(t)
	o.Must(tenancytest.CreateUser(tenancy.User{ID: "eve", Role: tenancy.RoleInternalUser}))
	o.Must(tenancytest.JoinOrganization(tenancy.OrganizationMember{Organization: "zeta", User: "ada", Role: tenancy.RoleInternalUser}))
	o.Must(tenancytest.JoinOrganization(tenancy.OrganizationMember{Organization: "acme", User: "bob", Role: tenancy.RoleInternalUser}))
	for team, want := range map[id.Team]map[id.User]bool{
		"red": {"ada": true /* is in it */, "bob": true, "eve": false, "nobody": false}, "blue": {"ada": false, "bob": false, "eve": false, "nobody": false},
	} {
		of, _ := o.Set.Team(nil, team)
		for user, open := range want {
			tx := o.Begin()
			in := rights.Invitation{User: tenancy.User{ID: user}, To: tenancy.Place{Organization: of.Organization, Team: of.ID}}
			_, made, err := rights.Of(o.Set, tx, tenancy.Principal{}).Invite(o.Set.UserBatch(tx), in)
			if made || (err == nil) != open || err != nil && tenancytest.Refusal(err) != "insufficient_permissions" {
				t.Errorf("%s is open to %s: %v", team, user, err)
			}
		}
	}
}

// TestTeamRaces decides two operations by one set, each of which would leave
// something that refers to what is not there, or is not so any more, if the other
// were not seen. The one that is made second is stale, whichever it is.
func TestTeamRaces(t *testing.T) {
	t.Parallel()
	key := tenancytest.CreateKey(tenancy.Key{Hash: id.HashKey("sk-made-meanwhile-0123"), Team: "red", User: "ada"})
	join := tenancytest.JoinTeam(tenancy.TeamMember{Team: "red", User: "bob", Role: tenancy.TeamUser})
	for name, pair := range map[string][2]func(*tenancy.Set, *record.Txn) error{
		"a team is deleted, a member added":              {tenancytest.DeleteTeam("red"), join},
		"a team is deleted, a key added":                 {tenancytest.DeleteTeam("red"), key},
		"a user is deleted, and joins":                   {tenancytest.DeleteUser("bob"), join},
		"a member leaves, and gets a key":                {tenancytest.LeaveTeam("red", "ada"), key},
		"a team moves, a key is added":                   {tenancytest.UpdateTeam(tenancy.Team{ID: "red", Organization: "zeta"}, 0), key},
		"an organization is deleted, a team made":        {tenancytest.DeleteOrganization("acme"), tenancytest.CreateTeam(tenancy.Team{ID: "green", Organization: "acme"})},
		"an organization is deleted, a team moves to it": {tenancytest.DeleteOrganization("zeta"), tenancytest.UpdateTeam(tenancy.Team{ID: "red", Organization: "zeta"}, 0)},
	} {
		for _, reversed := range []bool{false, true} {
			o, ops := newTeams(t), pair
			if reversed {
				slices.Reverse(ops[:])
			}
			first, second := o.Begin(), o.Begin()
			for i, tx := range []*record.Txn{first, second} {
				if err := ops[i](o.Set, tx); err != nil {
					t.Fatal(name, err)
				}
			}
			if _, err := o.Commit(first); err != nil {
				t.Fatal(name, err)
			}
			if _, err := o.Commit(second); tenancytest.Refusal(err) != record.CodeStale {
				t.Errorf("%s, reversed %v: %v", name, reversed, err)
			}
			o.check()
		}
	}
}
