package xds

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"

	core "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	discovery "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"github.com/envoyproxy/go-control-plane/pkg/resource/v3"
)

// maxRejection is how many bytes of Envoy's reason are logged.
const maxRejection = 1024

// accepted is what readers see of the tracker: immutable.
type accepted struct {
	clusters map[string]struct{} // wanted, and accepted by every Envoy that serves
	ready    bool                // at least one Envoy serves, and each has clusters and routes
	replaced chan struct{}       // closed when this is not the latest any more
}

// tracker knows what each connected Envoy has accepted. Its methods are the
// callbacks of the xDS server, called from one goroutine a stream.
type tracker struct {
	logger *slog.Logger
	now    atomic.Pointer[accepted] // never nil

	mu struct {
		sync.Mutex
		streams map[int64]*connection
		wanted  map[string]struct{} // clusters of the latest publication
		last    map[string]struct{} // what the Envoys that serve agreed on, while there were any
		refused map[string]uint64   // "type name" → how often a response with it was refused
	}
}

// connection is one stream of one Envoy.
type connection struct {
	node     string
	serves   bool // has accepted clusters, now or before it connected; until then it does not listen
	routes   bool // has accepted routes
	clusters map[string]struct{}
	pending  map[string]change // by nonce
}

// change is a response that was not yet answered.
type change struct {
	typeURL        string
	added, removed []string
}

func newTracker(logger *slog.Logger) *tracker {
	t := &tracker{logger: logger}
	t.now.Store(&accepted{replaced: make(chan struct{})})
	t.mu.streams = make(map[int64]*connection)
	t.mu.refused = make(map[string]uint64)
	return t
}

// want says which clusters the latest publication has.
func (t *tracker) want(clusters map[string]struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.mu.wanted = clusters
	t.updateLocked()
}

// takeRefused returns how often each resource was part of a refused response.
func (t *tracker) takeRefused() map[string]uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := t.mu.refused
	t.mu.refused = make(map[string]uint64)
	return out
}

func (t *tracker) open(_ context.Context, stream int64, _ string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.mu.streams[stream] = &connection{clusters: make(map[string]struct{}), pending: make(map[string]change)}
	t.updateLocked()
	return nil
}

func (t *tracker) closed(stream int64, _ *core.Node) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.mu.streams, stream)
	t.updateLocked()
}

// sent notes a response that is about to go out.
func (t *tracker) sent(stream int64, _ *discovery.DeltaDiscoveryRequest, r *discovery.DeltaDiscoveryResponse) {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.mu.streams[stream]
	if c == nil {
		return
	}
	added := make([]string, 0, len(r.GetResources()))
	for _, one := range r.GetResources() {
		added = append(added, one.GetName())
	}
	c.pending[r.GetNonce()] = change{typeURL: r.GetTypeUrl(), added: added, removed: r.GetRemovedResources()}
	if r.GetTypeUrl() == resource.ClusterType {
		for _, name := range r.GetRemovedResources() { // from now on it may be gone
			delete(c.clusters, name)
		}
		t.updateLocked()
	}
}

// received notes a subscription, or an answer to a response.
func (t *tracker) received(stream int64, r *discovery.DeltaDiscoveryRequest) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.mu.streams[stream]
	if c == nil {
		return nil
	}
	if id := r.GetNode().GetId(); id != "" {
		c.node = id
	}
	if len(r.GetInitialResourceVersions()) > 0 { // an Envoy that we, or another of us, served before
		c.resume(r)
		t.updateLocked()
	}
	pending, ok := c.pending[r.GetResponseNonce()]
	if !ok {
		return nil
	}
	delete(c.pending, r.GetResponseNonce())
	if detail := r.GetErrorDetail(); detail != nil {
		text := detail.GetMessage()
		var bad []string
		pending.added, bad = sortOut(pending, text)
		for _, name := range bad {
			t.mu.refused[pending.typeURL+" "+name]++
		}
		c.refuse(pending)
		t.updateLocked()
		t.logger.Error("envoy refused a configuration and keeps its last one",
			slog.String("node", c.node), slog.String("type_url", pending.typeURL),
			slog.String("error", text[:min(len(text), maxRejection)]))
		return nil
	}
	c.accept(pending)
	t.updateLocked()
	return nil
}

// resume takes over what an Envoy says it has.
func (c *connection) resume(r *discovery.DeltaDiscoveryRequest) {
	switch r.GetTypeUrl() {
	case resource.ClusterType:
		c.serves = true
		for name := range r.GetInitialResourceVersions() {
			c.clusters[name] = struct{}{}
		}
	case resource.RouteType:
		c.routes = true
	}
}

// refuse takes over what an Envoy has accepted of a response that it refused. It
// listens now, even if this was its first.
func (c *connection) refuse(rest change) {
	if rest.typeURL != resource.ClusterType {
		return
	}
	c.serves = true
	for _, name := range rest.added {
		c.clusters[name] = struct{}{}
	}
}

// sortOut tells what an Envoy accepted of a response from what it did not. It
// takes each cluster by itself, and its reason names all that are bad: "Error
// adding/updating cluster(s) NAME: WHY, NAME: WHY". A reason in which no name is
// found is taken to mean all of them: never to accept is slow, to accept wrongly
// is an outage of that endpoint.
func sortOut(refused change, reason string) (good, bad []string) {
	if refused.typeURL != resource.ClusterType {
		return nil, refused.added
	}
	for _, name := range refused.added {
		if strings.Contains(reason, " "+name+": ") {
			bad = append(bad, name)
		} else {
			good = append(good, name)
		}
	}
	if len(bad) == 0 {
		return nil, refused.added
	}
	return good, bad
}

// accept takes over what an Envoy has confirmed.
func (c *connection) accept(done change) {
	switch done.typeURL {
	case resource.ClusterType:
		c.serves = true
		for _, name := range done.added {
			c.clusters[name] = struct{}{}
		}
	case resource.RouteType:
		c.routes = true
	}
}

// updateLocked publishes what all Envoys that serve have in common. An Envoy that
// has accepted no clusters yet does not listen, so it cannot meet a plan and must
// not hold up the others. While none serves (between the death of one and the
// first word of the next) the last agreement stands, for the next one gets at
// least the clusters that are wanted.
func (t *tracker) updateLocked() {
	var common map[string]struct{}
	next := &accepted{replaced: make(chan struct{})}
	for _, c := range t.mu.streams {
		if !c.serves {
			continue
		}
		if common == nil {
			common, next.ready = copyOf(c.clusters), c.routes
			continue
		}
		next.ready = next.ready && c.routes
		for name := range common {
			if _, ok := c.clusters[name]; !ok {
				delete(common, name)
			}
		}
	}
	if common == nil {
		common = t.mu.last
	} else {
		t.mu.last = common
	}
	next.clusters = make(map[string]struct{}, len(t.mu.wanted))
	for name := range common {
		if _, ok := t.mu.wanted[name]; ok {
			next.clusters[name] = struct{}{}
		}
	}
	close(t.now.Swap(next).replaced)
}

func copyOf(set map[string]struct{}) map[string]struct{} {
	out := make(map[string]struct{}, len(set))
	for name := range set {
		out[name] = struct{}{}
	}
	return out
}
