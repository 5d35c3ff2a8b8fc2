package keys

import (
	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/store"
	"github.com/modelgateway/modelgateway/cluster/table"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// Customer is an end user that applications name in their requests.
type Customer struct {
	ID      id.Customer
	Alias   string // may be empty
	Blocked bool
	Models  []string // what it may use; empty means everything
	Limits  Limits
	record.Meta

	allowed *allowed
}

// customerByBudget is the index of the table of customers.
const customerByBudget = 0

func newCustomers() *table.Table[Customer] {
	return table.New(&table.Spec[Customer]{
		Space:    store.SpaceCustomer,
		Key:      func(c *Customer) []byte { return []byte(c.ID) },
		Revision: func(c *Customer) uint64 { return c.Revision },
		Encode: func(c *Customer) proto.Message {
			return &clusterv1.Customer{Id: string(c.ID), Alias: c.Alias, Blocked: c.Blocked, Models: c.Models, Limits: c.Limits.record()}
		},
		Decode: func(_, value []byte) (*Customer, error) {
			r := &clusterv1.Customer{}
			if err := proto.Unmarshal(value, r); err != nil {
				return nil, err
			}
			c := &Customer{
				ID: id.Customer(r.GetId()), Alias: r.GetAlias(), Blocked: r.GetBlocked(), Models: r.GetModels(),
				Limits: limitsFrom(r.GetLimits()), Meta: record.MetaOf(r.GetStamp()),
			}
			var bad int
			if c.allowed, bad = compile(c.Models); bad >= 0 {
				return nil, badPattern("", bad)
			}
			return c, nil
		},
		Indexes: []func(*Customer) [][]byte{
			customerByBudget: func(c *Customer) [][]byte { return given(string(c.Limits.Budget)) },
		},
	})
}
