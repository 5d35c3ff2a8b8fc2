package catalog

import (
	"fmt"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/price"
)

// New checks a specification, which comes from the file, and makes the catalogue
// of it. Its error joins every problem found (the first hundred); each is a
// *fault.Error whose Param is the place, such as
// `model_list[3].gateway_params.model`. The providers are those that the data
// plane can speak to. A nil list means a fresh built-in one.
func New(spec Spec, providers Providers, list *price.List) (*Catalog, error) {
	if list == nil {
		list = price.NewList()
	}
	if err := list.Load(); err != nil {
		return nil, &fault.Error{Op: "catalog", Kind: fault.Internal, Err: err}
	}
	b := empty(providers, list).change()
	b.file = true
	b.router = &router{spec: spec.Router, file: spec.Router}
	b.problems.router(b.router)
	sound := len(b.problems.list)
	for i := range spec.Deployments {
		at, s := fmt.Sprintf("model_list[%d]", i), &spec.Deployments[i]
		d := b.deployment(at, s)
		did, ok := b.id(at, s)
		if d == nil || !ok {
			continue
		}
		d.ID, d.Static = did, true
		d.origin.place, d.origin.stored = i, Stored{Spec: *s, Static: true}
		d.origin.stored.Spec.ID = string(did)
		b.add(d)
	}
	c, p := b.catalog(), b.problems
	if len(p.list) == sound { // else names would seem unknown only because their deployment is broken
		c.route(&p)
	}
	if err := p.err(); err != nil {
		return nil, err
	}
	return c, nil
}

// id returns the id of a deployment of the file, and whether it is free.
func (b *builder) id(at string, s *DeploymentSpec) (id.Deployment, bool) {
	name := s.ID
	if name == "" {
		name = b.derive(s)
	} else if !b.problems.id(at, name) {
		return "", false
	}
	if _, taken := b.byID.get(name); taken {
		b.problems.add(at+".model_info.id", codeDuplicate, "the id %s is used by an earlier deployment; give each its own", quote(name))
		return "", false
	}
	return id.Deployment(name), true
}
