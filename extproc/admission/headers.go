package admission

import (
	"errors"
	"strconv"
	"time"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/lease"
	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/cluster/rate"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	"github.com/modelgateway/modelgateway/extproc/message"
)

// Headers that report limits to callers.
const (
	headerKeySpend     = "x-gateway-key-spend"
	headerKeyMaxBudget = "x-gateway-key-max-budget"
	headerBudgetReset  = "x-gateway-budget-reset-at"
)

// MostHeaders is the largest number of headers that AppendLimits adds.
const MostHeaders = 8

// AppendLimits adds to a successful response how much is left of the caller's tightest rates
// and, if its key has a budget, how much of it is spent. The cost of a stream is not included:
// it is unknown when the stream begins.
func (c *Controller) AppendLimits(dst []message.Header, r *Reservation, bounds []tenancy.Bound) []message.Header {
	requests, tokens := r.ticket.Tightest()
	place, _ := r.head.Tightest()
	requests = rate.Tighter(requests, place)
	dst = appendLevel(dst, "requests", requests)
	dst = appendLevel(dst, "tokens", tokens)
	for i := range bounds {
		b := &bounds[i]
		if b.Account.Kind != id.AccountKey || b.Parent != (id.KeyHash{}) || b.Max == nil || c.Budgets == nil {
			continue
		}
		dst = append(dst, message.Header{Name: headerKeyMaxBudget, Value: b.Max.String()})
		if state, pending, known := c.Budgets.Spent(b.Account); known {
			dst = append(dst, message.Header{Name: headerKeySpend, Value: money.Add(state.Window, pending).String()})
		}
	}
	return dst
}

// appendLevel adds the headers of one limit under OpenAI's names.
func appendLevel(dst []message.Header, of string, l rate.Level) []message.Header {
	if l.Limit == 0 {
		return dst
	}
	return append(dst,
		message.Header{Name: "x-ratelimit-limit-" + of, Value: strconv.FormatUint(uint64(l.Limit), 10)},
		message.Header{Name: "x-ratelimit-remaining-" + of, Value: strconv.FormatInt(max(l.Remaining, 0), 10)},
		message.Header{Name: "x-ratelimit-reset-" + of, Value: resetText(l.Reset)})
}

// resetText formats a time to wait as OpenAI does: 6m0s, 1.5s, 20ms.
func resetText(d time.Duration) string {
	return max(d+time.Millisecond-1, 0).Truncate(time.Millisecond).String()
}

// AppendExceeded adds to a rejection which limit the caller has reached.
func AppendExceeded(dst []message.Header, e *fault.Error) []message.Header {
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
