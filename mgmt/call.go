package mgmt

import (
	"context"
	"strconv"

	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
)

// HeaderRevision carries the revision of the view that an answer shows. A client
// that has seen one can tell whether another node is as far.
const HeaderRevision = "x-gateway-revision"

// call is what comes with a request beside its message and goes with its answer
// beside that, over REST and over gRPC alike. It belongs to one goroutine.
type call struct {
	presented tenancy.Presented
	principal tenancy.Principal // empty for who is not let in
	// view is what the answer shows: the view that the caller was authenticated by,
	// or after a change the one that has the change.
	view *cluster.View

	operation *operation    // nil where there is none
	request   proto.Message // what it is asked for
	id        string        // of the request

	matches     []string // headers If-Match
	idempotency []string // headers Idempotency-Key
	once        *once    // nil: the answer is not kept
	replayed    bool     // the answer was kept by an earlier request
	ifRevision  uint64   // that the record must have; 0 for any
}

type callKey struct{}

func withCall(ctx context.Context, c *call) context.Context {
	return context.WithValue(ctx, callKey{}, c)
}

// callOf returns the call that a context belongs to; an empty one if to none.
func callOf(ctx context.Context) *call {
	if c, ok := ctx.Value(callKey{}).(*call); ok {
		return c
	}
	return &call{}
}

// principal is who asks.
func principal(ctx context.Context) tenancy.Principal { return callOf(ctx).principal }

// viewOf returns the view that a request is answered from.
func viewOf(ctx context.Context) *cluster.View { return callOf(ctx).view }

// ifRevision returns the revision that the record which a request changes must have; 0
// for any.
func ifRevision(ctx context.Context) uint64 { return callOf(ctx).ifRevision }

// show changes the view that a request is answered from.
func show(ctx context.Context, v *cluster.View) *cluster.View {
	callOf(ctx).view = v
	return v
}

// headers are those of an answer beside its message.
func (c *call) headers(answer proto.Message) map[string]string {
	out := map[string]string{}
	if c.view != nil {
		out[HeaderRevision] = strconv.FormatUint(c.view.Revision, 10)
	}
	if tag := etag(answer.ProtoReflect()); tag != "" {
		out[HeaderETag] = tag
	}
	if c.replayed {
		out[HeaderReplayed] = "true"
	}
	return out
}

// current returns a view that shows every acknowledged change of any node, and has the
// response show it.
func current(ctx context.Context, state Changes) (*cluster.View, error) {
	v, err := state.Current(ctx)
	if err != nil {
		return nil, err
	}
	return show(ctx, v), nil
}
