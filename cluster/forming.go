package cluster

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/modelgateway/modelgateway/cluster/consensus"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

const (
	// seekPause is how long a node without a cluster waits before it looks again.
	seekPause = 300 * time.Millisecond
	// formedPause is how often a member sees to it that the configuration has it
	// as it is: its address may have changed, or its vote be wanted.
	formedPause = 5 * time.Second
	// callTime bounds one call of another node.
	callTime = 2 * time.Second
	// admitTime bounds a change of the configuration.
	admitTime = 10 * time.Second
)

// keepFormed makes this node part of a cluster, and keeps it one.
func (n *Node) keepFormed(ctx context.Context) error {
	for {
		pause := formedPause
		err := n.formStep(ctx)
		switch {
		case n.cluster() == "":
			pause = seekPause
		case err != nil:
			pause = time.Second
		}
		if n.problems.set(problemFormation, err) {
			n.logger.LogAttrs(ctx, slog.LevelInfo, "the node is not yet what it is to be in its cluster", slog.String("reason", err.Error()))
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
		}
	}
}

// formStep does what there is to do; nil: nothing is wrong.
func (n *Node) formStep(ctx context.Context) error {
	if removed, err := n.removed(ctx); err != nil {
		return err
	} else if removed {
		return fault.New(fault.Conflict, "node_removed", "This node was taken out of its cluster. To bring it back, start it with an empty data directory.")
	}
	if n.cluster() == "" {
		return n.seek(ctx)
	}
	servers, err := n.consensus.Servers()
	if err != nil {
		return err
	}
	self := n.self()
	if slices.Contains(servers, self) {
		n.peers.Keep(n.knows(servers))
		if err := n.callTheOthers(ctx); err != nil {
			return err
		}
		if _, led := n.consensus.Leader(); led {
			n.strangers.Keep(func(string) bool { return false })
			return nil
		}
		// A node that was removed while it was down does not learn so from the log: the
		// others no longer send it entries. It asks them, and the operator sees the
		// result as a problem. A node that only waits for an election finds no leader,
		// or is still a member.
		return n.seek(ctx)
	}
	leader, ok := n.consensus.Leader()
	switch {
	case ok && leader.Node == self.Node:
		_, err = n.admit(ctx, joiner{server: self, expect: n.cfg.Expect, cluster: n.cluster()})
		return err
	case ok:
		return n.join(ctx, leader.Address)
	}
	// No leader reaches this node. It may have come back at another address, which
	// the leader cannot know: it has to be looked for.
	return n.seek(ctx)
}

// removed reports whether this node was taken out of its cluster. That the members of
// which it knows are without it is not enough: those of the snapshot that a new node
// begins with are too.
func (n *Node) removed(ctx context.Context) (bool, error) {
	if !n.consensus.Removed() {
		return false, nil
	}
	return n.Removed(ctx, n.Identity().Node)
}

// knows returns whether an address is one that this node may have to call again.
func (n *Node) knows(servers []consensus.Server) func(address string) bool {
	known := slices.Clone(n.cfg.Join)
	for _, s := range servers {
		known = append(known, s.Address)
	}
	for _, m := range n.gossip.Members() {
		known = append(known, m.Address)
	}
	return func(address string) bool { return slices.Contains(known, address) }
}

// introduced is what another node says of itself.
type introduced struct {
	*clusterv1.IntroduceResponse
	at string
}

// introduce asks the nodes at all known addresses, and at those in more, for their identity. The
// address of a member may belong to another node now, even to one of another cluster.
func (n *Node) introduce(ctx context.Context, more ...string) []introduced {
	addresses := append(more, n.cfg.Join...)
	for _, m := range n.gossip.Members() {
		addresses = append(addresses, m.Address)
	}
	slices.Sort(addresses)
	var mu sync.Mutex
	var found []introduced
	var wait sync.WaitGroup
	for _, at := range slices.Compact(addresses) {
		if at == n.self().Address {
			continue
		}
		wait.Go(func() {
			call, cancel := context.WithTimeout(ctx, callTime)
			defer cancel()
			client, err := n.strangers.At(at)
			if err != nil {
				return
			}
			answer, err := client.Introduce(call, &clusterv1.IntroduceRequest{From: wire(n.self())})
			if err != nil || answer.GetSelf().GetNode() == string(n.Identity().Node) {
				return // nobody there, or this node by another name
			}
			mu.Lock()
			defer mu.Unlock()
			if !slices.ContainsFunc(found, func(i introduced) bool { return i.GetSelf().GetNode() == answer.GetSelf().GetNode() }) {
				found = append(found, introduced{answer, at})
			}
		})
	}
	wait.Wait()
	return found
}

// standings asks the other nodes of the cluster how far they are.
func (n *Node) standings(ctx context.Context) (out []consensus.Standing) {
	servers, err := n.consensus.Servers()
	if err != nil {
		return nil
	}
	var addresses []string
	for _, s := range servers {
		addresses = append(addresses, s.Address)
	}
	for _, other := range n.introduce(ctx, addresses...) {
		if other.GetCluster() != n.cluster() {
			continue
		}
		out = append(out, consensus.Standing{
			Node: id.Node(other.GetSelf().GetNode()), Applied: unwirePosition(other.GetApplied()), Confirmed: unwirePosition(other.GetConfirmed()),
		})
	}
	return out
}

// seek looks for a cluster to join, or for enough nodes to begin one.
func (n *Node) seek(ctx context.Context) error {
	var at, cluster string
	candidates := []consensus.Server{n.self()}
	for _, other := range n.introduce(ctx) {
		switch {
		case other.GetFormed() && n.cluster() != "" && other.GetCluster() != n.cluster():
			return fmt.Errorf("the node at %s is part of another cluster; empty the data directory of one of the two", other.at)
		case other.GetFormed() && cluster != "" && cluster != other.GetCluster():
			return fmt.Errorf("the nodes at %s and %s are part of different clusters; empty the data directories of one", at, other.at)
		case other.GetFormed():
			cluster = other.GetCluster()
			if leader := other.GetLeader().GetAddress(); leader != "" {
				at = leader
			}
		case other.GetExpect() > 0 && int(other.GetExpect()) == n.cfg.Expect:
			candidates = append(candidates, unwireOne(other.GetSelf()))
		}
	}
	switch {
	case at != "" && at != n.self().Address:
		return n.join(ctx, at)
	case cluster != "" || n.cluster() != "":
		return errors.New("a cluster is there, but has no leader yet")
	case n.cfg.Expect == 0:
		return errors.New("no cluster was found yet")
	case len(candidates) > n.cfg.Expect:
		return fmt.Errorf("%d nodes want to begin a cluster of %d; start the others with expect: 0, or expect as many as there are", len(candidates), n.cfg.Expect)
	case len(candidates) < n.cfg.Expect:
		return fmt.Errorf("%d of %d nodes are there", len(candidates), n.cfg.Expect)
	}
	return n.begin(ctx, sorted(candidates))
}

// begin starts a cluster, if this node is the one to propose it.
func (n *Node) begin(ctx context.Context, servers []consensus.Server) error {
	if servers[0].Node != n.Identity().Node {
		return fmt.Errorf("waiting for node %s to begin the cluster", servers[0].Node)
	}
	if err := n.promise(servers); err != nil {
		return err
	}
	for _, s := range servers[1:] {
		call, cancel := context.WithTimeout(ctx, callTime)
		err := n.call(call, s.Address, func(c clusterv1.PeerServiceClient) error {
			_, err := c.Promise(call, &clusterv1.PromiseRequest{Servers: wireAll(servers)})
			return err
		})
		cancel()
		if err != nil {
			return fmt.Errorf("node %s at %s does not promise: %w", s.Node, s.Address, err)
		}
	}
	// All have promised. From form's record on, this configuration is the only one
	// that can ever begin; who does not hear of it below hears of it from
	// callTheOthers.
	if err := n.form(servers); err != nil {
		return err
	}
	n.logger.LogAttrs(ctx, slog.LevelInfo, "the cluster begins", slog.Int("nodes", len(servers)), slog.String("cluster", n.cluster()))
	return n.callTheOthers(ctx)
}

// callTheOthers tells the nodes of the first configuration to start, until there is a leader.
// From then on the log reaches those that missed it.
func (n *Node) callTheOthers(ctx context.Context) error {
	n.formation.Lock()
	f := n.formation.record
	n.formation.Unlock()
	if _, led := n.consensus.Leader(); led || f.proposer() != n.Identity().Node {
		return nil
	}
	var errs []error
	for _, s := range f.servers[1:] {
		call, cancel := context.WithTimeout(ctx, callTime)
		err := n.call(call, s.Address, func(c clusterv1.PeerServiceClient) error {
			_, err := c.Form(call, &clusterv1.FormRequest{Servers: wireAll(f.servers)})
			return err
		})
		cancel()
		if err != nil {
			errs = append(errs, fmt.Errorf("node %s at %s: %w", s.Node, s.Address, err))
		}
	}
	return errors.Join(errs...)
}

// call calls the node at an address.
func (n *Node) call(_ context.Context, address string, do func(clusterv1.PeerServiceClient) error) error {
	client, err := n.peers.At(address)
	if err != nil {
		return err
	}
	return do(client)
}

// join asks the node at an address, which should lead, to be taken in.
func (n *Node) join(ctx context.Context, address string) error {
	ctx, cancel := context.WithTimeout(ctx, admitTime+callTime)
	defer cancel()
	client, err := n.peers.At(address)
	if err != nil {
		return err
	}
	answer, err := client.Join(ctx, &clusterv1.JoinRequest{
		Server: wire(n.self()), Expect: uint32(n.cfg.Expect), Cluster: n.cluster(),
	})
	if err != nil {
		return fmt.Errorf("joining at %s: %w", address, err)
	}
	if err := n.joined(answer.GetCluster()); err != nil {
		return err
	}
	if answer.GetNote() != "" {
		return errors.New(answer.GetNote())
	}
	return nil
}
