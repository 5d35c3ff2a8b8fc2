package mgmt

import (
	"context"

	"github.com/modelgateway/modelgateway/cluster"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/resource"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	"github.com/modelgateway/modelgateway/mgmt/operation"
)

// Codes of errors.
const (
	codeNoRight        = "insufficient_permissions"
	codeNoOrganization = "organization_not_found"
	codeNoUser         = "user_not_found"
	codeNoTeam         = "team_not_found"
	codeNoMember       = "member_not_found"
)

// missing says how errors name a record that the caller does not get.
type missing struct{ code, param, what string }

// visible returns a record, nil if there is none, that the caller may see. Only callers
// that see everything learn whether another one exists.
func visible[T any](r *tenancy.Rights, found *T, maySee func(*T) bool, or missing) (*T, error) {
	switch {
	case found != nil && maySee(found):
		return found, nil
	case found != nil || !r.SeesAll():
		return nil, notYours(or.param, "This API key may not see that "+or.what+".")
	}
	return nil, &fault.Error{Kind: fault.NotFound, Code: or.code, Param: or.param, Detail: "There is no such " + or.what + "."}
}

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

// readerOf returns the caller as the tables of named resources know it. tx is nil
// for a request that changes nothing.
func readerOf(ctx context.Context, v *cluster.View, tx *record.Txn) resource.Who {
	r := v.Keys.Rights(tx, operation.Principal(ctx))
	return resource.Who{Organization: r.Organization(), MaySee: r.MayUseResource, MayChange: r.MayChangeResource}
}

// ownerFor returns the organization that owns a new resource: the one in the
// request, or else the caller's. An admin without an organization creates a resource
// without one, which every organization may use.
func ownerFor(ctx context.Context, v *cluster.View, tx *record.Txn, requested *string) (id.Organization, error) {
	r := v.Keys.Rights(tx, operation.Principal(ctx))
	org := r.Organization()
	if requested != nil {
		org = id.Organization(*requested)
	}
	if err := r.MayChangeResource(org); err != nil {
		return "", err
	}
	if org != "" {
		if err := v.Keys.JoinOrganization(tx, "organization_id", org); err != nil {
			return "", err
		}
	}
	return org, nil
}
