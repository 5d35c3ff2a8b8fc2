package pipeline

import (
	"context"

	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/extproc/estimate"
)

// admit reserves what the request may use of each rate and budget that bounds it, beyond
// what quota reserved. Rates come first: they are local and free to release, and a budget may
// need a request to the cluster. If the request is rejected, here or later, Reject releases
// every reservation, so a caller without budget does not also lose rate-limit quota.
func (p *Pipeline) admit(ctx context.Context, x *Exchange) error {
	if len(x.bounds) == 0 {
		return nil
	}
	if err := p.admission.TakeRates(&x.admission, x.bounds, demand{x}, x.Start); err != nil {
		return err
	}
	if x.local { // it costs nothing
		return nil
	}
	return p.reserve(ctx, x)
}

// bind finds the limits of the request. A model's limits apply to the operator's name for
// it, or to the requested name if that is a pattern. They apply to the model that an alias
// resolves to; otherwise an alias would bypass them. A limit that names an alias is a limit
// of the model behind it.
func (p *Pipeline) bind(x *Exchange) {
	x.Model = x.View.Catalog.Alias(x.Model)
	if !p.admission.Limits() {
		return
	}
	x.bounds = x.Principal.Bounds(x.bounds[:0], x.Options.Customer, x.Model, x.Start, x.View.Catalog)
}

// reserve reserves what the attempts of the plan may cost, and removes from the plan
// those that the budgets do not cover.
func (p *Pipeline) reserve(ctx context.Context, x *Exchange) error {
	accounts := p.admission.Accounts(x.bounds)
	if len(accounts) == 0 {
		return nil
	}
	x.attemptCosts = x.estimateCosts()
	costs := x.attemptCosts.ByAttempts()
	amount, err := p.admission.Reserve(ctx, &x.admission, accounts, costs)
	if err != nil {
		return err
	}
	p.cut(x, estimate.Affordable(costs, amount))
	return nil
}

// release releases what is reserved for a request that is not dispatched.
func (p *Pipeline) release(x *Exchange) {
	p.admission.Release(&x.admission, p.deps.Now())
	x.releaseSlot()
}

// demand estimates for the admission what a request may use.
type demand struct{ x *Exchange }

// Tokens estimates the request's tokens until it has ended: its input, and the output
// limit that the caller has set. It does not guess a missing output limit: a caller with a low
// rate limit would wait for tokens that almost nobody uses.
func (d demand) Tokens() int64 {
	x := d.x
	if x.local || x.op.Passes() {
		return 0
	}
	m := x.meter()
	n := m.Bound(x.Plan[0].Deployment)
	if x.op.Generates() {
		n += max(x.Facts.N, 1) * min(x.Facts.MaxTokens, estimate.MostOutput)
	}
	return n
}

// MaxCost is the estimate of one attempt, at the most expensive deployment of the plan.
func (d demand) MaxCost() money.Pico {
	var most money.Pico
	for _, s := range d.x.estimateCosts() {
		most = max(most, s.Answered)
	}
	return most
}
