package rights_test

import (
	"slices"

	"pgregory.net/rapid"

	"github.com/modelgateway/modelgateway/cluster/tenancy"
)

func (j judge) team(t *rapid.T) int {
	after := tenancy.Team{ID: "new", Organization: someOrganization(t), Models: someModels(t), Limits: someLimits(t), Prompts: somePrompts(t), Guardrails: someGuardrails(t)}
	if oneIn(t, 2) { // closer to what may be let through
		after.Organization = j.home()
	}
	before, _ := j.Set.Team(nil, rapid.SampledFrom(worldTeams).Draw(t, "team"))
	if oneIn(t, 2) {
		before = nil
	} else {
		changed := *before
		switch rapid.IntRange(0, 4).Draw(t, "change") {
		case 0:
			changed.Models = after.Models
		case 2:
			changed.Prompts = after.Prompts
		case 3:
			changed.Guardrails = after.Guardrails
		case 1:
			changed.Limits = after.Limits
		default:
			changed.Organization = after.Organization
		}
		after = changed
	}
	if j.rights.MayGrantTeam(before, &after) != nil {
		return 0
	}
	for _, team := range []*tenancy.Team{before, &after} {
		if team != nil {
			j.reaches(t, team.Organization, after)
		}
	}
	has := func(team *tenancy.Team) func(attempt) bool {
		return func(c attempt) bool {
			if team == nil {
				return false
			}
			o, ok := j.Set.Organization(nil, team.Organization)
			return listed(team.Models, c.model, false) && prompted(team.Prompts, team.Guardrails, c) && (!ok || listed(o.Models, c.model, false) && prompted(o.Prompts, o.Guardrails, c))
		}
	}
	j.beyond(t, after, after.ID, []string{"none", "p", "q", "r", "g", "h"}, func(c attempt) bool { return has(&after)(c) && !has(before)(c) })
	var had *tenancy.Limits
	if before != nil {
		had = &before.Limits
	}
	j.bounded(t, after, after.Limits, had)
	return 1
}

func (j judge) member(t *rapid.T) int {
	in, _ := j.Set.Team(nil, rapid.SampledFrom(worldTeams).Draw(t, "team"))
	m := tenancy.TeamMember{Team: in.ID, User: rapid.SampledFrom(worldUsers).Draw(t, "user"), Role: someTeamRole(t), AllowedModels: someModels(t), RPM: someCount(t)}
	if j.rights.MayGrantTeamMember(in, &m) != nil {
		return 0
	}
	j.reaches(t, in.Organization, m)
	has := func(m *tenancy.TeamMember) func(attempt) bool {
		return func(c attempt) bool {
			o, ok := j.Set.Organization(nil, in.Organization)
			return m != nil && listed(m.AllowedModels, c.model, true) && listed(in.Models, c.model, false) && (!ok || listed(o.Models, c.model, false))
		}
	}
	before, _ := j.Set.TeamMember(nil, in.ID, m.User)
	j.beyond(t, m, in.ID, []string{""}, func(c attempt) bool { return has(&m)(c) && !has(before)(c) })
	return 1
}

func (j judge) user(t *rapid.T) int {
	after := tenancy.User{ID: "new", Role: someRole(t), Models: someModels(t), Limits: someLimits(t)}
	before, _ := j.Set.User(nil, rapid.SampledFrom(append(slices.Clone(worldUsers), j.rights.User())).Draw(t, "user"))
	if before == nil || oneIn(t, 2) {
		before = nil
	} else {
		changed := *before
		switch rapid.IntRange(0, 3).Draw(t, "change") {
		case 0:
			changed.Models = after.Models
		case 1:
			changed.Limits = after.Limits
		case 2:
			changed.Role = after.Role
		default:
			changed.Alias = "other"
		}
		after = changed
	}
	if j.rights.MayGrantUser(before, &after) != nil {
		return 0
	}
	if before != nil && before.ID != j.asking.User {
		for m := range j.Set.OrganizationsOf(before.ID) {
			j.reaches(t, m.Organization, after)
		}
	}
	if after.Role == tenancy.RoleProxyAdmin || after.Role == tenancy.RoleProxyAdminViewer {
		if before == nil || before.Role != after.Role {
			t.Fatalf("%+v gives the role of %+v", *j.asking, after)
		}
	}
	has := func(u *tenancy.User) func(attempt) bool {
		return func(c attempt) bool { return u != nil && listed(u.Models, c.model, false) }
	}
	j.beyond(t, after, "", []string{""}, func(c attempt) bool { return has(&after)(c) && !has(before)(c) })
	var had *tenancy.Limits
	if before != nil {
		had = &before.Limits
	}
	j.bounded(t, after, after.Limits, had)
	return 1
}
