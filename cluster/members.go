package cluster

import (
	"context"

	"github.com/modelgateway/modelgateway/cluster/consensus"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/link"
	"github.com/modelgateway/modelgateway/cluster/membership"
	"github.com/modelgateway/modelgateway/cluster/peer"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// openMembership opens the node's part in the membership. The consensus is open.
func (n *Node) openMembership() (err error) {
	n.membership, err = membership.Open(membership.Config{
		Self: n.self(), Expect: n.cfg.Expect, Join: n.cfg.Join, Gossiped: n.gossiped, Dir: n.cfg.Dir,
		Store: n.store, Consensus: n.consensus, Peers: n.peers, Strangers: n.strangers,
		Current: n.current, AwaitApplied: n.awaitAt, Unavailable: unavailable,
		Retire: func(ctx context.Context, node id.Node) error {
			_, err := n.submit(ctx, &clusterv1.Command{Change: &clusterv1.Command_RetireNode{RetireNode: &clusterv1.RetireNode{Node: string(node)}}})
			return err
		},
		Problem: func(err error) bool { return n.problems.set(problemFormation, err) }, Logger: n.logger,
	})
	if n.link != nil {
		n.server = peer.NewServer(peerService{Service: n.membership.Service(), node: n}, link.PeerOf)
	}
	return err
}

// self is this node as the others should know it.
func (n *Node) self() consensus.Server {
	address := aloneAddress
	if n.link != nil {
		address = n.link.Address()
	}
	return consensus.Server{Node: n.Identity().Node, Address: address, Voter: n.cfg.Expect > 0 || n.link == nil}
}

// gossiped returns the addresses that gossip knows.
func (n *Node) gossiped() (addresses []string) {
	for _, m := range n.gossip.Members() {
		addresses = append(addresses, m.Address)
	}
	return addresses
}

// RemoveMember removes a node from the cluster permanently: it can return only with an empty data
// directory. The removal is rejected if the remaining voters that can be reached would not be a
// majority.
func (n *Node) RemoveMember(ctx context.Context, node id.Node) error {
	ctx, cancel := context.WithTimeout(ctx, membership.ChangeTime)
	defer cancel()
	client, err := n.awaitLeader(ctx)
	if err != nil {
		return err
	}
	if client == nil {
		return n.membership.Remove(ctx, node)
	}
	_, err = client.Remove(ctx, &clusterv1.RemoveRequest{Node: string(node)})
	return err
}

// Removed reports whether a node was removed from the cluster, by this node's state.
func (n *Node) Removed(ctx context.Context, node id.Node) (removed bool, err error) {
	return n.membership.Removed(ctx, node)
}

// awaitLeader returns a client of the leader; nil if this node leads. The leader may have just gone,
// so a node that does not lead first waits until one responds.
func (n *Node) awaitLeader(ctx context.Context) (clusterv1.PeerServiceClient, error) {
	if n.consensus.IsLeader() {
		return nil, nil
	}
	if err := n.current(ctx); err != nil || n.consensus.IsLeader() {
		return nil, err
	}
	client, err := n.leader()
	if err != nil {
		return nil, unavailable(err)
	}
	return client, nil
}
