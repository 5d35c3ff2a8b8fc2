package rights

import (
	"slices"

	"github.com/modelgateway/modelgateway/cluster/access"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
)

// MayGrantUser refuses a user, as the operation would leave it, if the caller may
// not make it so. before is nil for one that is new: a proxy_admin makes any, an
// org_admin plain ones, which have to become members of an organization that
// MayManageOrganization lets through. Users may change their own name and metadata.
func (r *Rights) MayGrantUser(before, after *tenancy.User) error {
	switch {
	case r.Admin():
		return nil
	case r.user == nil:
		return denied("", "This API key belongs to no user who could do that.")
	case before != nil && before.ID == r.user.ID:
		return r.mayChangeSelf(before, after)
	case before == nil && !r.runsAny(), before != nil && !r.controls(before):
		return denied("user_id", "Only a proxy_admin, or an org_admin of all organizations that the user is in, may do that.")
	case !plain(after.Role):
		return denied("user_role", "Only a proxy_admin may give that role. An org_admin may give internal_user and internal_user_viewer.")
	}
	if after.SSO != "" && (before == nil || before.SSO != after.SSO) {
		// It is unique in the whole gateway, so a conflict would reveal users of other organizations.
		return denied("sso_user_id", "Only a proxy_admin may set sso_user_id. Leave it out, or ask a proxy_admin.")
	}
	had := id.Budget("")
	if before != nil {
		had = before.Limits.Budget
	}
	if err := r.checkBudget(had, after.Limits.Budget); err != nil {
		return err
	}
	own, has := effectiveOf(r.set, r.tx, r.key), (access.Intersection{}).And(access.Compiled(after.Models))
	if !has.Within(own.models) && (before == nil || !has.Within((access.Intersection{}).And(before.Allowed()))) {
		return exceeds("models")
	}
	limits := r.set.UserTerms(r.tx, after)
	if before != nil && exceedingLimit(limits, r.set.UserTerms(r.tx, before)) == "" {
		return nil
	}
	for _, bound := range []tenancy.Limits{own.limits, r.set.UserTerms(r.tx, r.user)} {
		if what := exceedingLimit(limits, bound); what != "" {
			return denied(what, "This API key, or its user, has a %s, and users that it manages need one that does not exceed it.", what)
		}
	}
	return nil
}

// mayChangeSelf refuses all but a name and metadata.
func (r *Rights) mayChangeSelf(before, after *tenancy.User) error {
	field := ""
	switch {
	case r.still || r.role == tenancy.RoleNone:
		return denied("", "The role of this API key's user may read only.")
	case before.Email != after.Email:
		field = "user_email"
	case before.Role != after.Role:
		field = "user_role"
	case !slices.Equal(before.Models, after.Models):
		field = "models"
	case before.SSO != after.SSO:
		field = "sso_user_id"
	case before.Blocked != after.Blocked:
		field = "blocked"
	case !before.Limits.Same(after.Limits):
		field = "limits"
	default:
		return nil
	}
	return denied(field, "Users may change their own user_alias and metadata only, not %s.", field)
}

// runsAny reports whether the user is org_admin of some organization, to change
// what is there.
func (r *Rights) runsAny() bool {
	if r.still || r.user == nil {
		return false
	}
	for m := range r.set.OrganizationsOf(r.user.ID) {
		if r.runs(m.Organization) {
			return true
		}
	}
	return false
}

// MayDeleteUser refuses who may not delete a user.
func (r *Rights) MayDeleteUser(u *tenancy.User) error {
	switch {
	case r.Admin():
		return nil
	case r.user != nil && r.user.ID != u.ID && r.controls(u):
		return nil
	}
	return denied("user_id", "Only a proxy_admin, or an org_admin of all organizations that the user is in, may delete a user.")
}

// MayManageOrganization refuses who may not change an organization's members.
func (r *Rights) MayManageOrganization(o *tenancy.Organization) error {
	if err := r.checkReach(o.ID); err != nil || r.Admin() || r.runs(o.ID) {
		return err
	}
	return denied("organization_id", "Only an org_admin of the organization, or a proxy_admin, may do that.")
}

// MayGrantOrganization refuses who may not make or change an organization itself.
// before is nil for one that is new.
func (r *Rights) MayGrantOrganization(_, _ *tenancy.Organization) error {
	if r.Admin() {
		return nil
	}
	return denied("", "Only a proxy_admin may make, change or delete an organization.")
}

// CustomersToSee returns the organization whose customers a request is about. A caller
// that sees everything may name any; empty is then the customers of no organization. An
// org_admin has its own: an unknown and a foreign organization get the same response.
func (r *Rights) CustomersToSee(named id.Organization) (id.Organization, error) {
	if r.SeesAll() {
		return named, nil
	}
	return r.ownCustomers(named, r.administers)
}

// CustomersToChange is CustomersToSee for a request that changes customers.
func (r *Rights) CustomersToChange(named id.Organization) (id.Organization, error) {
	if r.Admin() {
		return named, nil
	}
	return r.ownCustomers(named, r.runs)
}

// ownCustomers returns the organization that a request names, or else the one of the key,
// or else the only one that the user is org_admin of.
func (r *Rights) ownCustomers(named id.Organization, has func(id.Organization) bool) (id.Organization, error) {
	const only = "Only an org_admin of the organization, or a proxy_admin, may do that with its end users."
	switch {
	case named != "" && has(named):
		return named, nil
	case named != "":
		return "", denied("organization_id", only)
	case has(r.org):
		return r.org, nil
	case r.user == nil:
		return "", denied("", only)
	}
	var own id.Organization
	for m := range r.set.OrganizationsOf(r.user.ID) {
		switch {
		case !has(m.Organization):
		case own != "":
			e := fault.Field("organization_id", "missing_required_parameter", "organization_id is missing: name one of the organizations of which this API key's user is org_admin.")
			return "", e
		default:
			own = m.Organization
		}
	}
	if own == "" {
		return "", denied("", only)
	}
	return own, nil
}

// MayGiveCustomer denies limits that the caller may not give a customer: the terms of a
// budget that is not its own. before is the customer as it was, empty for a new one.
func (r *Rights) MayGiveCustomer(before, after *tenancy.Customer) error {
	return r.checkBudget(before.Limits.Budget, after.Limits.Budget)
}
