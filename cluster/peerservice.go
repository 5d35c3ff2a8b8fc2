package cluster

import (
	"context"
	"errors"

	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster/consensus"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/peer"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// peerService answers the other nodes.
type peerService struct {
	clusterv1.UnimplementedPeerServiceServer
	node *Node
}

// Introduce says who this node is.
func (s peerService) Introduce(ctx context.Context, in *clusterv1.IntroduceRequest) (*clusterv1.IntroduceResponse, error) {
	n := s.node
	asking, named := peer.Caller(ctx)
	if !named {
		asking = id.Node(in.GetFrom().GetNode())
	}
	standing := n.consensus.Standing(asking)
	out := &clusterv1.IntroduceResponse{
		Self: wire(n.self()), Expect: uint32(n.cfg.Expect), Cluster: n.cluster(),
		Applied: wirePosition(standing.Applied), Confirmed: wirePosition(standing.Confirmed),
	}
	out.Formed = out.GetCluster() != ""
	if leader, ok := n.consensus.Leader(); ok {
		out.Leader = wire(leader)
	}
	return out, nil
}

// Promise takes this node's word.
func (s peerService) Promise(ctx context.Context, in *clusterv1.PromiseRequest) (*clusterv1.PromiseResponse, error) {
	servers := unwire(in.GetServers())
	if err := first(ctx, servers); err != nil {
		return nil, err
	}
	return &clusterv1.PromiseResponse{}, s.node.promise(servers)
}

// Form starts this node.
func (s peerService) Form(ctx context.Context, in *clusterv1.FormRequest) (*clusterv1.FormResponse, error) {
	servers := unwire(in.GetServers())
	if err := first(ctx, servers); err != nil {
		return nil, err
	}
	return &clusterv1.FormResponse{}, s.node.form(servers)
}

// first refuses a configuration that does not come from its first node.
func first(ctx context.Context, servers []consensus.Server) error {
	caller, named := peer.Caller(ctx)
	if len(servers) == 0 || named && caller != servers[0].Node {
		return fault.New(fault.Denied, "not_the_proposer", "Only the first node of a configuration proposes it.")
	}
	return nil
}

// Join takes a node in.
func (s peerService) Join(ctx context.Context, in *clusterv1.JoinRequest) (*clusterv1.JoinResponse, error) {
	who := unwireOne(in.GetServer())
	if caller, named := peer.Caller(ctx); named && caller != who.Node {
		return nil, fault.New(fault.Denied, "not_yourself", "A node can only join for itself.")
	}
	note, err := s.node.admit(ctx, joiner{server: who, expect: int(in.GetExpect()), cluster: in.GetCluster()})
	if err != nil {
		return nil, err
	}
	servers, err := s.node.consensus.Servers()
	if err != nil {
		return nil, err
	}
	out := &clusterv1.JoinResponse{Cluster: s.node.cluster(), Note: note}
	for _, sv := range servers {
		out.Servers = append(out.GetServers(), wire(sv))
	}
	return out, nil
}

// Propose commits a command for a node that does not lead.
func (s peerService) Propose(ctx context.Context, in *clusterv1.ProposeRequest) (*clusterv1.ProposeResponse, error) {
	index, refusal, err := s.node.consensus.Propose(ctx, in.GetCommand())
	if err != nil {
		return nil, s.leaderError(err)
	}
	out := &clusterv1.CommandOutcome{Index: index}
	if refusal != nil {
		out.Failed, out.FaultKind, out.FaultCode = true, uint32(refusal.Kind), refusal.Code
		out.FaultParam, out.FaultDetail = refusal.Param, refusal.Detail
	}
	data, err := proto.Marshal(out)
	return &clusterv1.ProposeResponse{Outcome: data}, err
}

// leaderError distinguishes changes that were certainly not made.
func (s peerService) leaderError(err error) error {
	if errors.Is(err, consensus.ErrNotLeader) {
		return &fault.Error{Kind: fault.Unavailable, Code: codeNotLeader, Detail: "Node " + string(s.node.Identity().Node) + " does not lead the cluster.", Err: err}
	}
	return err
}

// ReadIndex says how far a node must have come to be current.
func (s peerService) ReadIndex(ctx context.Context, _ *clusterv1.ReadIndexRequest) (*clusterv1.ReadIndexResponse, error) {
	index, err := s.node.consensus.ReadIndex(ctx)
	if err != nil {
		return nil, s.leaderError(err)
	}
	return &clusterv1.ReadIndexResponse{Index: index}, nil
}

// AwaitApplied answers when this node's readers see an entry.
func (s peerService) AwaitApplied(ctx context.Context, in *clusterv1.AwaitAppliedRequest) (*clusterv1.AwaitAppliedResponse, error) {
	if err := s.node.consensus.WaitApplied(ctx, in.GetIndex()); err != nil {
		return nil, err
	}
	return &clusterv1.AwaitAppliedResponse{Index: s.node.consensus.Applied()}, nil
}

// Remove takes a node out.
func (s peerService) Remove(ctx context.Context, in *clusterv1.RemoveRequest) (*clusterv1.RemoveResponse, error) {
	if err := s.node.expel(ctx, id.Node(in.GetNode())); err != nil {
		return nil, s.leaderError(err)
	}
	return &clusterv1.RemoveResponse{}, nil
}

// Report says how this node is doing.
func (s peerService) Report(ctx context.Context, in *clusterv1.ReportRequest) (*clusterv1.ReportResponse, error) {
	return s.node.report(ctx, in.GetChecksum())
}

// self is this node as the others should know it.
func (n *Node) self() consensus.Server {
	address := aloneAddress
	if n.link != nil {
		address = n.link.Address()
	}
	return consensus.Server{Node: n.Identity().Node, Address: address, Voter: n.cfg.Expect > 0 || n.link == nil}
}

func wire(s consensus.Server) *clusterv1.Server {
	return &clusterv1.Server{Node: string(s.Node), Address: s.Address, Voter: s.Voter}
}

func wireAll(servers []consensus.Server) []*clusterv1.Server {
	out := make([]*clusterv1.Server, 0, len(servers))
	for _, s := range servers {
		out = append(out, wire(s))
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
