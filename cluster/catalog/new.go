package catalog

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
)

// New checks a specification and makes the catalogue of it. Its error joins
// every problem found (the first hundred); each is a *fault.Error whose Param
// is the place, such as `model_list[3].gateway_params.model`. The providers are
// those that the data plane can speak to. A nil list means a fresh built-in one.
func New(spec Spec, providers Providers, list *PriceList) (*Catalog, error) {
	if list == nil {
		list = NewPriceList()
	}
	if err := list.load(); err != nil {
		return nil, &fault.Error{Op: "catalog", Kind: fault.Internal, Err: err}
	}
	b := builder{
		providers: providers,
		prices:    newPriceCache(list),
		bases:     make(map[string]parsedBase),
		derived:   make(map[string]int),
		c: &Catalog{
			groups:  make(map[id.ModelName][]*Deployment),
			byID:    make(map[id.Deployment]*Deployment, len(spec.Deployments)),
			byModel: make(map[string][]*Deployment),
			prices:  list,
		},
	}
	b.router(spec.Router)
	sound := len(b.problems.list)
	for i := range spec.Deployments {
		b.deployment(fmt.Sprintf("model_list[%d]", i), &spec.Deployments[i])
	}
	b.finish()
	if len(b.problems.list) == sound { // else names would seem unknown only because their deployment is broken
		b.aliases(spec.Router.ModelGroupAlias)
		b.fallbackTables(spec.Router)
	}
	b.models()
	if err := b.problems.err(); err != nil {
		return nil, err
	}
	return b.c, nil
}

// builder is a Catalog in the making.
type builder struct {
	c         *Catalog
	providers Providers
	prices    *priceCache
	bases     map[string]parsedBase // by api_base: one Endpoint for all who share it
	derived   map[string]int        // how many deployments had the same derived name
	streams   bool                  // router_settings.stream_timeout was given
	problems  problems
}

type parsedBase struct {
	endpoint Endpoint
	path     string
	err      error
}

// finish sorts what was collected.
func (b *builder) finish() {
	slices.SortStableFunc(b.c.wild, func(a, c wildcard) int {
		if byLength := cmp.Compare(len(c.name), len(a.name)); byLength != 0 {
			return byLength
		}
		return compare(a.name, c.name)
	})
	distinct := make(map[id.Endpoint]Endpoint)
	for _, d := range b.c.byID {
		distinct[d.Endpoint.ID] = d.Endpoint
	}
	b.c.endpoints = slices.SortedFunc(maps.Values(distinct), func(x, y Endpoint) int { return compare(x.ID, y.ID) })
}

// aliases checks model_group_alias; every alias must lead to a group at once.
func (b *builder) aliases(spec map[string]string) {
	aliases := make(map[id.ModelName]id.ModelName, len(spec))
	for _, name := range slices.Sorted(maps.Keys(spec)) {
		param := "router_settings.model_group_alias." + name
		to := spec[name]
		switch {
		case !validName(name):
			b.problems.add("router_settings.model_group_alias", codeInvalid, "the alias %s is empty, longer than %d bytes or holds a control character", quote(name), maxName)
		case name == to:
			b.problems.add(param, codeInvalid, "the alias stands for itself; remove it")
		default:
			if _, ok := b.c.Group(id.ModelName(to)); !ok {
				b.problems.add(param, codeUnknown, "the alias stands for %s, which is no model_name; name one that model_list has", quote(to))
				continue
			}
			aliases[id.ModelName(name)] = id.ModelName(to)
		}
	}
	b.c.settings.ModelGroupAlias = aliases
}

// models lists the names for GET /v1/models.
func (b *builder) models() {
	names := make(map[id.ModelName]struct{}, len(b.c.groups))
	for name := range b.c.groups {
		names[name] = struct{}{}
	}
	for name := range b.c.settings.ModelGroupAlias {
		if _, star := cutPattern(string(name)); !star {
			names[name] = struct{}{}
		}
	}
	b.c.models = slices.Sorted(maps.Keys(names))
}
