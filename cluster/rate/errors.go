package rate

import (
	"fmt"
	"strings"
	"time"

	"github.com/modelgateway/modelgateway/cluster/fault"
)

// codeExceeded is the code of every rejection.
const codeExceeded = "rate_limit_exceeded"

// Exceeded is the limit that a request would exceed. It is the cause of the *fault.Error of
// Take.
type Exceeded struct { //nolint:errname // it is as much a fact as an error
	Bucket Bucket
	Level                // Limit includes Bucket.Scale
	Wait   time.Duration // until the request would fit; 0 if it never will, or that is unknown
}

// Error implements error, for logs.
func (e *Exceeded) Error() string {
	return fmt.Sprintf("%s: %d %s, %d remaining", e.Bucket.Account.Kind, e.Limit, e.Bucket.What, e.Remaining)
}

// whose names the owner of a limit for callers with its key. It omits ids, which may belong to
// others.
func (e *Exceeded) whose() string {
	kind := strings.ReplaceAll(e.Bucket.Account.Kind.String(), "_", " ")
	if model, ok := strings.CutSuffix(kind, " model"); ok {
		return "this " + model + " and model"
	}
	return "this " + kind
}

// fault returns the rejection.
func (e *Exceeded) fault() *fault.Error {
	f := &fault.Error{
		Op: "rate", Kind: fault.RateLimited, Code: codeExceeded, RetryAfter: e.Wait, Err: e,
		Details: map[string]any{
			"scope": e.Bucket.Account.Kind.String(), "limit_type": e.Bucket.What.name(),
			"limit": e.Limit, "remaining": e.Remaining, "reset_seconds": int64(e.Reset.Round(time.Second) / time.Second),
		},
	}
	then := fmt.Sprintf("Try again in %s.", (e.Wait + time.Millisecond - 1).Truncate(time.Millisecond))
	switch {
	case e.Limit == 0:
		f.NoRetry, then = true, "It allows nothing; ask the gateway's administrator."
	case e.Bucket.What == Parallel:
		f.RetryAfter, then = time.Second, "Try again when one of them has ended."
	}
	f.Detail = fmt.Sprintf("The rate limit of %s is reached: %d %s, of which %d remain. %s", e.whose(), e.Limit, e.Bucket.What, e.Remaining, then)
	return f
}

// longerThan reports whether the wait for e is longer than the wait for o.
func (e *Exceeded) longerThan(o *Exceeded) bool {
	if (e.Limit == 0) != (o.Limit == 0) {
		return e.Limit == 0
	}
	return e.Wait > o.Wait
}
