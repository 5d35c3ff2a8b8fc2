package extproc

import (
	"context"
	"errors"

	"github.com/modelgateway/modelgateway/cluster/failpoint"
	"github.com/modelgateway/modelgateway/cluster/fault"
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
	prechecked bool // the precheck has run the stages of the headers
	dispatched bool
	outcome    Outcome  // if the stream ends now
	free       []func() // buffers that the exchange refers to
	upload     *upload  // of a request that was prechecked, until its body is here
}

func (s *Server) downstream(c *conn, prechecked bool) error {
	d := &session{conn: c, s: s, p: s.pipeline, prechecked: prechecked, outcome: Outcome{Kind: journal.Canceled, Code: "canceled"}}
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
		case frame.ResponseHeaders:
			if d.dispatched {
				return d.receive(ctx, &m)
			}
			err = d.pass(m.Kind) // an answer of Envoy's own, already in our form
		case frame.ResponseBody, frame.RequestTrailers, frame.ResponseTrailers, frame.Other:
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
	d.received()
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

// received ends the upload of a request that was prechecked.
func (d *session) received() {
	if d.upload != nil {
		d.upload.received()
		d.upload = nil
	}
}

// requestHeaders makes the exchange, or claims that of a request that was prechecked,
// and rejects what the headers show to be without quota or room.
func (d *session) requestHeaders(ctx context.Context, m *frame.Message) error {
	if d.prechecked {
		if d.upload, d.x = d.s.uploads.claim(requestID(m)); d.x != nil {
			return d.pass(m.Kind)
		}
	}
	var err error
	if d.x, err = d.p.begin(ctx, m); err != nil {
		return d.refuse(ctx, err)
	}
	return d.pass(m.Kind)
}

// requestBody runs the other stages and hands Envoy the plan.
func (d *session) requestBody(ctx context.Context, m *frame.Message) error {
	if d.x == nil {
		return errors.New("a request's body came without its headers")
	}
	d.received()
	d.x.Body = m.Body
	d.free = append(d.free, d.in.Hold())
	err := d.p.fits(int64(len(m.Body)))
	if err == nil {
		err = d.x.flight.Reach(int64(len(m.Body))) // no more than is reserved, unless its bytes were not counted
	}
	if err == nil {
		err = d.p.run(ctx, d.x, d.p.stages)
	}
	if err != nil {
		d.p.giveBack(d.x)
		return d.refuse(ctx, err)
	}
	d.s.live.add(d.x)
	d.dispatched = true
	failpoint.Hit("request.admitted")
	mutation, err := d.p.dispatch(ctx, d.x)
	if err != nil {
		d.dispatched = false
		d.s.live.remove(d.x)
		d.p.withdraw(d.x)
		return d.refuse(ctx, err)
	}
	dst := frame.AppendPlan(make([]byte, 0, answerSize), contract.MetadataPlan, contract.MetadataPlanGroups, d.groups())
	head, tail := frame.AppendAnswer(dst, m.Kind, mutation)
	err = d.send(head, tail)
	failpoint.Hit("request.dispatched")
	return err
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
