package pipeline

import (
	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/cluster/price"
	"github.com/modelgateway/modelgateway/cluster/usage"
	"github.com/modelgateway/modelgateway/extproc/estimate"
	"github.com/modelgateway/modelgateway/extproc/splice"
)

// inputBound returns an upper bound of the input's tokens for a deployment.
func (x *Exchange) inputBound(d *catalog.Deployment) int64 {
	return x.estimates.For(d, func(model string) int64 { return estimate.Bound(&x.Facts, x.op.Texts, model) })
}

// estimated returns what bounds the usage of the attempt that answered.
func (x *Exchange) estimated() estimate.Request {
	return estimate.Request{Body: x.Body, Facts: &x.Facts, Deployment: x.last().Deployment}
}

// estimateCosts estimates the attempts of a plan.
func (x *Exchange) estimateCosts(plan []Attempt) estimate.Costs {
	out := make(estimate.Costs, len(plan))
	if x.op.Free {
		return out
	}
	tier := x.tier()
	for i := range plan {
		d := plan[i].Deployment
		if i > 0 && d == plan[i-1].Deployment {
			out[i] = out[i-1]
			continue
		}
		t, _ := x.input(d, x.inputBound(d))
		if d.MaxInputTokens > 0 {
			t.Input = min(t.Input, d.MaxInputTokens)
		}
		out[i].Failed = estimate.AtTier(x.prices(d, &t), t, tier)
		x.expect(&t, d)
		out[i].Answered = estimate.AtTier(x.prices(d, &t), t, tier)
	}
	return out
}

// expect adds to the input what the response may use.
func (x *Exchange) expect(t *usage.Tokens, d *catalog.Deployment) {
	if x.op.Units != nil {
		units := x.op.Units(&x.Facts)
		units.Input = t.Input
		*t = units
	}
	if x.op.HasSound() {
		x.expectSound(t, d.Prices)
	}
	if x.op.Generates() {
		t.Output = estimate.Output(&x.Facts, d)
	}
}

// cut leaves the first n attempts in the plan.
func (p *Pipeline) cut(x *Exchange, n int) {
	if n >= len(x.Plan) {
		return
	}
	x.Plan, x.attemptCosts = x.Plan[:n], x.attemptCosts[:n]
	x.mu.failures = x.mu.failures[:n]
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
		if t := x.mu.failures[i]; t.known && (!t.Reached || t.Status >= 300) {
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

// prices returns the prices of a deployment for some usage. Pictures have a price by quality and
// size, unless the provider has reported tokens that have a price.
func (x *Exchange) prices(d *catalog.Deployment, t *usage.Tokens) *price.Prices {
	if !x.op.Draws() || t.Output > 0 && d.Prices.ByToken() {
		return d.Prices
	}
	quality, _ := x.Facts.Text(splice.PictureQuality) // of another type: its provider rejects it
	size, _ := x.Facts.Text(splice.PictureSize)
	return x.View.Catalog.PicturePrices(d, price.Picture{Quality: quality, Size: size})
}
