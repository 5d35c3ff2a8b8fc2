package cooldown

import (
	"context"
	"iter"
	"sync"
	"sync/atomic"

	"github.com/modelgateway/modelgateway/cluster/id"
)

// counters count the requests in flight by deployment. A counter stays when it
// falls to 0: to remove it then would race with the next Begin, or need a lock for every
// request, and there are only as many as there are deployments.
type counters struct {
	all sync.Map // id.Deployment → *atomic.Int64

	waiting atomic.Int64 // requests in Await; freed is closed only while there are any
	mu      sync.Mutex
	freed   chan struct{} // guarded by mu; closed and replaced when a request ends
}

// Begin counts one request more. The returned function ends it; it may be
// called more than once and from any goroutine, only the first call counts.
func (s *Set) Begin(d id.Deployment) (end func()) {
	n := s.inFlight.of(d)
	n.Add(1)
	return s.inFlight.end(n)
}

// TryBegin is Begin if the deployment then has at most limit requests in flight; a
// limit of 0 is none. This node's own requests never exceed the limit. The requests of
// other nodes count with WithRemote, as of what they last reported.
func (s *Set) TryBegin(d id.Deployment, limit int64) (end func(), ok bool) {
	if limit <= 0 {
		return s.Begin(d), true
	}
	if s.remote != nil {
		limit -= s.remote(d)
	}
	n := s.inFlight.of(d)
	for {
		now := n.Load()
		if now >= limit {
			return nil, false
		}
		if n.CompareAndSwap(now, now+1) {
			return s.inFlight.end(n), true
		}
	}
}

// Full reports whether a TryBegin with the limit would fail now.
func (s *Set) Full(d id.Deployment, limit int64) bool {
	return limit > 0 && s.InFlight(d) >= limit
}

// Await is TryBegin, but waits for requests of this node to end until ctx ends.
func (s *Set) Await(ctx context.Context, d id.Deployment, limit int64) (end func(), ok bool) {
	if end, ok = s.TryBegin(d, limit); ok {
		return end, true
	}
	s.inFlight.waiting.Add(1)
	defer s.inFlight.waiting.Add(-1)
	for {
		// The channel comes first: a request that ends after the attempt closes it.
		freed := s.inFlight.next()
		if end, ok = s.TryBegin(d, limit); ok {
			return end, true
		}
		select {
		case <-freed:
		case <-ctx.Done():
			return nil, false
		}
	}
}

// end returns what ends a request that n counts.
func (c *counters) end(n *atomic.Int64) func() {
	var once atomic.Bool
	return func() {
		if once.CompareAndSwap(false, true) {
			n.Add(-1)
			if c.waiting.Load() > 0 {
				c.wake()
			}
		}
	}
}

// next returns the channel that the next end closes.
func (c *counters) next() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.freed == nil {
		c.freed = make(chan struct{})
	}
	return c.freed
}

// wake has all that wait try again.
func (c *counters) wake() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.freed != nil {
		close(c.freed)
		c.freed = nil
	}
}

// InFlight returns how many requests a deployment has in flight, here and, with
// WithRemote, at the other nodes. At the moment of a Keep that drops a deployment
// which comes back at once it may be too low by the requests that began before.
func (s *Set) InFlight(d id.Deployment) int64 {
	n := s.inFlight.count(d)
	if s.remote != nil {
		n += s.remote(d)
	}
	return n
}

// Running lists the deployments that have requests of this node in flight, in no
// order. Requests may begin and end meanwhile.
func (s *Set) Running() iter.Seq2[id.Deployment, int64] {
	return func(yield func(id.Deployment, int64) bool) {
		s.inFlight.all.Range(func(key, _ any) bool {
			d, _ := key.(id.Deployment)
			n := s.inFlight.count(d)
			return n == 0 || yield(d, n)
		})
	}
}

// count returns the deployment's count.
func (c *counters) count(d id.Deployment) int64 {
	if n, ok := c.all.Load(d); ok {
		if n, ok := n.(*atomic.Int64); ok {
			return n.Load()
		}
	}
	return 0
}

// of returns the deployment's counter.
func (c *counters) of(d id.Deployment) *atomic.Int64 {
	n, ok := c.all.Load(d)
	if !ok {
		n, _ = c.all.LoadOrStore(d, new(atomic.Int64))
	}
	counter, ok := n.(*atomic.Int64)
	if !ok {
		return new(atomic.Int64) // cannot be: nothing else is ever stored
	}
	return counter
}

// keep drops the counters of deployments that are gone and idle.
func (c *counters) keep(exists func(id.Deployment) bool) {
	c.all.Range(func(key, _ any) bool {
		if d, _ := key.(id.Deployment); !exists(d) {
			c.drop(d)
		}
		return true
	})
}

// drop drops the counter of a deployment that is gone, if it is idle.
func (c *counters) drop(d id.Deployment) {
	if c.count(d) == 0 {
		c.all.Delete(d)
	}
}
