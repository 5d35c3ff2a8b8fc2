package pipeline

import (
	"context"
	"time"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/strategy"
)

// parallel rejects a request while this node has as many in flight as
// global_max_parallel_requests allows. It runs on the headers, so a rejected request
// costs no memory for its body. release or settle ends the count before the caller has its
// whole response, so a caller's sequential requests never reject each other.
func (p *Pipeline) parallel(_ context.Context, x *Exchange) error {
	limit := p.deps.Settings.MaxParallel
	if limit <= 0 {
		return nil
	}
	if p.inFlight.Add(1) > limit {
		p.inFlight.Add(-1)
		return &fault.Error{
			Op: "parallel", Kind: fault.RateLimited, Code: strategy.CodeAtLimit, RetryAfter: time.Second,
			Detail:  "The gateway has as many requests in flight as its global_max_parallel_requests allows. Try again when one of them has ended.",
			Details: map[string]any{"scope": "gateway", "limit_type": "parallel", "limit": limit, "remaining": 0},
		}
	}
	x.admission.counted = true
	return nil
}

// InFlight returns the number of requests that count toward Settings.MaxParallel.
func (p *Pipeline) InFlight() int64 { return p.inFlight.Load() }

// uncount ends what parallel counted, once.
func (p *Pipeline) uncount(a *admission) {
	if a.counted {
		a.counted = false
		p.inFlight.Add(-1)
	}
}
