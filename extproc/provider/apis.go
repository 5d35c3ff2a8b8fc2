package provider

import (
	"cmp"

	"github.com/modelgateway/modelgateway/cluster/cloud"
	"github.com/modelgateway/modelgateway/extproc/driver"
)

// APIs returns the interfaces that chats of a deployment can go to: those whose language its driver serves if it must.
func (p *Provider) APIs(model, baseModel, basePath string, s cloud.Settings) []string {
	t := driver.Target{Model: model, BasePath: basePath, Settings: s}
	if p.Features != nil {
		t.Features = p.Features(cmp.Or(baseModel, model))
	}
	var out []string
	for _, api := range driver.APIs() {
		t.API = api
		if language, ok := p.Driver.Serves(t, driver.Chat); !ok || !api.Has(language) || api == driver.InvokeAPI && p.Cloud != cloud.AWS {
			continue
		}
		out = append(out, string(api))
	}
	return out
}
