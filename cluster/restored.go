package cluster

import (
	"bytes"
	"context"
	"encoding/binary"
	"slices"

	"github.com/modelgateway/modelgateway/cluster/audit"
	"github.com/modelgateway/modelgateway/cluster/consensus"
	"github.com/modelgateway/modelgateway/cluster/inject"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/restore"
	"github.com/modelgateway/modelgateway/cluster/store"
	"github.com/modelgateway/modelgateway/cluster/vault"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// stage keeps a piece of a backup. The copies of a piece on its way through the network,
// the log and the state are garbage of five times its size, on every node.
func (m machine) stage(tx *store.Tx, e consensus.Entry, s *clusterv1.StageRestore) consensus.Outcome {
	defer m.node.cfg.BeginRestore()()
	return outcome(restore.Stage(tx, s, e.Time), nil)
}

// restore puts the settings of a backup in force, with an audit record that says what
// that changed, and with what else belongs to it.
func (m machine) restore(tx *store.Tx, e consensus.Entry, c *clusterv1.CommitRestore) consensus.Outcome {
	end := m.node.cfg.BeginRestore()
	out := m.restoreSettings(tx, e, c)
	if out.Fault != nil || out.Err != nil {
		end()
		return out
	}
	show := out.Publish
	out.Publish = func(index uint64) {
		defer end()
		show(index)
	}
	return out
}

// restoreSettings is restore without the calls of Config.BeginRestore.
func (m machine) restoreSettings(tx *store.Tx, e consensus.Entry, c *clusterv1.CommitRestore) consensus.Outcome {
	by := record.Stamp{Index: e.Index, Time: record.FromNanos(c.GetTransaction().GetTimeUnixNano()), Actor: c.GetActor()}
	if _, f := record.Apply(tx, c.GetTransaction(), by); f != nil {
		return outcome(f, nil)
	}
	if f := require(tx, c.GetVersion()); f != nil {
		return outcome(f, nil)
	}
	done, f := restore.Commit(tx, c, by, e.Time)
	if f != nil {
		return outcome(f, nil)
	}
	f = audit.AppendAll(tx, audit.DefaultWorkspace, []*clusterv1.AuditEvent{restore.Describe(c.GetAudit(), done)}, e.Time)
	tx.Set(store.SpaceView, []byte(revisionKey), binary.BigEndian.AppendUint64(nil, e.Index))
	inject.Crash("restore.before")
	return outcome(f, func(uint64) {
		inject.Crash("restore.committed")
		n := m.node
		// Every record is read again, as a start does: one that this node cannot use is
		// then left out, and not kept as it was before.
		err := n.consensus.View(func(state *store.Store) error {
			keyring, err := loadKeyring(context.Background(), state)
			if err != nil {
				return err
			}
			n.learn(keyring)
			return n.reshow(context.Background(), state)
		})
		if err != nil { // the state is on the disk, and this node must not go on with an older View
			n.die(err)
		}
	})
}

// merged returns the keyring that is in force with the roots that only the backup has.
// They are the older ones: with what a root of the same KMS key seals now, the present
// one goes on.
func merged(now, backup keyring) (keyring, bool) {
	next := now
	next.Roots = nil
	for _, r := range backup.Roots {
		if !slices.ContainsFunc(now.Roots, func(o vault.Root) bool { return bytes.Equal(o.Wrapped, r.Wrapped) }) {
			next.Roots = append(next.Roots, r)
		}
	}
	added := len(next.Roots) > 0
	next.Roots = append(next.Roots, now.Roots...)
	return next, added
}

// die ends the process, or whatever Config.Fatal ends. It does not return.
func (n *Node) die(cause error) {
	n.logger.Error("the restored state cannot be read", "error", cause.Error())
	if n.fatal != nil {
		n.fatal(cause)
	}
	panic(cause)
}
