package membership

import (
	"context"

	"github.com/modelgateway/modelgateway/cluster/consensus"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/peer"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// Service answers the calls of other nodes that are about the membership.
type Service struct {
	clusterv1.UnimplementedPeerServiceServer
	members *Members
}

// Service returns the answers to other nodes.
func (m *Members) Service() Service { return Service{members: m} }

// Introduce returns the identity of this node, its cluster and its position in the log.
func (s Service) Introduce(ctx context.Context, in *clusterv1.IntroduceRequest) (*clusterv1.IntroduceResponse, error) {
	m := s.members
	asking, named := peer.Caller(ctx)
	if !named {
		asking = id.Node(in.GetFrom().GetNode())
	}
	standing := m.cfg.Consensus.Standing(asking)
	out := &clusterv1.IntroduceResponse{
		Self: Wire(m.cfg.Self), Expect: uint32(m.cfg.Expect), Cluster: m.Cluster(),
		Applied: wirePosition(standing.Applied), Confirmed: wirePosition(standing.Confirmed),
	}
	out.Formed = out.GetCluster() != ""
	if leader, ok := m.cfg.Consensus.Leader(); ok {
		out.Leader = Wire(leader)
	}
	return out, nil
}

// Promise promises that this node joins a first configuration and no other.
func (s Service) Promise(ctx context.Context, in *clusterv1.PromiseRequest) (*clusterv1.PromiseResponse, error) {
	servers := unwire(in.GetServers())
	if err := first(ctx, servers); err != nil {
		return nil, err
	}
	return &clusterv1.PromiseResponse{}, s.members.promise(servers)
}

// Form starts this node with a configuration that it has promised.
func (s Service) Form(ctx context.Context, in *clusterv1.FormRequest) (*clusterv1.FormResponse, error) {
	servers := unwire(in.GetServers())
	if err := first(ctx, servers); err != nil {
		return nil, err
	}
	return &clusterv1.FormResponse{}, s.members.form(servers)
}

// first rejects a configuration that does not come from its first node.
func first(ctx context.Context, servers []consensus.Server) error {
	caller, named := peer.Caller(ctx)
	if len(servers) == 0 || named && caller != servers[0].Node {
		return fault.New(fault.Denied, "not_the_proposer", "Only the first node of a configuration proposes it.")
	}
	return nil
}

// Join makes the caller a member. Only the leader can.
func (s Service) Join(ctx context.Context, in *clusterv1.JoinRequest) (*clusterv1.JoinResponse, error) {
	if caller, named := peer.Caller(ctx); named && string(caller) != in.GetServer().GetNode() {
		return nil, fault.New(fault.Denied, "not_yourself", "A node can only join for itself.")
	}
	note, err := s.members.admit(ctx, in)
	if err != nil {
		return nil, err
	}
	servers, err := s.members.cfg.Consensus.Servers()
	if err != nil {
		return nil, err
	}
	out := &clusterv1.JoinResponse{Cluster: s.members.Cluster(), Note: note}
	for _, sv := range servers {
		out.Servers = append(out.GetServers(), Wire(sv))
	}
	return out, nil
}

// Wire returns a server as messages have it.
func Wire(s consensus.Server) *clusterv1.Server {
	return &clusterv1.Server{Node: string(s.Node), Address: s.Address, Voter: s.Voter}
}

func wireAll(servers []consensus.Server) []*clusterv1.Server {
	out := make([]*clusterv1.Server, 0, len(servers))
	for _, s := range servers {
		out = append(out, Wire(s))
	}
	return out
}

func unwireOne(s *clusterv1.Server) consensus.Server {
	return consensus.Server{Node: id.Node(s.GetNode()), Address: s.GetAddress(), Voter: s.GetVoter()}
}

func wirePosition(p consensus.Position) *clusterv1.Position {
	return &clusterv1.Position{Index: p.Index, Term: p.Term}
}

func unwirePosition(p *clusterv1.Position) consensus.Position {
	return consensus.Position{Index: p.GetIndex(), Term: p.GetTerm()}
}

func unwire(servers []*clusterv1.Server) []consensus.Server {
	out := make([]consensus.Server, 0, len(servers))
	for _, s := range servers {
		out = append(out, unwireOne(s))
	}
	return sorted(out)
}
