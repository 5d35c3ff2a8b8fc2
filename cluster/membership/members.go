package membership

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
	"github.com/modelgateway/modelgateway/cluster/peer"
	"github.com/modelgateway/modelgateway/cluster/store"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// Config connects the Members to their node.
type Config struct {
	Self      consensus.Server // this node as the others should know it
	Expect    int              // how many voters the cluster starts with; 0: this node does not vote
	Join      []string         // addresses where other nodes may be found
	Gossiped  func() []string  // the addresses that gossip knows
	Dir       string           // the data directory, for errors
	Store     *store.Store     // this node's own
	Consensus *consensus.Consensus
	Peers     *peer.Clients // of the members; nil: this node is a cluster of its own
	Strangers *peer.Clients // of any node, only to learn which nodes are where; nil like Peers

	// Current waits until this node's state has all changes that were acknowledged.
	Current func(context.Context) error
	// AwaitApplied waits until another node has applied an entry.
	AwaitApplied func(ctx context.Context, at consensus.Server, index uint64) error
	// Retire commits that a node is removed.
	Retire func(context.Context, id.Node) error
	// Unavailable returns the error for a change that was certainly not made.
	Unavailable func(cause error) *fault.Error
	// Problem reports why this node is not a member yet, nil for nothing. It returns whether that is
	// new.
	Problem func(error) (changed bool)
	Logger  *slog.Logger
}

// Members is one node's part in the membership of its cluster. It is safe for concurrent use.
type Members struct {
	cfg Config

	// formation is what the node has promised or become part of. The lock is held while that is
	// decided, over the write to the disk.
	mu struct {
		sync.Mutex
		formation *formation
	}
	changing chan struct{} // full while the leader changes the configuration
}

// Open reads which cluster this node is part of. A node that is a cluster of its own starts it.
func Open(cfg Config) (*Members, error) {
	m := &Members{cfg: cfg, changing: make(chan struct{}, 1)}
	return m, m.open()
}

// alone reports whether this node is a cluster of its own.
func (m *Members) alone() bool { return m.cfg.Peers == nil }

// admit makes a node a member, changes its address, or gives it a vote. Only the leader can. note is
// the reason why a node that wants a vote does not have one.
func (m *Members) admit(ctx context.Context, in *clusterv1.JoinRequest) (note string, err error) {
	ctx, cancel := context.WithTimeout(ctx, ChangeTime)
	defer cancel()
	if err := m.alter(ctx); err != nil {
		return "", err
	}
	defer m.altered()
	if !m.cfg.Consensus.IsLeader() {
		return "", &fault.Error{Kind: fault.Unavailable, Code: peer.CodeNotLeader, Detail: "This node does not lead the cluster."}
	}
	node := unwireOne(in.GetServer())
	servers, err := m.admissible(ctx, node, in.GetCluster())
	if err != nil {
		return "", err
	}
	at := slices.IndexFunc(servers, func(s consensus.Server) bool { return s.Node == node.Node })
	voters := 0
	for _, s := range servers {
		if s.Voter {
			voters++
		}
	}
	switch {
	case at >= 0 && servers[at].Voter:
		if servers[at].Address != node.Address {
			return "", m.cfg.Consensus.AddVoter(ctx, node.Node, node.Address)
		}
		return "", nil // a voter stays one until an operator removes it
	case at < 0 || servers[at].Address != node.Address:
		if at < 0 {
			m.snapshotFor(ctx, node.Node)
		}
		if err := m.cfg.Consensus.AddNonvoter(ctx, node.Node, node.Address); err != nil {
			return "", err
		}
		m.cfg.Logger.LogAttrs(ctx, slog.LevelInfo, "a node has joined", slog.String("node", string(node.Node)), slog.String("address", node.Address))
	}
	if !node.Voter {
		return "", nil
	}
	if voters >= int(in.GetExpect()) {
		return fmt.Sprintf("the cluster has %d voters already, so this node does not vote. If one of them is gone for good, take it out: modelgateway cluster remove", voters), nil
	}
	// A voter that lags would count for the majority and not help it.
	if err := m.cfg.AwaitApplied(ctx, node, m.cfg.Consensus.Committed()); err != nil {
		return "the node is catching up", nil
	}
	if err := m.cfg.Consensus.AddVoter(ctx, node.Node, node.Address); err != nil {
		return "", err
	}
	m.cfg.Logger.LogAttrs(ctx, slog.LevelInfo, "a node votes now", slog.String("node", string(node.Node)))
	return "", nil
}

// snapshotTime is how long a new member waits for a snapshot.
const snapshotTime = ChangeTime / 2

// snapshotFor shortens the log for a new member. The member joins also if that fails.
func (m *Members) snapshotFor(ctx context.Context, node id.Node) {
	ctx, cancel := context.WithTimeout(ctx, snapshotTime)
	defer cancel()
	if err := m.cfg.Consensus.SnapshotIfLong(ctx); err != nil {
		m.cfg.Logger.LogAttrs(ctx, slog.LevelInfo, "a node joins without a new snapshot", slog.String("node", string(node)), slog.Any("error", err))
	}
}

// admissible returns the members, or why a node cannot be one.
func (m *Members) admissible(ctx context.Context, node consensus.Server, cluster string) ([]consensus.Server, error) {
	if cluster != "" && cluster != m.Cluster() {
		return nil, fault.New(fault.Conflict, "other_cluster", "Node %s is part of another cluster. Empty its data directory to let it join this one.", node.Node)
	}
	if node.Node == "" || node.Address == "" {
		return nil, fault.Field("server", "invalid_value", "The node does not say who and where it is.")
	}
	if err := m.cfg.Current(ctx); err != nil { // a retired node must be known as such
		return nil, err
	}
	removed, err := m.Removed(ctx, node.Node)
	if err != nil {
		return nil, err
	}
	if removed {
		return nil, fault.New(fault.Denied, "node_removed", "Node %s was taken out of the cluster. To bring it back, start it with an empty data directory.", node.Node)
	}
	servers, err := m.cfg.Consensus.Servers()
	if err != nil {
		return nil, err
	}
	for _, s := range servers {
		if s.Address == node.Address && s.Node != node.Node {
			return nil, fault.New(fault.Conflict, "address_taken", "%s is the address of node %s. If that node is gone for good, take it out: modelgateway cluster remove %s", s.Address, s.Node, s.Node)
		}
	}
	return servers, nil
}

// Removed reports whether a node was removed from the cluster, by this node's state.
func (m *Members) Removed(ctx context.Context, node id.Node) (removed bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	err = m.cfg.Consensus.View(func(state *store.Store) error {
		_, removed, err = state.Get(store.SpaceRetired, []byte(node))
		return err
	})
	return removed, err
}

// Remove removes a node from the cluster permanently. Only the leader can. It rejects the removal if
// the remaining voters that can be reached would not be a majority.
func (m *Members) Remove(ctx context.Context, node id.Node) error {
	if err := m.alter(ctx); err != nil {
		return err
	}
	defer m.altered()
	servers, err := m.cfg.Consensus.Servers()
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
		if err := m.quorumWithout(ctx, servers, node); err != nil {
			return err
		}
	}
	// The record comes first. A crash between the two leaves a member that could not join again. The
	// operator repeats the removal.
	if err := m.cfg.Retire(ctx, node); err != nil {
		return err
	}
	if err := m.cfg.Consensus.Remove(ctx, node); err != nil {
		return err
	}
	m.cfg.Logger.LogAttrs(ctx, slog.LevelWarn, "a node was taken out of the cluster", slog.String("node", string(node)))
	return nil
}

// quorumWithout rejects a removal after which the cluster could not reach a majority.
func (m *Members) quorumWithout(ctx context.Context, servers []consensus.Server, without id.Node) error {
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
		if s.Node == m.cfg.Self.Node {
			reached.Add(1)
			continue
		}
		wait.Go(func() {
			if m.reaches(ctx, s) {
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

// reaches reports whether a member responds. Another node may have its address now.
func (m *Members) reaches(ctx context.Context, s consensus.Server) bool {
	client, err := m.cfg.Peers.At(s.Address)
	if err != nil {
		return false
	}
	r, err := client.Report(ctx, &clusterv1.ReportRequest{})
	return err == nil && r.GetSelf().GetNode() == string(s.Node)
}

// alter waits until no other call changes the configuration; altered ends the turn. It is not a
// mutex because earlier changes may take longer than the caller's deadline.
func (m *Members) alter(ctx context.Context) error {
	select {
	case m.changing <- struct{}{}:
		return nil
	case <-ctx.Done():
		return m.cfg.Unavailable(context.Cause(ctx))
	}
}

func (m *Members) altered() { <-m.changing }
