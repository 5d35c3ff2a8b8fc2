package cluster

import (
	"context"
	"errors"

	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster/consensus"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/membership"
	"github.com/modelgateway/modelgateway/cluster/peer"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// peerService answers the other nodes.
type peerService struct {
	membership.Service
	node *Node
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
		return &fault.Error{Kind: fault.Unavailable, Code: peer.CodeNotLeader, Detail: "Node " + string(s.node.Identity().Node) + " does not lead the cluster.", Err: err}
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
	if err := s.node.membership.Remove(ctx, id.Node(in.GetNode())); err != nil {
		return nil, s.leaderError(err)
	}
	return &clusterv1.RemoveResponse{}, nil
}

// Report says how this node is doing.
func (s peerService) Report(ctx context.Context, in *clusterv1.ReportRequest) (*clusterv1.ReportResponse, error) {
	return s.node.report(ctx, in.GetChecksum())
}
