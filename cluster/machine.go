package cluster

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"

	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/consensus"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/keys"
	"github.com/modelgateway/modelgateway/cluster/store"
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

// Apply makes one change, and notes in the state that readers see another View
// from this entry on.
func (m machine) Apply(tx *store.Tx, e consensus.Entry) consensus.Outcome {
	out := m.change(tx, e)
	if out.Publish != nil {
		tx.Set(store.SpaceView, []byte(revisionKey), binary.BigEndian.AppendUint64(nil, e.Index))
	}
	return out
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
// clock, the file, or what this version knows of providers.
func (m machine) change(tx *store.Tx, e consensus.Entry) consensus.Outcome {
	var cmd clusterv1.Command
	if err := proto.Unmarshal(e.Command, &cmd); err != nil {
		return incomprehensible(e.Index, err)
	}
	switch change := cmd.GetChange().(type) {
	case *clusterv1.Command_CreateDeployment:
		by := catalog.Stamp{Index: e.Index, Time: e.Time, Actor: cmd.GetActor()}
		record, f := catalog.CreateDeployment(tx, change.CreateDeployment, by)
		return outcome(f, func(index uint64) { m.node.showDeployment(index, record) })
	case *clusterv1.Command_DeleteDeployment:
		f := catalog.DeleteDeployment(tx, change.DeleteDeployment)
		return outcome(f, func(index uint64) { m.node.hideDeployment(index, id.Deployment(change.DeleteDeployment.GetId())) })
	case *clusterv1.Command_UpdateRouter:
		by := catalog.Stamp{Index: e.Index, Time: e.Time, Actor: cmd.GetActor()}
		record, f := catalog.UpdateRouter(tx, change.UpdateRouter, by)
		return outcome(f, func(index uint64) { m.node.showRouter(index, record) })
	case *clusterv1.Command_CreateKey:
		by := keys.Stamp{Index: e.Index, Time: e.Time, Actor: cmd.GetActor()}
		record, f := keys.CreateKey(tx, change.CreateKey, by)
		return outcome(f, func(index uint64) { m.node.showKey(index, record) })
	case *clusterv1.Command_DeleteKeys:
		f := keys.DeleteKeys(tx, change.DeleteKeys)
		return outcome(f, func(index uint64) { m.node.hideKeys(index, change.DeleteKeys.GetHashes()) })
	case *clusterv1.Command_RetireNode:
		return outcome(retire(tx, change.RetireNode, e, cmd.GetActor()), nil)
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

// incomprehensible stops the node at an entry: one that the others apply and this
// node skips would make its state another one for good.
func incomprehensible(index uint64, cause error) consensus.Outcome {
	return consensus.Outcome{Err: &fault.Error{
		Op: "cluster.apply", Kind: fault.Internal, Err: cause,
		Detail: fmt.Sprintf("Entry %d of the cluster's log was written by a newer version. Upgrade this node.", index),
	}}
}

// Restored reads the whole state and makes a View of it.
func (m machine) Restored(state *store.Store, _ uint64) error {
	ctx := context.Background()
	n := m.node
	revision, err := revisionOf(state)
	if err != nil {
		return err
	}
	specs, err := n.loadDeployments(ctx, state)
	if err != nil {
		return err
	}
	cat, problems := n.base.catalog.WithAll(specs)
	for _, p := range problems {
		n.logger.LogAttrs(ctx, slog.LevelError, "a deployment of the cluster cannot be used by this node", slog.Any("error", p))
	}
	router, err := catalog.LoadRouter(state)
	if err != nil {
		return err
	}
	cat = n.adopt(ctx, cat, router)
	stored, err := keys.Load(ctx, state)
	if err != nil {
		return err
	}
	set, problems := n.base.keys.WithAll(stored)
	for _, p := range problems {
		n.logger.LogAttrs(ctx, slog.LevelError, "a key of the cluster cannot be used by this node", slog.Any("error", p))
	}
	n.publish(&View{Revision: revision, Catalog: cat, Keys: set})
	n.cooldown.Keep(func(d id.Deployment) bool { _, ok := cat.Deployment(d); return ok })
	return nil
}

// loadDeployments reads every deployment that can be opened.
func (n *Node) loadDeployments(ctx context.Context, state *store.Store) ([]catalog.Stored, error) {
	records, err := catalog.LoadDeployments(ctx, state)
	if err != nil {
		return nil, err
	}
	out := make([]catalog.Stored, 0, len(records))
	for _, r := range records {
		d, err := catalog.FromRecord(r, n.sealer.Open)
		if err != nil {
			n.unusable(r.GetId(), err)
			continue
		}
		out = append(out, d)
	}
	return out, nil
}

// unusable says that a deployment of the state is not in this node's View.
func (n *Node) unusable(deployment string, err error) {
	n.logger.Error("a deployment of the cluster cannot be used by this node", "deployment", deployment, "error", err.Error())
}

// The functions below change the View. They are called in the order of the log,
// by one goroutine.

func (n *Node) showDeployment(index uint64, record *clusterv1.Deployment) {
	v := *n.View()
	v.Revision = index
	d, err := catalog.FromRecord(record, n.sealer.Open)
	if err == nil {
		var cat *catalog.Catalog
		if cat, err = v.Catalog.WithStored(d); err == nil {
			v.Catalog = cat
		}
	}
	if err != nil {
		n.unusable(record.GetId(), err)
	}
	n.publish(&v)
}

func (n *Node) hideDeployment(index uint64, d id.Deployment) {
	v := *n.View()
	v.Revision, v.Catalog = index, v.Catalog.Without(d)
	n.publish(&v)
	n.cooldown.Drop(d)
}

func (n *Node) showRouter(index uint64, record *clusterv1.RouterSettings) {
	v := *n.View()
	v.Revision, v.Catalog = index, n.adopt(context.Background(), v.Catalog, record)
	n.publish(&v)
}

// adopt puts the state's router settings over the file's.
func (n *Node) adopt(ctx context.Context, cat *catalog.Catalog, record *clusterv1.RouterSettings) *catalog.Catalog {
	changed, err := cat.Adopt(record)
	if err != nil {
		n.logger.LogAttrs(ctx, slog.LevelError, "some of the cluster's router settings do not fit this node's file", slog.Any("error", err))
	}
	return changed
}

func (n *Node) showKey(index uint64, record *clusterv1.VirtualKey) {
	v := *n.View()
	v.Revision = index
	k, err := keys.FromRecord(record)
	if err == nil {
		var set *keys.Set
		if set, err = v.Keys.With(k); err == nil {
			v.Keys = set
		}
	}
	if err != nil {
		n.logger.Error("a key of the cluster cannot be used by this node", "alias", record.GetAlias(), "error", err.Error())
	}
	n.publish(&v)
}

func (n *Node) hideKeys(index uint64, hashes [][]byte) {
	v := *n.View()
	v.Revision = index
	for _, h := range hashes {
		var hash id.KeyHash
		copy(hash[:], h)
		v.Keys = v.Keys.Without(hash)
	}
	n.publish(&v)
}

// retire notes that a node was taken out. To say it twice changes nothing.
func retire(tx *store.Tx, c *clusterv1.RetireNode, e consensus.Entry, actor string) *fault.Error {
	if !bytes.Equal([]byte(c.GetNode()), bytes.TrimSpace([]byte(c.GetNode()))) || c.GetNode() == "" {
		return fault.Field("node_id", "invalid_value", "node_id is not a node's id.")
	}
	record, err := proto.MarshalOptions{Deterministic: true}.Marshal(&clusterv1.RetiredNode{
		Node: c.GetNode(),
		Stamp: &clusterv1.Stamp{
			CreatedUnixNano: e.Time.UnixNano(), CreatedBy: actor,
			UpdatedUnixNano: e.Time.UnixNano(), UpdatedBy: actor, Revision: e.Index,
		},
	})
	if err != nil {
		return fault.From(err)
	}
	tx.Set(store.SpaceRetired, []byte(c.GetNode()), record)
	return nil
}
