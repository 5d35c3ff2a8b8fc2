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
	if !p.admission.Enter(&x.admission) {
		return &fault.Error{
			Op: "parallel", Kind: fault.RateLimited, Code: strategy.CodeAtLimit, RetryAfter: time.Second,
			Detail:  "The gateway has as many requests in flight as its global_max_parallel_requests allows. Try again when one of them has ended.",
			Details: map[string]any{"scope": "gateway", "limit_type": "parallel", "limit": p.admission.MaxParallel, "remaining": 0},
		}
	}
	return nil
}

// InFlight returns the number of requests that count toward Settings.MaxParallel.
func (p *Pipeline) InFlight() int64 { return p.admission.InFlight() }
