package pipeline

import (
	"cmp"
	"context"
	"net/http"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/extproc/inbound"
)

// identify finds the caller, and rejects keys that are not for inference.
func (p *Pipeline) identify(_ context.Context, x *Exchange) error {
	principal, err := p.deps.Identify(x.View, x.Inbound.Credentials, x.Start)
	if err != nil {
		return err
	}
	x.Principal = principal
	return principal.MayUse(cmp.Or(x.Inbound.Method, http.MethodPost), x.Inbound.Path)
}

// authorize checks that the caller, and the end user in the request, may use the model that
// the requested name resolves to. To a key with a list of models, a model that it may not use
// and one that does not exist give the same error.
func (p *Pipeline) authorize(_ context.Context, x *Exchange) error {
	x.Model = x.Principal.Resolve(id.ModelName(x.Facts.Model))
	if !x.Principal.Allows(x.Model) {
		return &fault.Error{
			Kind: fault.Denied, Code: "model_access_denied", Param: "model",
			Detail: "This API key may not use that model, or there is no model of that name.",
		}
	}
	x.Options.Tags = inbound.MergedTags(x.Options.Tags, x.Principal.Tags())
	if x.Options.Customer == "" {
		return nil
	}
	return x.View.Keys.CheckCustomer(x.Principal.EndUser(x.Options.Customer), x.Model)
}
