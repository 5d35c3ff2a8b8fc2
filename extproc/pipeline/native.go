package pipeline

import (
	"cmp"
	"context"
	"net/http"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/operation"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// match finds the operation of the request's path, and what the path says of the request.
func (p *Pipeline) match(x *Exchange) {
	at := p.operations.At(x.Inbound.Path)
	x.op, x.Facts.PathModel = at.Operation, at.Model
	if x.op == nil || x.Inbound.Method != http.MethodPost && x.Inbound.Method != "" {
		if op := p.matchPassed(x); op != nil {
			x.op, x.Facts.PathModel = op, ""
		}
	}
	if x.op != nil && x.op.PathStreams {
		x.Facts.Streams, x.reframed = true, x.op.Reframe != nil && !operation.AsksForEvents(x.Inbound.Query)
	}
}

// intoRow gives a body that has another form than its row's that form. Later stages know no other.
func (x *Exchange) intoRow() error {
	if x.op.Instead != nil {
		x.op = cmp.Or(x.op.Instead(x.Body), x.op)
	}
	if err := x.Inbound.AddBetas(x.op.Betas, x.Body); err != nil || x.op.Into == nil {
		return err
	}
	body, err := x.op.Into(x.Body, x.Facts.PathModel)
	if err != nil {
		return err
	}
	x.Body, x.rebodied, x.Facts.PathModel = body, true, ""
	return nil
}

// form gives a whole response the form of the caller's request.
func (p *Pipeline) form(_ context.Context, x *Exchange) error {
	r := &x.response
	if x.op.Outof == nil || r.fault != nil {
		return nil //nolint:nilerr // a fault has its own stages
	}
	out, err := x.op.Outof(r.out)
	if err != nil {
		return &wire.Failure{Status: http.StatusOK, Kind: fault.Upstream, Code: "upstream_invalid_response", Message: "The provider's answer could not be understood."}
	}
	r.out = out
	return nil
}
