package cluster

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/modelgateway/modelgateway/cluster/consensus"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/membership"
	"github.com/modelgateway/modelgateway/cluster/vault"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// Status is how a cluster is doing, as one node sees it.
type Status struct {
	Cluster string // its id; empty while the node is part of none
	Node    id.Node
	Address string
	Version string
	State   string // leader, follower or candidate
	Leader  consensus.Server
	Term    uint64
	// CommitIndex is the last entry that is known to be committed.
	CommitIndex  uint64
	AppliedIndex uint64 // the last entry whose effects this node's readers see
	Revision     uint64 // of the View
	Fresh        bool   // see Node.Fresh
	Members      []MemberStatus
	Problems     []string // what an operator should look at
}

// MemberStatus is how one member is doing.
type MemberStatus struct {
	Node         id.Node
	Address      string
	Voter        bool
	Alive        bool          // it answered; if not, the fields below say nothing, or what gossip last had
	Gossips      bool          // the gossip holds it for alive
	State        string        // leader, follower or candidate
	AppliedIndex uint64        // the last entry whose effects its readers see
	Lag          uint64        // entries between that and what is committed
	ContactAge   time.Duration // since it last heard of the leader; negative: never

	JournalBacklog int64         // usage events in its journal
	Version        string        // of the gateway
	SealingKey     vault.KeyID   // that its configuration says is to seal; zero: not known
	OpeningKeys    []vault.KeyID // that it opens with
	ConfigMatches  bool          // its file says the same as this node's
	StateHash      string        // SHA-256 of the whole state in hex, if it was asked for
	StateIndex     uint64        // the index that StateHash is of; 0: not asked for
}

const (
	// reportTime limits how long Status waits for a member.
	reportTime = time.Second
	// checksumTime is the limit if each member reads its whole state.
	checksumTime = 10 * time.Second
)

// Status asks every member how it is doing. With checksum each reads its whole
// state, which takes a moment with a large one.
func (n *Node) Status(ctx context.Context, checksum bool) (Status, error) {
	servers, err := n.consensus.Servers()
	if err != nil {
		return Status{}, err
	}
	s := Status{
		Cluster: n.membership.Cluster(), Node: n.Identity().Node, Address: n.self().Address, Version: n.cfg.Version,
		State: n.consensus.State(), Term: n.consensus.Term(), CommitIndex: n.consensus.Committed(), AppliedIndex: n.consensus.Applied(),
		Revision: n.View().Revision, Fresh: n.Fresh(), Problems: n.problems.all(),
	}
	s.Leader, _ = n.consensus.Leader()
	if n.gossip != nil {
		s.Problems = append(s.Problems, n.gossip.Problems()...)
	}
	if err := n.consensus.OlderCopy(); err != nil {
		s.Problems = append(s.Problems, "disk: "+err.Error())
	}
	s.Problems = append(s.Problems, n.shipper.Problems()...)
	s.Problems = append(s.Problems, n.receiverProblems(ctx, n.clock.Now())...)
	s.Members = n.members(ctx, servers, checksum)
	for i := range s.Members {
		m := &s.Members[i]
		s.CommitIndex = max(s.CommitIndex, m.AppliedIndex)
		if !m.Alive {
			s.Problems = append(s.Problems, "members: node "+string(m.Node)+" at "+m.Address+" does not answer")
		}
		if m.Alive && !m.ConfigMatches {
			s.Problems = append(s.Problems, "configuration: the file of node "+string(m.Node)+" says something else than this node's about models, keys or routing")
		}
	}
	for i := range s.Members {
		s.Members[i].Lag = s.CommitIndex - min(s.CommitIndex, s.Members[i].AppliedIndex)
	}
	return s, nil
}

// members asks every one of servers.
func (n *Node) members(ctx context.Context, servers []consensus.Server, checksum bool) []MemberStatus { //nolint:revive // flag-parameter: it is passed on
	limit := reportTime
	if checksum {
		limit = checksumTime
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	alive, said := n.alive(), n.hints.Counters()
	out := make([]MemberStatus, len(servers))
	var wait sync.WaitGroup
	for i, sv := range servers {
		heard := said[sv.Node]
		out[i] = MemberStatus{
			Node: sv.Node, Address: sv.Address, Voter: sv.Voter, Gossips: alive[sv.Node], ContactAge: -1,
			AppliedIndex: uint64(max(heard[counterApplied], 0)), JournalBacklog: heard[counterBacklog],
		}
		wait.Go(func() { n.ask(ctx, &out[i], checksum) })
	}
	wait.Wait()
	slices.SortFunc(out, func(a, b MemberStatus) int { return cmp.Compare(a.Node, b.Node) })
	return out
}

// ask fills in what a member says of itself.
func (n *Node) ask(ctx context.Context, m *MemberStatus, checksum bool) {
	var r *clusterv1.ReportResponse
	var err error
	if m.Node == n.Identity().Node {
		m.Gossips = n.gossip != nil
		r, err = n.report(ctx, checksum)
	} else if n.peers == nil {
		return
	} else {
		r, err = n.reportOf(ctx, m.Address, checksum)
	}
	if err != nil || r.GetSelf().GetNode() != string(m.Node) { // or another node has its address
		return
	}
	m.Alive = true
	m.State, m.AppliedIndex, m.Version = r.GetState(), r.GetAppliedIndex(), r.GetVersion()
	m.ContactAge, m.JournalBacklog = time.Duration(r.GetContactAgeNanos()), r.GetJournalBacklog()
	m.ConfigMatches = bytes.Equal(r.GetConfigHash(), n.cfg.Digest[:])
	m.SealingKey = vault.KeyIDOf(r.GetSealingKey())
	for _, k := range r.GetOpeningKeys() {
		m.OpeningKeys = append(m.OpeningKeys, vault.KeyIDOf(k))
	}
	m.StateHash, m.StateIndex = hex.EncodeToString(r.GetStateHash()), r.GetStateHashIndex()
}

// reportOf asks the node at an address how it is doing.
func (n *Node) reportOf(ctx context.Context, address string, checksum bool) (*clusterv1.ReportResponse, error) {
	client, err := n.peers.At(address)
	if err != nil {
		return nil, err
	}
	return client.Report(ctx, &clusterv1.ReportRequest{Checksum: checksum})
}

// alive returns the nodes that gossip considers alive.
func (n *Node) alive() map[id.Node]bool {
	out := make(map[id.Node]bool)
	if n.gossip == nil {
		return out
	}
	for _, m := range n.gossip.Members() {
		out[m.Node] = m.Alive
	}
	return out
}

// report says how this node is doing.
func (n *Node) report(ctx context.Context, checksum bool) (*clusterv1.ReportResponse, error) { //nolint:revive // flag-parameter: a large state takes long to read
	r := &clusterv1.ReportResponse{
		Self: membership.Wire(n.self()), Version: n.cfg.Version, State: n.consensus.State(), Term: n.consensus.Term(),
		CommitIndex: n.consensus.Committed(), AppliedIndex: n.consensus.Applied(), ContactAgeNanos: -1,
		JournalBacklog: n.journal.Backlog(), ConfigHash: n.cfg.Digest[:], ClockUnixNano: n.cfg.Now().UnixNano(),
	}
	if ring := n.cfg.Ring; ring != nil {
		r.SealingKey = keyBytes(ring.Configured())
		for _, k := range ring.Keys() {
			r.OpeningKeys = append(r.GetOpeningKeys(), k[:])
		}
	}
	if at, ever := n.consensus.LastContact(); ever {
		r.ContactAgeNanos = int64(max(time.Since(at), 0))
	}
	if n.consensus.IsLeader() {
		r.ContactAgeNanos = 0
	}
	if !checksum {
		return r, nil
	}
	index, sum, err := n.consensus.Checksum(ctx)
	if err != nil {
		return nil, &fault.Error{Op: "cluster.report", Kind: fault.StorageUnavailable, Err: err, Detail: "The state cannot be read."}
	}
	r.StateHashIndex, r.StateHash = index, sum[:]
	return r, nil
}

// tellLeader logs who leads, when that changes.
func (n *Node) tellLeader(ctx context.Context) error {
	var last id.Node
	for {
		changed := n.consensus.LeadershipChanged()
		leader, _ := n.consensus.Leader()
		if leader.Node != last {
			last = leader.Node
			n.logger.LogAttrs(ctx, slog.LevelInfo, "leadership",
				slog.String("leader", string(last)), slog.String("address", leader.Address), slog.Bool("this_node", last == n.Identity().Node))
		}
		select {
		case <-ctx.Done():
			return nil
		case <-changed:
		}
	}
}
