package listing_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/listing"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	"github.com/modelgateway/modelgateway/cluster/tenancy/tenancytest"
)

// TestTeamList holds lists to what a look at each team by itself says.
func TestTeamList(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		o := tenancytest.NewOffice(t)
		pick := func(label string, from ...string) string { return rapid.SampledFrom(from).Draw(t, label) }
		o.Must(tenancytest.CreateOrganization(tenancy.Organization{ID: "o1", Alias: "O"}))
		for _, u := range []id.User{"u1", "u2"} {
			o.Must(tenancytest.CreateUser(tenancy.User{ID: u, Role: tenancy.RoleInternalUser}))
		}
		o.Must(tenancytest.JoinOrganization(tenancy.OrganizationMember{Organization: "o1", User: "u2", Role: tenancy.RoleOrgAdmin}))
		var all []id.Team
		for i := range rapid.IntRange(0, 8).Draw(t, "teams") {
			team := id.Team(fmt.Sprintf("t%d%d", rapid.IntRange(0, 9).Draw(t, "name"), i))
			all = append(all, team)
			o.Must(tenancytest.CreateTeam(tenancy.Team{ID: team, Alias: pick("alias", "", "Red", "Reed", "blue"), Organization: id.Organization(pick("organization", "", "o1"))}))
			if u := pick("member", "", "u1", "u2"); u != "" {
				o.Must(tenancytest.JoinTeam(tenancy.TeamMember{Team: team, User: id.User(u), Role: tenancy.TeamUser}))
			}
		}
		q := listing.TeamQuery{
			User: id.User(pick("of", "", "", "u1")), Organization: id.Organization(pick("in", "", "", "o1", "o2")), Alias: pick("part", "", "", "RE", "e"),
			Sort: pick("sort", "", listing.TeamsByAge, listing.TeamsByID, listing.TeamsByAlias), Descending: rapid.Bool().Draw(t, "descending"),
			Offset: rapid.IntRange(0, 4).Draw(t, "offset"), Limit: rapid.IntRange(0, 4).Draw(t, "limit"),
		}
		if len(all) > 0 && rapid.IntRange(0, 3).Draw(t, "one") == 0 {
			q.ID = rapid.SampledFrom(all).Draw(t, "which")
		}
		if rapid.Bool().Draw(t, "narrow") {
			q.Near = id.User(pick("near", "u1", "u2"))
			q.May = func(team *tenancy.Team) bool {
				_, member := o.Set.TeamMember(nil, team.ID, q.Near)
				return member || q.Near == "u2" && team.Organization == "o1"
			}
		}
		want, total := naiveTeams(o.Set, all, q)
		got, n := listing.Teams(o.Set, q)
		var ids []id.Team
		for _, team := range got {
			ids = append(ids, team.ID)
		}
		if !slices.Equal(ids, want) || n != total {
			t.Fatalf("%+v: %v of %d, want %v of %d", q, ids, n, want, total)
		}
	})
}

func naiveTeams(s *tenancy.Set, all []id.Team, q listing.TeamQuery) (page []id.Team, total int) {
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
		case listing.TeamsByAlias:
			n = cmp.Compare(a.Alias, b.Alias)
		case listing.TeamsByID:
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
