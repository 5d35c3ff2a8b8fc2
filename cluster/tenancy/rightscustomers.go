package tenancy

import (
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
)

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
func (r *Rights) MayGiveCustomer(before, after *Customer) error {
	return r.checkBudget(before.Limits.Budget, after.Limits.Budget)
}
