package operation

import (
	"context"
	"errors"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	"github.com/modelgateway/modelgateway/mgmt/field"
	"github.com/modelgateway/modelgateway/proto/gen/gateway/surface"
)

// answerTime bounds an operation on the replicated state. Without a quorum nothing is
// decided, and the caller gets an error within five seconds.
const answerTime = 4500 * time.Millisecond

// MostRetryAfter bounds Retry-After if the nodes cannot decide: an election takes a few
// seconds.
const MostRetryAfter = 5 * time.Second

// Run checks a request and runs its operation, over REST and over gRPC. The call has the
// caller already.
func (o *Table) Run(ctx context.Context, req any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
	op, in := o.All[info.FullMethod], req.(proto.Message)
	if err := MayUse(op.Operation, Principal(ctx)); err != nil { // for REST the route has checked that, too
		return nil, err
	}
	c := Of(ctx)
	c.Operation, c.Request = op, in
	if op.Effect != surface.Report {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, answerTime)
		defer cancel()
	}
	kept, err := o.prepare(ctx, op, in)
	if err != nil {
		return nil, Timely(ctx, op.Effect, err)
	}
	out := any(kept)
	if kept == nil {
		if out, err = next(ctx, in); err != nil {
			return nil, Timely(ctx, op.Effect, err)
		}
	}
	if !op.Effect.Changes() {
		o.Read(ctx, c)
	} else { // the change is made, however long it took
		ctx = context.WithoutCancel(ctx)
	}
	if err := o.Complete(ctx, out.(proto.Message)); err != nil {
		return nil, Timely(ctx, op.Effect, err)
	}
	return out, nil
}

// prepare checks a request. It returns the response that was kept for it, nil if there is
// none.
func (o *Table) prepare(ctx context.Context, op *Operation, in proto.Message) (kept proto.Message, err error) {
	c := Of(ctx)
	if err := precondition(op, c.IfMatch, in); err != nil {
		return nil, err
	}
	if err := o.Validate(in); err != nil {
		return nil, err
	}
	if f := in.ProtoReflect().Descriptor().Fields().ByName(field.IfRevision); f != nil {
		revision, err := field.Whole(field.IfRevision, in.ProtoReflect().Get(f).Float())
		if err != nil {
			return nil, err
		}
		c.Revision = uint64(revision)
	}
	if !op.Effect.Changes() || len(c.Idempotency) == 0 {
		return nil, nil //nolint:nilnil // nothing kept and nothing wrong
	}
	if c.Once, err = o.onlyOnce(c, op, in); err != nil {
		return nil, err
	}
	kept, _, err = c.Once.Find(ctx)
	if kept != nil {
		c.Replayed = true
		show(ctx, o.State.View())
	}
	return kept, err
}

// Timely gives the error of an operation that was not decided in time its kind.
func Timely(ctx context.Context, of surface.Effect, err error) error {
	var e *fault.Error
	switch {
	case errors.As(err, &e):
		if e.Kind == fault.Unavailable && e.RetryAfter > MostRetryAfter {
			sooner := *e
			sooner.RetryAfter = MostRetryAfter
			return &sooner
		}
		return field.Join(err)
	case !errors.Is(err, context.DeadlineExceeded) || !errors.Is(ctx.Err(), context.DeadlineExceeded):
		return err
	case !of.Changes():
		return &fault.Error{Kind: fault.Unavailable, Detail: "The nodes did not agree on what is current in time. Try again.", RetryAfter: time.Second, Err: err}
	}
	return &fault.Error{
		Kind: fault.Unavailable, Code: "outcome_unknown", RetryAfter: time.Second, Err: err,
		Detail: "The nodes did not decide in time. The change may still come about: look whether it has before you try again.",
	}
}

// MayUse denies an operation to callers whose role does not suffice, and every change to
// roles that only read. The caller has been authenticated.
func MayUse(op surface.Operation, who tenancy.Principal) error {
	role := who.Role()
	switch {
	case op.Access <= surface.AnyKey, role == tenancy.RoleProxyAdmin:
		return nil
	case op.Access == surface.Admin:
		return fault.New(fault.Denied, "insufficient_permissions", "Only an admin key may do that.")
	case op.Effect.Changes() && (role == tenancy.RoleProxyAdminViewer || role == tenancy.RoleInternalUserViewer):
		return fault.New(fault.Denied, "insufficient_permissions", "The role %s of this API key changes nothing.", role)
	case op.Access == surface.Viewer && role != tenancy.RoleProxyAdminViewer, role == tenancy.RoleNone:
		return fault.New(fault.Denied, "insufficient_permissions", "This API key has no role that may do that.")
	}
	return nil
}
