package extproc

import (
	"hash/maphash"
	"strings"
	"sync"

	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/extproc/pipeline"
)

// shards is the number of the registry's locks; a power of two.
const shards = 64

// registry finds the Exchange of a request by its id, for the streams of Envoy's
// upstream filters and for the attempt log, which know only the id.
type registry struct {
	seed   maphash.Seed
	shards [shards]shard
}

type shard struct {
	mu struct {
		sync.Mutex
		live map[id.Request]*pipeline.Exchange
	}
}

func newRegistry() *registry {
	r := &registry{seed: maphash.MakeSeed()}
	for i := range r.shards {
		r.shards[i].mu.live = make(map[id.Request]*pipeline.Exchange)
	}
	return r
}

func (r *registry) shard(request id.Request) *shard {
	return &r.shards[maphash.String(r.seed, string(request))%shards]
}

func (r *registry) add(x *pipeline.Exchange) {
	s := r.shard(x.ID)
	s.mu.Lock()
	s.mu.live[x.ID] = x
	s.mu.Unlock()
}

func (r *registry) remove(x *pipeline.Exchange) {
	s := r.shard(x.ID)
	s.mu.Lock()
	if s.mu.live[x.ID] == x {
		delete(s.mu.live, x.ID)
	}
	s.mu.Unlock()
}

// requestNamed returns the id of a request from Envoy's name for it: the UUID that Envoy
// assigned, or the id that the request has after dispatch.
func requestNamed(name string) id.Request {
	if strings.HasPrefix(name, "req_") {
		return id.Request(name)
	}
	return id.RequestFromUUID(name)
}

// find returns the exchange, nil if it has ended.
func (r *registry) find(request id.Request) *pipeline.Exchange {
	s := r.shard(request)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mu.live[request]
}

// each calls f with every exchange in flight. f must not use the registry.
func (r *registry) each(f func(*pipeline.Exchange)) {
	for i := range r.shards {
		s := &r.shards[i]
		s.mu.Lock()
		for _, x := range s.mu.live {
			f(x)
		}
		s.mu.Unlock()
	}
}

// count returns the number of requests in flight.
func (r *registry) count() int {
	n := 0
	for i := range r.shards {
		s := &r.shards[i]
		s.mu.Lock()
		n += len(s.mu.live)
		s.mu.Unlock()
	}
	return n
}
