package metering

import (
	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/price"
	"github.com/modelgateway/modelgateway/cluster/usage"
	"github.com/modelgateway/modelgateway/extproc/estimate"
	"github.com/modelgateway/modelgateway/extproc/operation"
	"github.com/modelgateway/modelgateway/extproc/splice"
)

// Request is a request whose usage is found. It is read only, except for Inputs.
type Request struct {
	Operation *operation.Operation
	Body      []byte
	Facts     *splice.Request
	Sound     *Sound
	Catalog   *catalog.Catalog
	Inputs    *estimate.Input // estimates of the input that are used again
}

// Bound returns an upper bound of the input's tokens for a deployment.
func (r *Request) Bound(d *catalog.Deployment) int64 {
	return r.Inputs.For(d, func(model string) int64 { return estimate.Bound(r.Facts, r.Operation.Texts, model) })
}

// Costs estimates n attempts, each at a deployment.
func (r *Request) Costs(n int, at func(i int) *catalog.Deployment, tier price.Tier) estimate.Costs {
	out := make(estimate.Costs, n)
	if r.Operation.Free {
		return out
	}
	for i := range n {
		d := at(i)
		if i > 0 && d == at(i-1) {
			out[i] = out[i-1]
			continue
		}
		t, _ := r.Input(d, r.Bound(d))
		if d.MaxInputTokens > 0 {
			t.Input = min(t.Input, d.MaxInputTokens)
		}
		out[i].Failed = estimate.AtTier(r.Prices(d, &t), t, tier)
		r.expect(&t, d)
		out[i].Answered = estimate.AtTier(r.Prices(d, &t), t, tier)
	}
	return out
}

// expect adds to the input what the response may use.
func (r *Request) expect(t *usage.Tokens, d *catalog.Deployment) {
	if r.Operation.Units != nil {
		units := r.Operation.Units(r.Facts)
		units.Input = t.Input
		*t = units
	}
	if r.Operation.HasSound() {
		r.expectSound(t, d.Prices)
	}
	if r.Operation.Generates() {
		t.Output = estimate.Output(r.Facts, d)
	}
}

// Prices returns the prices of a deployment for some usage. Pictures have a price by quality and
// size, unless the provider has reported tokens that have a price.
func (r *Request) Prices(d *catalog.Deployment, t *usage.Tokens) *price.Prices {
	if !r.Operation.Draws() || t.Output > 0 && d.Prices.ByToken() {
		return d.Prices
	}
	quality, _ := r.Facts.Text(splice.PictureQuality) // of another type: its provider rejects it
	size, _ := r.Facts.Text(splice.PictureSize)
	return r.Catalog.PicturePrices(d, price.Picture{Quality: quality, Size: size})
}
