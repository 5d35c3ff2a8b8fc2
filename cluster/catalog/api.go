package catalog

import (
	"slices"
	"strings"
)

// name splits off what LiteLLM's spelling says before the name of a model.
func (b *builder) name(provider, spelled string) (model, api string) {
	if read := b.base.providers[provider].Spelled; read != nil {
		return read(spelled)
	}
	return spelled, ""
}

// api checks the interface that a deployment's chats go to, which its settings or the spelling of its model, named, tell: its provider must have it
// for the model.
func (b *builder) api(at string, d *Deployment, named string) {
	if d.API == "" {
		return
	}
	param := at + ".gateway_params.api"
	if d.origin.stored.Spec.API == "" {
		param = at + ".gateway_params.model"
	}
	var has []string
	if list := b.base.providers[d.Provider].APIs; list != nil {
		has = list(d.Model, d.BaseModel, d.BasePath, d.Cloud)
	}
	switch {
	case named != "" && d.API != named:
		b.problems.add(param, codeInvalid, "api is %s, but the model begins with %s/; remove one of them", quote(d.API), named)
	case len(has) == 0:
		b.problems.add(param, codeInvalid, "api is %s, but the provider %s has no chats with this model; remove it", quote(d.API), quote(d.Provider))
	case !slices.Contains(has, d.API):
		b.problems.add(param, codeInvalid, "api is %s; with this model and these settings, the provider %s has %s", quote(d.API), quote(d.Provider), strings.Join(has, ", "))
	}
}
