package mgmt

import (
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
)

// overseesTeam reports whether who asks may see what all of a team use: who sees
// everything, an admin of the team, and an org_admin of its organization. That the
// role changes nothing does not matter here.
func overseesTeam(set *tenancy.Set, r *tenancy.Rights, t *tenancy.Team) bool {
	if r.SeesAll() || overseesOrganization(set, r, t.Organization) {
		return true
	}
	m, ok := set.TeamMember(nil, t.ID, r.User())
	return ok && r.User() != "" && m.Role == tenancy.TeamAdmin
}

// overseesOrganization reports whether who asks may see what all of an organization
// use: who sees everything, and its org_admins.
func overseesOrganization(set *tenancy.Set, r *tenancy.Rights, o id.Organization) bool {
	if r.SeesAll() {
		return true
	}
	if o == "" || r.User() == "" {
		return false
	}
	m, ok := set.OrganizationMember(nil, o, r.User())
	return ok && m.Role == tenancy.RoleOrgAdmin
}

// overseen are the organizations of which who asks is org_admin.
func overseen(set *tenancy.Set, r *tenancy.Rights) []string {
	var out []string
	if r.User() == "" {
		return nil
	}
	for m := range set.OrganizationsOf(r.User()) {
		if m.Role == tenancy.RoleOrgAdmin {
			out = append(out, string(m.Organization))
		}
	}
	return out
}

func notYours(param, text string) error {
	return &fault.Error{Kind: fault.Denied, Code: codeNoRight, Param: param, Detail: text}
}
