package rate

import (
	"sync/atomic"
	"time"
)

// Level is the level of a bucket, for headers.
type Level struct {
	Limit     uint32
	Remaining int64
	Reset     time.Duration // until the bucket is empty, without further usage
}

// Ticket is a request that was taken from its buckets. The zero Ticket has no buckets.
type Ticket struct{ taken *taken }

// taken is the state that the end of a request corrects.
type taken struct {
	limiter  *Limiter
	done     atomic.Bool
	estimate int64
	requests Level
	tokens   Level
	open     []open
}

// Tightest returns the limits of requests and of tokens with the smallest remaining share,
// after this request. A Limit of 0 means that there is none.
func (t Ticket) Tightest() (requests, tokens Level) {
	if t.taken == nil {
		return Level{}, Level{}
	}
	return t.taken.requests, t.taken.tokens
}

// Done ends the request: it is no longer in flight, and the used tokens replace the estimate. A
// negative number means that the usage is unknown: the estimate stays. Exactly one of Done and
// Cancel must be called; further calls do nothing.
func (t Ticket) Done(now time.Time, tokens int64) {
	used := usage{requests: 1, tokens: tokens}
	if tokens < 0 && t.taken != nil {
		used.tokens = t.taken.estimate
	}
	t.end(now, used)
}

// Cancel undoes a request that was rejected by another check: it counts nowhere.
func (t Ticket) Cancel(now time.Time) { t.end(now, usage{}) }

func (t Ticket) end(now time.Time, used usage) {
	if t.taken == nil || t.taken.done.Swap(true) {
		return
	}
	t.taken.limiter.end(now, t.taken, used)
}
