package rate

import (
	"sync/atomic"
	"time"
)

// Level is how full a bucket is, for headers.
type Level struct {
	Limit     uint32
	Remaining int64
	Reset     time.Duration // until nothing counts any more if nothing more is taken
}

// Ticket is a request that was taken from its buckets. The zero Ticket is of none.
type Ticket struct{ taken *taken }

// taken is what a Ticket holds: what has to be put right at the end.
type taken struct {
	limiter  *Limiter
	done     atomic.Bool
	estimate int64
	requests Level
	tokens   Level
	open     []open
}

// Tightest returns the bounds on requests and on tokens of which the least is left, as
// share of the limit, after this request. One whose Limit is 0 is not there.
func (t Ticket) Tightest() (requests, tokens Level) {
	if t.taken == nil {
		return Level{}, Level{}
	}
	return t.taken.requests, t.taken.tokens
}

// Done ends the request: it is under way no more, and what it used of tokens counts in
// place of what was estimated. Less than 0 tokens says that nobody knows how many:
// the estimate stays. One of Done and Cancel must be called; further calls of either do
// nothing.
func (t Ticket) Done(now time.Time, tokens int64) {
	used := usage{requests: 1, tokens: tokens}
	if tokens < 0 && t.taken != nil {
		used.tokens = t.taken.estimate
	}
	t.end(now, used)
}

// Cancel ends a request that was refused after all: it counts nowhere, as if it had
// not been taken.
func (t Ticket) Cancel(now time.Time) { t.end(now, usage{}) }

func (t Ticket) end(now time.Time, used usage) {
	if t.taken == nil || t.taken.done.Swap(true) {
		return
	}
	t.taken.limiter.end(now, t.taken, used)
}
