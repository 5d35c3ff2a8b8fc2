package mgmt

import (
	"cmp"
	"context"
	"iter"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	"github.com/modelgateway/modelgateway/mgmt/field"
	"github.com/modelgateway/modelgateway/mgmt/operation"
	gatewayv1 "github.com/modelgateway/modelgateway/proto/gen/gateway/v1"
)

type customerService struct {
	gatewayv1.UnimplementedCustomerServiceServer
	service
}

// CreateCustomer creates a customer.
func (s customerService) CreateCustomer(ctx context.Context, in *gatewayv1.CreateCustomerRequest) (*gatewayv1.CustomerRecord, error) {
	made, err := patchCustomer(tenancy.Customer{ID: id.Customer(in.GetUserId())}, in, nil)
	if err != nil {
		return nil, err
	}
	return changed(ctx, s.state, customerRecord, func(c caller) (_ *tenancy.Customer, err error) {
		if made.Organization, err = c.customersToChange(in); err != nil {
			return nil, err
		}
		if err := c.rights.MayGiveCustomer(&tenancy.Customer{}, &made); err != nil {
			return nil, err
		}
		return c.set.CreateCustomer(c.tx, made)
	})
}

// customersToChange returns the organization whose customers a request changes.
func (c caller) customersToChange(in interface{ GetOrganizationId() string }) (id.Organization, error) {
	return c.rights.CustomersToChange(id.Organization(in.GetOrganizationId()))
}

// patchCustomer returns a customer with the changes of a request.
func patchCustomer(c tenancy.Customer, m proto.Message, clears []string) (tenancy.Customer, error) {
	p := patchOf(m, clears, limitFields("alias", "models")...)
	c.Alias = p.text("alias", c.Alias)
	c.Blocked = p.blocked(c.Blocked)
	c.Models = p.list("models", c.Models)
	c.Limits = p.limits(c.Limits)
	return c, p.err
}

// customerRecord returns a customer in the form of the API.
func customerRecord(c *tenancy.Customer) *gatewayv1.CustomerRecord {
	out := &gatewayv1.CustomerRecord{UserId: string(c.ID), OrganizationId: textOrNull(string(c.Organization)), Alias: textOrNull(c.Alias), Blocked: c.Blocked, Models: c.Models}
	showLimits(out, c.Limits)
	showMeta(out, c.Meta)
	return out
}

// need returns a customer that a field of a request names: a record, or else an account that
// requests created when they named the customer. Its error is that neither exists.
func (s customerService) need(ctx context.Context, c caller, param string, u id.EndUser) (*tenancy.Customer, error) {
	found, absent := c.set.NeedCustomer(c.tx, param, u)
	if absent == nil {
		return found, nil
	}
	err := s.ledger.Customers(ctx, u, func(first id.EndUser) bool {
		if first == u {
			absent = nil
		}
		return false
	})
	return &tenancy.Customer{ID: u.ID, Organization: u.Organization}, cmp.Or(err, absent)
}

// GetCustomer shows one customer.
func (s customerService) GetCustomer(ctx context.Context, in *gatewayv1.GetCustomerRequest) (*gatewayv1.CustomerRecord, error) {
	return found(ctx, s.state, customerRecord, func(c caller) (*tenancy.Customer, error) {
		of, err := c.rights.CustomersToSee(id.Organization(in.GetOrganizationId()))
		if err != nil {
			return nil, err
		}
		return s.need(ctx, c, "end_user_id", id.EndUser{Organization: of, ID: id.Customer(in.GetEndUserId())})
	})
}

// mostCustomers bounds a page, because the spend of each customer is read for it.
const mostCustomers = 1000

// ListCustomers shows the customers that have a record or an account, ordered by id and then
// by organization.
func (s customerService) ListCustomers(ctx context.Context, in *gatewayv1.ListCustomersRequest) (*gatewayv1.ListCustomersResponse, error) {
	c := viewer(ctx)
	of, err := c.rights.CustomersToSee(id.Organization(in.GetOrganizationId()))
	if err != nil {
		return nil, err
	}
	after := id.EndUser{Organization: id.Organization(in.GetStartingAfterOrganizationId()), ID: id.Customer(in.GetStartingAfter())}
	shown := func(id.EndUser) bool { return true }
	made := c.set.Customers()
	if of != "" || !c.rights.SeesAll() {
		after.Organization, made = of, c.set.CustomersOf(of)
		shown = func(u id.EndUser) bool { return u.Organization == of }
	}
	most := int(orElse(in.Limit, mostCustomers))
	var named []id.EndUser
	if err := s.ledger.Customers(ctx, after, func(u id.EndUser) bool {
		if u.Compare(after) > 0 && shown(u) {
			named = append(named, u)
		}
		return len(named) < most
	}); err != nil {
		return nil, err
	}
	customers := firstCustomers(made, named, after, most)
	return &gatewayv1.ListCustomersResponse{Customers: shownAll(slices.Values(customers), customerRecord)}, nil
}

// firstCustomers merges customers that have a record with those that requests named, both in
// order, and returns the first ones that come after another customer.
func firstCustomers(made iter.Seq[*tenancy.Customer], named []id.EndUser, after id.EndUser, most int) []*tenancy.Customer {
	found := make([]*tenancy.Customer, 0, min(most, len(named)+1))
	nameds := func(upTo int) {
		for _, u := range named[:upTo] {
			found = append(found, &tenancy.Customer{ID: u.ID, Organization: u.Organization})
		}
		named = named[upTo:]
	}
	for c := range made {
		if c.EndUser().Compare(after) <= 0 {
			continue
		}
		if len(found) >= most {
			break
		}
		before, both := slices.BinarySearchFunc(named, c.EndUser(), id.EndUser.Compare)
		nameds(before)
		if both {
			named = named[1:]
		}
		found = append(found, c)
	}
	nameds(len(named))
	return found[:min(most, len(found))]
}

// UpdateCustomer changes the fields in the request. It creates the record of a customer that
// only has an account.
func (s customerService) UpdateCustomer(ctx context.Context, in *gatewayv1.UpdateCustomerRequest) (*gatewayv1.CustomerRecord, error) {
	return changed(ctx, s.state, customerRecord, func(c caller) (*tenancy.Customer, error) {
		of, err := c.customersToChange(in)
		if err != nil {
			return nil, err
		}
		before, err := s.need(ctx, c, "user_id", id.EndUser{Organization: of, ID: id.Customer(in.GetUserId())})
		if err != nil {
			return nil, err
		}
		after, err := patchCustomer(*before, in, in.GetClear())
		if err != nil {
			return nil, err
		}
		if err := c.rights.MayGiveCustomer(before, &after); err != nil {
			return nil, err
		}
		if _, exists := c.set.Customer(c.tx, after.EndUser()); exists || operation.IfRevision(ctx) != 0 {
			return c.set.UpdateCustomer(c.tx, after, operation.IfRevision(ctx))
		}
		return c.set.CreateCustomer(c.tx, after)
	})
}

// DeleteCustomers deletes customers, all of them or none.
func (s customerService) DeleteCustomers(ctx context.Context, in *gatewayv1.DeleteCustomersRequest) (*gatewayv1.DeleteCustomersResponse, error) {
	return change(ctx, s.state, func(c caller) (*gatewayv1.DeleteCustomersResponse, error) {
		place, err := c.customersToChange(in)
		if err != nil {
			return nil, err
		}
		out := &gatewayv1.DeleteCustomersResponse{OrganizationId: textOrNull(string(place))}
		err = eachCustomer(place, in.GetUserIds(), func(param string, of id.EndUser) error {
			out.DeletedCustomers++
			return c.set.DeleteCustomer(c.tx, param, of)
		})
		out.Message = counted(out.GetDeletedCustomers(), "customer") + " deleted."
		return out, err
	})
}

// eachCustomer calls fn for each customer of an organization that a request names, with the
// path of the name in the request, until fn returns an error.
func eachCustomer(of id.Organization, ids []string, fn func(param string, of id.EndUser) error) error {
	for i, name := range distinct(ids) {
		if err := fn(field.At("user_ids", i), id.EndUser{Organization: of, ID: id.Customer(name)}); err != nil {
			return err
		}
	}
	return nil
}

// BlockCustomers blocks customers: the gateway rejects their requests.
func (s customerService) BlockCustomers(ctx context.Context, in *gatewayv1.BlockCustomersRequest) (*gatewayv1.BlockCustomersResponse, error) {
	return change(ctx, s.state, func(c caller) (*gatewayv1.BlockCustomersResponse, error) {
		place, err := c.customersToChange(in)
		if err != nil {
			return nil, err
		}
		out := &gatewayv1.BlockCustomersResponse{}
		return out, eachCustomer(place, in.GetUserIds(), func(_ string, of id.EndUser) error {
			blocked, err := c.set.BlockCustomer(c.tx, of)
			if err == nil {
				out.BlockedUsers = append(out.GetBlockedUsers(), customerRecord(blocked))
			}
			return err
		})
	})
}

// UnblockCustomers unblocks customers, and returns those that are still blocked.
func (s customerService) UnblockCustomers(ctx context.Context, in *gatewayv1.UnblockCustomersRequest) (*gatewayv1.UnblockCustomersResponse, error) {
	return change(ctx, s.state, func(c caller) (*gatewayv1.UnblockCustomersResponse, error) {
		place, err := c.customersToChange(in)
		if err != nil {
			return nil, err
		}
		accepted := map[id.EndUser]bool{}
		if err := eachCustomer(place, in.GetUserIds(), func(param string, of id.EndUser) error {
			accepted[of] = true
			one, err := s.need(ctx, c, param, of)
			if err != nil || !one.Blocked {
				return err
			}
			return c.set.UnblockCustomer(c.tx, param, of)
		}); err != nil {
			return nil, err
		}
		out := &gatewayv1.UnblockCustomersResponse{OrganizationId: textOrNull(string(place))}
		for one := range c.set.Customers() {
			if one.Organization == place && one.Blocked && !accepted[one.EndUser()] {
				out.BlockedUsers = append(out.GetBlockedUsers(), string(one.ID))
			}
		}
		return out, nil
	})
}
