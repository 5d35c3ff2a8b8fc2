package extproc

import (
	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/cluster/price"
	"github.com/modelgateway/modelgateway/cluster/usage"
)

// attemptCost is the estimated cost of one attempt: what settle may charge for it.
type attemptCost struct {
	failed   money.Pico // if another attempt follows: a provider that timed out has read the input
	answered money.Pico // if it is the last: the input and the output
}

// attemptCosts has the estimates of a plan's attempts, in order.
type attemptCosts []attemptCost

// maxAttemptEstimate bounds the estimate of one attempt: a million dollars, far above any
// real cost, and far from where sums of it saturate.
const maxAttemptEstimate money.Pico = 1e18

// estimateCosts estimates the attempts of a plan.
func (x *Exchange) estimateCosts(plan []Attempt) attemptCosts {
	out := make(attemptCosts, len(plan))
	tier := x.tier()
	for i := range plan {
		d := plan[i].Deployment
		if i > 0 && d == plan[i-1].Deployment {
			out[i] = out[i-1]
			continue
		}
		t := usage.Tokens{Input: x.inputBound(d)}
		if d.MaxInputTokens > 0 {
			t.Input = min(t.Input, d.MaxInputTokens)
		}
		out[i].failed = costAtTier(d, t, tier)
		t.Output = x.roughOutput(d)
		out[i].answered = costAtTier(d, t, tier)
	}
	return out
}

// costAtTier returns what tokens cost at the tier that the caller requests, or at the standard
// one if that costs more: the provider may serve either.
func costAtTier(d *catalog.Deployment, t usage.Tokens, tier price.Tier) money.Pico {
	return min(max(d.Prices.Cost(t, tier), d.Prices.Cost(t, price.Standard)), maxAttemptEstimate)
}

// byAttempts returns for each n what a plan of the first n+1 attempts may cost: n failed
// ones, and the most expensive response. No element is smaller than the one before.
func (s attemptCosts) byAttempts() []money.Pico {
	out := make([]money.Pico, len(s))
	var failed, answer money.Pico
	for i := range s {
		failed = money.Add(failed, s[i].failed)
		answer = max(answer, s[i].answered-s[i].failed)
		out[i] = money.Add(failed, answer)
	}
	return out
}

// affordable returns how many attempts an amount pays for: at least one, since Reserve
// denies a request whose first attempt does not fit.
func affordable(costs []money.Pico, amount money.Pico) int {
	n := len(costs)
	for n > 1 && costs[n-1] > amount {
		n--
	}
	return n
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
	hold := x.admission.hold
	if hold == nil || len(x.attemptCosts) < 2 || x.mu.settled {
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
		failed = money.Add(failed, s.failed)
		answer = max(answer, s.answered-s.failed)
	}
	hold.Lower(money.Add(failed, answer))
}

// madeAll notes that Envoy has made n attempts and will make no more.
func (x *Exchange) madeAll(n int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.mu.made = n
	x.releaseLocked()
}
