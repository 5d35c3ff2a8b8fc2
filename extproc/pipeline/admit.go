package pipeline

import (
	"context"
	"errors"
	"time"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/lease"
	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/cluster/rate"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	"github.com/modelgateway/modelgateway/extproc/estimate"
)

// Budgets reserves money before it is spent. *lease.Manager implements it.
type Budgets interface {
	// Reserve reserves the largest of the ascending amounts that all bounds allow, or
	// nothing, and returns why.
	Reserve(ctx context.Context, bounds []lease.Bound, amounts ...money.Pico) (*lease.Hold, error)
	// Check returns the error of Reserve if one of the bounds is exhausted. It reserves
	// nothing.
	Check(ctx context.Context, bounds []lease.Bound) error
	// Spent returns an account's state, and what this node has spent that the state
	// does not include yet.
	Spent(account id.Account) (state lease.State, pending money.Pico, known bool)
}

// Rates counts requests and tokens against their limits. *rate.Limiter implements it.
type Rates interface {
	Take(now time.Time, buckets []rate.Bucket, tokens int64) (rate.Ticket, error)
}

// admit reserves what the request may use of each rate and budget that bounds it, beyond
// what quota reserved. Rates come first: they are local and free to release, and a budget may
// need a request to the cluster. If the request is rejected, here or later, Reject releases
// every reservation, so a caller without budget does not also lose rate-limit quota.
func (p *Pipeline) admit(ctx context.Context, x *Exchange) error {
	if len(x.bounds) == 0 {
		return nil
	}
	if err := p.takeRates(x); err != nil {
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
	if p.deps.Budgets == nil && p.deps.Rates == nil {
		return
	}
	x.bounds = x.Principal.Bounds(x.bounds[:0], x.Options.Customer, x.Model, x.Start, x.View.Catalog)
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

// retryAfterNoReset is the Retry-After for a budget that never resets: somebody has to
// raise it.
const retryAfterNoReset = time.Hour

// reserve reserves what the attempts of the plan may cost, and removes from the plan
// those that the budgets do not cover.
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
	x.attemptCosts = x.estimateCosts(x.Plan)
	costs := x.attemptCosts.ByAttempts()
	hold, err := p.deps.Budgets.Reserve(ctx, bounds, costs...)
	if err != nil {
		return exhaustedBudget(err)
	}
	x.admission.reserved(hold)
	p.cut(x, estimate.Affordable(costs, hold.Amount()))
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

// exhaustedBudget tells SDKs not to retry before the budget resets, unless only other
// requests' reservations exhaust it.
func exhaustedBudget(err error) error {
	e, ok := errors.AsType[*fault.Error](err)
	if over, why := errors.AsType[*lease.Exceeded](err); !ok || e.Kind != fault.OverBudget || why && over.Held {
		return err
	}
	told := *e
	told.NoRetry = true
	if told.RetryAfter <= 0 {
		told.RetryAfter = retryAfterNoReset
	}
	return &told
}

// maxAttemptCost is the estimate of one attempt, at the most expensive deployment of the plan.
func (x *Exchange) maxAttemptCost() money.Pico {
	var most money.Pico
	for _, s := range x.estimateCosts(x.Plan) {
		most = max(most, s.Answered)
	}
	return most
}
