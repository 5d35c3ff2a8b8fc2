package estimate

import (
	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/cluster/price"
	"github.com/modelgateway/modelgateway/cluster/usage"
)

// Cost is the estimated cost of one attempt: what may be charged for it.
type Cost struct {
	Failed   money.Pico // if another attempt follows: a provider that timed out has read the input
	Answered money.Pico // if it is the last: the input and the output
}

// Costs has the estimates of a plan's attempts, in order.
type Costs []Cost

// maxCost bounds the estimate of one attempt: a million dollars, far above any
// real cost, and far from where sums of it saturate.
const maxCost money.Pico = 1e18

// AtTier returns what tokens cost at the tier that the caller requests, or at the standard
// one if that costs more: the provider may serve either.
func AtTier(p *price.Prices, t usage.Tokens, tier price.Tier) money.Pico {
	return min(max(p.Cost(t, tier), p.Cost(t, price.Standard)), maxCost)
}

// ByAttempts returns for each n what a plan of the first n+1 attempts may cost: n failed
// ones, and the most expensive response. No element is smaller than the one before.
func (s Costs) ByAttempts() []money.Pico {
	out := make([]money.Pico, len(s))
	var failed, answer money.Pico
	for i := range s {
		failed = money.Add(failed, s[i].Failed)
		answer = max(answer, s[i].Answered-s[i].Failed)
		out[i] = money.Add(failed, answer)
	}
	return out
}

// Affordable returns how many attempts an amount pays for: at least one, since Reserve
// denies a request whose first attempt does not fit.
func Affordable(costs []money.Pico, amount money.Pico) int {
	n := len(costs)
	for n > 1 && costs[n-1] > amount {
		n--
	}
	return n
}
