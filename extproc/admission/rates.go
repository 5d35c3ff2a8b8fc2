package admission

import (
	"time"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/cluster/rate"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	"github.com/modelgateway/modelgateway/extproc/throttle"
)

// TakeRates counts a request against every rate that bounds it and that Check did not count it
// against. bounds are all of the request's.
func (c *Controller) TakeRates(r *Reservation, bounds []tenancy.Bound, demand Demand, now time.Time) error {
	if c.Rates == nil {
		return nil
	}
	var buckets []rate.Bucket
	var shares []throttle.Share
	for i := range bounds {
		b := &bounds[i]
		scale := c.scale(b, demand)
		if scale < 1 && b.RPM == nil {
			shares = append(shares, throttle.Share{Account: b.Account, Share: scale})
		}
		buckets = appendBuckets(buckets, b, scale)
	}
	if len(shares) > 0 {
		if !c.throttle.Pass(shares) {
			return throttled(shares[0].Account)
		}
		r.shares = shares
	}
	if len(buckets) == 0 {
		return nil
	}
	ticket, err := c.Rates.Take(now, buckets, demand.Tokens())
	if err != nil {
		return err
	}
	r.ticket = ticket
	return nil
}

// countRequest counts the request against the limits on requests that the headers decide.
func (c *Controller) countRequest(r *Reservation, bounds []tenancy.Bound, now time.Time) error {
	if c.Rates == nil {
		return nil
	}
	var buckets []rate.Bucket
	for i := range bounds {
		b := &bounds[i]
		if b.RPM != nil || b.Parallel != nil {
			buckets = appendRequests(buckets, b, c.scale(b, nil))
		}
	}
	if len(buckets) == 0 {
		return nil
	}
	place, err := c.Rates.Take(now, buckets, 0)
	if err != nil {
		return err
	}
	r.head = place
	return nil
}

// countedByCheck reports whether Check has counted the request at a bound. Bounds of a model
// and of an end user are known only when the body has been read.
func countedByCheck(b *tenancy.Bound) bool {
	return b.Model == "" && b.Account.Kind != id.AccountCustomer
}

// throttled returns the error of a request that throttling rejects.
func throttled(a id.Account) error {
	return &fault.Error{
		Kind: fault.RateLimited, Code: CodeRateLimited,
		Detail: "Throttled: " + accountNoun(a.Kind) + " is over its soft budget. Send fewer requests, or have the budget raised.",
	}
}

func appendBuckets(dst []rate.Bucket, b *tenancy.Bound, scale float64) []rate.Bucket {
	if !countedByCheck(b) {
		dst = appendRequests(dst, b, scale)
	}
	dst = appendBucket(dst, b, rate.TokensPerMinute, b.TPM, scale)
	return appendBucket(dst, b, rate.TokensPerDay, b.TPD, scale)
}

// appendRequests adds the limits on requests, for which the headers suffice.
func appendRequests(dst []rate.Bucket, b *tenancy.Bound, scale float64) []rate.Bucket {
	dst = appendBucket(dst, b, rate.RequestsPerMinute, b.RPM, scale)
	return appendBucket(dst, b, rate.Parallel, b.Parallel, scale)
}

func appendBucket(dst []rate.Bucket, b *tenancy.Bound, what rate.What, limit *uint32, scale float64) []rate.Bucket {
	if limit == nil {
		return dst
	}
	return append(dst, rate.Bucket{Account: b.Account, Model: b.Model, What: what, Limit: *limit, Scale: scale})
}

// scale returns the share of its rates that an account has: 1, except between its soft and its
// hard budget. A soft budget alone only warns. If the hard budget does not cover
// the request, the share is 1, so the budget rejects it: throttling would invite useless retries.
// demand is nil while only the headers are known.
func (c *Controller) scale(b *tenancy.Bound, demand Demand) float64 {
	if b.Soft == nil || b.Max == nil || c.ThrottleFactor == nil || c.Budgets == nil {
		return 1
	}
	factor := c.ThrottleFactor()
	if factor >= 1 {
		return 1
	}
	state, pending, known := c.Budgets.Spent(b.Account)
	spent := money.Add(state.Window, pending)
	if !known || spent < *b.Soft || spent >= *b.Max {
		return 1
	}
	if demand != nil && money.Add(spent, demand.MaxCost()) > *b.Max {
		return 1
	}
	return factor
}

// accountNoun names an account's kind in errors to callers. It names no account.
func accountNoun(k id.AccountKind) string {
	switch k {
	case id.AccountTeam, id.AccountTeamModel:
		return "the team of this API key"
	case id.AccountTeamMember:
		return "the user of this API key, as a member of its team,"
	case id.AccountOrganization, id.AccountOrganizationModel:
		return "the organization of this API key"
	case id.AccountOrganizationMember:
		return "the user of this API key, as a member of its organization,"
	case id.AccountUser, id.AccountUserModel:
		return "the user of this API key"
	case id.AccountCustomer:
		return "the end user of this request"
	case id.AccountKey, id.AccountKeyModel, id.AccountProvider:
	}
	return "this API key"
}
