package catalog

import (
	"strings"

	"github.com/modelgateway/modelgateway/cluster/id"
)

// Group is the deployments that serve one request's model.
type Group struct {
	Asked       id.ModelName  // what the caller sent
	Name        id.ModelName  // the configured model_name; a pattern for a wildcard
	Deployments []*Deployment // never empty; the caller must not change it
}

// wildcard is a group whose name is a pattern.
type wildcard struct {
	name    id.ModelName
	pattern pattern
	members []template
}

// template is a deployment of a wildcard group. What it becomes depends on the
// name that was asked for, its price included.
type template struct {
	deployment *Deployment
	own        []Price // the deployment's own prices
	limits     [2]int64
}

// Group finds who serves a name: aliases first, then the plain name, then
// wildcards, the longest pattern first. What a wildcard's star stands for is put
// in place of the star in the deployments' model ids. Such deployments are made
// for the request (their ID is that of the configured one): remembering them
// would let callers fill the memory with invented names.
func (c *Catalog) Group(name id.ModelName) (Group, bool) {
	asked := name
	if len(name) > maxName {
		return Group{}, false
	}
	if to, ok := c.settings.ModelGroupAlias[name]; ok {
		name = to
	}
	if ds, ok := c.groups[name]; ok {
		return Group{Asked: asked, Name: name, Deployments: ds}, true
	}
	for i := range c.wild {
		w := &c.wild[i]
		if captured, ok := w.pattern.capture(string(name)); ok {
			return Group{Asked: asked, Name: w.name, Deployments: c.instances(w, captured)}, true
		}
	}
	return Group{}, false
}

// instances makes a wildcard's deployments for one name.
func (c *Catalog) instances(w *wildcard, captured string) []*Deployment {
	list := make([]*Deployment, len(w.members))
	shared := newPriceCache(c.prices)
	for i, t := range w.members {
		d := *t.deployment
		if before, after, star := strings.Cut(d.Model, "*"); star {
			// Behind the name `*` callers write the provider's name as well; it is not part of the id.
			d.Model = before + strings.TrimPrefix(captured, d.Provider+"/") + after
			var r row
			d.Prices, r, _ = shared.get(priceKey{d.Provider, d.Model, d.BaseModel}, t.own)
			d.MaxInputTokens, d.MaxOutputTokens = orElse(t.limits[0], r.maxInput), orElse(t.limits[1], r.maxOutput)
		}
		list[i] = &d
	}
	return list
}

func orElse(n, otherwise int64) int64 {
	if n != 0 {
		return n
	}
	return otherwise
}
