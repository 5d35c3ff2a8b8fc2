package membership

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
	// formedPause is how often a member compares itself with the configuration: its address may have
	// changed, or it may want a vote.
	formedPause = 5 * time.Second
	// callTime limits one call of another node.
	callTime = 2 * time.Second
	// ChangeTime limits a change of the configuration.
	ChangeTime = 10 * time.Second
)

// Run makes this node a member of a cluster and keeps it one, until ctx ends.
func (m *Members) Run(ctx context.Context) error {
	for {
		pause := formedPause
		err := m.formStep(ctx)
		switch {
		case m.Cluster() == "":
			pause = seekPause
		case err != nil:
			pause = time.Second
		}
		if m.cfg.Problem(err) {
			m.cfg.Logger.LogAttrs(ctx, slog.LevelInfo, "the node is not yet what it is to be in its cluster", slog.String("reason", err.Error()))
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
		}
	}
}

// formStep does the next step, and returns why this node is not a full member yet.
func (m *Members) formStep(ctx context.Context) error {
	if removed, err := m.removed(ctx); err != nil {
		return err
	} else if removed {
		return fault.New(fault.Conflict, "node_removed", "This node was taken out of its cluster. To bring it back, start it with an empty data directory.")
	}
	if m.Cluster() == "" {
		return m.seek(ctx)
	}
	servers, err := m.cfg.Consensus.Servers()
	if err != nil {
		return err
	}
	self := m.cfg.Self
	if slices.Contains(servers, self) {
		m.cfg.Peers.Keep(m.knows(servers))
		if err := m.startOthers(ctx); err != nil {
			return err
		}
		if _, led := m.cfg.Consensus.Leader(); led {
			m.cfg.Strangers.Keep(func(string) bool { return false })
			return nil
		}
		// A node that was removed while it was down does not learn that from the log, because the
		// others send it no more entries. It asks them, and the operator sees the result as a
		// problem. A node that only waits for an election finds no leader or is still a member.
		return m.seek(ctx)
	}
	leader, ok := m.cfg.Consensus.Leader()
	switch {
	case ok && leader.Node == self.Node:
		_, err = m.admit(ctx, m.request())
		return err
	case ok:
		return m.join(ctx, leader.Address)
	}
	// No leader reaches this node. The node may have another address now, which the leader cannot
	// know, so the node looks for the leader.
	return m.seek(ctx)
}

// removed reports whether this node was removed from its cluster. It is not enough that the
// configuration is without this node: so is the configuration in the first snapshot of a new node.
func (m *Members) removed(ctx context.Context) (bool, error) {
	if !m.cfg.Consensus.Removed() {
		return false, nil
	}
	return m.Removed(ctx, m.cfg.Self.Node)
}

// knows returns a function that reports whether this node may call an address again.
func (m *Members) knows(servers []consensus.Server) func(address string) bool {
	known := slices.Clone(m.cfg.Join)
	for _, s := range servers {
		known = append(known, s.Address)
	}
	known = append(known, m.cfg.Gossiped()...)
	return func(address string) bool { return slices.Contains(known, address) }
}

// introduced is the response of the node at an address.
type introduced struct {
	*clusterv1.IntroduceResponse
	at string
}

// introduce asks the nodes at all known addresses, and at those in more, for their identity. The
// address of a member may belong to another node now, even to one of another cluster.
func (m *Members) introduce(ctx context.Context, more ...string) []introduced {
	addresses := append(more, m.cfg.Join...)
	addresses = append(addresses, m.cfg.Gossiped()...)
	slices.Sort(addresses)
	var mu sync.Mutex
	var found []introduced
	var wait sync.WaitGroup
	for _, at := range slices.Compact(addresses) {
		if at == m.cfg.Self.Address {
			continue
		}
		wait.Go(func() {
			call, cancel := context.WithTimeout(ctx, callTime)
			defer cancel()
			client, err := m.cfg.Strangers.At(at)
			if err != nil {
				return
			}
			answer, err := client.Introduce(call, &clusterv1.IntroduceRequest{From: Wire(m.cfg.Self)})
			if err != nil || answer.GetSelf().GetNode() == string(m.cfg.Self.Node) {
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

// Standings asks the other nodes of the cluster for their positions in the log.
func (m *Members) Standings(ctx context.Context) (out []consensus.Standing) {
	servers, err := m.cfg.Consensus.Servers()
	if err != nil {
		return nil
	}
	var addresses []string
	for _, s := range servers {
		addresses = append(addresses, s.Address)
	}
	for _, other := range m.introduce(ctx, addresses...) {
		if other.GetCluster() != m.Cluster() {
			continue
		}
		out = append(out, consensus.Standing{
			Node: id.Node(other.GetSelf().GetNode()), Applied: unwirePosition(other.GetApplied()), Confirmed: unwirePosition(other.GetConfirmed()),
		})
	}
	return out
}

// seek looks for a cluster to join, or for enough nodes to begin one.
func (m *Members) seek(ctx context.Context) error {
	var at, cluster string
	candidates := []consensus.Server{m.cfg.Self}
	for _, other := range m.introduce(ctx) {
		switch {
		case other.GetFormed() && m.Cluster() != "" && other.GetCluster() != m.Cluster():
			return fmt.Errorf("the node at %s is part of another cluster; empty the data directory of one of the two", other.at)
		case other.GetFormed() && cluster != "" && cluster != other.GetCluster():
			return fmt.Errorf("the nodes at %s and %s are part of different clusters; empty the data directories of one", at, other.at)
		case other.GetFormed():
			cluster = other.GetCluster()
			if leader := other.GetLeader().GetAddress(); leader != "" {
				at = leader
			}
		case other.GetExpect() > 0 && int(other.GetExpect()) == m.cfg.Expect:
			candidates = append(candidates, unwireOne(other.GetSelf()))
		}
	}
	switch {
	case at != "" && at != m.cfg.Self.Address:
		return m.join(ctx, at)
	case cluster != "" || m.Cluster() != "":
		return errors.New("a cluster is there, but has no leader yet")
	case m.cfg.Expect == 0:
		return errors.New("no cluster was found yet")
	case len(candidates) > m.cfg.Expect:
		return fmt.Errorf("%d nodes want to begin a cluster of %d; start the others with expect: 0, or expect as many as there are", len(candidates), m.cfg.Expect)
	case len(candidates) < m.cfg.Expect:
		return fmt.Errorf("%d of %d nodes are there", len(candidates), m.cfg.Expect)
	}
	return m.begin(ctx, sorted(candidates))
}

// begin starts a cluster, if this node is the one to propose it.
func (m *Members) begin(ctx context.Context, servers []consensus.Server) error {
	if servers[0].Node != m.cfg.Self.Node {
		return fmt.Errorf("waiting for node %s to begin the cluster", servers[0].Node)
	}
	if err := m.promise(servers); err != nil {
		return err
	}
	for _, s := range servers[1:] {
		err := m.call(ctx, s.Address, func(ctx context.Context, c clusterv1.PeerServiceClient) error {
			_, err := c.Promise(ctx, &clusterv1.PromiseRequest{Servers: wireAll(servers)})
			return err
		})
		if err != nil {
			return fmt.Errorf("node %s at %s does not promise: %w", s.Node, s.Address, err)
		}
	}
	// All have promised. Once form has written its record, this is the only configuration that can
	// begin. Nodes that startOthers does not reach now are started by a later step.
	if err := m.form(servers); err != nil {
		return err
	}
	m.cfg.Logger.LogAttrs(ctx, slog.LevelInfo, "the cluster begins", slog.Int("nodes", len(servers)), slog.String("cluster", m.Cluster()))
	return m.startOthers(ctx)
}

// startOthers starts the other nodes of the first configuration, until there is a leader. From then
// on the log reaches the nodes that missed it.
func (m *Members) startOthers(ctx context.Context) error {
	m.mu.Lock()
	f := m.mu.formation
	m.mu.Unlock()
	if _, led := m.cfg.Consensus.Leader(); led || f.proposer() != m.cfg.Self.Node {
		return nil
	}
	var errs []error
	for _, s := range f.servers[1:] {
		err := m.call(ctx, s.Address, func(ctx context.Context, c clusterv1.PeerServiceClient) error {
			_, err := c.Form(ctx, &clusterv1.FormRequest{Servers: wireAll(f.servers)})
			return err
		})
		if err != nil {
			errs = append(errs, fmt.Errorf("node %s at %s: %w", s.Node, s.Address, err))
		}
	}
	return errors.Join(errs...)
}

// call calls the node at an address, for callTime at most.
func (m *Members) call(ctx context.Context, address string, do func(context.Context, clusterv1.PeerServiceClient) error) error {
	client, err := m.cfg.Peers.At(address)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	return do(ctx, client)
}

// request returns the request of this node to become a member.
func (m *Members) request() *clusterv1.JoinRequest {
	return &clusterv1.JoinRequest{Server: Wire(m.cfg.Self), Expect: uint32(m.cfg.Expect), Cluster: m.Cluster()}
}

// join asks the node at an address, which should be the leader, to make this node a member.
func (m *Members) join(ctx context.Context, address string) error {
	ctx, cancel := context.WithTimeout(ctx, ChangeTime+callTime)
	defer cancel()
	client, err := m.cfg.Peers.At(address)
	if err != nil {
		return err
	}
	answer, err := client.Join(ctx, m.request())
	if err != nil {
		return fmt.Errorf("joining at %s: %w", address, err)
	}
	if err := m.joined(answer.GetCluster()); err != nil {
		return err
	}
	if answer.GetNote() != "" {
		return errors.New(answer.GetNote())
	}
	return nil
}
