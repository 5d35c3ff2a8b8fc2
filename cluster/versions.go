package cluster

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/modelgateway/modelgateway/cluster/consensus"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/store"
)

const (
	// versionKey is the key in store.SpaceView of the highest version of the transactions
	// that made the state. A node that gets the state in a snapshot never sees those
	// transactions; without this number it would go on and lose fields that it does not know.
	versionKey = "version"
	// unmarked is the highest version that is not noted: nodes that apply transactions of
	// version 2 and know no versionKey must come to the same state as this one.
	unmarked = 2
)

// versionOf returns the highest version of the transactions that made a state.
func versionOf(state record.Getter) (uint32, error) {
	value, ok, err := state.Get(store.SpaceView, []byte(versionKey))
	if err != nil || !ok {
		return unmarked, err
	}
	if len(value) != 4 {
		return 0, &fault.Error{Op: "cluster.open", Kind: fault.StorageUnavailable, Detail: "The state's version is damaged. Empty the data directory and let the node join again."}
	}
	return binary.BigEndian.Uint32(value), nil
}

// require notes that the state has what a transaction of a version wrote.
func require(tx *store.Tx, version uint32) *fault.Error {
	before, err := versionOf(tx)
	if err != nil {
		return fault.From(err)
	}
	if version > before {
		tx.Set(store.SpaceView, []byte(versionKey), binary.BigEndian.AppendUint32(nil, version))
	}
	return nil
}

// understood returns an error for a version of transactions that this node does not know.
func (n *Node) understood(version uint32) error {
	if version <= n.cfg.TransactionVersion {
		return nil
	}
	return fmt.Errorf("transactions of version %d, and this node knows versions up to %d", version, n.cfg.TransactionVersion)
}

// understands refuses a state that a newer version of the gateway made.
func (n *Node) understands(state *store.Store) error {
	version, err := versionOf(state)
	if err != nil {
		return err
	}
	if err := n.understood(version); err != nil {
		return &fault.Error{
			Op: "cluster.open", Kind: fault.StorageUnavailable, Err: err,
			Detail: "The cluster's state was written by a newer version. Upgrade this node.",
		}
	}
	return nil
}

// restorable returns the version of a backup's state, and refuses one that a newer
// version of the gateway made.
func (n *Node) restorable(backup record.Getter) (uint32, error) {
	version, err := versionOf(backup)
	if err != nil {
		return 0, err
	}
	if err := n.understood(version); err != nil {
		return 0, &fault.Error{
			Op: "cluster.restore", Kind: fault.Conflict, Code: "newer_version", Err: err,
			Detail: "The snapshot was made by a newer version of the gateway. Upgrade all nodes first. Nothing was changed.",
		}
	}
	return version, nil
}

// allUnderstand reports whether all members of the cluster are known to understand a version of transactions. A member
// that gossip has not met, or that does not tell, counts as one that does not.
func (n *Node) allUnderstand(version uint32) bool {
	if n.understood(version) != nil {
		return false
	}
	servers, err := n.consensus.Servers()
	if err != nil {
		return false
	}
	known := map[id.Node]bool{n.Identity().Node: true}
	if n.gossip != nil {
		for _, m := range n.gossip.Members() {
			known[m.Node] = known[m.Node] || m.Transactions >= version
		}
	}
	return !slices.ContainsFunc(servers, func(s consensus.Server) bool { return !known[s.Node] })
}
