package pipeline

import (
	"context"
	"strings"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/form"
	"github.com/modelgateway/modelgateway/extproc/inbound"
	"github.com/modelgateway/modelgateway/extproc/metering"
	"github.com/modelgateway/modelgateway/extproc/operation"
)

// decode reads the request's fields. The body is scanned once and
// not decoded: same-dialect traffic needs no more.
func (p *Pipeline) decode(_ context.Context, x *Exchange) error {
	if len(x.Body) == 0 {
		return errEmptyBody()
	}
	if x.op.IsForm() {
		boundary, err := form.Boundary(x.Inbound.ContentType)
		if err != nil {
			return err
		}
		x.Facts.Boundary = boundary
	}
	if err := x.intoRow(); err != nil {
		return err
	}
	x.Facts.NoModel = x.op.Composes() // a prompt may set it
	if err := x.scan(); err != nil {
		return err
	}
	x.sound = metering.ReadSound(x.op, &x.Facts)
	var err error
	x.Options, err = inbound.Read(&x.Inbound, &x.Facts)
	return err
}

// scan reads the fields of the body.
func (x *Exchange) scan() error {
	if err := x.op.Scan(x.Body, &x.Facts); err != nil {
		return err
	}
	if x.op.Event == nil {
		x.Facts.Stream = false // no provider streams such a response
	}
	return nil
}

func errEmptyBody() error {
	return fault.New(fault.Malformed, "invalid_json", "The body is empty; send a model and what the model is to work on.")
}

// media rejects an unknown path, and a body of another form than the operation's requests, before it is read.
func (p *Pipeline) media(_ context.Context, x *Exchange) error {
	in := &x.Inbound
	if x.op != nil && x.op.Passes() {
		return nil
	}
	if enc := strings.TrimSpace(in.Encoding); enc != "" && !strings.EqualFold(enc, "identity") {
		return &fault.Error{
			Kind: fault.MediaType, Code: "unsupported_content_encoding", Param: "content-encoding",
			Detail: "Compressed request bodies are not read here; send the body without Content-Encoding.",
		}
	}
	if x.op == nil {
		return operation.Unknown(in.Path)
	}
	return x.op.Takes(in.ContentType)
}
