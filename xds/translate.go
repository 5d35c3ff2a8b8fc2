package xds

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	cluster "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	route "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"

	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/envoy/contract"
)

// Input is the input of Envoy's dynamic configuration. Zero limits mean the defaults given
// here.
type Input struct {
	Endpoints []catalog.Endpoint // distinct upstreams, in any order
	// Bare reports whether an endpoint has the cluster of first attempts; nil: all have.
	Bare func(id.Endpoint) bool
	// Twins reports whether an endpoint has the clusters of later attempts; nil: all have.
	Twins  func(id.Endpoint) bool
	Router catalog.RouterSettings
	// Attached enables the filter of contract.AttachModule for short bodies, and not ext_proc.
	Attached bool
	CAFile   string // trusted certificates for https providers; required if there are any

	BodyLimit      uint32        // bytes; as in the bootstrap; default 64 MiB
	ConnectTimeout time.Duration // TCP and TLS handshake; default 5 s
	MessageTimeout time.Duration // longest time that the processor may take for an attempt; default 10 min
	IdleTimeout    time.Duration // unused connections to providers close after it; default 50 s
}

// Resources is one complete configuration: clusters and routes, sorted by name. It depends only
// on the Input.
type Resources struct {
	Clusters []*cluster.Cluster
	Routes   []*route.RouteConfiguration
}

// withDefaults returns in with defaults for its zero values. IdleTimeout is below the 60 s
// after which common load balancers drop a connection, so that no request uses a dropped one.
func (in Input) withDefaults() Input {
	in.BodyLimit = cmp.Or(in.BodyLimit, 64<<20)
	in.ConnectTimeout = cmp.Or(in.ConnectTimeout, 5*time.Second)
	in.MessageTimeout = cmp.Or(in.MessageTimeout, 10*time.Minute)
	in.IdleTimeout = cmp.Or(in.IdleTimeout, 50*time.Second)
	in.Router.RetryAfter = cmp.Or(in.Router.RetryAfter, 80*time.Millisecond)
	return in
}

// Translate converts the catalog's endpoints and settings to Envoy's resources. It reads no
// file and no clock. Each endpoint has the clusters that in requests: a Bare one for first
// attempts, and twins for later ones. The twins are a Rewrite cluster, and a Check cluster if
// the settings retry on conditions that only the response body shows. Deployments do not occur:
// ten thousand of them on twenty endpoints are twenty endpoints. Errors are *fault.Error.
func Translate(in Input) (*Resources, error) {
	in = in.withDefaults()
	endpoints := slices.SortedFunc(slices.Values(in.Endpoints), func(a, b catalog.Endpoint) int {
		return cmp.Compare(a.ID, b.ID)
	})
	endpoints = slices.Compact(endpoints)
	variants := []contract.Variant{contract.Bare, contract.Rewrite}
	if checks(in.Router.RetryOn) {
		variants = append(variants, contract.Check)
	}
	out := &Resources{}
	var problems []error
	var last id.Endpoint
	for i, e := range endpoints {
		if i > 0 && e.ID == last {
			problems = append(problems, fault.New(fault.Internal, "", "two endpoints share the id %s", e.ID))
		}
		last = e.ID
		for _, v := range variants {
			made := in.Bare
			if v != contract.Bare {
				made = in.Twins
			}
			if made != nil && !made(e.ID) {
				continue
			}
			c, err := newCluster(in, e, v)
			if err != nil {
				problems = append(problems, err)
				break // the other variants have the same problem
			}
			out.Clusters = append(out.Clusters, c)
		}
	}
	r, err := newRoutes(in)
	problems = append(problems, err)
	out.Routes = []*route.RouteConfiguration{r}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	slices.SortFunc(out.Clusters, func(a, b *cluster.Cluster) int { return cmp.Compare(a.GetName(), b.GetName()) })
	if err := out.Consistent(); err != nil {
		return nil, err
	}
	return out, nil
}

// checks reports whether responses must be inspected before the client receives them.
func checks(r catalog.RetryOn) bool {
	return r.Has(catalog.RetryOnContentFilter) || r.Has(catalog.RetryOnStreamError)
}

// problem returns the error for an invalid endpoint.
func problem(e catalog.Endpoint, format string, args ...any) error {
	return fault.Field("endpoint "+string(e.ID), "invalid_endpoint", "%s", fmt.Sprintf(format, args...))
}
