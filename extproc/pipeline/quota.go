package pipeline

import (
	"context"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/inbound"
)

// quota rejects a request whose key, team, user or organization has no budget, no requests
// per minute, or no parallel requests left. It runs on the headers, so a rejected request
// costs no memory for its body. admit checks what needs the body: limits of a model or an end
// user, tokens, the estimated cost.
//
// quota reserves the request's count and its place among the parallel requests, and admit
// does not reserve them again. A request that ends before dispatch releases both.
func (p *Pipeline) quota(ctx context.Context, x *Exchange) error {
	if !p.admission.Limits() {
		return nil
	}
	x.bounds = x.Principal.Bounds(nil, "", "", x.Start, x.View.Catalog)
	if len(x.bounds) == 0 {
		return nil
	}
	return p.admission.Check(ctx, &x.admission, x.bounds, x.Start)
}

// bytes rejects a body that is declared too large, or for which there is no room, and
// reserves the declared length. Room reserves an undeclared length as the body comes.
func (p *Pipeline) bytes(_ context.Context, x *Exchange) error {
	if err := p.fits(x.Inbound.Length); err != nil {
		return err
	}
	if p.deps.Bytes == nil {
		return nil
	}
	x.Flight.Begin(p.deps.Bytes, x.Principal.Hash)
	return x.Flight.Grow(x.Inbound.Length)
}

// Room rejects a piece of a body for which there is no room, and reserves its bytes if the
// body's length is not declared. before is the length received so far.
func (p *Pipeline) Room(x *Exchange, before, piece int) error {
	if err := p.fits(int64(before + piece)); err != nil {
		return err
	}
	if x.Inbound.Length != inbound.Undeclared {
		return nil
	}
	return x.Flight.Grow(int64(piece))
}

// fits rejects a body that is longer than MaxRequestBytes.
func (p *Pipeline) fits(length int64) error {
	if most := p.deps.Settings.MaxRequestBytes; most > 0 && length > most {
		return fault.New(fault.TooLarge, "", "The request body is larger than %d bytes.", most)
	}
	return nil
}
