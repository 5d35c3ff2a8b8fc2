package membership

import (
	"bytes"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/store"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// Retire records in the state that a node was removed.
func Retire(tx *store.Tx, c *clusterv1.RetireNode, by record.Stamp) *fault.Error {
	if !bytes.Equal([]byte(c.GetNode()), bytes.TrimSpace([]byte(c.GetNode()))) || c.GetNode() == "" {
		return fault.Field("node_id", "invalid_value", "node_id is not a node's id.")
	}
	return record.Store(tx, store.SpaceRetired, []byte(c.GetNode()), &clusterv1.RetiredNode{
		Node: c.GetNode(),
		Stamp: &clusterv1.Stamp{
			CreatedUnixNano: by.Time.UnixNano(), CreatedBy: by.Actor,
			UpdatedUnixNano: by.Time.UnixNano(), UpdatedBy: by.Actor, Revision: by.Index,
		},
	})
}

// Rejected returns the error for usage and leases of a node that was removed; nil for other nodes.
func Rejected(tx *store.Tx, node string) *fault.Error {
	var of clusterv1.RetiredNode
	retired, f := record.Load(tx, store.SpaceRetired, []byte(node), &of)
	if f != nil {
		return f
	}
	if of.GetRestored() {
		return fault.New(fault.Denied, "node_of_backup", "Node %s belongs to the cluster whose backup this one began with, and its journal to that cluster's ledger. Empty its data directory to let it join.", id.Node(node))
	}
	if retired {
		return fault.New(fault.Denied, "node_removed", "Node %s was removed from the cluster, and what it has spent since cannot be posted.", id.Node(node))
	}
	return nil
}
