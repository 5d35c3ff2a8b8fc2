package extproc

import (
	"errors"
	"strconv"
	"time"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/lease"
	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/cluster/rate"
	"github.com/modelgateway/modelgateway/extproc/message"
)

// Headers that tell callers of their bounds.
const (
	headerKeySpend     = "x-gateway-key-spend"
	headerKeyMaxBudget = "x-gateway-key-max-budget"
	headerBudgetReset  = "x-gateway-budget-reset-at"
)

// limitHeaders is how many headers appendLimits adds at most.
const limitHeaders = 8

// appendLimits tells the caller of a good answer how much is left of the tightest
// rates that bound it, and, where its key has a budget, what was spent of it. A
// stream's own cost is not known when it begins, and not in there.
func (p *Pipeline) appendLimits(dst []message.Header, x *Exchange) []message.Header {
	requests, tokens := x.admission.ticket.Tightest()
	place, _ := x.admission.head.Tightest()
	requests = rate.Tighter(requests, place)
	dst = appendLevel(dst, "requests", requests)
	dst = appendLevel(dst, "tokens", tokens)
	for i := range x.bounds {
		b := &x.bounds[i]
		if b.Account.Kind != id.AccountKey || b.Parent != (id.KeyHash{}) || b.Max == nil || p.deps.Budgets == nil {
			continue
		}
		dst = append(dst, message.Header{Name: headerKeyMaxBudget, Value: b.Max.String()})
		if state, pending, known := p.deps.Budgets.Spent(b.Account); known {
			dst = append(dst, message.Header{Name: headerKeySpend, Value: money.Add(state.Window, pending).String()})
		}
	}
	return dst
}

// appendLevel adds the headers of one bound by the names that OpenAI gave them.
func appendLevel(dst []message.Header, of string, l rate.Level) []message.Header {
	if l.Limit == 0 {
		return dst
	}
	return append(dst,
		message.Header{Name: "x-ratelimit-limit-" + of, Value: strconv.FormatUint(uint64(l.Limit), 10)},
		message.Header{Name: "x-ratelimit-remaining-" + of, Value: strconv.FormatInt(max(l.Remaining, 0), 10)},
		message.Header{Name: "x-ratelimit-reset-" + of, Value: resetText(l.Reset)})
}

// resetText writes a time to wait as OpenAI does: 6m0s, 1.5s, 20ms.
func resetText(d time.Duration) string {
	return max(d+time.Millisecond-1, 0).Truncate(time.Millisecond).String()
}

// appendExceeded tells a caller that was refused which bound it has reached.
func appendExceeded(dst []message.Header, e *fault.Error) []message.Header {
	if over, ok := errors.AsType[*lease.Exceeded](e); ok && !over.Resets.IsZero() {
		dst = append(dst, message.Header{Name: headerBudgetReset, Value: over.Resets.UTC().Format(time.RFC3339)})
	}
	if over, ok := errors.AsType[*rate.Exceeded](e); ok {
		switch over.Bucket.What {
		case rate.TokensPerMinute, rate.TokensPerDay:
			dst = appendLevel(dst, "tokens", over.Level)
		case rate.RequestsPerMinute, rate.Parallel:
			dst = appendLevel(dst, "requests", over.Level)
		}
	}
	return dst
}
