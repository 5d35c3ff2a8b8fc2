package provider

import (
	"cmp"

	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/extproc/driver"
)

// Target is a deployment as the provider's driver sees it. dropParams says that a request asks for that.
func (p *Provider) Target(d *catalog.Deployment, dropParams bool) driver.Target {
	t := driver.Target{
		Deployment:      string(d.ID),
		Model:           d.Model,
		BasePath:        d.BasePath,
		APIKey:          d.APIKey,
		Settings:        d.Cloud,
		MaxOutputTokens: d.MaxOutputTokens,
		DropParams:      d.DropParams || dropParams, API: driver.API(d.API),
	}
	if p.Features != nil {
		t.Features = p.Features(cmp.Or(d.BaseModel, d.Model))
	}
	for _, h := range d.ExtraHeaders {
		t.Headers = append(t.Headers, driver.Header{Name: h.Name, Value: h.Value})
	}
	return t
}
