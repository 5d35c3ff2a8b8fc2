package main

import (
	"context"
	"sync"
	"time"

	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/envoy/contract"
)

// twins are the endpoints that a plan has needed clusters for later attempts of.
// Thousands of endpoints are in no such plan, and their clusters would double Envoy's
// memory. What is wanted once stays wanted until the process ends.
type twins struct {
	changed chan struct{} // has a value when an endpoint was added

	mu struct {
		sync.Mutex
		wanted map[id.Endpoint]struct{}
	}
}

func newTwins() *twins {
	t := &twins{changed: make(chan struct{}, 1)}
	t.mu.wanted = make(map[id.Endpoint]struct{})
	return t
}

// want adds an endpoint.
func (t *twins) want(e id.Endpoint) {
	t.mu.Lock()
	_, known := t.mu.wanted[e]
	t.mu.wanted[e] = struct{}{}
	t.mu.Unlock()
	if known {
		return
	}
	select {
	case t.changed <- struct{}{}:
	default: // the existing value covers this one too
	}
}

// has reports whether an endpoint was added.
func (t *twins) has(e id.Endpoint) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, ok := t.mu.wanted[e]
	return ok
}

// prepareTime is how long the first plan that needs an endpoint's twins waits for them.
// Envoy takes milliseconds; where it does not, the plan does without the attempt.
const prepareTime = time.Second

// prepare has Envoy make the twins of an endpoint and waits for them.
func (g *gateway) prepare(ctx context.Context, e id.Endpoint) bool {
	g.twins.want(e)
	ctx, cancel := context.WithTimeout(ctx, prepareTime)
	defer cancel()
	return g.xds.Await(ctx, e, contract.Rewrite)
}
