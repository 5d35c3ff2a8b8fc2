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
// the estimate stays. It must be called once; further calls do nothing.
func (t Ticket) Done(now time.Time, tokens int64) {
	if t.taken == nil || t.taken.done.Swap(true) {
		return
	}
	t.taken.limiter.end(now, t.taken, tokens)
}
