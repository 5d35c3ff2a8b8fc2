package mgmt

import (
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	gatewayv1 "github.com/modelgateway/modelgateway/proto/gen/gateway/v1"
)

// organizationRecord is an organization as the API shows it, without its members
// and teams.
func organizationRecord(o *tenancy.Organization) *gatewayv1.OrganizationRecord {
	out := &gatewayv1.OrganizationRecord{
		OrganizationId: string(o.ID), OrganizationAlias: o.Alias, Models: o.Models, Metadata: showMetadata(o.Metadata),
	}
	showLimits(out, o.Limits)
	showMeta(out, o.Meta)
	return out
}

// fullOrganization is an organization with its members and teams.
func fullOrganization(set *tenancy.Set, o *tenancy.Organization) *gatewayv1.OrganizationRecord {
	out := organizationRecord(o)
	for m := range set.OrganizationMembers(o.ID) {
		u, _ := set.User(nil, m.User)
		out.Members = append(out.GetMembers(), membership(m, u))
	}
	for t := range set.TeamsIn(o.ID) {
		out.Teams = append(out.GetTeams(), string(t.ID))
	}
	return out
}

// membership is a user in an organization as the API shows it.
func membership(m *tenancy.OrganizationMember, u *tenancy.User) *gatewayv1.OrganizationMembership {
	out := &gatewayv1.OrganizationMembership{
		UserId: string(m.User), OrganizationId: string(m.Organization), UserRole: string(m.Role),
		MaxBudgetInOrganization: dollarsOrNull(m.MaxBudget),
	}
	if u != nil {
		out.UserEmail = textOrNull(u.Email)
	}
	showMeta(out, m.Meta)
	return out
}
