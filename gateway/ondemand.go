package gateway

import (
	"cmp"
	"context"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/envoy/contract"
	"github.com/modelgateway/modelgateway/extproc/pipeline"
)

// earlyTLS is how many https endpoints have their cluster before a plan needs it. Envoy
// reads all certificate authorities for each such cluster, which takes 5 ms and 0.3 MB.
// Clusters of http endpoints take a tenth of that and are all made at once.
const earlyTLS = 100

// onDemand says which clusters a plan has needed that Envoy does not have from the
// start: those of later attempts, and those of https endpoints beyond earlyTLS.
// Thousands of endpoints are in no plan, and their clusters would take most of Envoy's
// memory. A cluster that was wanted once stays wanted until the process ends.
type onDemand struct {
	changed chan struct{} // has a value when a cluster was added
	// lazy has the hosts of the endpoints whose first cluster is made when a plan needs it,
	// needed before or not. The map is not changed. nil: no endpoint.
	lazy atomic.Pointer[map[id.Endpoint]string]

	mu struct {
		sync.Mutex
		wanted map[pipeline.Need]struct{}
	}
}

func newOnDemand() *onDemand {
	o := &onDemand{changed: make(chan struct{}, 1)}
	o.mu.wanted = make(map[pipeline.Need]struct{})
	return o
}

// want adds clusters.
func (o *onDemand) want(needs ...pipeline.Need) {
	o.mu.Lock()
	before := len(o.mu.wanted)
	for _, n := range needs {
		o.mu.wanted[n] = struct{}{}
	}
	added := len(o.mu.wanted) > before
	o.mu.Unlock()
	if !added {
		return
	}
	select {
	case o.changed <- struct{}{}:
	default: // the existing value covers these too
	}
}

// has reports whether a cluster was added.
func (o *onDemand) has(e id.Endpoint, v contract.Variant) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	_, ok := o.mu.wanted[pipeline.Need{Endpoint: e, Variant: v}]
	return ok
}

// host returns the host of an endpoint if Envoy gets its first cluster when a plan needs
// it.
func (o *onDemand) host(e id.Endpoint) (string, bool) {
	lazy := o.lazy.Load()
	if lazy == nil {
		return "", false
	}
	host, ok := (*lazy)[e]
	return host, ok
}

// isLazy reports whether Envoy gets the endpoint's first cluster when a plan needs it.
func (o *onDemand) isLazy(e id.Endpoint) bool {
	_, ok := o.host(e)
	return ok
}

// choose says of some endpoints which ones get their first cluster now. The first https
// endpoints in the order of their ids do, and those that a plan has needed.
func (o *onDemand) choose(endpoints []catalog.Endpoint) (now func(id.Endpoint) bool) {
	secure := slices.DeleteFunc(slices.Clone(endpoints), func(e catalog.Endpoint) bool { return e.Scheme != "https" })
	slices.SortFunc(secure, func(a, b catalog.Endpoint) int { return cmp.Compare(a.ID, b.ID) })
	lazy := make(map[id.Endpoint]string)
	for _, e := range secure[min(earlyTLS, len(secure)):] {
		lazy[e.ID] = e.Host
	}
	o.lazy.Store(&lazy)
	return func(e id.Endpoint) bool {
		_, waits := lazy[e]
		return !waits || o.has(e, contract.Bare)
	}
}

// prepareTime is how long a plan waits for the clusters that it needs first. Envoy takes
// milliseconds; where it does not, the plan does without the attempt.
const prepareTime = time.Second

// prepare has Envoy make clusters and waits for them, and for the names of their hosts:
// Envoy looks up a name when it gets the cluster, before it confirms the cluster, so it
// has the addresses when this process has them. Where it does not, the attempt fails and
// is retried like any other.
func (g *gateway) prepare(ctx context.Context, needs []pipeline.Need) {
	g.demand.want(needs...)
	ctx, cancel := context.WithTimeout(ctx, prepareTime)
	defer cancel()
	for _, n := range needs {
		g.xds.Await(ctx, n.Endpoint, n.Variant)
		if host, lazy := g.demand.host(n.Endpoint); lazy && n.Variant == contract.Bare {
			_, _ = net.DefaultResolver.LookupHost(ctx, host) // Envoy's own lookup decides
		}
	}
}
