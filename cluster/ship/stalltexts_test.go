package ship

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/modelgateway/modelgateway/cluster/consensus"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/peer"
)

// TestReasonsOfAStall: callers read which part failed and what helps, and nothing that only
// the operator may read.
func TestReasonsOfAStall(t *testing.T) {
	t.Parallel()
	const secret = "10.0.0.7:7400"
	cause := errors.New("dial " + secret)
	unavailable := func(cause error) *fault.Error {
		return &fault.Error{Kind: fault.Unavailable, Code: "no_leader", Err: cause}
	}
	for _, test := range []struct {
		name   string
		err    *fault.Error
		reason string
	}{
		{"nobody leads", unavailable(errors.Join(consensus.ErrNotLeader, cause)), "no leader, or this node does not reach it"},
		{"slow", unavailable(fmt.Errorf("%s: %w", secret, context.DeadlineExceeded)), "did not confirm the events within 10s"},
		{"slow, over the network", unavailable(peer.Fault(status.Error(codes.DeadlineExceeded, secret))), "did not confirm the events within 10s"},
		{"broken connection", unavailable(peer.Fault(status.Error(codes.Unavailable, secret))), "The request to the cluster's leader failed."},
		{"rejected", fault.New(fault.Conflict, "usage_gap", "The node at %s has not sent all.", secret), "rejected the events (usage_gap)"},
		{"disk", &fault.Error{Kind: fault.StorageUnavailable, Detail: secret, Err: cause}, "cannot read its data directory"},
		{"bug", &fault.Error{Kind: fault.Internal, Code: "x", Detail: secret, Err: cause}, "Posting ended with an error (internal)."},
	} {
		got := stallOf(test.err)
		if !strings.Contains(got.Reason, test.reason) || got.Remedy == "" {
			t.Errorf("%s: %+v, want %q", test.name, got, test.reason)
		}
		if strings.Contains(got.Reason+got.Remedy, secret) {
			t.Errorf("%s: callers read %+v", test.name, got)
		}
	}
}
