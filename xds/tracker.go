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

// maxRejection limits the logged text of a NACK, in bytes.
const maxRejection = 1024

// accepted is the immutable view for readers of the tracker.
type accepted struct {
	clusters map[string]struct{} // current, and accepted by every serving Envoy
	ready    bool                // at least one Envoy serves, and each has clusters and routes
	replaced chan struct{}       // closed when a newer one replaces this
}

// tracker tracks what each connected Envoy has accepted. Its methods are callbacks of the xDS
// server; each stream has one goroutine.
type tracker struct {
	logger *slog.Logger
	now    atomic.Pointer[accepted] // never nil

	mu struct {
		sync.Mutex
		streams map[int64]*connection
		wanted  map[string]struct{} // clusters of the latest publication
		last    map[string]struct{} // the last common state while any Envoy served
		refused map[string]uint64   // "type name" → number of rejected responses with it
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

// change is a response without an ACK or NACK.
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

// want sets the clusters of the latest publication.
func (t *tracker) want(clusters map[string]struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.mu.wanted = clusters
	t.updateLocked()
}

// takeRejected returns how often each resource was part of a rejected response, and resets it.
func (t *tracker) takeRejected() map[string]uint64 {
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

// sent records a response that is about to be sent.
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

// received processes a subscription, an ACK or a NACK.
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
	if len(r.GetInitialResourceVersions()) > 0 { // an Envoy that this or another server served before
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
		t.logger.Error("envoy rejected a configuration and keeps its last one",
			slog.String("node", c.node), slog.String("type_url", pending.typeURL),
			slog.String("error", text[:min(len(text), maxRejection)]))
		return nil
	}
	c.accept(pending)
	t.updateLocked()
	return nil
}

// resume takes over the resources that an Envoy reports at connect.
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

// refuse records the accepted part of a response that an Envoy rejected. The Envoy listens from
// now on, even if this was its first response.
func (c *connection) refuse(rest change) {
	if rest.typeURL != resource.ClusterType {
		return
	}
	c.serves = true
	for _, name := range rest.added {
		c.clusters[name] = struct{}{}
	}
}

// sortOut separates the accepted parts of a rejected response from the others. Envoy validates
// each cluster separately, and its reason names all invalid ones: "Error adding/updating
// cluster(s) NAME: WHY, NAME: WHY". A reason without any name counts for all of them. A false
// rejection only delays a cluster, but a false acceptance is an outage of its endpoint.
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

// accept records what an Envoy has confirmed.
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

// updateLocked publishes the common state of all serving Envoys. An Envoy without accepted
// clusters does not listen yet, so it receives no plans and must not delay the others. While no
// Envoy serves, between a crash and the next connection, the last common state stays valid,
// because the next Envoy gets at least the current clusters.
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
