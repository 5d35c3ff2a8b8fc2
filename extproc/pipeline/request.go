package pipeline

import (
	"context"
	"time"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/extproc/inbound"
	"github.com/modelgateway/modelgateway/extproc/message"
)

// An attachment takes a request through these steps: NewExchange and its Header, Begin, Admit,
// Dispatch (attempt.go), Receive and what follows it (receive.go), and in any case Close. It
// passes an error of Begin, Admit or Dispatch to Reject. After Admit, an exchange that is Local
// goes to Respond (local.go) and no further.

// NewExchange makes the exchange of a request whose headers have been received.
func (p *Pipeline) NewExchange() *Exchange {
	x := &Exchange{Start: p.deps.Now(), View: p.deps.View()}
	x.Inbound.Length = inbound.Undeclared
	return x
}

// Begin runs the stages of the headers: it identifies the caller, and rejects a request without
// quota or room.
func (p *Pipeline) Begin(ctx context.Context, x *Exchange) error {
	if x.ID == "" {
		x.ID = id.NewRequest()
	}
	p.match(x)
	err := p.run(ctx, x, p.entry)
	if err == nil && x.Inbound.Empty && !x.op.Passes() {
		err = errEmptyBody()
	}
	if err != nil {
		x.Flight.Release()
	}
	return err
}

// Admit runs the stages of the complete body.
func (p *Pipeline) Admit(ctx context.Context, x *Exchange) error {
	length := int64(len(x.Body))
	err := p.fits(length)
	if err == nil {
		err = x.Flight.Reach(length) // no more than is reserved, unless its bytes were not counted
	}
	if err == nil {
		stages := p.stages
		if x.op.Passes() {
			stages = p.unread
		}
		err = p.run(ctx, x, stages)
	}
	return err
}

// Reject ends a request that is not dispatched: it releases what was reserved for it, except the
// bytes of its body, and returns what the caller gets.
func (p *Pipeline) Reject(ctx context.Context, x *Exchange, err error) *message.Response {
	p.release(x)
	e := fault.From(err)
	p.logRejected(ctx, x, e)
	return p.errorResponse(x, e)
}

// Close ends an exchange, however the request ended: it settles what is not settled, and releases
// what is reserved. busy is how long the gateway has worked on it.
func (p *Pipeline) Close(ctx context.Context, x *Exchange, busy time.Duration) {
	if x.Dispatched {
		p.abandon(ctx, x)
		p.deps.Metrics.Took(ctx, x.overhead, busy+time.Duration(x.busy.Load()))
	} else {
		p.release(x) // the caller disconnected before its body was complete
	}
	p.measureGuardrails(ctx, x)
	x.guardrails.Release()
	x.Flight.Release()
}
