package extproc

import (
	"context"
	"errors"
	"strconv"

	"github.com/modelgateway/modelgateway/cluster/inject"
	"github.com/modelgateway/modelgateway/envoy/contract"
	"github.com/modelgateway/modelgateway/extproc/frame"
	"github.com/modelgateway/modelgateway/extproc/message"
	"github.com/modelgateway/modelgateway/extproc/pipeline"
)

// session is the downstream filter's stream: one request.
type session struct {
	*conn
	s      *Server
	p      *pipeline.Pipeline
	x      *pipeline.Exchange
	pieces *upload  // of a body that comes in pieces
	handed bool     // the gateway's HTTP server responds
	held   int      // pieces of a response that have no answers yet
	free   []func() // buffers that the exchange refers to
}

func (s *Server) downstream(c *conn, pieces *upload) error {
	d := &session{conn: c, s: s, p: s.pipeline, pieces: pieces}
	defer d.close()
	ctx := c.stream.Context()
	for {
		m, err := c.recv()
		if err != nil {
			return err
		}
		switch m.Kind {
		case frame.RequestHeaders:
			err = d.requestHeaders(ctx, &m)
		case frame.RequestBody:
			err = d.requestBody(ctx, &m)
		case frame.RequestTrailers:
			err = d.requestTrailers(ctx, &m)
		case frame.ResponseHeaders:
			if d.x != nil && d.x.Dispatched {
				return d.receive(ctx, &m)
			}
			err = d.pass(m.Kind) // Envoy's own response, already in the gateway's form
		case frame.ResponseBody, frame.ResponseTrailers, frame.Other:
			err = d.pass(m.Kind)
		}
		if err != nil {
			return err
		}
	}
}

// close ends the exchange, whatever ended the stream. Envoy ends the stream when it drops its
// own copy of the body, so the body's bytes are in flight until then.
func (d *session) close() {
	d.addBusy()
	if d.x != nil {
		d.p.Close(d.stream.Context(), d.x, d.busy)
		d.s.live.remove(d.x)
	}
	if d.pieces != nil {
		d.pieces.drop()
	}
	for _, free := range d.free {
		free()
	}
	d.in.Free()
}

// requestHeaders makes the exchange. If the body comes in pieces, the headers are answered
// when it is complete, because their answer has the plan.
func (d *session) requestHeaders(ctx context.Context, m *frame.Message) error {
	d.x = d.p.NewExchange()
	m.Headers(func(name, value []byte) bool {
		d.x.Header(name, value)
		return true
	})
	d.x.Inbound.Empty = m.End
	if d.handed = d.pieces == nil && d.x.Elsewhere(); d.handed {
		d.x = nil
		return d.pass(m.Kind)
	}
	err := d.p.Begin(ctx, d.x)
	switch {
	case err != nil:
		if d.pieces != nil {
			d.pieces.ended = true
		}
		return d.reject(ctx, err)
	case m.End:
		return d.dispatch(ctx, m.Kind)
	case d.pieces != nil:
		return nil
	}
	return d.pass(m.Kind)
}

// dispatch admits a complete request, and sends Envoy the plan with the answer to a message.
func (d *session) dispatch(ctx context.Context, of frame.Kind) error {
	edit, instead := d.admit(ctx)
	if instead != nil {
		return d.immediate(instead)
	}
	edit.Splice()
	head, tail := frame.AppendAnswer(d.plan(), of, &frame.Mutation{Edit: *edit, ClearRoute: true})
	return afterDispatch(d.send(head, tail))
}

// requestBody takes the body, or a piece of it, and sends Envoy the plan when it is
// complete.
func (d *session) requestBody(ctx context.Context, m *frame.Message) error {
	if d.handed {
		return d.pass(m.Kind)
	}
	if d.x == nil {
		return errors.New("a request's body arrived without its headers")
	}
	if d.pieces != nil {
		return d.piece(ctx, m)
	}
	d.x.Body = m.Body
	d.free = append(d.free, d.in.Hold())
	return d.dispatch(ctx, m.Kind)
}

// afterDispatch runs when Envoy has the request, or has failed to take it with err.
func afterDispatch(err error) error {
	inject.Crash("request.dispatched")
	return err
}

// admit runs the stages of the complete body, and dispatches the request. A request that is not
// dispatched gets a response instead.
func (d *session) admit(ctx context.Context) (edit *message.Edit, instead *message.Response) {
	if err := d.p.Admit(ctx, d.x); err != nil {
		return nil, d.p.Reject(ctx, d.x, err)
	}
	if d.x.Local() {
		return nil, d.p.Respond(ctx, d.x)
	}
	d.s.live.add(d.x)
	edit, err := d.p.Dispatch(ctx, d.x)
	if err != nil {
		d.s.live.remove(d.x)
		return nil, d.p.Reject(ctx, d.x, err)
	}
	edit.Set = appendSteering(edit.Set, d.x)
	return edit, nil
}

// appendSteering adds the headers that tell Envoy's router how to carry out the plan. Envoy
// removes them from callers' requests. Without them the route applies: no retry, no limit.
func appendSteering(dst []message.Header, x *pipeline.Exchange) []message.Header {
	dst = append(dst, message.Header{Name: contract.HeaderPerTryTimeout, Value: strconv.FormatInt(x.Plan[0].Timeout.Milliseconds(), 10)})
	if len(x.Plan) > 1 {
		dst = append(dst, message.Header{Name: contract.HeaderMaxRetries, Value: strconv.Itoa(len(x.Plan) - 1)})
	}
	if total := x.Total(); total > 0 {
		dst = append(dst, message.Header{Name: contract.HeaderTimeout, Value: strconv.FormatInt(total.Milliseconds(), 10)})
	}
	if x.Alternatives() {
		// Another deployment may have a valid credential, or the model. With only one
		// deployment a retry would get the same response.
		dst = append(dst, message.Header{Name: contract.HeaderRetriableCodes, Value: "401,402,403,404,301,302,303,307,308"})
	}
	return dst
}

// plan is the start of the answer that dispatches the request.
func (d *session) plan() []byte {
	return frame.AppendPlan(nil, contract.MetadataPlan, contract.MetadataPlanGroups, d.groups())
}

// groups returns the plan in the form of Envoy's cluster specifier.
func (d *session) groups() []frame.Group {
	out := make([]frame.Group, len(d.x.Plan))
	for i := range d.x.Plan {
		a := &d.x.Plan[i]
		out[i].Cluster = contract.ClusterName(a.Deployment.Endpoint.ID, a.Variant)
	}
	return out
}

// reject answers the caller with an error, without a request to a provider.
func (d *session) reject(ctx context.Context, err error) error {
	return d.immediate(d.p.Reject(ctx, d.x, err))
}
