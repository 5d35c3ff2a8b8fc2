package admission

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/lease"
	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/cluster/rate"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	"github.com/modelgateway/modelgateway/extproc/throttle"
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

// Demand is what a request may use, estimated when it is needed.
type Demand interface {
	Tokens() int64       // input, and the output limit that the caller has set
	MaxCost() money.Pico // of one attempt, at the most expensive deployment
}

// Controller admits requests. Its exported fields do not change after the first request. It is
// safe for concurrent use: every part that changes has its own lock.
type Controller struct {
	Budgets Budgets // nil: no budget is enforced
	Rates   Rates   // nil: no rate is enforced
	// ThrottleFactor is the share of its rates that an account keeps between its soft and
	// its hard budget. 1, or nil: all of them.
	ThrottleFactor func() float64
	MaxParallel    int64 // requests in flight at this node; 0: no limit

	throttle throttle.Throttle
	inFlight atomic.Int64 // requests that Enter counts
}

// Codes of requests that are rejected for a budget or a rate.
const (
	CodeBudgetExceeded    = "budget_exceeded"
	CodeBudgetUnavailable = "budget_unavailable"
	CodeRateLimited       = "rate_limit_exceeded"
)

// Limits reports whether there are limits to enforce.
func (c *Controller) Limits() bool { return c.Budgets != nil || c.Rates != nil }

// Enter counts a request among those in flight at this node, unless there are as many as MaxParallel.
func (c *Controller) Enter(r *Reservation) bool {
	if c.MaxParallel <= 0 {
		return true
	}
	if c.inFlight.Add(1) > c.MaxParallel {
		c.inFlight.Add(-1)
		return false
	}
	r.counted = true
	return true
}

// InFlight returns the number of requests that count toward MaxParallel.
func (c *Controller) InFlight() int64 { return c.inFlight.Load() }

// uncount ends what Enter counted, once.
func (c *Controller) uncount(r *Reservation) {
	if r.counted {
		r.counted = false
		c.inFlight.Add(-1)
	}
}

// Check rejects a request if one of its budgets is exhausted, and counts it against the limits on
// requests that its headers determine. bounds are those that the headers determine.
func (c *Controller) Check(ctx context.Context, r *Reservation, bounds []tenancy.Bound, now time.Time) error {
	if err := c.checkBudgets(ctx, bounds); err != nil {
		return err
	}
	return c.countRequest(r, bounds, now)
}

// checkBudgets rejects the request if one of its budgets is exhausted.
func (c *Controller) checkBudgets(ctx context.Context, all []tenancy.Bound) error {
	if c.Budgets == nil {
		return nil
	}
	var bounds []lease.Bound
	for i := range all {
		if b := &all[i]; b.Max != nil {
			bounds = append(bounds, leaseBound(b))
		}
	}
	if len(bounds) == 0 {
		return nil
	}
	return exhaustedBudget(c.Budgets.Check(ctx, bounds))
}

// Budgeted reports whether a budget is among the bounds.
func (c *Controller) Budgeted(bounds []tenancy.Bound) bool {
	if c.Budgets == nil {
		return false
	}
	for i := range bounds {
		if bounds[i].Max != nil {
			return true
		}
	}
	return false
}

// Accounts returns the accounts whose spending Reserve reserves; none if no budget bounds the request.
func (c *Controller) Accounts(bounds []tenancy.Bound) []lease.Bound {
	if c.Budgets == nil {
		return nil
	}
	out := make([]lease.Bound, 0, len(bounds))
	for i := range bounds {
		if b := &bounds[i]; b.Max != nil || b.Soft != nil || b.Duration != "" {
			out = append(out, leaseBound(b))
		}
	}
	return out
}

// Reserve reserves the largest of the ascending amounts that all accounts allow, and returns it.
func (c *Controller) Reserve(ctx context.Context, r *Reservation, accounts []lease.Bound, amounts []money.Pico) (money.Pico, error) {
	hold, err := c.Budgets.Reserve(ctx, accounts, amounts...)
	if err != nil {
		return 0, exhaustedBudget(err)
	}
	r.reserved(hold)
	return hold.Amount(), nil
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

// retryAfterNoReset is the Retry-After for a budget that never resets: somebody has to
// raise it.
const retryAfterNoReset = time.Hour

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
