package mgmt

import (
	"context"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/keys"
	"github.com/modelgateway/modelgateway/cluster/record"
	gatewayv1 "github.com/modelgateway/modelgateway/proto/gen/gateway/v1"
)

type customerService struct {
	gatewayv1.UnimplementedCustomerServiceServer
	service
}

// CreateCustomer makes a customer.
func (s customerService) CreateCustomer(ctx context.Context, in *gatewayv1.CreateCustomerRequest) (*gatewayv1.CustomerRecord, error) {
	c, err := patchCustomer(keys.Customer{ID: id.Customer(in.GetUserId())}, in, nil)
	if err != nil {
		return nil, err
	}
	return change(ctx, s.service, func(v *cluster.View, tx *record.Txn) (*gatewayv1.CustomerRecord, error) {
		made, err := v.Keys.CreateCustomer(tx, c)
		if err != nil {
			return nil, err
		}
		return customerRecord(made), nil
	})
}

// patchCustomer returns the customer as a request wants it.
func patchCustomer(c keys.Customer, m proto.Message, clears []string) (keys.Customer, error) {
	if _, err := cleared(clears, limitFields("alias", "models")...); err != nil {
		return c, err
	}
	p := patchOf(m, clears)
	c.Alias = p.text("alias", c.Alias)
	c.Blocked = p.flag("blocked", c.Blocked)
	c.Models = p.list("models", c.Models)
	if p.err != nil {
		return c, p.err
	}
	var err error
	c.Limits, err = patchLimits(c.Limits, m, clears)
	return c, err
}

// customerRecord is a customer as the API shows it.
func customerRecord(c *keys.Customer) *gatewayv1.CustomerRecord {
	out := &gatewayv1.CustomerRecord{UserId: string(c.ID), Alias: textOrNull(c.Alias), Blocked: c.Blocked, Models: c.Models}
	showLimits(out, c.Limits)
	showMeta(out, c.Meta)
	return out
}

// need returns a customer that a request names by a field: one that was made, or else
// one that has nothing but an account, because requests have named it. Its error
// is that there is neither.
func (s customerService) need(ctx context.Context, set *keys.Set, tx *record.Txn, param string, c id.Customer) (*keys.Customer, error) {
	found, absent := set.NeedCustomer(tx, param, c)
	if absent == nil {
		return found, nil
	}
	err := s.ledger.Customers(ctx, c, func(first id.Customer) bool {
		if first == c {
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
	return &keys.Customer{ID: c}, nil
}

// GetCustomer shows one customer.
func (s customerService) GetCustomer(ctx context.Context, in *gatewayv1.GetCustomerRequest) (*gatewayv1.CustomerRecord, error) {
	v, err := s.state.Current(ctx)
	if err != nil {
		return nil, err
	}
	c, err := s.need(ctx, show(ctx, v).Keys, nil, "end_user_id", id.Customer(in.GetEndUserId()))
	if err != nil {
		return nil, err
	}
	return customerRecord(c), nil
}

// mostCustomers bounds a page: what each has spent is read for it.
const mostCustomers = 1000

// ListCustomers shows the customers that were made or named, ordered by id.
func (s customerService) ListCustomers(ctx context.Context, in *gatewayv1.ListCustomersRequest) (*gatewayv1.ListCustomersResponse, error) {
	after, most := id.Customer(in.GetStartingAfter()), mostCustomers
	if in.Limit != nil {
		most = int(in.GetLimit())
	}
	var named []id.Customer
	err := s.ledger.Customers(ctx, after, func(c id.Customer) bool {
		if c > after {
			named = append(named, c)
		}
		return len(named) < most
	})
	if err != nil {
		return nil, err
	}
	found := make([]*keys.Customer, 0, min(most, len(named)+1))
	nameds := func(upTo int) {
		for _, c := range named[:upTo] {
			found = append(found, &keys.Customer{ID: c})
		}
		named = named[upTo:]
	}
	for c := range viewOf(ctx).Keys.Customers() {
		if c.ID <= after {
			continue
		}
		if len(found) >= most {
			break
		}
		before, both := slices.BinarySearch(named, c.ID)
		nameds(before)
		if both {
			named = named[1:]
		}
		found = append(found, c)
	}
	nameds(len(named))
	out := &gatewayv1.ListCustomersResponse{}
	for _, c := range found[:min(most, len(found))] {
		out.Customers = append(out.GetCustomers(), customerRecord(c))
	}
	return out, nil
}

// UpdateCustomer changes what the request gives, and makes a customer that is only named
// so far.
func (s customerService) UpdateCustomer(ctx context.Context, in *gatewayv1.UpdateCustomerRequest) (*gatewayv1.CustomerRecord, error) {
	revision, err := whole(fieldIfRevision, in.GetIfRevision())
	if err != nil {
		return nil, err
	}
	return change(ctx, s.service, func(v *cluster.View, tx *record.Txn) (*gatewayv1.CustomerRecord, error) {
		before, err := s.need(ctx, v.Keys, tx, "user_id", id.Customer(in.GetUserId()))
		if err != nil {
			return nil, err
		}
		after, err := patchCustomer(*before, in, in.GetClear())
		if err != nil {
			return nil, err
		}
		var made *keys.Customer
		if _, there := v.Keys.Customer(tx, after.ID); there || revision != 0 {
			made, err = v.Keys.UpdateCustomer(tx, after, uint64(revision))
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
	return change(ctx, s.service, func(v *cluster.View, tx *record.Txn) (*gatewayv1.DeleteCustomersResponse, error) {
		out := &gatewayv1.DeleteCustomersResponse{}
		err := eachCustomer(in.GetUserIds(), func(param string, of id.Customer) error {
			out.DeletedCustomers++
			return v.Keys.DeleteCustomer(tx, param, of)
		})
		out.Message = counted(out.GetDeletedCustomers(), "customer") + " deleted."
		return out, err
	})
}

// eachCustomer calls fn once for each customer that a request names, with the
// place where it does, until there is an error.
func eachCustomer(ids []string, fn func(param string, of id.Customer) error) error {
	seen := map[string]bool{}
	for i, of := range ids {
		if seen[of] {
			continue
		}
		seen[of] = true
		if err := fn(at("user_ids", i), id.Customer(of)); err != nil {
			return err
		}
	}
	return nil
}

// BlockCustomers has customers refused.
func (s customerService) BlockCustomers(ctx context.Context, in *gatewayv1.BlockCustomersRequest) (*gatewayv1.BlockCustomersResponse, error) {
	return change(ctx, s.service, func(v *cluster.View, tx *record.Txn) (*gatewayv1.BlockCustomersResponse, error) {
		out := &gatewayv1.BlockCustomersResponse{}
		err := eachCustomer(in.GetUserIds(), func(_ string, of id.Customer) error {
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
	return change(ctx, s.service, func(v *cluster.View, tx *record.Txn) (*gatewayv1.UnblockCustomersResponse, error) {
		accepted := map[id.Customer]bool{}
		if err := eachCustomer(in.GetUserIds(), func(param string, of id.Customer) error {
			accepted[of] = true
			c, err := s.need(ctx, v.Keys, tx, param, of)
			if err != nil || !c.Blocked {
				return err
			}
			return v.Keys.UnblockCustomer(tx, param, of)
		}); err != nil {
			return nil, err
		}
		out := &gatewayv1.UnblockCustomersResponse{}
		for c := range v.Keys.Customers() {
			if c.Blocked && !accepted[c.ID] {
				out.BlockedUsers = append(out.GetBlockedUsers(), string(c.ID))
			}
		}
		return out, nil
	})
}
