package cluster

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster/audit"
	"github.com/modelgateway/modelgateway/cluster/consensus"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/history"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/inject"
	"github.com/modelgateway/modelgateway/cluster/ledger"
	"github.com/modelgateway/modelgateway/cluster/membership"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/restore"
	"github.com/modelgateway/modelgateway/cluster/store"
	"github.com/modelgateway/modelgateway/cluster/usageaudit"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// commandIDLength is the length of a command's id in bytes.
const commandIDLength = 16

// commandID returns a command's id, by which it is applied once.
func commandID(command []byte) []byte {
	var cmd clusterv1.Command
	if err := proto.Unmarshal(command, &cmd); err != nil || len(cmd.GetId()) != commandIDLength {
		return nil
	}
	return cmd.GetId()
}

// machine is what the log's entries do. Its methods are called from one goroutine
// at a time: before Run from Open, then from the consensus.
type machine struct {
	node *Node
}

// Apply makes one change.
func (m machine) Apply(tx *store.Tx, e consensus.Entry) consensus.Outcome {
	var cmd clusterv1.Command
	if err := proto.Unmarshal(e.Command, &cmd); err != nil {
		return incomprehensible(e.Index, err)
	}
	return m.change(tx, e, &cmd)
}

// revisionKey is the key in store.SpaceView.
const revisionKey = "revision"

// revisionOf reads which entry changed the View last; 0: none did.
func revisionOf(state *store.Store) (uint64, error) {
	value, ok, err := state.Get(store.SpaceView, []byte(revisionKey))
	if err != nil || !ok {
		return 0, err
	}
	if len(value) != 8 {
		return 0, &fault.Error{Op: "cluster.open", Kind: fault.StorageUnavailable, Detail: "The state's revision is damaged. Empty the data directory and let the node join again."}
	}
	return binary.BigEndian.Uint64(value), nil
}

// change makes one change. It depends on the entry and the state alone: not on the
// clock, the file, or what this version knows of any resource.
func (m machine) change(tx *store.Tx, e consensus.Entry, cmd *clusterv1.Command) consensus.Outcome {
	switch change := cmd.GetChange().(type) {
	case *clusterv1.Command_Transaction:
		return m.transact(tx, e, cmd.GetActor(), change.Transaction, 0)
	case *clusterv1.Command_VersionedTransaction:
		t := change.VersionedTransaction
		if err := m.node.understood(t.GetVersion()); err != nil {
			return incomprehensible(e.Index, err)
		}
		return m.transact(tx, e, cmd.GetActor(), t.GetTransaction(), t.GetVersion())
	case *clusterv1.Command_RetireNode:
		return m.retire(tx, change.RetireNode, e, cmd.GetActor())
	case *clusterv1.Command_PostUsage:
		return m.post(tx, change.PostUsage, e)
	case *clusterv1.Command_MoveLeases:
		return m.move(tx, change.MoveLeases, e)
	case *clusterv1.Command_RollWindows:
		moved, f := ledger.Roll(tx, change.RollWindows, e.Stamp)
		return m.moved(tx, e, moved, f)
	case *clusterv1.Command_TrimHistory:
		return outcome(history.Trim(tx, change.TrimHistory, e.Time), func(uint64) { m.node.recorded() })
	case *clusterv1.Command_PackHistory:
		if err := m.node.understood(change.PackHistory.GetVersion()); err != nil {
			return incomprehensible(e.Index, err)
		}
		f := history.Pack(tx, change.PackHistory)
		if f == nil {
			f = require(tx, change.PackHistory.GetVersion())
		}
		return outcome(f, nil)
	case *clusterv1.Command_SealSegment:
		if err := m.node.understood(change.SealSegment.GetVersion()); err != nil {
			return incomprehensible(e.Index, err)
		}
		f := history.Seal(tx, change.SealSegment)
		if f == nil {
			f = require(tx, change.SealSegment.GetVersion())
		}
		return outcome(f, nil)
	case *clusterv1.Command_ForgetSegment:
		if err := m.node.understood(change.ForgetSegment.GetVersion()); err != nil {
			return incomprehensible(e.Index, err)
		}
		history.Forget(tx, change.ForgetSegment)
		return outcome(nil, nil)
	case *clusterv1.Command_StageRestore:
		return m.stage(tx, e, change.StageRestore)
	case *clusterv1.Command_CommitRestore:
		if err := m.node.understood(change.CommitRestore.GetVersion()); err != nil {
			return incomprehensible(e.Index, err)
		}
		return m.restore(tx, e, change.CommitRestore)
	case *clusterv1.Command_DropRestore:
		return outcome(restore.Drop(tx, change.DropRestore), nil)
	default:
		return incomprehensible(e.Index, errors.New("a change that this version does not know"))
	}
}

func outcome(f *fault.Error, publish func(index uint64)) consensus.Outcome {
	switch {
	case f == nil:
		return consensus.Outcome{Publish: publish}
	case f.Kind == fault.Internal || f.Kind == fault.StorageUnavailable:
		// Not a refusal, which all nodes come to, but this node's own trouble.
		return consensus.Outcome{Err: f}
	}
	return consensus.Outcome{Fault: f}
}

// incomprehensible stops the node at an entry that it cannot apply. If it skipped an entry that
// the others apply, its state would differ from theirs from then on.
func incomprehensible(index uint64, cause error) consensus.Outcome {
	return consensus.Outcome{Err: &fault.Error{
		Op: "cluster.apply", Kind: fault.Internal, Err: cause,
		Detail: fmt.Sprintf("Entry %d of the cluster's log was written by a newer version. Upgrade this node.", index),
	}}
}

// Restored reads the whole state and makes a View of it. When the node starts, the
// keys that the state needs are waited for.
func (m machine) Restored(state *store.Store, _ uint64) error {
	ctx := context.Background()
	n := m.node
	if err := n.understands(state); err != nil {
		return err
	}
	keyring, err := loadKeyring(ctx, state)
	if err != nil {
		return err
	}
	n.learn(keyring)
	if n.cfg.Unlock != nil && n.consensus == nil {
		if err := n.cfg.Unlock(); err != nil {
			return err
		}
	}
	return n.reload(ctx, state)
}

// reload rebuilds the View from the state.
func (n *Node) reload(ctx context.Context, state *store.Store) error {
	if err := n.reshow(ctx, state); err != nil {
		return err
	}
	if n.manager != nil { // nil while the node is opened
		n.manager.Restored()
	}
	return nil
}

// reshow makes the View of the state again. The accounts of the state stay as they are.
func (n *Node) reshow(ctx context.Context, state *store.Store) error {
	n.showing.Lock()
	defer n.showing.Unlock()
	revision, err := revisionOf(state)
	if err != nil {
		return err
	}
	v, broken, err := n.base.load(ctx, state, n.sealer.Open)
	if err != nil {
		return err
	}
	v.Revision = revision
	n.unusable(broken)
	n.publish(v)
	n.recorded()
	n.cooldown.Keep(func(d id.Deployment) bool { _, ok := v.Catalog.Deployment(d); return ok })
	return nil
}

// show changes the View as an entry of the log has changed the state. It is called
// in the order of the log, by one goroutine. What a reload has seen already it
// shows again, which changes nothing.
func (n *Node) show(index uint64, changes []record.Change) {
	n.showing.Lock()
	defer n.showing.Unlock()
	v, gone, broken := n.View().With(changes, n.sealer.Open)
	v.Revision = index
	if v.keyring.revision != n.View().keyring.revision {
		n.learn(v.keyring)
	}
	n.unusable(broken)
	n.publish(v)
	for _, d := range gone {
		n.cooldown.Drop(d)
	}
}

// unusable says what of the state is not in this node's View.
func (n *Node) unusable(broken []error) {
	for _, err := range broken {
		n.logger.Error("something that the nodes agreed on cannot be used by this node", "error", err.Error())
	}
}

// transact makes a transaction, and writes in the same batch what the audit log says
// of it: neither is there without the other. Readers see another View from this
// entry on, which the state notes.
func (m machine) transact(tx *store.Tx, e consensus.Entry, actor string, t *clusterv1.Transaction, version uint32) consensus.Outcome {
	changes, f := record.Apply(tx, t, record.Stamp{Index: e.Index, Actor: actor})
	if f != nil {
		return outcome(f, nil)
	}
	moved, f := ledger.SetSpends(tx, t.GetSetSpends(), e.Time)
	if f == nil {
		f = audit.AppendAll(tx, audit.DefaultWorkspace, append(t.GetAudit(), usageaudit.Records(moved.Notes)...), e.Time)
	}
	if f == nil {
		f = require(tx, version)
	}
	tx.Set(store.SpaceView, []byte(revisionKey), binary.BigEndian.AppendUint64(nil, e.Index))
	return outcome(f, func(index uint64) {
		m.node.show(index, changes)
		m.node.updateManager(moved.Changed)
		m.node.recorded()
	})
}

// post posts a run of usage events.
func (m machine) post(tx *store.Tx, run *clusterv1.PostUsage, e consensus.Entry) consensus.Outcome {
	if f := membership.Rejected(tx, run.GetNode()); f != nil {
		return outcome(f, nil)
	}
	posted, f := ledger.Post(tx, run, e.Time)
	if f == nil {
		f = audit.AppendAll(tx, audit.DefaultWorkspace, usageaudit.Records(posted.Notes), e.Time)
	}
	inject.Crash("post.before")
	return outcome(f, func(uint64) {
		told := m.node.told(run)
		for i := range posted.Changed {
			if !told { // the manager does not wait for them
				posted.Changed[i].Own = 0
			}
		}
		inject.Crash("post.committed")
		m.node.updateManager(posted.Changed)
		m.node.recorded()
	})
}

// move moves leases of a node.
func (m machine) move(tx *store.Tx, c *clusterv1.MoveLeases, e consensus.Entry) consensus.Outcome {
	if f := membership.Rejected(tx, c.GetNode()); f != nil {
		return outcome(f, nil)
	}
	do, f := lives(tx, c)
	if f != nil || !do {
		return outcome(f, nil)
	}
	moved, f := ledger.Move(tx, c, e.Stamp)
	return m.moved(tx, e, moved, f)
}

// moved writes what the audit log says of accounts that have changed.
func (m machine) moved(tx *store.Tx, e consensus.Entry, moved ledger.Moved, f *fault.Error) consensus.Outcome {
	if f == nil {
		f = audit.AppendAll(tx, audit.DefaultWorkspace, usageaudit.Records(moved.Notes), e.Time)
	}
	return outcome(f, func(uint64) {
		m.node.updateManager(moved.Changed)
		m.node.recorded()
	})
}

// retire notes that a node was taken out, and frees what was leased to it. To say it
// twice changes nothing.
func (m machine) retire(tx *store.Tx, c *clusterv1.RetireNode, e consensus.Entry, actor string) consensus.Outcome {
	if f := membership.Retire(tx, c, record.Stamp{Index: e.Index, Time: e.Time, Actor: actor}); f != nil {
		return outcome(f, nil)
	}
	moved, f := ledger.DropNode(tx, id.Node(c.GetNode()))
	return m.moved(tx, e, moved, f)
}
