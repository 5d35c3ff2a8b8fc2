package catalog

import (
	"slices"

	"github.com/modelgateway/modelgateway/cluster/id"
)

// Catalog is one checked, immutable configuration; see New.
type Catalog struct {
	settings  RouterSettings
	groups    map[id.ModelName][]*Deployment // plain names
	wild      []wildcard                     // longest pattern first
	byID      map[id.Deployment]*Deployment
	byModel   map[string][]*Deployment // by "<provider>/<model>"
	endpoints []Endpoint
	models    []id.ModelName
	fallbacks [fallbackClasses]fallbackTable
	prices    *PriceList
}

// Settings returns the router's settings. The caller must not change the map in it.
func (c *Catalog) Settings() RouterSettings { return c.settings }

// Deployment returns a deployment by its id.
func (c *Catalog) Deployment(d id.Deployment) (*Deployment, bool) {
	found, ok := c.byID[d]
	return found, ok
}

// Deployments returns every deployment, sorted by id.
func (c *Catalog) Deployments() []*Deployment {
	all := make([]*Deployment, 0, len(c.byID))
	for _, d := range c.byID {
		all = append(all, d)
	}
	slices.SortFunc(all, func(a, b *Deployment) int { return compare(a.ID, b.ID) })
	return all
}

// Endpoints returns the distinct upstreams, sorted by id. The caller must not change it.
func (c *Catalog) Endpoints() []Endpoint { return c.endpoints }

// Models returns the names that callers can ask for, aliases included and
// wildcards not, sorted. The caller must not change it.
func (c *Catalog) Models() []id.ModelName { return c.models }

func compare[T ~string](a, b T) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}
