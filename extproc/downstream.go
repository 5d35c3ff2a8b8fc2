package extproc

import (
	"context"
	"errors"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/inject"
	"github.com/modelgateway/modelgateway/cluster/journal"
	"github.com/modelgateway/modelgateway/envoy/contract"
	"github.com/modelgateway/modelgateway/extproc/frame"
)

// session is the downstream filter's stream: one request.
type session struct {
	*conn
	s          *Server
	p          *Pipeline
	x          *Exchange
	pieces     *upload // of a body that comes in pieces
	dispatched bool
	outcome    Outcome  // if the stream ends now
	free       []func() // buffers that the exchange refers to
}

func (s *Server) downstream(c *conn, pieces *upload) error {
	d := &session{conn: c, s: s, p: s.pipeline, pieces: pieces, outcome: Outcome{Kind: journal.Canceled, Code: "canceled"}}
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
			if d.dispatched {
				return d.receive(ctx, &m)
			}
			err = d.pass(m.Kind) // an answer of Envoy's own, already in our form
		case frame.ResponseBody, frame.ResponseTrailers, frame.Other:
			err = d.pass(m.Kind)
		}
		if err != nil {
			return err
		}
	}
}

// close settles what is not settled, whatever ended the stream, and gives back
// what it held. Envoy ends the stream when it drops its own copy of the body, so the
// body's bytes are in flight until then.
func (d *session) close() {
	d.rest()
	switch {
	case d.dispatched:
		d.p.abandon(d.stream.Context(), d.x, d.outcome)
		d.p.deps.Metrics.took(d.stream.Context(), d.x, d.busy)
		d.s.live.remove(d.x)
	case d.x != nil:
		d.p.giveBack(d.x) // the caller left before its body was here
	}
	if d.x != nil {
		d.x.flight.Release()
	}
	for _, free := range d.free {
		free()
	}
	d.in.Free()
}

// requestHeaders makes the exchange, and rejects what the headers show to be without
// quota or room. Where the body comes in pieces, the headers are answered when it is
// complete: their answer has the plan.
func (d *session) requestHeaders(ctx context.Context, m *frame.Message) error {
	var err error
	if d.x, err = d.p.begin(ctx, m); err != nil {
		if d.pieces != nil {
			d.pieces.ended = true
		}
		return d.refuse(ctx, err)
	}
	if d.pieces != nil {
		return nil
	}
	return d.pass(m.Kind)
}

// begin makes the exchange of a request, identifies its sender, and rejects what the
// headers show to be without quota or room. Of a rejected request nothing is reserved.
func (p *Pipeline) begin(ctx context.Context, m *frame.Message) (*Exchange, error) {
	x := &Exchange{Start: p.deps.Now(), View: p.deps.View()}
	x.Inbound.length = undeclared
	m.Headers(func(name, value []byte) bool {
		x.header(name, value)
		return true
	})
	if x.ID == "" {
		x.ID = id.NewRequest()
	}
	err := p.run(ctx, x, p.entry)
	if err == nil && m.End {
		err = errEmptyBody()
	}
	if err != nil {
		p.giveBack(x)
		x.flight.Release()
	}
	return x, err
}

// requestBody takes the body, or a piece of it, and hands Envoy the plan when it is
// complete.
func (d *session) requestBody(ctx context.Context, m *frame.Message) error {
	if d.x == nil {
		return errors.New("a request's body came without its headers")
	}
	if d.pieces != nil {
		return d.piece(ctx, m)
	}
	d.x.Body = m.Body
	d.free = append(d.free, d.in.Hold())
	mutation, err := d.admit(ctx)
	if err != nil {
		return d.refuse(ctx, err)
	}
	head, tail := frame.AppendAnswer(d.plan(), m.Kind, mutation)
	return afterDispatch(d.send(head, tail))
}

// afterDispatch is passed when Envoy has the request, or cannot take it for the reason given.
func afterDispatch(err error) error {
	inject.Crash("request.dispatched")
	return err
}

// admit runs the stages of the body, which is complete, and dispatches the request. Of a
// rejected request nothing is reserved but its bytes.
func (d *session) admit(ctx context.Context) (*frame.Mutation, error) {
	length := int64(len(d.x.Body))
	err := d.p.fits(length)
	if err == nil {
		err = d.x.flight.Reach(length) // no more than is reserved, unless its bytes were not counted
	}
	if err == nil {
		err = d.p.run(ctx, d.x, d.p.stages)
	}
	if err != nil {
		d.p.giveBack(d.x)
		return nil, err
	}
	d.s.live.add(d.x)
	d.dispatched = true
	inject.Crash("request.admitted")
	mutation, err := d.p.dispatch(ctx, d.x)
	if err != nil {
		d.dispatched = false
		d.s.live.remove(d.x)
		d.p.withdraw(d.x)
	}
	return mutation, err
}

// plan is the start of the answer that dispatches the request.
func (d *session) plan() []byte {
	return frame.AppendPlan(make([]byte, 0, answerSize), contract.MetadataPlan, contract.MetadataPlanGroups, d.groups())
}

// groups is the plan in the words of Envoy's cluster specifier.
func (d *session) groups() []frame.Group {
	out := make([]frame.Group, len(d.x.Plan))
	for i := range d.x.Plan {
		a := &d.x.Plan[i]
		out[i].Cluster = contract.ClusterName(a.Deployment.Endpoint.ID, a.Variant)
	}
	return out
}

// refuse answers the caller with an error instead of asking a provider.
func (d *session) refuse(ctx context.Context, err error) error {
	e := fault.From(err)
	d.p.refused(ctx, d.x, e)
	return d.immediate(d.p.refusal(d.x, e))
}
