package history

import (
	"context"
	"log/slog"
	"time"

	"github.com/modelgateway/modelgateway/cluster/audit"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/ledger"
	"github.com/modelgateway/modelgateway/cluster/store"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

const (
	// PackVersion is the version of transactions whose nodes read packed records.
	PackVersion = 4
	// packEvery is how often the leader looks whether the records are to be packed.
	packEvery = 250 * time.Millisecond
	// packMost is how many records of each kind one entry of the log packs: some milliseconds of work.
	packMost = 256
	// packRest is how many times as long as an entry took the leader waits for the next one. Requests come first.
	packRest = 4
)

// RunPack begins the logs of packed records as soon as all members know them, and packs the records of older
// versions step by step, while this node leads, until ctx ends.
func (k *Keeper) RunPack(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
		}
		wait := packEvery
		switch due, err := k.packDue(ctx); {
		case err != nil && ctx.Err() == nil:
			k.cfg.Logger.LogAttrs(ctx, slog.LevelWarn, "records of an older version could not be packed", slog.Any("error", err))
			wait = pause
		case err == nil && !due && k.cfg.Leads():
			wait = pause
		case due:
			begun := time.Now()
			// A crash before the commit leaves the records where they were; the next leader packs them.
			err := k.cfg.Pack(ctx, &clusterv1.PackHistory{Version: PackVersion, Workspace: audit.DefaultWorkspace, Most: packMost})
			if wait = packRest * time.Since(begun); err != nil {
				wait = packEvery
			}
		}
		timer.Reset(wait)
	}
}

// packDue reports whether this node leads, and the logs were not begun or records of older versions are left.
func (k *Keeper) packDue(ctx context.Context) (due bool, err error) {
	if !k.cfg.Leads() || !k.cfg.All(PackVersion) {
		return false, nil
	}
	err = k.cfg.View(func(state *store.Store) error {
		for _, check := range []func() (bool, error){
			func() (bool, error) {
				begun, err := audit.Begun(state, audit.DefaultWorkspace)
				return !begun, err
			},
			func() (bool, error) { return audit.HasOlder(ctx, state, audit.DefaultWorkspace) },
			func() (bool, error) { return ledger.HasOlderRows(ctx, state) },
		} {
			if due, err = check(); err != nil || due {
				return err
			}
		}
		return nil
	})
	return due, err
}

// Pack applies c to the state.
func Pack(tx *store.Tx, c *clusterv1.PackHistory) *fault.Error {
	most := int(c.GetMost())
	for _, step := range []func() *fault.Error{
		func() *fault.Error { return audit.Begin(tx, c.GetWorkspace()) },
		func() *fault.Error { return ledger.BeginRows(tx) },
		func() *fault.Error { return audit.Pack(tx, c.GetWorkspace(), most) },
		func() *fault.Error { return ledger.PackRows(tx, most) },
	} {
		if f := step(); f != nil {
			return f
		}
	}
	return nil
}
