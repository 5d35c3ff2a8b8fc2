package pipeline

import (
	"context"
	"slices"
	"time"

	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/extproc/strategy"
)

// A slot is a request's place among the requests in flight at a deployment, which
// max_parallel_requests bounds. A request has one slot at a time, that of the attempt
// under way: route reserves the first, acquireSlot the next ones. The end of the request
// releases it: settle, or release if the request was not dispatched.

// maxSlotWait is the longest time that a retry or fallback waits for a slot. The wait
// is also at most half of the attempt's timeout: Envoy counts it as part of the attempt.
const maxSlotWait = 10 * time.Second

// isFull reports whether a deployment has no free slot.
func (p *Pipeline) isFull(d *catalog.Deployment) bool {
	return p.deps.Cooldown.Full(d.ID, d.MaxParallel)
}

// planWithSlot makes the plan and reserves the slot of its first attempt.
func (p *Pipeline) planWithSlot(x *Exchange, request strategy.Request) ([]strategy.Attempt, error) {
	var lost []id.Deployment // another request took the last slot after the plan was made
	request.Full = p.isFull
	for {
		plan, err := strategy.Plan(request)
		if err != nil {
			return nil, err
		}
		first := plan[0].Deployment
		end, ok := p.deps.Cooldown.TryBegin(first.ID, first.MaxParallel)
		if ok {
			x.mu.Lock()
			x.mu.busy, x.mu.at = end, first.ID
			x.mu.Unlock()
			x.startsAtFallback = plan[0].Hop != 0 && slices.ContainsFunc(request.Group, request.Full)
			return plan, nil
		}
		lost = append(lost, first.ID)
		request.Full = func(d *catalog.Deployment) bool { return slices.Contains(lost, d.ID) || p.isFull(d) }
	}
}

// acquireSlot reserves the slot of attempt i, after releasing that of the attempt before it.
// If the deployment is full, acquireSlot waits: Envoy has chosen the deployment, and cannot
// be told to go on to the next one. Without a slot in time the request ends.
func (p *Pipeline) acquireSlot(ctx context.Context, x *Exchange, i int) error {
	x.mu.Lock()
	a := &x.Plan[i]
	d := a.Deployment
	if x.mu.settled || x.mu.at == d.ID {
		x.mu.Unlock()
		return nil
	}
	x.releaseSlotLocked()
	x.mu.Unlock()

	wait, cancel := context.WithTimeout(ctx, min(a.Timeout/2, maxSlotWait))
	defer cancel()
	end, ok := p.deps.Cooldown.Await(wait, d.ID, d.MaxParallel)
	if !ok {
		return strategy.AtLimit()
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.mu.settled { // the caller disconnected while the request waited
		end()
		return nil
	}
	x.mu.busy, x.mu.at = end, d.ID
	return nil
}

// releaseSlotLocked releases the slot that the request has.
func (x *Exchange) releaseSlotLocked() {
	if x.mu.busy != nil {
		x.mu.busy()
		x.mu.busy, x.mu.at = nil, ""
	}
}

// releaseSlot is releaseSlotLocked for a request that is not dispatched.
func (x *Exchange) releaseSlot() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.releaseSlotLocked()
}
