package config

import (
	"slices"

	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	"github.com/modelgateway/modelgateway/cluster/vault"
)

// Catalog returns the deployments and the routing as the catalogue takes them.
// Give the errors of catalog.New to Locate for their lines.
func (c *Config) Catalog() catalog.Spec {
	spec := catalog.Spec{
		Deployments: make([]catalog.DeploymentSpec, len(c.Models)),
		Router:      c.Router,
	}
	for i := range c.Models {
		spec.Deployments[i] = c.Models[i].spec()
	}
	return spec
}

// VirtualKeys returns the keys as the set of keys takes them: their hashes.
func (c *Config) VirtualKeys() []tenancy.Key {
	all := make([]tenancy.Key, len(c.Keys))
	for i, k := range c.Keys {
		all[i] = tenancy.Key{Alias: k.Alias, Hash: id.HashKey(k.Key.Reveal()), Models: k.Models, Expires: k.Expires, Blocked: k.Blocked}
	}
	return all
}

// spec returns the deployment as the catalogue takes it. Of a price or a base
// model that is given twice, the one in gateway_params counts.
func (m *Model) spec() catalog.DeploymentSpec {
	p, i := &m.Params, &m.Info
	s := catalog.DeploymentSpec{
		ID: i.ID, ModelName: m.Name, Model: p.Model, APIBase: p.APIBase, APIKey: p.APIKey, BaseModel: p.BaseModel,
		Weight: p.Weight, RPM: p.RPM, TPM: p.TPM, MaxParallel: p.MaxParallel, Order: int(p.Order), Timeout: p.Timeout, StreamTimeout: p.StreamTimeout,
		MaxTokens: i.MaxTokens, MaxInputTokens: i.MaxInputTokens, MaxOutputTokens: i.MaxOutputTokens, DropParams: p.DropParams,
		Organization: p.Organization, Cloud: p.Cloud, Guardrails: slices.Clone(i.Guardrails), API: p.API,
	}
	for _, ref := range p.Guardrails {
		if !slices.Contains(s.Guardrails, ref) {
			s.Guardrails = append(s.Guardrails, ref)
		}
	}
	if s.BaseModel == "" {
		s.BaseModel = i.BaseModel
	}
	if len(i.Prices)+len(p.Prices) > 0 {
		s.Prices = make(map[string]string, len(i.Prices)+len(p.Prices))
		for _, list := range [][]Price{i.Prices, p.Prices} {
			for _, price := range list {
				s.Prices[price.Name] = price.Amount
			}
		}
	}
	if len(p.ExtraHeaders) > 0 {
		s.ExtraHeaders = make(map[string]vault.Secret, len(p.ExtraHeaders))
		for _, h := range p.ExtraHeaders {
			s.ExtraHeaders[h.Name] = h.Value
		}
	}
	return s
}
