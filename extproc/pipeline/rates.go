package pipeline

import (
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/cluster/rate"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	"github.com/modelgateway/modelgateway/extproc/estimate"
	"github.com/modelgateway/modelgateway/extproc/throttle"
)

// takeRates counts the request against every rate that bounds it and that quota did
// not count it against.
func (p *Pipeline) takeRates(x *Exchange) error {
	if p.deps.Rates == nil {
		return nil
	}
	var buckets []rate.Bucket
	var shares []throttle.Share
	for i := range x.bounds {
		b := &x.bounds[i]
		scale := p.scale(x, b)
		if scale < 1 && b.RPM == nil {
			shares = append(shares, throttle.Share{Account: b.Account, Share: scale})
		}
		buckets = appendBuckets(buckets, b, scale)
	}
	if len(shares) > 0 {
		if !p.throttle.Pass(shares) {
			return throttled(shares[0].Account)
		}
		x.admission.shares = shares
	}
	if len(buckets) == 0 {
		return nil
	}
	ticket, err := p.deps.Rates.Take(x.Start, buckets, x.roughTokens())
	if err != nil {
		return err
	}
	x.admission.ticket = ticket
	return nil
}

// throttled returns the error of a request that throttling rejects.
func throttled(a id.Account) error {
	return &fault.Error{
		Kind: fault.RateLimited, Code: codeRateLimited,
		Detail: "Throttled: " + accountNoun(a.Kind) + " is over its soft budget. Send fewer requests, or have the budget raised.",
	}
}

func appendBuckets(dst []rate.Bucket, b *tenancy.Bound, scale float64) []rate.Bucket {
	if !countedByQuota(b) {
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
func (p *Pipeline) scale(x *Exchange, b *tenancy.Bound) float64 {
	if b.Soft == nil || b.Max == nil || p.deps.ThrottleFactor == nil || p.deps.Budgets == nil {
		return 1
	}
	factor := p.deps.ThrottleFactor()
	if factor >= 1 {
		return 1
	}
	state, pending, known := p.deps.Budgets.Spent(b.Account)
	spent := money.Add(state.Window, pending)
	if !known || spent < *b.Soft || spent >= *b.Max || money.Add(spent, x.maxAttemptCost()) > *b.Max {
		return 1
	}
	return factor
}

// roughTokens estimates the request's tokens until it has ended: its input, and the output
// limit that the caller has set. It does not guess a missing output limit: a caller with a low
// rate limit would wait for tokens that almost nobody uses.
func (x *Exchange) roughTokens() int64 {
	if x.local {
		return 0
	}
	n := x.inputBound(x.Plan[0].Deployment)
	if x.op.Generates() {
		n += max(x.Facts.N, 1) * min(x.Facts.MaxTokens, estimate.MostOutput)
	}
	return n
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
