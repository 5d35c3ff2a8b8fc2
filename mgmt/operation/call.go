package operation

import (
	"context"
	"strconv"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster"
	"github.com/modelgateway/modelgateway/cluster/credential"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	"github.com/modelgateway/modelgateway/mgmt/field"
)

// HeaderRevision carries the revision of the view that a response shows. A client can
// compare it to see whether another node has caught up.
const HeaderRevision = "x-gateway-revision"

// Call is a request and its response without their messages, over REST and over gRPC. It
// belongs to one goroutine.
type Call struct {
	Presented credential.Presented
	Principal tenancy.Principal // empty for a caller that was not identified
	// View is what the response shows. It is the view that authenticated the caller, or
	// after a change one that includes the change.
	View *cluster.View

	Operation *Operation    // nil where there is none
	Request   proto.Message // what it is asked for
	ID        string        // of the request

	IfMatch     []string // headers If-Match
	IfNoneMatch []string // headers If-None-Match
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

// Of returns the call that a context belongs to; an empty one if there is none.
func Of(ctx context.Context) *Call {
	if c, ok := ctx.Value(callKey{}).(*Call); ok {
		return c
	}
	return &Call{}
}

// Principal returns the caller.
func Principal(ctx context.Context) tenancy.Principal { return Of(ctx).Principal }

// View returns the view that the response shows.
func View(ctx context.Context) *cluster.View { return Of(ctx).View }

// IfRevision returns the revision that the record which a request changes must have; 0
// for any.
func IfRevision(ctx context.Context) uint64 { return Of(ctx).Revision }

// show sets the view that the response shows.
func show(ctx context.Context, v *cluster.View) *cluster.View {
	Of(ctx).View = v
	return v
}

// Headers returns the headers of a response.
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

// Unchanged reports whether the caller has a response already, by the header If-None-Match.
func (c *Call) Unchanged(answer proto.Message) bool {
	if len(c.IfNoneMatch) == 0 || c.Operation == nil || !c.Operation.Conditional {
		return false
	}
	tag := etag(answer.ProtoReflect())
	for item := range strings.SplitSeq(strings.Join(c.IfNoneMatch, ","), ",") {
		if item = strings.TrimSpace(item); item == "*" || strings.TrimPrefix(item, "W/") == tag {
			return tag != ""
		}
	}
	return false
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
