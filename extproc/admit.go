package extproc

import (
	"context"
	"errors"
	"time"

	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/lease"
	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/cluster/rate"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
)

// Budgets sets money aside before it is spent. *lease.Manager does.
type Budgets interface {
	// Reserve reserves the largest of the ascending amounts that all bounds allow, or
	// nothing and says why.
	Reserve(ctx context.Context, bounds []lease.Bound, amounts ...money.Pico) (*lease.Hold, error)
	// Check returns the error of Reserve if one of the bounds is exhausted. It reserves
	// nothing.
	Check(ctx context.Context, bounds []lease.Bound) error
	// Spent is what is known here of an account: its state, and what was spent at
	// this node and is not in the state yet.
	Spent(account id.Account) (state lease.State, pending money.Pico, known bool)
}

// Rates counts requests and tokens against their limits. *rate.Limiter does.
type Rates interface {
	Take(now time.Time, buckets []rate.Bucket, tokens int64) (rate.Ticket, error)
}

// admit takes what the request may use of every rate and every budget that bounds
// it, beyond what quota took. The rates come first, for they are this node's own and cost nothing to take
// back; a budget may have to ask the cluster. What a request has taken that is
// refused, here or later, requestBody gives back: all of it, so that who has no money
// left has not lost the requests too that it was refused.
func (p *Pipeline) admit(ctx context.Context, x *Exchange) error {
	if len(x.bounds) == 0 {
		return nil
	}
	if err := p.takeRates(x); err != nil {
		return err
	}
	return p.reserve(ctx, x)
}

// bind finds what bounds the request. A model is bounded by the name that the
// operator gave it, and where that is a pattern by what was asked for: to go by the
// caller's word for it would let an alias pass by the limits of what it stands for. A
// limit that names an alias is one of what that stands for.
func (p *Pipeline) bind(x *Exchange) {
	x.Model = x.View.Catalog.Alias(x.Model)
	if p.deps.Budgets == nil && p.deps.Rates == nil {
		return
	}
	x.bounds = x.Principal.Bounds(x.bounds[:0], x.Options.customer, x.Model, x.Start, x.View.Catalog)
}

// budgeted reports whether a budget bounds the request.
func (p *Pipeline) budgeted(x *Exchange) bool {
	if p.deps.Budgets == nil {
		return false
	}
	for i := range x.bounds {
		if x.bounds[i].Max != nil {
			return true
		}
	}
	return false
}

// hopeless is what a caller is told to wait for whose budget never begins anew:
// somebody has to raise it.
const hopeless = time.Hour

// reserve reserves what the attempts of the plan may cost, and leaves out of the plan
// those that the budgets do not pay for.
func (p *Pipeline) reserve(ctx context.Context, x *Exchange) error {
	if p.deps.Budgets == nil {
		return nil
	}
	bounds := make([]lease.Bound, 0, len(x.bounds))
	for i := range x.bounds {
		if b := &x.bounds[i]; b.Max != nil || b.Soft != nil || b.Duration != "" {
			bounds = append(bounds, leaseBound(b))
		}
	}
	if len(bounds) == 0 {
		return nil
	}
	x.stakes = x.stakesOf(x.Plan)
	costs := x.stakes.byAttempts()
	hold, err := p.deps.Budgets.Reserve(ctx, bounds, costs...)
	if err != nil {
		return exhaustedBudget(err)
	}
	x.admission.reserved(hold)
	p.cut(x, affordable(costs, hold.Amount()))
	return nil
}

func leaseBound(b *tenancy.Bound) lease.Bound {
	out := lease.Bound{Account: b.Account, Parent: b.Parent, Duration: b.Duration, Resets: b.Resets}
	if b.Max != nil {
		out.Max, out.Bounded = *b.Max, true
	}
	if b.Soft != nil {
		out.Soft = *b.Soft
	}
	return out
}

// exhaustedBudget tells SDKs that trying again by themselves is no use before the
// budget begins anew, unless it is only held by other requests.
func exhaustedBudget(err error) error {
	e, ok := errors.AsType[*fault.Error](err)
	if over, why := errors.AsType[*lease.Exceeded](err); !ok || e.Kind != fault.OverBudget || why && over.Held {
		return err
	}
	told := *e
	told.NoRetry = true
	if told.RetryAfter <= 0 {
		told.RetryAfter = hopeless
	}
	return &told
}

// What a request's output is taken for before it is made: as much as the caller
// allows, but not the whole of what a model could write. To set that aside would
// refuse requests for money that almost none of them spend.
const (
	usualOutput = 1024 // where the caller does not say
	mostOutput  = 4096
)

// mostCost is the estimate of one attempt, at the most expensive deployment of the plan.
func (x *Exchange) mostCost() money.Pico {
	var most money.Pico
	for _, s := range x.stakesOf(x.Plan) {
		most = max(most, s.answered)
	}
	return most
}

// roughOutput is what the output is taken for, all choices together.
func (x *Exchange) roughOutput(d *catalog.Deployment) int64 {
	each := int64(usualOutput)
	if x.Facts.MaxTokens > 0 {
		each = min(x.Facts.MaxTokens, mostOutput)
	}
	if d.MaxOutputTokens > 0 {
		each = min(each, d.MaxOutputTokens)
	}
	return max(x.Facts.N, 1) * each
}
