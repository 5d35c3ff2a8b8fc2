package pipeline

import (
	"context"
	"time"

	"github.com/modelgateway/modelgateway/envoy/contract"
	"github.com/modelgateway/modelgateway/extproc/attempt"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/redact"
)

// logWait is how long a failed request waits for the attempt log's entries of its earlier
// attempts. Envoy sends the entries before the response, on another stream of the same
// connection, so they are there already, or within a scheduling quantum.
const logWait = 500 * time.Millisecond

// Logged records an entry of the attempt log. header returns the headers of the attempt's response.
func (x *Exchange) Logged(t attempt.Failure, header func(name string) string) {
	for _, name := range contract.ProviderIDHeaders() {
		if t.RequestID = redact.ID(header(name)); t.RequestID != "" {
			break
		}
	}
	if t.Status != 0 {
		t.RetryAfter = driver.RetryAfter(header)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.reportLocked(x.mu.failures.Logged(), t)
}

// Unlogged records that the attempt log broke off, as it does when Envoy dies.
func (x *Exchange) Unlogged() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.mu.failures.LoseLog()
}

// report records why attempt i (from 0) failed. The first report counts.
func (x *Exchange) report(i int, t attempt.Failure) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.reportLocked(i, t)
}

func (x *Exchange) reportLocked(i int, t attempt.Failure) {
	if !x.mu.settled && x.mu.failures.Report(i, t) { // settle reads them without the lock
		x.releaseLocked()
	}
}

// awaitEarlier waits, once, for the attempt log to report why earlier attempts failed.
func (x *Exchange) awaitEarlier(ctx context.Context) {
	if last := x.lastIndex(); last > 0 && !x.awaited {
		x.awaited = true
		x.AwaitFailures(ctx, last)
	}
}

// AwaitFailures waits until the first n attempts are accounted for.
func (x *Exchange) AwaitFailures(ctx context.Context, n int) {
	x.await(ctx, func(known *attempt.Failures) bool { return known.KnowsFirst(n) })
}

// awaitLog waits for the attempt log's entry of attempt i, from 0.
func (x *Exchange) awaitLog(ctx context.Context, i int) {
	x.await(ctx, func(known *attempt.Failures) bool { return known.HasEntry(i) })
}

// made returns how many attempts there were of a request whose caller disconnected before one
// answered. The log has an entry for the attempt under way, unless Envoy was between two.
func (x *Exchange) made(ctx context.Context) int {
	if len(x.Plan) > 1 {
		x.await(ctx, (*attempt.Failures).KnowsCanceled)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.mu.failures.Made(len(x.mu.intents), len(x.Plan))
}

// await waits until enough is known of the attempts, for logWait at most.
func (x *Exchange) await(ctx context.Context, enough func(*attempt.Failures) bool) {
	timer := time.NewTimer(logWait)
	defer timer.Stop()
	for {
		x.mu.Lock()
		changed, known := x.mu.failures.Changed(), enough(&x.mu.failures)
		x.mu.Unlock()
		if known {
			return
		}
		select {
		case <-changed:
		case <-timer.C:
			return
		case <-ctx.Done():
			return
		}
	}
}
