package cluster

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/modelgateway/modelgateway/cluster/consensus"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/store"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// joiner is a node that wants to be a member.
type joiner struct {
	server  consensus.Server
	expect  int    // how many voters it was told of
	cluster string // which cluster it thinks it is part of
}

// admit makes a node a member, notes its new address, or gives it a vote. Only
// the leader can. note says why a node that wants a vote does not have one.
func (n *Node) admit(ctx context.Context, j joiner) (note string, err error) {
	ctx, cancel := context.WithTimeout(ctx, admitTime)
	defer cancel()
	if err := n.alter(ctx); err != nil {
		return "", err
	}
	defer n.altered()
	if !n.consensus.IsLeader() {
		return "", &fault.Error{Kind: fault.Unavailable, Code: codeNotLeader, Detail: "This node does not lead the cluster."}
	}
	servers, err := n.admissible(ctx, j)
	if err != nil {
		return "", err
	}
	at := slices.IndexFunc(servers, func(s consensus.Server) bool { return s.Node == j.server.Node })
	voters := 0
	for _, s := range servers {
		if s.Voter {
			voters++
		}
	}
	switch {
	case at >= 0 && servers[at].Voter:
		if servers[at].Address != j.server.Address {
			return "", n.consensus.AddVoter(ctx, j.server.Node, j.server.Address)
		}
		return "", nil // a voter stays one until an operator takes it out
	case at < 0 || servers[at].Address != j.server.Address:
		if at < 0 {
			n.snapshotFor(ctx, j.server.Node)
		}
		if err := n.consensus.AddNonvoter(ctx, j.server.Node, j.server.Address); err != nil {
			return "", err
		}
		n.logger.LogAttrs(ctx, slog.LevelInfo, "a node has joined", slog.String("node", string(j.server.Node)), slog.String("address", j.server.Address))
	}
	if !j.server.Voter {
		return "", nil
	}
	if voters >= j.expect {
		return fmt.Sprintf("the cluster has %d voters already, so this node does not vote. If one of them is gone for good, take it out: modelgateway cluster remove", voters), nil
	}
	// A voter that lags would take part in a majority without being of use to it.
	if err := n.awaitAt(ctx, j.server, n.consensus.Committed()); err != nil {
		return "the node is catching up", nil
	}
	if err := n.consensus.AddVoter(ctx, j.server.Node, j.server.Address); err != nil {
		return "", err
	}
	n.logger.LogAttrs(ctx, slog.LevelInfo, "a node votes now", slog.String("node", string(j.server.Node)))
	return "", nil
}

// snapshotTime is how long a new member waits for a snapshot.
const snapshotTime = admitTime / 2

// snapshotFor shortens the log for a new member. The member joins also if that fails.
func (n *Node) snapshotFor(ctx context.Context, node id.Node) {
	ctx, cancel := context.WithTimeout(ctx, snapshotTime)
	defer cancel()
	if err := n.consensus.SnapshotIfLong(ctx); err != nil {
		n.logger.LogAttrs(ctx, slog.LevelInfo, "a node joins without a new snapshot", slog.String("node", string(node)), slog.Any("error", err))
	}
}

// admissible returns the members, or why a node cannot be one.
func (n *Node) admissible(ctx context.Context, j joiner) ([]consensus.Server, error) {
	if j.cluster != "" && j.cluster != n.cluster() {
		return nil, fault.New(fault.Conflict, "other_cluster", "Node %s is part of another cluster. Empty its data directory to let it join this one.", j.server.Node)
	}
	if j.server.Node == "" || j.server.Address == "" {
		return nil, fault.Field("server", "invalid_value", "The node does not say who and where it is.")
	}
	if err := n.current(ctx); err != nil { // a retired node must be known as such
		return nil, err
	}
	retired := false
	err := n.consensus.View(func(state *store.Store) (err error) {
		_, retired, err = state.Get(store.SpaceRetired, []byte(j.server.Node))
		return err
	})
	if err != nil {
		return nil, err
	}
	if retired {
		return nil, fault.New(fault.Denied, "node_removed", "Node %s was taken out of the cluster. To bring it back, start it with an empty data directory.", j.server.Node)
	}
	servers, err := n.consensus.Servers()
	if err != nil {
		return nil, err
	}
	for _, s := range servers {
		if s.Address == j.server.Address && s.Node != j.server.Node {
			return nil, fault.New(fault.Conflict, "address_taken", "%s is the address of node %s. If that node is gone for good, take it out: modelgateway cluster remove %s", s.Address, s.Node, s.Node)
		}
	}
	return servers, nil
}

// RemoveMember removes a node from the cluster permanently: it can return only with an empty data
// directory. The removal is rejected if the remaining voters that can be reached would not be a
// majority.
func (n *Node) RemoveMember(ctx context.Context, node id.Node) error {
	ctx, cancel := context.WithTimeout(ctx, admitTime)
	defer cancel()
	if n.consensus.IsLeader() {
		return n.expel(ctx, node)
	}
	// The node that is to go may be the one that led until just now. This waits for
	// the next one, and no longer than a change does.
	if err := n.current(ctx); err != nil {
		return err
	}
	if n.consensus.IsLeader() {
		return n.expel(ctx, node)
	}
	leader, ok := n.consensus.Leader()
	if !ok || n.peers == nil {
		return unavailable(consensus.ErrNotLeader)
	}
	client, err := n.peers.At(leader.Address)
	if err != nil {
		return unavailable(err)
	}
	_, err = client.Remove(ctx, &clusterv1.RemoveRequest{Node: string(node)})
	return err
}

// Removed reports whether a node was taken out of the cluster, as this node's state
// has it.
func (n *Node) Removed(ctx context.Context, node id.Node) (removed bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	err = n.consensus.View(func(state *store.Store) error {
		_, removed, err = state.Get(store.SpaceRetired, []byte(node))
		return err
	})
	return removed, err
}

// expel is RemoveMember on the leader.
func (n *Node) expel(ctx context.Context, node id.Node) error {
	if err := n.alter(ctx); err != nil {
		return err
	}
	defer n.altered()
	servers, err := n.consensus.Servers()
	if err != nil {
		return err
	}
	at := slices.IndexFunc(servers, func(s consensus.Server) bool { return s.Node == node })
	switch {
	case at < 0:
		return fault.New(fault.NotFound, "node_not_found", "The cluster has no node %s.", node)
	case len(servers) == 1:
		return fault.New(fault.Conflict, "last_node", "The cluster has no other node.")
	}
	if servers[at].Voter {
		if err := n.quorumWithout(ctx, servers, node); err != nil {
			return err
		}
	}
	// The bar comes first. A crash between the two leaves a member that could not
	// join again; to repeat the removal ends it.
	if _, err := n.submit(ctx, &clusterv1.Command{Change: &clusterv1.Command_RetireNode{RetireNode: &clusterv1.RetireNode{Node: string(node)}}}); err != nil {
		return err
	}
	if err := n.consensus.Remove(ctx, node); err != nil {
		return err
	}
	n.logger.LogAttrs(ctx, slog.LevelWarn, "a node was taken out of the cluster", slog.String("node", string(node)))
	return nil
}

// quorumWithout refuses a removal that would leave the cluster unable to agree.
func (n *Node) quorumWithout(ctx context.Context, servers []consensus.Server, without id.Node) error {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	left := 0
	var reached atomic.Int64
	var wait sync.WaitGroup
	for _, s := range servers {
		if !s.Voter || s.Node == without {
			continue
		}
		left++
		if s.Node == n.Identity().Node {
			reached.Add(1)
			continue
		}
		wait.Go(func() {
			if n.reaches(ctx, s) {
				reached.Add(1)
			}
		})
	}
	wait.Wait()
	if int(reached.Load()) <= left/2 {
		return fault.New(fault.Conflict, "no_majority_left", "Without node %s, only %d of %d voters could be reached, which is no majority: the cluster could not change anything any more. Bring the others back first.", without, reached.Load(), left)
	}
	return nil
}

// reaches reports whether a member answers, and not another node that has its
// address now.
func (n *Node) reaches(ctx context.Context, s consensus.Server) bool {
	client, err := n.peers.At(s.Address)
	if err != nil {
		return false
	}
	r, err := client.Report(ctx, &clusterv1.ReportRequest{})
	return err == nil && r.GetSelf().GetNode() == string(s.Node)
}

// alter waits until no other call changes the configuration; altered ends the turn. It is not a
// mutex because earlier changes may take longer than the caller's deadline.
func (n *Node) alter(ctx context.Context) error {
	select {
	case n.membership <- struct{}{}:
		return nil
	case <-ctx.Done():
		return unavailable(context.Cause(ctx))
	}
}

func (n *Node) altered() { <-n.membership }
