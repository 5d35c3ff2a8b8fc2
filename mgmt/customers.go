package mgmt

import (
	"context"
	"iter"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	"github.com/modelgateway/modelgateway/mgmt/field"
	"github.com/modelgateway/modelgateway/mgmt/operation"
	gatewayv1 "github.com/modelgateway/modelgateway/proto/gen/gateway/v1"
)

type customerService struct {
	gatewayv1.UnimplementedCustomerServiceServer
	service
}

// CreateCustomer makes a customer.
func (s customerService) CreateCustomer(ctx context.Context, in *gatewayv1.CreateCustomerRequest) (*gatewayv1.CustomerRecord, error) {
	c, err := patchCustomer(tenancy.Customer{ID: id.Customer(in.GetUserId())}, in, nil)
	if err != nil {
		return nil, err
	}
	return operation.Change(ctx, s.state, func(v *cluster.View, tx *record.Txn) (*gatewayv1.CustomerRecord, error) {
		r := v.Keys.Rights(tx, operation.Principal(ctx))
		var err error
		if c.Organization, err = r.CustomersToChange(id.Organization(in.GetOrganizationId())); err != nil {
			return nil, err
		}
		if err := r.MayGiveCustomer(&tenancy.Customer{}, &c); err != nil {
			return nil, err
		}
		made, err := v.Keys.CreateCustomer(tx, c)
		if err != nil {
			return nil, err
		}
		return customerRecord(made), nil
	})
}

// customersPlace returns the organization whose customers a request changes.
func customersPlace(ctx context.Context, v *cluster.View, tx *record.Txn, in interface{ GetOrganizationId() string }) (id.Organization, error) {
	return v.Keys.Rights(tx, operation.Principal(ctx)).CustomersToChange(id.Organization(in.GetOrganizationId()))
}

// patchCustomer returns the customer as a request wants it.
func patchCustomer(c tenancy.Customer, m proto.Message, clears []string) (tenancy.Customer, error) {
	p := patchOf(m, clears, limitFields("alias", "models")...)
	c.Alias = p.text("alias", c.Alias)
	c.Blocked = p.blocked(c.Blocked)
	c.Models = p.list("models", c.Models)
	c.Limits = p.limits(c.Limits)
	return c, p.err
}

// customerRecord is a customer as the API shows it.
func customerRecord(c *tenancy.Customer) *gatewayv1.CustomerRecord {
	out := &gatewayv1.CustomerRecord{UserId: string(c.ID), OrganizationId: textOrNull(string(c.Organization)), Alias: textOrNull(c.Alias), Blocked: c.Blocked, Models: c.Models}
	showLimits(out, c.Limits)
	showMeta(out, c.Meta)
	return out
}

// need returns a customer that a request names by a field: one that was made, or else
// one that has nothing but an account, because requests have named it. Its error
// is that there is neither.
func (s customerService) need(ctx context.Context, set *tenancy.Set, tx *record.Txn, param string, u id.EndUser) (*tenancy.Customer, error) {
	found, absent := set.NeedCustomer(tx, param, u)
	if absent == nil {
		return found, nil
	}
	err := s.ledger.Customers(ctx, u, func(first id.EndUser) bool {
		if first == u {
			absent = nil
		}
		return false
	})
	switch {
	case err != nil:
		return nil, err
	case absent != nil:
		return nil, absent
	}
	return &tenancy.Customer{ID: u.ID, Organization: u.Organization}, nil
}

// GetCustomer shows one customer.
func (s customerService) GetCustomer(ctx context.Context, in *gatewayv1.GetCustomerRequest) (*gatewayv1.CustomerRecord, error) {
	v, err := operation.Current(ctx, s.state)
	if err != nil {
		return nil, err
	}
	set := v.Keys
	of, err := set.Rights(nil, operation.Principal(ctx)).CustomersToSee(id.Organization(in.GetOrganizationId()))
	if err != nil {
		return nil, err
	}
	c, err := s.need(ctx, set, nil, "end_user_id", id.EndUser{Organization: of, ID: id.Customer(in.GetEndUserId())})
	if err != nil {
		return nil, err
	}
	return customerRecord(c), nil
}

// mostCustomers bounds a page: what each has spent is read for it.
const mostCustomers = 1000

// ListCustomers shows the customers that were made or named, ordered by id and then by
// organization.
func (s customerService) ListCustomers(ctx context.Context, in *gatewayv1.ListCustomersRequest) (*gatewayv1.ListCustomersResponse, error) {
	set := operation.View(ctx).Keys
	r := set.Rights(nil, operation.Principal(ctx))
	of, err := r.CustomersToSee(id.Organization(in.GetOrganizationId()))
	if err != nil {
		return nil, err
	}
	after := id.EndUser{Organization: id.Organization(in.GetStartingAfterOrganizationId()), ID: id.Customer(in.GetStartingAfter())}
	shown := func(id.EndUser) bool { return true }
	made := set.Customers()
	if of != "" || !r.SeesAll() {
		after.Organization, made = of, set.CustomersOf(of)
		shown = func(u id.EndUser) bool { return u.Organization == of }
	}
	most := mostCustomers
	if in.Limit != nil {
		most = int(in.GetLimit())
	}
	var named []id.EndUser
	if err := s.ledger.Customers(ctx, after, func(u id.EndUser) bool {
		if u.Compare(after) > 0 && shown(u) {
			named = append(named, u)
		}
		return len(named) < most
	}); err != nil {
		return nil, err
	}
	out := &gatewayv1.ListCustomersResponse{}
	for _, c := range firstCustomers(made, named, after, most) {
		out.Customers = append(out.GetCustomers(), customerRecord(c))
	}
	return out, nil
}

// firstCustomers merges customers that were made and ones that requests have named, both
// in order, and returns the first ones after another.
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

// UpdateCustomer changes what the request gives, and makes a customer that is only named
// so far.
func (s customerService) UpdateCustomer(ctx context.Context, in *gatewayv1.UpdateCustomerRequest) (*gatewayv1.CustomerRecord, error) {
	return operation.Change(ctx, s.state, func(v *cluster.View, tx *record.Txn) (*gatewayv1.CustomerRecord, error) {
		r := v.Keys.Rights(tx, operation.Principal(ctx))
		of, err := r.CustomersToChange(id.Organization(in.GetOrganizationId()))
		if err != nil {
			return nil, err
		}
		before, err := s.need(ctx, v.Keys, tx, "user_id", id.EndUser{Organization: of, ID: id.Customer(in.GetUserId())})
		if err != nil {
			return nil, err
		}
		after, err := patchCustomer(*before, in, in.GetClear())
		if err != nil {
			return nil, err
		}
		if err := r.MayGiveCustomer(before, &after); err != nil {
			return nil, err
		}
		var made *tenancy.Customer
		if _, there := v.Keys.Customer(tx, after.EndUser()); there || operation.IfRevision(ctx) != 0 {
			made, err = v.Keys.UpdateCustomer(tx, after, operation.IfRevision(ctx))
		} else {
			made, err = v.Keys.CreateCustomer(tx, after)
		}
		if err != nil {
			return nil, err
		}
		return customerRecord(made), nil
	})
}

// DeleteCustomers deletes customers, all of them or none.
func (s customerService) DeleteCustomers(ctx context.Context, in *gatewayv1.DeleteCustomersRequest) (*gatewayv1.DeleteCustomersResponse, error) {
	return operation.Change(ctx, s.state, func(v *cluster.View, tx *record.Txn) (*gatewayv1.DeleteCustomersResponse, error) {
		place, err := customersPlace(ctx, v, tx, in)
		if err != nil {
			return nil, err
		}
		out := &gatewayv1.DeleteCustomersResponse{OrganizationId: textOrNull(string(place))}
		err = eachCustomer(place, in.GetUserIds(), func(param string, of id.EndUser) error {
			out.DeletedCustomers++
			return v.Keys.DeleteCustomer(tx, param, of)
		})
		out.Message = counted(out.GetDeletedCustomers(), "customer") + " deleted."
		return out, err
	})
}

// eachCustomer calls fn once for each customer of an organization that a request names,
// with the place where it does, until there is an error.
func eachCustomer(of id.Organization, ids []string, fn func(param string, of id.EndUser) error) error {
	for i, name := range distinct(ids) {
		if err := fn(field.At("user_ids", i), id.EndUser{Organization: of, ID: id.Customer(name)}); err != nil {
			return err
		}
	}
	return nil
}

// BlockCustomers has customers refused.
func (s customerService) BlockCustomers(ctx context.Context, in *gatewayv1.BlockCustomersRequest) (*gatewayv1.BlockCustomersResponse, error) {
	return operation.Change(ctx, s.state, func(v *cluster.View, tx *record.Txn) (*gatewayv1.BlockCustomersResponse, error) {
		place, err := customersPlace(ctx, v, tx, in)
		if err != nil {
			return nil, err
		}
		out := &gatewayv1.BlockCustomersResponse{}
		err = eachCustomer(place, in.GetUserIds(), func(_ string, of id.EndUser) error {
			c, err := v.Keys.BlockCustomer(tx, of)
			if err != nil {
				return err
			}
			out.BlockedUsers = append(out.GetBlockedUsers(), customerRecord(c))
			return nil
		})
		return out, err
	})
}

// UnblockCustomers has customers accepted again, and says who is not.
func (s customerService) UnblockCustomers(ctx context.Context, in *gatewayv1.UnblockCustomersRequest) (*gatewayv1.UnblockCustomersResponse, error) {
	return operation.Change(ctx, s.state, func(v *cluster.View, tx *record.Txn) (*gatewayv1.UnblockCustomersResponse, error) {
		place, err := customersPlace(ctx, v, tx, in)
		if err != nil {
			return nil, err
		}
		accepted := map[id.EndUser]bool{}
		if err := eachCustomer(place, in.GetUserIds(), func(param string, of id.EndUser) error {
			accepted[of] = true
			c, err := s.need(ctx, v.Keys, tx, param, of)
			if err != nil || !c.Blocked {
				return err
			}
			return v.Keys.UnblockCustomer(tx, param, of)
		}); err != nil {
			return nil, err
		}
		out := &gatewayv1.UnblockCustomersResponse{OrganizationId: textOrNull(string(place))}
		for c := range v.Keys.Customers() {
			if c.Organization == place && c.Blocked && !accepted[c.EndUser()] {
				out.BlockedUsers = append(out.GetBlockedUsers(), string(c.ID))
			}
		}
		return out, nil
	})
}
