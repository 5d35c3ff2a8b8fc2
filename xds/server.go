package xds

import (
	"cmp"
	"context"
	"log/slog"
	"maps"
	"strconv"
	"strings"
	"sync"
	"time"

	core "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	discovery "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"github.com/envoyproxy/go-control-plane/pkg/cache/v3"
	"github.com/envoyproxy/go-control-plane/pkg/resource/v3"
	"github.com/envoyproxy/go-control-plane/pkg/server/delta/v3"
	"google.golang.org/grpc"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/envoy/contract"
)

// Config configures a Server. All fields have defaults.
type Config struct {
	Linger time.Duration // how long a removed cluster stays; default 10 min, negative: not at all
	Logger *slog.Logger  // nil discards logs
}

// Server serves the latest Resources to every connected Envoy. All methods are safe for
// concurrent use.
type Server struct {
	config  Config
	cache   cache.SnapshotCache
	tracker *tracker
	delta   delta.Server
	stop    context.CancelFunc // ends all streams
	wake    chan struct{}      // capacity 1: the set of leaving clusters has changed

	mu struct {
		sync.Mutex
		items   map[string]map[string]item // the latest publication; nil before the first
		leaving map[string]leaver          // removed clusters that are still served, by name
		marks   map[string]string          // see marksLocked
		tries   uint64
		version string
	}
}

// leaver is a removed cluster that is still served.
type leaver struct {
	item

	until time.Time
}

// anyNode gives every Envoy the same configuration.
type anyNode struct{}

const everyone = "every envoy"

// ID returns the one name of all nodes in the cache.
func (anyNode) ID(*core.Node) string { return everyone }

// NewServer returns a server without resources: an Envoy that connects waits for the first
// Publish.
func NewServer(c Config) *Server {
	c.Linger = cmp.Or(c.Linger, 10*time.Minute)
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	ctx, stop := context.WithCancel(context.Background())
	s := &Server{
		config:  c,
		cache:   cache.NewSnapshotCache(true, anyNode{}, nil),
		tracker: newTracker(c.Logger),
		stop:    stop,
		wake:    make(chan struct{}, 1),
	}
	s.delta = delta.NewServer(ctx, s.cache, callbacks{s.tracker})
	s.mu.leaving = make(map[string]leaver)
	return s
}

// Register adds the service to g, which must not serve yet.
func (s *Server) Register(g *grpc.Server) {
	discovery.RegisterAggregatedDiscoveryServiceServer(g, &service{delta: s.delta})
}

// Run removes leaving clusters when their time is over, until ctx ends. It then ends all
// streams and returns nil. An Envoy keeps its configuration.
func (s *Server) Run(ctx context.Context) error {
	defer s.stop()
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		next, err := s.sweep(ctx, time.Now())
		if err != nil && ctx.Err() == nil {
			return err
		}
		timer.Reset(next)
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
		case <-s.wake:
		}
	}
}

// Publish makes r the configuration of all Envoys. Unchanged resources are not sent again;
// changes are sent as one response of clusters and one of routes. An inconsistent r is rejected
// and changes nothing.
func (s *Server) Publish(r *Resources) error {
	if err := r.Consistent(); err != nil {
		return err
	}
	return s.publish(r)
}

func (s *Server) publish(r *Resources) error {
	items, err := itemsOf(r)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	for name, old := range s.mu.items[resource.ClusterType] {
		_, stays := items[resource.ClusterType][name]
		_, was := s.tracker.now.Load().clusters[name] // otherwise no plan can name it
		if !stays && was && s.config.Linger > 0 {
			s.mu.leaving[name] = leaver{item: old, until: now.Add(s.config.Linger)}
		}
	}
	wanted := make(map[string]struct{}, len(items[resource.ClusterType]))
	for name := range items[resource.ClusterType] {
		delete(s.mu.leaving, name)
		wanted[name] = struct{}{}
	}
	s.mu.items = items
	s.markLocked()
	s.tracker.want(wanted)
	select {
	case s.wake <- struct{}{}:
	default:
	}
	return s.setLocked(context.Background())
}

// markLocked gives rejected resources a new version, so that this publication offers them
// again. They are not resent otherwise, which avoids a loop.
func (s *Server) markLocked() {
	refused := s.tracker.takeRejected()
	if s.mu.marks == nil {
		s.mu.marks = make(map[string]string)
	}
	if len(refused) > 0 {
		s.mu.tries++
	}
	for name := range refused {
		s.mu.marks[name] = "." + strconv.FormatUint(s.mu.tries, 10)
	}
	for name := range s.mu.marks { // drop those that no longer exist
		if !s.knowsLocked(name) {
			delete(s.mu.marks, name)
		}
	}
}

func (s *Server) knowsLocked(typeAndName string) bool {
	typ, name, _ := strings.Cut(typeAndName, " ") // a type contains no space
	_, ok := s.mu.items[typ][name]
	return ok
}

// setLocked updates the cache with the current and the leaving resources, if they have changed.
func (s *Server) setLocked(ctx context.Context) error {
	all := map[string]map[string]item{
		resource.ClusterType: make(map[string]item, len(s.mu.items[resource.ClusterType])+len(s.mu.leaving)),
		resource.RouteType:   s.mu.items[resource.RouteType],
	}
	for name, l := range s.mu.leaving {
		all[resource.ClusterType][name] = l.item
	}
	maps.Copy(all[resource.ClusterType], s.mu.items[resource.ClusterType])
	next := newSnapshot(all, s.mu.marks)
	if next.version == s.mu.version {
		return nil
	}
	s.mu.version = next.version
	if err := s.cache.SetSnapshot(ctx, everyone, next); err != nil {
		return &fault.Error{Op: "xds", Kind: fault.Internal, Err: err}
	}
	return nil
}

// sweep removes the leaving clusters whose time is over, and returns the time until the next.
func (s *Server) sweep(ctx context.Context, now time.Time) (time.Duration, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	next, dropped := time.Hour, false
	for name, l := range s.mu.leaving {
		left := l.until.Sub(now)
		if left <= 0 {
			delete(s.mu.leaving, name)
			dropped = true
			continue
		}
		next = min(next, left)
	}
	if !dropped {
		return next, nil
	}
	return next, s.setLocked(ctx)
}

// Acked reports whether a plan may name a cluster of an endpoint: the latest publication contains
// it, and every serving Envoy has accepted it. While a Check cluster does not exist yet, because
// the settings have just changed, Rewrite can replace it. Acked is lock-free, for use in every
// request.
func (s *Server) Acked(endpoint id.Endpoint, v contract.Variant) bool {
	_, ok := s.tracker.now.Load().clusters[contract.ClusterName(endpoint, v)]
	return ok
}

// Await waits until Acked is true or ctx ends, and returns its value.
func (s *Server) Await(ctx context.Context, endpoint id.Endpoint, v contract.Variant) bool {
	name := contract.ClusterName(endpoint, v)
	for {
		now := s.tracker.now.Load()
		if _, ok := now.clusters[name]; ok {
			return true
		}
		select {
		case <-now.replaced:
		case <-ctx.Done():
			return false
		}
	}
}

// Ready reports whether at least one Envoy is connected, and each serving one has accepted
// clusters and routes.
func (s *Server) Ready() bool { return s.tracker.now.Load().ready }
