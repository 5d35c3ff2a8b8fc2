package peer

import (
	"context"
	"strconv"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/status"

	"github.com/modelgateway/modelgateway/cluster/fault"
)

// CodeNotLeader is the code of the error of a node that should lead and does not: nothing was changed.
const CodeNotLeader = "not_leader"

// domain marks the details that are ours.
const domain = "modelgateway"

// answer gives every error its fault on its way out.
func answer(ctx context.Context, req any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
	out, err := next(ctx, req)
	return out, Status(err)
}

// receive gives every error its fault on its way in.
func receive(ctx context.Context, method string, req, reply any, conn *grpc.ClientConn, next grpc.UnaryInvoker, opts ...grpc.CallOption) error { //nolint:revive // the signature is gRPC's
	return Fault(next(ctx, method, req, reply, conn, opts...))
}

// Status is an error as gRPC carries it. Unary calls do this by themselves, streams
// do not.
func Status(err error) error {
	if err == nil {
		return nil
	}
	e := fault.From(err)
	st := status.New(e.Kind.GRPC(), e.Message())
	with, derr := st.WithDetails(&errdetails.ErrorInfo{
		Reason: e.Code, Domain: domain,
		Metadata: map[string]string{"kind": strconv.Itoa(int(e.Kind)), "param": e.Param},
	})
	if derr != nil { // its text is not valid UTF-8
		return st.Err()
	}
	return with.Err()
}

// Fault is the error that was sent, where a stream ended with one. What was not sent by a handler but came
// of the connection is Unavailable: the outcome is not known.
func Fault(err error) error {
	if err == nil {
		return nil
	}
	st, ok := status.FromError(err)
	if !ok {
		return err
	}
	for _, d := range st.Details() {
		info, ok := d.(*errdetails.ErrorInfo)
		if !ok || info.GetDomain() != domain {
			continue
		}
		kind, kerr := strconv.ParseUint(info.GetMetadata()["kind"], 10, 8)
		if kerr != nil {
			continue
		}
		return &fault.Error{
			Op: "peer", Kind: fault.Kind(kind), Code: info.GetReason(),
			Param: info.GetMetadata()["param"], Detail: st.Message(),
		}
	}
	return &fault.Error{Op: "peer", Kind: fault.Unavailable, Code: "peer_unreachable", Detail: "Another node of the cluster does not answer.", Err: err}
}
