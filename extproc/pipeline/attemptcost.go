package pipeline

import (
	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/extproc/estimate"
	"github.com/modelgateway/modelgateway/extproc/metering"
)

// estimated returns what bounds the usage of the attempt that answered.
func (x *Exchange) estimated() estimate.Request {
	return estimate.Request{Body: x.Body, Facts: &x.Facts, Deployment: x.last().Deployment}
}

// estimateCosts estimates the attempts of the plan.
func (x *Exchange) estimateCosts() estimate.Costs {
	m := x.meter()
	return m.Costs(len(x.Plan), func(i int) *catalog.Deployment { return x.Plan[i].Deployment }, x.tier())
}

// meter returns what finds the usage of the request.
func (x *Exchange) meter() metering.Request {
	return metering.Request{
		Operation: x.op, Body: x.Body, Facts: &x.Facts, Sound: &x.sound, Catalog: x.View.Catalog, Inputs: &x.estimates,
	}
}

// cut leaves the first n attempts in the plan.
func (p *Pipeline) cut(x *Exchange, n int) {
	if n >= len(x.Plan) {
		return
	}
	x.Plan, x.attemptCosts = x.Plan[:n], x.attemptCosts[:n]
	x.mu.failures.Cut(n)
	p.setVariants(x)
}

// releaseLocked releases what the request can no longer cost: the share of attempts that
// failed without a charge and, once the number of attempts is known, of those never made.
func (x *Exchange) releaseLocked() {
	if len(x.attemptCosts) < 2 || x.mu.settled {
		return
	}
	possible := x.attemptCosts
	if x.mu.made > 0 {
		possible = possible[:x.mu.made]
	}
	var failed, answer money.Pico
	for i, s := range possible {
		if x.mu.failures.Of(i).Free() {
			continue
		}
		failed = money.Add(failed, s.Failed)
		answer = max(answer, s.Answered-s.Failed)
	}
	x.admission.Lower(money.Add(failed, answer))
}

// madeAll notes that Envoy has made n attempts and will make no more.
func (x *Exchange) madeAll(n int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.mu.made = n
	x.releaseLocked()
}
