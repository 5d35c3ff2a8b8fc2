package tenancy_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
)

func updateTeam(t tenancy.Team, ifRevision uint64) func(*tenancy.Set, *record.Txn) error {
	return func(s *tenancy.Set, tx *record.Txn) error {
		_, err := s.UpdateTeam(tx, t, ifRevision)
		return err
	}
}

func deleteTeam(t id.Team) func(*tenancy.Set, *record.Txn) error {
	return func(s *tenancy.Set, tx *record.Txn) error {
		_, _, err := s.DeleteTeam(tx, t)
		return err
	}
}

func updateTeamMember(m tenancy.TeamMember, ifRevision uint64) func(*tenancy.Set, *record.Txn) error {
	return func(s *tenancy.Set, tx *record.Txn) error {
		_, err := s.UpdateTeamMember(tx, m, ifRevision)
		return err
	}
}

func leaveTeam(t id.Team, u id.User) func(*tenancy.Set, *record.Txn) error {
	return func(s *tenancy.Set, tx *record.Txn) error {
		_, err := s.DeleteTeamMember(tx, t, u)
		return err
	}
}

// newTeams is an office with two organizations, two teams and two users.
func newTeams(t *testing.T) *office {
	t.Helper()
	o := newOffice(t)
	o.must(createOrganization(tenancy.Organization{ID: "acme", Alias: "Acme"}))
	o.must(createOrganization(tenancy.Organization{ID: "zeta", Alias: "Zeta"}))
	o.must(createTeam(tenancy.Team{ID: "red", Alias: "Red", Organization: "acme", Models: []string{"a", "b"}}))
	o.must(createTeam(tenancy.Team{ID: "blue", Alias: "Blue"}))
	o.must(createUser(tenancy.User{ID: "ada", Role: tenancy.RoleInternalUser, Email: "ada@x.org"}))
	o.must(createUser(tenancy.User{ID: "bob", Role: tenancy.RoleInternalUser}))
	o.must(joinTeam(tenancy.TeamMember{Team: "red", User: "ada", Role: tenancy.TeamAdmin}))
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
		{"id taken", createTeam(tenancy.Team{ID: "red"}), "team_id already_exists", fault.Exists},
		{"no such organization", createTeam(tenancy.Team{ID: "x", Organization: "none"}), "organization_id organization_not_found", fault.NotFound},
		{"no such budget", createTeam(tenancy.Team{ID: "x", Limits: tenancy.Limits{Budget: "gold"}}), "budget_id budget_not_found", fault.NotFound},
		{"soft budget", createTeam(tenancy.Team{ID: "x", Limits: tenancy.Limits{MaxBudget: pico(1), SoftBudget: pico(1)}}), "soft_budget invalid_value", fault.Malformed},
		{"pattern", createTeam(tenancy.Team{ID: "x", Models: []string{"a", "*/*"}}), "models[1] invalid_value", fault.Malformed},
		{"member budget", createTeam(tenancy.Team{ID: "x", MemberBudget: pico(-1)}), "team_member_budget invalid_value", fault.Malformed},
		{"member duration", createTeam(tenancy.Team{ID: "x", MemberBudgetDuration: "never"}), "team_member_budget_duration invalid_value", fault.Malformed},
		{"key duration", createTeam(tenancy.Team{ID: "x", MemberKeyDuration: "0d"}), "team_member_key_duration invalid_value", fault.Malformed},
		{"update: not there", updateTeam(tenancy.Team{ID: "x"}, 0), "team_id team_not_found", fault.NotFound},
		{"update: revision", updateTeam(tenancy.Team{ID: "red"}, 99), "revision_conflict", fault.Conflict},
		{"update: no such organization", updateTeam(tenancy.Team{ID: "red", Organization: "none"}, 0), "organization_id organization_not_found", fault.NotFound},
		{"delete: not there", deleteTeam("x"), "team_id team_not_found", fault.NotFound},
		{"join: is in it", joinTeam(tenancy.TeamMember{Team: "red", User: "ada"}), "user_id already_exists", fault.Exists},
		{"join: no such team", joinTeam(tenancy.TeamMember{Team: "x", User: "ada"}), "team_id team_not_found", fault.NotFound},
		{"join: pattern", joinTeam(tenancy.TeamMember{Team: "red", User: "bob", AllowedModels: []string{"**"}}), "allowed_models[0] invalid_value", fault.Malformed},
		{"join: duration", joinTeam(tenancy.TeamMember{Team: "red", User: "bob", BudgetDuration: "x"}), "budget_duration invalid_value", fault.Malformed},
		{"member: not in it", updateTeamMember(tenancy.TeamMember{Team: "red", User: "bob"}, 0), "user_id member_not_found", fault.NotFound},
		{"member: revision", updateTeamMember(tenancy.TeamMember{Team: "red", User: "ada"}, 99), "revision_conflict", fault.Conflict},
		{"member: no such team", updateTeamMember(tenancy.TeamMember{Team: "x", User: "ada"}, 0), "team_id team_not_found", fault.NotFound},
		{"leave: not in it", leaveTeam("red", "bob"), "user_id member_not_found", fault.NotFound},
	} {
		_, err := o.try(test.op)
		if got := refusal(err); got != test.want || fault.KindOf(err) != test.kind {
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
		if o.must(createTeam(some)) {
			t.Errorf("%s: a new team revokes", test.name)
		}
		after := some
		test.change(&after)
		if got := o.must(updateTeam(after, 0)); got != test.want {
			t.Errorf("%s: revokes is %v", test.name, got)
		}
		got, _ := o.set.Team(nil, "green")
		if diff := cmp.Diff(&after, got, cmpopts.IgnoreUnexported(tenancy.Team{}), cmpopts.IgnoreFields(tenancy.Team{}, "Meta")); diff != "" {
			t.Errorf("%s: the team differs (- want):\n%s", test.name, diff)
		}
	}
}

func TestTeamTakesItsKeysAlong(t *testing.T) {
	t.Parallel()
	o := newTeams(t)
	k := tenancy.Key{Hash: id.HashKey("sk-of-the-red-team-0001"), Alias: "red-1", Team: "red", User: "ada"}
	o.must(createKey(k))
	o.must(updateTeam(tenancy.Team{ID: "red", Organization: "zeta"}, 0))
	if got, _ := o.set.Get(k.Hash); got.Organization != "zeta" || got.Alias != "red-1" || got.User != "ada" {
		t.Errorf("the key is %+v", got)
	}
	o.check()
	o.must(updateTeam(tenancy.Team{ID: "red"}, 0))
	if got, _ := o.set.Get(k.Hash); got.Organization != "" {
		t.Errorf("the key is of %q, its team of no organization", got.Organization)
	}
	o.must(deleteOrganization("zeta"))
	if _, ok := o.set.Get(k.Hash); !ok {
		t.Error("the key went with an organization that its team had left")
	}
	o.check()
}

func TestWhoLeavesATeam(t *testing.T) {
	t.Parallel()
	o := newTeams(t)
	o.must(joinTeam(tenancy.TeamMember{Team: "red", User: "bob", Role: tenancy.TeamUser}))
	o.must(joinTeam(tenancy.TeamMember{Team: "blue", User: "ada", Role: tenancy.TeamUser}))
	hashes := map[string]id.KeyHash{}
	for name, k := range map[string]tenancy.Key{
		"ada in red": {Team: "red", User: "ada"}, "ada in blue": {Team: "blue", User: "ada"}, "ada": {User: "ada"},
		"bob in red": {Team: "red", User: "bob"}, "red": {Team: "red"},
	} {
		k.Hash = id.HashKey("sk-" + name + "-0123456789")
		hashes[name] = k.Hash
		o.must(createKey(k))
	}
	left := func() (names []string) {
		for name, h := range hashes {
			if _, ok := o.set.Get(h); ok {
				names = append(names, name)
			}
		}
		slices.Sort(names)
		return names
	}
	if !o.must(leaveTeam("red", "ada")) {
		t.Error("leaving does not revoke")
	}
	if diff := cmp.Diff([]string{"ada", "ada in blue", "bob in red", "red"}, left()); diff != "" {
		t.Errorf("keys when ada has left (- want):\n%s", diff)
	}
	var count int
	if !o.must(func(s *tenancy.Set, tx *record.Txn) (err error) {
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
		o.must(joinTeam(some))
		after := some
		test.change(&after)
		if got := o.must(updateTeamMember(after, 0)); got != test.want {
			t.Errorf("%s: revokes is %v", name, got)
		}
		got, _ := o.set.TeamMember(nil, "red", "bob")
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
	o.must(createUser(tenancy.User{ID: "eve", Role: tenancy.RoleInternalUser}))
	o.must(joinOrganization(tenancy.OrganizationMember{Organization: "zeta", User: "ada", Role: tenancy.RoleInternalUser}))
	o.must(joinOrganization(tenancy.OrganizationMember{Organization: "acme", User: "bob", Role: tenancy.RoleInternalUser}))
	for team, want := range map[id.Team]map[id.User]bool{
		"red": {"ada": true /* is in it */, "bob": true, "eve": false, "nobody": false}, "blue": {"ada": false, "bob": false, "eve": false, "nobody": false},
	} {
		of, _ := o.set.Team(nil, team)
		for user, open := range want {
			tx := o.begin()
			in := tenancy.Invitation{User: tenancy.User{ID: user}, To: tenancy.Place{Organization: of.Organization, Team: of.ID}, Rights: o.set.Rights(tx, tenancy.Principal{})}
			_, made, err := o.set.UserBatch(tx).Invite(in)
			if made || (err == nil) != open || err != nil && refusal(err) != "insufficient_permissions" {
				t.Errorf("%s is open to %s: %v", team, user, err)
			}
		}
	}
}
