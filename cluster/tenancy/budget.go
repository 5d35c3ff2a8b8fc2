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

// Budget is a set of limits that several may have. Each counts its own spend.
type Budget struct {
	ID     id.Budget
	Limits Limits // its own Budget is empty
	record.Meta
}

func newBudgets() *table.Table[Budget] {
	return table.New(&table.Spec[Budget]{
		Space:    store.SpaceBudget,
		Key:      func(b *Budget) []byte { return []byte(b.ID) },
		Revision: func(b *Budget) uint64 { return b.Revision },
		Resource: event.ResourceBudget,
		Bounds:   func(b *Budget) (string, event.Bounds) { return string(b.ID), b.Limits.bounds() },
		Encode: func(b *Budget) proto.Message {
			return &clusterv1.Budget{Id: string(b.ID), Limits: b.Limits.record()}
		},
		Decode: func(_, value []byte) (*Budget, error) {
			r := &clusterv1.Budget{}
			if err := proto.Unmarshal(value, r); err != nil {
				return nil, err
			}
			return &Budget{ID: id.Budget(r.GetId()), Limits: limitsFrom(r.GetLimits()), Meta: record.MetaOf(r.GetStamp())}, nil
		},
	})
}
