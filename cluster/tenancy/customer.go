package tenancy

import (
	"iter"

	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster/access"
	"github.com/modelgateway/modelgateway/cluster/event"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/store"
	"github.com/modelgateway/modelgateway/cluster/table"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// Customer is an end user that applications name in their requests.
type Customer struct {
	ID           id.Customer
	Organization id.Organization // whose keys name it; empty: keys without an organization do
	Alias        string          // may be empty
	Blocked      bool
	Models       []string // what it may use; empty means everything
	Limits       Limits
	record.Meta

	allowed *access.Models
}

// EndUser returns the end user that the customer is.
func (c *Customer) EndUser() id.EndUser {
	return id.EndUser{Organization: c.Organization, ID: c.ID}
}

// The indexes of the table of customers.
const (
	customerByBudget = iota
	customerByOrganization
)

// customerKey is the key of a customer's record: the id and, for a customer of an
// organization, a zero byte and the organization. No id has a zero byte. Records of
// versions without organizations have the keys of customers without one.
func customerKey(u id.EndUser) []byte {
	if u.Organization == "" {
		return []byte(u.ID)
	}
	return record.Join(string(u.ID), string(u.Organization))
}

func newCustomers() *table.Table[Customer] {
	return table.New(&table.Spec[Customer]{
		Space:    store.SpaceCustomer,
		Key:      func(c *Customer) []byte { return customerKey(c.EndUser()) },
		Revision: func(c *Customer) uint64 { return c.Revision },
		Resource: event.ResourceCustomer,
		Bounds:   func(c *Customer) (string, event.Bounds) { return c.EndUser().Name(), c.Limits.bounds() },
		Encode: func(c *Customer) proto.Message {
			return &clusterv1.Customer{
				Id: string(c.ID), OrganizationId: string(c.Organization), Alias: c.Alias, Blocked: c.Blocked, Models: c.Models, Limits: c.Limits.record(),
			}
		},
		Decode: func(_, value []byte) (*Customer, error) {
			r := &clusterv1.Customer{}
			if err := proto.Unmarshal(value, r); err != nil {
				return nil, err
			}
			c := &Customer{
				ID: id.Customer(r.GetId()), Organization: id.Organization(r.GetOrganizationId()), Alias: r.GetAlias(), Blocked: r.GetBlocked(), Models: r.GetModels(),
				Limits: limitsFrom(r.GetLimits()), Meta: record.MetaOf(r.GetStamp()),
			}
			var bad int
			if c.allowed, bad = access.Compile(c.Models); bad >= 0 {
				return nil, access.BadPattern("", bad)
			}
			return c, nil
		},
		Indexes: []func(*Customer) [][]byte{
			customerByBudget:       func(c *Customer) [][]byte { return given(string(c.Limits.Budget)) },
			customerByOrganization: func(c *Customer) [][]byte { return given(string(c.Organization)) },
		},
	})
}

const codeNoCustomer = "customer_not_found"

// Customer returns a customer. With a transaction, the read becomes a precondition of
// the commit.
func (s *Set) Customer(tx *record.Txn, u id.EndUser) (*Customer, bool) {
	return find(tx, s.customers, customerKey(u))
}

// Customers returns all customers, ordered by id and then by organization.
func (s *Set) Customers() iter.Seq[*Customer] { return s.customers.All() }

// CustomersOf returns the customers of an organization, ordered by id.
func (s *Set) CustomersOf(o id.Organization) iter.Seq[*Customer] {
	return s.customers.By(customerByOrganization, []byte(o))
}

// NeedCustomer returns a customer that a request names by a field; its error is that
// there is none.
func (s *Set) NeedCustomer(tx *record.Txn, param string, u id.EndUser) (*Customer, error) {
	found, ok := s.Customer(tx, u)
	if !ok {
		return nil, absent(codeNoCustomer, param, "There is no customer %s.", fault.Short(string(u.ID)))
	}
	return found, nil
}

// CreateCustomer adds a customer, in a transaction that is decided by this set. It
// returns Exists if the id is taken in the organization, and NotFound if
// there is no such organization or budget.
func (s *Set) CreateCustomer(tx *record.Txn, c Customer) (*Customer, error) {
	if _, ok := s.Customer(tx, c.EndUser()); ok {
		return nil, occupied("user_id", "There is a customer %s already; use /customer/update to change it.", fault.Short(string(c.ID)))
	}
	return s.putCustomer(tx, &Customer{}, c)
}

// UpdateCustomer puts a customer in place of the one with its id. It returns NotFound
// if there is none, and Conflict if ifRevision is given and is
// not its current revision.
func (s *Set) UpdateCustomer(tx *record.Txn, c Customer, ifRevision uint64) (*Customer, error) {
	before, err := s.NeedCustomer(tx, "user_id", c.EndUser())
	if err != nil {
		return nil, err
	}
	if err := record.CheckRevision("record", before.Revision, ifRevision); err != nil {
		return nil, err
	}
	return s.putCustomer(tx, before, c)
}

// putCustomer writes a customer in the place of another, which is empty for one that
// is new. Unlike other records one that is new takes something away, too: until
// then its requests were bound by nothing.
func (s *Set) putCustomer(tx *record.Txn, before *Customer, c Customer) (*Customer, error) {
	var bad int
	if c.allowed, bad = access.Compile(c.Models); bad >= 0 {
		return nil, access.BadPattern("", bad)
	}
	if err := c.Limits.Check(""); err != nil {
		return nil, err
	}
	c.Limits.Models = s.models(c.Limits)
	if before.ID == "" && c.Organization != "" {
		if _, err := s.needOrganization(tx, c.Organization); err != nil {
			return nil, err
		}
		s.grow(tx, collection{ofOrganization, string(c.Organization)})
	}
	if err := s.useBudget(tx, before.Limits.Budget, c.Limits.Budget); err != nil {
		return nil, err
	}
	if c.Blocked && !before.Blocked || narrows(before.Models, c.Models, before.Limits, c.Limits) {
		tx.RequireFence()
	}
	c.Meta = tx.Stamped(before.Meta)
	s.customers.Put(tx, &c)
	return &c, nil
}

// BlockCustomer has a customer refused until it is unblocked. One that is not there
// yet is made.
func (s *Set) BlockCustomer(tx *record.Txn, u id.EndUser) (*Customer, error) {
	before, ok := s.Customer(tx, u)
	switch {
	case !ok:
		return s.putCustomer(tx, &Customer{}, Customer{ID: u.ID, Organization: u.Organization, Blocked: true})
	case before.Blocked:
		return before, nil
	}
	blocked := *before
	blocked.Blocked = true
	return s.putCustomer(tx, before, blocked)
}

// DeleteCustomer removes a customer. Its requests are then bound by nothing of its
// own, so nothing is taken away. param is the field that names it.
func (s *Set) DeleteCustomer(tx *record.Txn, param string, u id.EndUser) error {
	old, err := s.NeedCustomer(tx, param, u)
	if err != nil {
		return err
	}
	s.customers.Delete(tx, old)
	return nil
}

// UnblockCustomer has a customer accepted again. param is the field that names it.
func (s *Set) UnblockCustomer(tx *record.Txn, param string, u id.EndUser) error {
	before, err := s.NeedCustomer(tx, param, u)
	if err != nil || !before.Blocked {
		return err
	}
	accepted := *before
	accepted.Blocked = false
	_, err = s.putCustomer(tx, before, accepted)
	return err
}
