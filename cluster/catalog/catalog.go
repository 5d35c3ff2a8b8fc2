package catalog

import (
	"reflect"
	"slices"
	"sync"

	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/price"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// Catalog is one checked, immutable configuration: what New made of the file,
// and what With, Without and WithRouter changed since. See New.
type Catalog struct {
	state
	resolved sync.Map // *names → []Target; a cache: what a fallback list leads to in this catalogue
}

// state is what a Catalog is. To copy it is cheap, and each part can be replaced
// without a copy of the others.
type state struct {
	providers Providers
	list      *price.List
	router    *router              // replaced as a whole
	groups    index[[]*Deployment] // plain names; no list is empty
	wild      []*wildcard          // longest pattern first
	byID      index[*Deployment]   //
	byModel   index[*Deployment]   // by modelKey
	endpoints index[Endpoint]      // by id; the same tree as long as they are the same
	users     index[int]           // how many deployments each endpoint has
	prices    index[sharedPrices]  // by price.Source.Text
	loaded    index[price.Row]     // by model: prices that were loaded at run time
	priceMark uint64               // revision of these; 0 if none ever were

	credentials index[*Credential]           // by name
	marks       index[uint64]                // by name: when a deployment has named it last
	namers      index[*Deployment]           // by namerKey: those that name a credential
	unusable    index[*clusterv1.Deployment] // by id: those that this node cannot use
	guarded     index[*Deployment]           // by id: those that have guardrails
}

// router is the settings, what they were made of, and the names that they use.
type router struct {
	spec      RouterSpec
	file      RouterSpec // what New was given
	patch     RouterSpec // what the replicated state sets over it
	full      RouterSpec // spec as it applies: with defaults, and without what is not valid
	revision  uint64     // of patch; 0 if there is none
	settings  RouterSettings
	streams   bool // stream_timeout was given
	fallbacks [fallbackClasses]fallbackTable
}

// Settings returns the router's settings. The caller must not change the map in it.
func (c *Catalog) Settings() RouterSettings { return c.router.settings }

// RouterSpec returns what Settings were made of: the file's, with what the
// replicated state sets, and the revision of that; 0 if it sets nothing. The
// caller must not change the slices and maps in it.
func (c *Catalog) RouterSpec() (spec RouterSpec, revision uint64) {
	return c.router.spec, c.router.revision
}

// Patch returns what the replicated state sets over the file's router settings,
// and its revision; 0 if it sets nothing. The caller must not change the slices
// and maps in it.
func (c *Catalog) Patch() (patch RouterSpec, revision uint64) {
	return c.router.patch, c.router.revision
}

// Deployment returns a deployment by its id.
func (c *Catalog) Deployment(d id.Deployment) (*Deployment, bool) { return c.byID.get(string(d)) }

// Stored returns a deployment as it was written down. The caller must not
// change the maps in it.
func (c *Catalog) Stored(d id.Deployment) (Stored, bool) {
	found, ok := c.byID.get(string(d))
	if !ok {
		return Stored{}, false
	}
	return found.origin.stored, true
}

// Len returns how many deployments there are.
func (c *Catalog) Len() int { return c.byID.len() }

// Deployments returns every deployment, sorted by id. It makes a new list.
func (c *Catalog) Deployments() []*Deployment {
	all := make([]*Deployment, 0, c.byID.len())
	for _, d := range c.byID.all() {
		all = append(all, d)
	}
	return all
}

// Endpoints returns the distinct upstreams, sorted by id. It makes a new list.
func (c *Catalog) Endpoints() []Endpoint {
	all := make([]Endpoint, 0, c.endpoints.len())
	for _, e := range c.endpoints.all() {
		all = append(all, e)
	}
	return all
}

// SameEndpoints reports whether c has the same upstreams as o. Where one was made
// from the other by changes that left them alone, it does not look at them.
func (c *Catalog) SameEndpoints(o *Catalog) bool {
	return c.endpoints == o.endpoints || slices.Equal(c.Endpoints(), o.Endpoints())
}

// SameSettings reports whether Settings are the same in c and in o.
func (c *Catalog) SameSettings(o *Catalog) bool {
	return c.router == o.router || reflect.DeepEqual(c.router.settings, o.router.settings)
}

// Models returns the names that callers can ask for, aliases included and
// wildcards not, sorted. It makes a new list.
func (c *Catalog) Models() []id.ModelName {
	names := make([]id.ModelName, 0, c.groups.len()+len(c.router.settings.ModelGroupAlias))
	for name := range c.groups.all() {
		names = append(names, id.ModelName(name))
	}
	for name, to := range c.router.settings.ModelGroupAlias {
		if _, star := cutPattern(string(name)); !star && c.Serves(to) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func compare[T ~string](a, b T) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}
