package mgmt

import (
	"context"
	"time"

	"github.com/modelgateway/modelgateway/cluster"
	"github.com/modelgateway/modelgateway/cluster/event"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/mgmt/operation"
	gatewayv1 "github.com/modelgateway/modelgateway/proto/gen/gateway/v1"
)

type clusterService struct {
	gatewayv1.UnimplementedClusterServiceServer
	state   Members
	changed func(c *operation.Call, e event.Event, by event.Request)
}

// GetStatus shows the cluster as this node sees it.
func (s clusterService) GetStatus(ctx context.Context, in *gatewayv1.GetStatusRequest) (*gatewayv1.GetStatusResponse, error) {
	st, err := s.state.Status(ctx, in.GetChecksum())
	if err != nil {
		return nil, err
	}
	out := &gatewayv1.GetStatusResponse{
		Node: string(st.Node), Address: st.Address, Version: st.Version, State: st.State,
		Term: float64(st.Term), CommitIndex: float64(st.CommitIndex), AppliedIndex: float64(st.AppliedIndex), Revision: float64(st.Revision),
		Members: members(st.Members), Problems: st.Problems, Cluster: st.Cluster, Fresh: st.Fresh,
	}
	if st.Leader.Node != "" {
		out.Leader = &gatewayv1.ClusterLeader{Node: string(st.Leader.Node), Address: st.Leader.Address}
	}
	return out, nil
}

// ListMembers shows the nodes.
func (s clusterService) ListMembers(ctx context.Context, _ *gatewayv1.ListMembersRequest) (*gatewayv1.ListMembersResponse, error) {
	st, err := s.state.Status(ctx, false)
	if err != nil {
		return nil, err
	}
	return &gatewayv1.ListMembersResponse{Members: members(st.Members)}, nil
}

func members(all []cluster.MemberStatus) []*gatewayv1.ClusterMember {
	out := make([]*gatewayv1.ClusterMember, len(all))
	for i := range all {
		m := &all[i]
		age := m.ContactAge.Round(time.Millisecond).Seconds()
		if m.ContactAge < 0 {
			age = -1
		}
		out[i] = &gatewayv1.ClusterMember{
			Node: string(m.Node), Address: m.Address, Voter: m.Voter, Alive: m.Alive, State: m.State,
			AppliedIndex: float64(m.AppliedIndex), Lag: float64(m.Lag), ContactAge: age, JournalBacklog: float64(m.JournalBacklog),
			Version: m.Version, ConfigMatches: m.ConfigMatches, Gossips: m.Gossips,
			StateHash: m.StateHash, StateIndex: float64(m.StateIndex),
		}
	}
	return out
}

// RemoveMember removes a node forever.
func (s clusterService) RemoveMember(ctx context.Context, in *gatewayv1.RemoveMemberRequest) (*gatewayv1.RemoveMemberResponse, error) {
	if !isNode(in.GetNodeId()) {
		return nil, fault.Field("node_id", "invalid_value", "node_id must be a node's id: 32 hex digits, as GET /cluster/members shows it.")
	}
	c, out := operation.Of(ctx), &gatewayv1.RemoveMemberResponse{NodeId: in.GetNodeId(), Removed: true}
	err := s.state.RemoveMember(ctx, id.Node(in.GetNodeId()))
	if fault.KindOf(err) == fault.NotFound && c.Once != nil {
		// This request may have removed the node before, without its response being kept.
		if gone, unknown := s.state.Removed(ctx, id.Node(in.GetNodeId())); unknown == nil && gone {
			return out, nil
		}
	}
	if err != nil {
		return nil, err
	}
	s.changed(c, event.ManagementChanged(c.Operation.Service.Resource, []string{in.GetNodeId()}), c.By(c.Operation.Name, c.Operation.Action, nil))
	if c.Once != nil {
		c.Once.KeepDone(ctx, c.Principal.Actor(), out)
	}
	return out, nil
}

// isNode reports whether a text has the form of a node's id.
func isNode(s string) bool {
	for i := range len(s) {
		if (s[i] < '0' || s[i] > '9') && (s[i] < 'a' || s[i] > 'f') {
			return false
		}
	}
	return len(s) == 32
}
