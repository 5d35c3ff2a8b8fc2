package operation

import (
	"context"
	"strconv"

	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	"github.com/modelgateway/modelgateway/mgmt/field"
)

// HeaderRevision carries the revision of the view that an answer shows. A client
// that has seen one can tell whether another node is as far.
const HeaderRevision = "x-gateway-revision"

// Call is what comes with a request beside its message and goes with its answer
// beside that, over REST and over gRPC alike. It belongs to one goroutine.
type Call struct {
	Presented tenancy.Presented
	Principal tenancy.Principal // empty for who is not let in
	// View is what the answer shows: the view that the caller was authenticated by,
	// or after a change the one that has the change.
	View *cluster.View

	Operation *Operation    // nil where there is none
	Request   proto.Message // what it is asked for
	ID        string        // of the request

	IfMatch     []string // headers If-Match
	Idempotency []string // headers Idempotency-Key
	Once        *Once    // nil: the answer is not kept
	Replayed    bool     // the answer was kept by an earlier request
	Revision    uint64   // that the record must have; 0 for any
}

type callKey struct{}

// With returns a context that belongs to a call.
func With(ctx context.Context, c *Call) context.Context {
	return context.WithValue(ctx, callKey{}, c)
}

// Of returns the call that a context belongs to; an empty one if to none.
func Of(ctx context.Context) *Call {
	if c, ok := ctx.Value(callKey{}).(*Call); ok {
		return c
	}
	return &Call{}
}

// Principal is who asks.
func Principal(ctx context.Context) tenancy.Principal { return Of(ctx).Principal }

// View returns the view that a request is answered from.
func View(ctx context.Context) *cluster.View { return Of(ctx).View }

// IfRevision returns the revision that the record which a request changes must have; 0
// for any.
func IfRevision(ctx context.Context) uint64 { return Of(ctx).Revision }

// show changes the view that a request is answered from.
func show(ctx context.Context, v *cluster.View) *cluster.View {
	Of(ctx).View = v
	return v
}

// Headers are those of an answer beside its message.
func (c *Call) Headers(answer proto.Message) map[string]string {
	out := map[string]string{}
	if c.View != nil {
		out[HeaderRevision] = strconv.FormatUint(c.View.Revision, 10)
	}
	if tag := etag(answer.ProtoReflect()); tag != "" {
		out[field.HeaderETag] = tag
	}
	if c.Replayed {
		out[HeaderReplayed] = "true"
	}
	return out
}

// Current returns a view that shows every acknowledged change of any node, and has the
// response show it.
func Current(ctx context.Context, state Changes) (*cluster.View, error) {
	v, err := state.Current(ctx)
	if err != nil {
		return nil, err
	}
	return show(ctx, v), nil
}
