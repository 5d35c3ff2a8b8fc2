package extproc

import (
	"context"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
)

// identify says who is asking.
func (p *Pipeline) identify(_ context.Context, x *Exchange) error {
	principal, err := p.deps.Identify(x.View, x.Inbound.Credentials, x.Start)
	if err != nil {
		return err
	}
	x.Principal = principal
	return nil
}

// authorize says whether the caller may ask for the model. What a key may not
// use and what does not exist read the same to a key with a list of models.
func (p *Pipeline) authorize(_ context.Context, x *Exchange) error {
	model := id.ModelName(x.Facts.Model)
	if !x.Principal.Allows(model) {
		return &fault.Error{
			Kind: fault.Denied, Code: "model_access_denied", Param: "model",
			Detail: "This API key may not use that model, or there is no model of that name.",
		}
	}
	return nil
}
