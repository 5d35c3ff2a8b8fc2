package cluster

import (
	"context"
	"time"

	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/store"
)

// ReplayTime is how long the answer of an operation is kept for those who ask
// again under the same Idempotency-Key.
const ReplayTime = 24 * time.Hour

// Replayed returns the answer that was kept for a scope, as this node's state has
// it: nil for none. One that is Stale does not count.
func (n *Node) Replayed(ctx context.Context, scope [32]byte) (found *record.Remembered, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	err = n.consensus.View(func(state *store.Store) error {
		value, there, err := state.Get(store.SpaceReplay, scope[:])
		if err != nil || !there {
			return err
		}
		r, err := record.ReadReplay(value)
		if err != nil {
			return err
		}
		r.Stale = time.Since(r.UpdatedAt) > ReplayTime
		found = &r
		return nil
	})
	return found, err
}
