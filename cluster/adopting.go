package cluster

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster/consensus"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/ledger"
	"github.com/modelgateway/modelgateway/cluster/restore"
	"github.com/modelgateway/modelgateway/cluster/store"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// adoption is what becomes of a backup's whole state in this cluster.
func (n *Node) adoption() consensus.Adoption {
	return consensus.Adoption{Check: newCluster, Adopt: n.adopt}
}

// newCluster rejects a state that is in use: a full restore would lose its content.
func newCluster(state *store.Store) error {
	for _, r := range restore.Ranges() {
		if r.GetMarks() {
			continue
		}
		found, err := holds(state, store.Range{Space: store.Space(r.GetSpace()), From: r.GetFrom(), To: r.GetTo()})
		if err != nil {
			return err
		}
		if found {
			return inUse("has settings already")
		}
	}
	spent, err := holds(state, store.Range{Space: store.SpaceAccount})
	if err != nil {
		return err
	}
	if spent {
		return inUse("has spent money already")
	}
	return nil
}

func inUse(why string) error {
	return fault.New(fault.Conflict, "cluster_in_use",
		"The cluster %s, and a full restore would lose it. Stop all nodes, empty their data directories, start them, and restore into the new cluster; or leave out full, which restores the settings and keeps the ledger. Nothing was changed.", why)
}

func holds(state *store.Store, r store.Range) (found bool, err error) {
	r.Limit = 1
	err = state.Scan(context.Background(), r, func(_, _ []byte) bool {
		found = true
		return false
	})
	return found, err
}

// adopt fits the state of a backup to this cluster. The backup's nodes and their leases are
// removed. The positions up to which the nodes of this cluster have posted stay.
func (n *Node) adopt(backup *store.Tx, state *store.Store) error {
	if _, err := n.restorable(backup); err != nil {
		return err
	}
	servers, err := n.consensus.Servers()
	if err != nil {
		return err
	}
	known, err := nodesOf(backup)
	if err != nil {
		return err
	}
	now, ok := n.time()
	if !ok {
		return unavailable(consensus.ErrNotLeader)
	}
	for _, node := range slices.Sorted(maps.Keys(known)) {
		if slices.ContainsFunc(servers, func(s consensus.Server) bool { return s.Node == node }) {
			return fault.New(fault.Conflict, "cluster_in_use", "Node %s of this cluster is in the snapshot already. A full restore needs nodes with empty data directories. Nothing was changed.", node)
		}
		if _, f := ledger.DropNode(backup, node); f != nil {
			return f
		}
		if err := retired(backup, node, now); err != nil {
			return err
		}
	}
	// A journal goes on behind what was posted of it, or its events would be refused as
	// a run with a gap.
	for _, space := range []store.Space{store.SpaceShipped, store.SpaceLeaseLife} {
		err := state.Scan(context.Background(), store.Range{Space: space}, func(key, value []byte) bool {
			backup.Set(space, key, value)
			return true
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// nodesOf returns the nodes that have posted something to a state, or have begun to
// lease from it.
func nodesOf(state *store.Tx) (map[id.Node]bool, error) {
	known := map[id.Node]bool{}
	for _, space := range []store.Space{store.SpaceShipped, store.SpaceLeaseLife} {
		err := state.Scan(store.Range{Space: space}, func(key, _ []byte) bool {
			node, _, _ := bytes.Cut(key, []byte{0})
			known[id.Node(node)] = true
			return true
		})
		if err != nil {
			return nil, err
		}
	}
	return known, nil
}

// retired bars a node of the backup's cluster, unless it was removed there.
func retired(backup *store.Tx, node id.Node, now time.Time) error {
	if _, there, err := backup.Get(store.SpaceRetired, []byte(node)); err != nil || there {
		return err
	}
	value, err := proto.MarshalOptions{Deterministic: true}.Marshal(&clusterv1.RetiredNode{
		Node: string(node), Restored: true,
		Stamp: &clusterv1.Stamp{CreatedUnixNano: now.UnixNano(), CreatedBy: "gateway", UpdatedUnixNano: now.UnixNano(), UpdatedBy: "gateway"},
	})
	if err != nil {
		return fault.From(err)
	}
	backup.Set(store.SpaceRetired, []byte(node), value)
	return nil
}
