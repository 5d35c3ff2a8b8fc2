package cluster

import (
	"bytes"
	"context"
	"log/slog"
	"time"

	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/store"
)

const (
	// sweepPause is how often the leader looks for what may go. What it looks for
	// does no harm while it is there.
	sweepPause = 10 * time.Minute
	// sweepMost is how much goes with one entry of the log.
	sweepMost = 1000
)

// sweep deletes, on the leader and from time to time, what is no longer needed: idempotent
// responses that have expired, replaced keys whose grace period is over, and abandoned restores.
// After a crash the next leader does it.
func (n *Node) sweep(ctx context.Context) error {
	ticker := time.NewTicker(sweepPause)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		if n.consensus.IsLeader() {
			if err := n.sweepRestores(ctx); err != nil {
				n.logger.LogAttrs(ctx, slog.LevelWarn, "restores that were given up could not be dropped", slog.Any("error", err))
			}
		}
		for n.consensus.IsLeader() && ctx.Err() == nil {
			found, err := n.sweepOnce(ctx)
			if err != nil {
				n.logger.LogAttrs(ctx, slog.LevelWarn, "what is too old could not be deleted", slog.Any("error", err))
			}
			if err != nil || found < sweepMost {
				break
			}
		}
	}
}

// sweepOnce deletes at most sweepMost records of each sort and returns how many.
func (n *Node) sweepOnce(ctx context.Context) (found int, err error) {
	replays, err := n.oldReplays(ctx)
	if err != nil {
		return 0, err
	}
	_, err = n.Change(ctx, "", func(v *View, tx *record.Txn) error {
		for at, revision := range replays {
			key := record.At{Space: store.SpaceReplay, Key: []byte(at)}
			tx.Require(key, revision)
			tx.Delete(key)
		}
		found = len(replays) + v.Keys.DeleteRetired(tx, sweepMost)
		return nil
	})
	return found, err
}

// oldReplays returns the scopes of answers that are too old, with their revisions.
func (n *Node) oldReplays(ctx context.Context) (map[string]uint64, error) {
	old, now := map[string]uint64{}, n.clock.Now()
	var broken error
	err := n.consensus.View(func(state *store.Store) error {
		return state.Scan(ctx, store.Range{Space: store.SpaceReplay}, func(key, value []byte) bool {
			r, err := record.ReadReplay(value)
			if err != nil {
				broken = err
				return false
			}
			if now.Sub(r.UpdatedAt) > ReplayTime {
				old[string(bytes.Clone(key))] = r.Revision
			}
			return len(old) < sweepMost
		})
	})
	if err == nil {
		err = broken
	}
	return old, err
}
