package cluster

import (
	"context"

	"github.com/modelgateway/modelgateway/cluster/ledger"
	"github.com/modelgateway/modelgateway/cluster/store"
)

// UsageRows are the usage records in the order of recording, as one node has them. They are safe
// for concurrent use.
type UsageRows struct{ node *Node }

// UsageRows returns the usage records.
func (n *Node) UsageRows() UsageRows { return UsageRows{n} }

// Count returns how many records have a number from first to last.
func (u UsageRows) Count(_ context.Context, first, last uint64) (n uint64, err error) {
	err = u.node.consensus.View(func(state *store.Store) error {
		n, err = ledger.CountRows(state, first, last)
		return err
	})
	return n, err
}

// From calls fn for the records from a number on, until it returns false.
func (u UsageRows) From(ctx context.Context, number uint64, fn func(number uint64, r ledger.Record) bool) error {
	return u.node.consensus.View(func(state *store.Store) error { return ledger.RowsFrom(ctx, u.node.records(state), number, fn) })
}
