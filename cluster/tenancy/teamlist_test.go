package tenancy_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
)

// TestTeamList holds lists to what a look at each team by itself says.
func TestTeamList(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		o := newOffice(t)
		pick := func(label string, from ...string) string { return rapid.SampledFrom(from).Draw(t, label) }
		o.must(createOrganization(tenancy.Organization{ID: "o1", Alias: "O"}))
		for _, u := range []id.User{"u1", "u2"} {
			o.must(createUser(tenancy.User{ID: u, Role: tenancy.RoleInternalUser}))
		}
		o.must(joinOrganization(tenancy.OrganizationMember{Organization: "o1", User: "u2", Role: tenancy.RoleOrgAdmin}))
		var all []id.Team
		for i := range rapid.IntRange(0, 8).Draw(t, "teams") {
			team := id.Team(fmt.Sprintf("t%d%d", rapid.IntRange(0, 9).Draw(t, "name"), i))
			all = append(all, team)
			o.must(createTeam(tenancy.Team{ID: team, Alias: pick("alias", "", "Red", "Reed", "blue"), Organization: id.Organization(pick("organization", "", "o1"))}))
			if u := pick("member", "", "u1", "u2"); u != "" {
				o.must(joinTeam(tenancy.TeamMember{Team: team, User: id.User(u), Role: tenancy.TeamUser}))
			}
		}
		q := tenancy.TeamQuery{
			User: id.User(pick("of", "", "", "u1")), Organization: id.Organization(pick("in", "", "", "o1", "o2")), Alias: pick("part", "", "", "RE", "e"),
			Sort: pick("sort", "", tenancy.TeamsByAge, tenancy.TeamsByID, tenancy.TeamsByAlias), Descending: rapid.Bool().Draw(t, "descending"),
			Offset: rapid.IntRange(0, 4).Draw(t, "offset"), Limit: rapid.IntRange(0, 4).Draw(t, "limit"),
		}
		if len(all) > 0 && rapid.IntRange(0, 3).Draw(t, "one") == 0 {
			q.ID = rapid.SampledFrom(all).Draw(t, "which")
		}
		if rapid.Bool().Draw(t, "narrow") {
			q.Near = id.User(pick("near", "u1", "u2"))
			q.May = func(team *tenancy.Team) bool {
				_, member := o.set.TeamMember(nil, team.ID, q.Near)
				return member || q.Near == "u2" && team.Organization == "o1"
			}
		}
		want, total := naiveTeams(o.set, all, q)
		got, n := o.set.Teams(q)
		var ids []id.Team
		for _, team := range got {
			ids = append(ids, team.ID)
		}
		if !slices.Equal(ids, want) || n != total {
			t.Fatalf("%+v: %v of %d, want %v of %d", q, ids, n, want, total)
		}
	})
}

func naiveTeams(s *tenancy.Set, all []id.Team, q tenancy.TeamQuery) (page []id.Team, total int) {
	var list []*tenancy.Team
	for _, of := range all {
		team, _ := s.Team(nil, of)
		_, member := s.TeamMember(nil, of, q.User)
		if (q.ID == "" || q.ID == of) && (q.User == "" || member) && (q.Organization == "" || q.Organization == team.Organization) &&
			strings.Contains(strings.ToLower(team.Alias), strings.ToLower(q.Alias)) && (q.May == nil || q.May(team)) {
			list = append(list, team)
		}
	}
	slices.SortFunc(list, func(a, b *tenancy.Team) int {
		n := 0
		switch q.Sort {
		case tenancy.TeamsByAlias:
			n = cmp.Compare(a.Alias, b.Alias)
		case tenancy.TeamsByID:
		default:
			n = a.CreatedAt.Compare(b.CreatedAt)
		}
		n = cmp.Or(n, cmp.Compare(a.ID, b.ID))
		if q.Descending {
			return -n
		}
		return n
	})
	for i, team := range list {
		if i >= q.Offset && (q.Limit == 0 || i < q.Offset+q.Limit) {
			page = append(page, team.ID)
		}
	}
	return page, len(list)
}

// TestTeamRaces decides two operations by one set, each of which would leave
// something that refers to what is not there, or is not so any more, if the other
// were not seen. The one that is made second is stale, whichever it is.
func TestTeamRaces(t *testing.T) {
	t.Parallel()
	key := createKey(tenancy.Key{Hash: id.HashKey("sk-made-meanwhile-0123"), Team: "red", User: "ada"})
	join := joinTeam(tenancy.TeamMember{Team: "red", User: "bob", Role: tenancy.TeamUser})
	for name, pair := range map[string][2]func(*tenancy.Set, *record.Txn) error{
		"a team is deleted, a member added":              {deleteTeam("red"), join},
		"a team is deleted, a key added":                 {deleteTeam("red"), key},
		"a user is deleted, and joins":                   {deleteUser("bob"), join},
		"a member leaves, and gets a key":                {leaveTeam("red", "ada"), key},
		"a team moves, a key is added":                   {updateTeam(tenancy.Team{ID: "red", Organization: "zeta"}, 0), key},
		"an organization is deleted, a team made":        {deleteOrganization("acme"), createTeam(tenancy.Team{ID: "green", Organization: "acme"})},
		"an organization is deleted, a team moves to it": {deleteOrganization("zeta"), updateTeam(tenancy.Team{ID: "red", Organization: "zeta"}, 0)},
	} {
		for _, reversed := range []bool{false, true} {
			o, ops := newTeams(t), pair
			if reversed {
				slices.Reverse(ops[:])
			}
			first, second := o.begin(), o.begin()
			for i, tx := range []*record.Txn{first, second} {
				if err := ops[i](o.set, tx); err != nil {
					t.Fatal(name, err)
				}
			}
			if _, err := o.commit(first); err != nil {
				t.Fatal(name, err)
			}
			if _, err := o.commit(second); refusal(err) != record.CodeStale {
				t.Errorf("%s, reversed %v: %v", name, reversed, err)
			}
			o.check()
		}
	}
}
