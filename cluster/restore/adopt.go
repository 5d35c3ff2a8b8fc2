package restore

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/ledger"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/store"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// NewCluster rejects a state that is in use: a full restore would lose its content.
func NewCluster(state *store.Store) error {
	for _, r := range Ranges() {
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

// Adopt fits the whole state of a backup to this cluster, which has the given members. It removes
// the nodes of the backup with their leases. The positions up to which the members have posted
// stay.
func Adopt(backup *store.Tx, state *store.Store, members []id.Node, now time.Time) error {
	known, err := nodesOf(backup)
	if err != nil {
		return err
	}
	for _, node := range slices.Sorted(maps.Keys(known)) {
		if slices.Contains(members, node) {
			return fault.New(fault.Conflict, "cluster_in_use", "Node %s of this cluster is in the snapshot already. A full restore needs nodes with empty data directories. Nothing was changed.", node)
		}
		if _, f := ledger.DropNode(backup, node); f != nil {
			return f
		}
		if f := bar(backup, node, now); f != nil {
			return f
		}
	}
	// A journal continues after the last event that it has posted. Without that position, its events
	// would be rejected as a run with a gap.
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

// nodesOf returns the nodes that have posted events to a state or have leased from it.
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

// bar rejects a node of the backup's cluster from now on, unless it was removed there.
func bar(backup *store.Tx, node id.Node, now time.Time) *fault.Error {
	r := &clusterv1.RetiredNode{}
	if there, f := record.Load(backup, store.SpaceRetired, []byte(node), r); f != nil || there {
		return f
	}
	r.Node, r.Restored = string(node), true
	r.Stamp = &clusterv1.Stamp{CreatedUnixNano: now.UnixNano(), CreatedBy: "gateway", UpdatedUnixNano: now.UnixNano(), UpdatedBy: "gateway"}
	return record.Store(backup, store.SpaceRetired, []byte(node), r)
}
