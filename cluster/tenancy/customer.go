package tenancy

import (
	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster/event"
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

	allowed *allowed
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
			if c.allowed, bad = compile(c.Models); bad >= 0 {
				return nil, badPattern("", bad)
			}
			return c, nil
		},
		Indexes: []func(*Customer) [][]byte{
			customerByBudget:       func(c *Customer) [][]byte { return given(string(c.Limits.Budget)) },
			customerByOrganization: func(c *Customer) [][]byte { return given(string(c.Organization)) },
		},
	})
}
