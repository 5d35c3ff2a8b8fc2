package cluster

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"log/slog"
	"time"

	"github.com/modelgateway/modelgateway/cluster/consensus"
	"github.com/modelgateway/modelgateway/cluster/delivery"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/inject"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/restore"
	"github.com/modelgateway/modelgateway/cluster/store"
	"github.com/modelgateway/modelgateway/cluster/vault"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

const (
	// restoreTime bounds how long an entry of a restore is tried: an election may come
	// in between, and the last entry writes all that was staged.
	restoreTime = time.Minute
	// stagedFor is how long a restore that is not committed is kept. It is longer than
	// any takes.
	stagedFor = time.Hour
)

// RestoreRequest says how the settings of a backup are to come back.
type RestoreRequest struct {
	Actor string // of the change
	// Audit is the audit record of the restore; its Details get what was changed.
	Audit record.Audit
	// AcceptUnusable restores records too that are sealed with a key which this node
	// does not have.
	AcceptUnusable bool
	// Also adds to the change; it may be called several times, each time with a new
	// transaction. It is called when the backup has been read. nil adds nothing.
	Also func(tx *record.Txn, name []byte) error
}

// Restore makes the settings of all nodes those of a backup: keys, models, tenants,
// prompts and the like. The ledger, the audit log and what belongs to them stay. It is
// one entry of the log, as any change is; before it nothing is changed. When it
// returns no error, no node that can be reached accepts a key that the backup does not have.
//
// Errors: Malformed for a file that is no backup or is damaged; Conflict where it was
// not to be; Unavailable with code outcome_unknown where that is not known.
func (n *Node) Restore(ctx context.Context, r io.Reader, in RestoreRequest) (_ *restore.Report, err error) {
	defer n.cfg.BeginRestore()()
	ranges := restore.Ranges()
	backup, err := n.consensus.UnpackBackup(r, func(space store.Space, key []byte) bool { //nolint:contextcheck // a store is written for as long as it takes
		return space == store.SpaceKeyring || space == store.SpaceView || restore.Restored(ranges, space, key)
	})
	if err != nil {
		return nil, err
	}
	defer func() {
		if cerr := backup.Close(); cerr != nil { // what is left goes at the next Open
			n.logger.LogAttrs(ctx, slog.LevelWarn, "an unpacked snapshot cannot be removed", slog.Any("error", cerr))
		}
	}()
	version, err := n.restorable(backup.State)
	if err != nil {
		return nil, err
	}
	if err := n.current(ctx); err != nil {
		return nil, err
	}
	if err := n.sameVersions(ctx); err != nil {
		return nil, err
	}
	keyring, err := loadKeyring(ctx, backup.State)
	if err != nil {
		return nil, err
	}
	if !in.AcceptUnusable {
		if err := n.opens(ctx, backup.State, keyring); err != nil {
			return nil, err
		}
	}
	name := make([]byte, restore.NameLength)
	_, _ = rand.Read(name) // never fails
	// A crash leaves pieces that are never read; the leader deletes them later.
	pieces, err := restore.Pieces(ctx, backup.State, name, func(piece *clusterv1.StageRestore) error {
		_, err := n.insist(ctx, &clusterv1.Command{Change: &clusterv1.Command_StageRestore{StageRestore: piece}})
		return err
	})
	if err != nil {
		n.dropRestore(ctx, name)
		return nil, err
	}
	inject.Crash("restore.staged")
	index, err := n.commitRestore(ctx, &clusterv1.CommitRestore{
		Restore: name, Pieces: pieces, Ranges: ranges, Version: version, Actor: in.Actor, BackupUnixNano: backup.Time.UnixNano(),
	}, keyring, in)
	if err != nil {
		return nil, err
	}
	n.fenceLong(context.WithoutCancel(ctx), index)
	return n.RestoredBy(ctx, name)
}

// RestoredBy returns what a restore has changed, as this node's state has it; nil if
// that is too long ago.
func (n *Node) RestoredBy(_ context.Context, name []byte) (out *restore.Report, err error) {
	err = n.consensus.View(func(state *store.Store) error {
		out, err = restore.ReportOf(state, name)
		return err
	})
	return out, err
}

// sameVersions refuses a restore while nodes of two versions serve: an older one stops
// at an entry that it does not know.
func (n *Node) sameVersions(ctx context.Context) error {
	status, err := n.Status(ctx, false)
	if err != nil {
		return err
	}
	for i := range status.Members {
		if m := &status.Members[i]; m.Alive && m.Version != n.cfg.Version {
			return fault.New(fault.Conflict, "versions_differ", "Node %s runs version %s and this node %s. Upgrade all nodes to one version first. Nothing was changed.", m.Node, m.Version, n.cfg.Version)
		}
	}
	return nil
}

// opens rejects a backup whose secrets cannot be opened here. If a KMS has sealed them, its root
// is in the backup, and they may be opened later.
func (n *Node) opens(ctx context.Context, state *store.Store, backup keyring) error {
	if _, comes := merged(n.View().keyring, backup); comes {
		return nil
	}
	var missing vault.KeyID
	count := 0
	open := func(sealed []byte, context string) (vault.Secret, error) {
		plain, err := n.sealer.Open(sealed, context)
		if err != nil && !errors.Is(err, vault.ErrLocked) {
			missing = vault.SealedBy(sealed)
			count++
		}
		return plain, err
	}
	if _, _, err := n.base.Catalog.Load(ctx, state, open); err != nil {
		return err
	}
	if _, _, err := delivery.Load(ctx, state, open); err != nil {
		return err
	}
	if count == 0 {
		return nil
	}
	return fault.New(fault.Conflict, "encryption_key_missing",
		"The snapshot has %d secrets that this node cannot open; they are sealed with encryption key %s. Add that key to general_settings.encryption_keys_previous on every node and restart them, or add accept_unusable=yes to restore the rest. Nothing was changed.", count, missing)
}

// commitRestore puts the staged records in force, together with what else belongs to
// the change, and returns the entry that did it.
func (n *Node) commitRestore(ctx context.Context, c *clusterv1.CommitRestore, backup keyring, in RestoreRequest) (uint64, error) {
	for {
		tx := record.NewTxn(n.clock.Now(), in.Actor)
		now := n.View().keyring
		if next, more := merged(now, backup); more {
			tx.Require(keyringAt(), now.revision)
			tx.Put(keyringAt(), keyringRecord(next.Keyring))
		}
		tx.Audit(in.Audit)
		if in.Also != nil {
			if err := in.Also(tx, c.GetRestore()); err != nil {
				n.dropRestore(ctx, c.GetRestore())
				return 0, err
			}
		}
		m, err := tx.Message()
		if err != nil {
			return 0, err
		}
		c.Audit, m.Audit = m.GetAudit()[0], nil
		c.Transaction = m
		index, err := n.insist(ctx, &clusterv1.Command{Actor: in.Actor, Change: &clusterv1.Command_CommitRestore{CommitRestore: c}})
		if err == nil || !stale(err) {
			return index, err
		}
		// The keyring has changed, or the same request was answered elsewhere meanwhile.
		if err := n.current(ctx); err != nil {
			return 0, err
		}
	}
}

// dropRestore drops the pieces of a restore that was given up. If that fails, the
// leader does it later.
func (n *Node) dropRestore(ctx context.Context, name []byte) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeTime)
	defer cancel()
	if _, err := n.insist(ctx, &clusterv1.Command{Change: &clusterv1.Command_DropRestore{DropRestore: &clusterv1.DropRestore{Restore: name}}}); err != nil {
		n.logger.LogAttrs(ctx, slog.LevelInfo, "pieces of a restore that was given up are dropped later", slog.Any("error", err))
	}
}

// insist is submit for restoreTime. It returns without an error only when this node's state has the
// command.
func (n *Node) insist(ctx context.Context, cmd *clusterv1.Command) (uint64, error) {
	ctx, cancel := context.WithTimeout(ctx, restoreTime)
	defer cancel()
	index, err := n.repeat(ctx, cmd)
	if err != nil {
		return index, err
	}
	if err := n.consensus.WaitApplied(ctx, index); err != nil {
		return index, unknown(err)
	}
	return index, nil
}

// fenceLong is fence for an entry that takes nodes long to apply. A node that has not
// acknowledged it within Config.KeyStaleness refuses agreed keys by itself.
func (n *Node) fenceLong(ctx context.Context, index uint64) {
	ctx, cancel := context.WithTimeout(ctx, max(fenceTime, min(n.fresh.limit, restoreTime)))
	defer cancel()
	n.awaitOthers(ctx, index, func(consensus.Server) bool { return true })
}

// sweepRestores drops what is kept of restores that were given up or are long done.
func (n *Node) sweepRestores(ctx context.Context) error {
	var names [][]byte
	now := n.clock.Now()
	err := n.consensus.View(func(state *store.Store) (err error) {
		names, err = restore.Old(func(r store.Range, fn func(key, value []byte) bool) error { return state.Scan(ctx, r, fn) },
			now.Add(-stagedFor), now.Add(-ReplayTime))
		return err
	})
	for _, name := range names {
		if err == nil {
			_, err = n.insist(ctx, &clusterv1.Command{Change: &clusterv1.Command_DropRestore{DropRestore: &clusterv1.DropRestore{Restore: name}}})
		}
	}
	return err
}
