package catalog

import (
	"strings"

	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/price"
)

// Group is the deployments that serve one request's model.
type Group struct {
	Asked       id.ModelName  // what the caller sent
	Name        id.ModelName  // the configured model_name; a pattern for a wildcard
	Deployments []*Deployment // never empty; the caller must not change it
}

// wildcard is a group whose name is a pattern. Its deployments are templates:
// what they become depends on the name that was asked for, their prices included.
type wildcard struct {
	name    id.ModelName
	pattern pattern
	members []*Deployment
}

// Group finds who serves a name: aliases first, then the plain name, then
// wildcards, the longest pattern first. What a wildcard's star stands for is put
// in place of the star in the deployments' model ids. Such deployments are made
// for the request (their ID is that of the configured one): remembering them
// would let callers fill the memory with invented names.
//
// An alias of a name that nobody serves any more is as if it were not there.
func (c *Catalog) Group(name id.ModelName) (Group, bool) {
	if len(name) > maxName {
		return Group{}, false
	}
	if to, ok := c.router.settings.ModelGroupAlias[name]; ok {
		if g, ok := c.group(to); ok {
			g.Asked = name
			return g, true
		}
	}
	return c.group(name)
}

// Alias returns the name that an alias stands for, as Group takes it; of what is no
// alias the name itself.
func (c *Catalog) Alias(name id.ModelName) id.ModelName {
	if to, ok := c.router.settings.ModelGroupAlias[name]; ok && c.Serves(to) {
		return to
	}
	return name
}

// group is Group without the aliases.
func (c *Catalog) group(name id.ModelName) (Group, bool) {
	if ds, ok := c.groups.get(string(name)); ok {
		return Group{Asked: name, Name: name, Deployments: ds}, true
	}
	if w, captured := c.wildcard(name); w != nil {
		return Group{Asked: name, Name: w.name, Deployments: c.instances(w, captured)}, true
	}
	return Group{}, false
}

// Serves reports whether a deployment serves a model of that name, which is no alias.
func (c *Catalog) Serves(name id.ModelName) bool {
	if _, ok := c.groups.get(string(name)); ok {
		return true
	}
	w, _ := c.wildcard(name)
	return w != nil
}

// wildcard returns the first pattern that a name fits, and what its star stands for.
func (c *Catalog) wildcard(name id.ModelName) (w *wildcard, captured string) {
	for _, w := range c.wild {
		if captured, ok := w.pattern.capture(string(name)); ok {
			return w, captured
		}
	}
	return nil, ""
}

// instances makes a wildcard's deployments for one name.
func (c *Catalog) instances(w *wildcard, captured string) []*Deployment {
	list := make([]*Deployment, len(w.members))
	seen := make(map[string]sharedPrices, 1)
	for i, t := range w.members {
		d := *t
		if before, after, star := strings.Cut(d.Model, "*"); star {
			// Behind the name `*` callers write the provider's name as well; it is not part of the id.
			d.Model = before + strings.TrimPrefix(captured, d.Provider+"/") + after
			key := price.Source{Provider: d.Provider, Model: d.Model, Base: d.BaseModel}
			text := key.Text(t.origin.own)
			p, ok := seen[text]
			if !ok {
				p.prices, p.row, _ = price.Of(c.find, key, t.origin.own) // its own prices were read when the template was made
				seen[text] = p
			}
			d.Prices = p.prices
			d.limit(p.row)
		}
		list[i] = &d
	}
	return list
}

// limit fills in the limits that the price table has where there are no own ones.
func (d *Deployment) limit(r price.Row) {
	d.MaxInputTokens = orElse(d.origin.limits[0], r.MaxInput)
	d.MaxOutputTokens = orElse(d.origin.limits[1], r.MaxOutput)
}

func orElse(n, otherwise int64) int64 {
	if n != 0 {
		return n
	}
	return otherwise
}
