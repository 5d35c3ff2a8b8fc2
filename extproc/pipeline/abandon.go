package pipeline

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/journal"
	"github.com/modelgateway/modelgateway/extproc/attempt"
	"github.com/modelgateway/modelgateway/extproc/cause"
	"github.com/modelgateway/modelgateway/extproc/operation"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

const (
	codeCanceled = "canceled" // the caller disconnected before the response
	statusLeft   = 499        // recorded if the caller disconnected before it got a status
)

// abandon settles an exchange whose stream ended before its response did: the
// caller disconnected, the provider broke off, or the attempt timed out.
//
// The attempt log says which, except for a timeout: Envoy notes that at the request alone. A
// caller that has no headers yet gets Envoy's own response, with the status recorded here.
// Nothing waits for the sync: the record is queued, and Run writes the queue even when
// it is stopped.
func (p *Pipeline) abandon(ctx context.Context, x *Exchange) {
	var o Outcome
	if r := x.response.relay; r != nil {
		o = r.outcome // received pieces count: whether the last one reached the caller is unknown
	}
	o.Kind, o.Code = journal.Canceled, codeCanceled
	sent := o.status // the caller has the headers; else 0
	if sent == 0 {
		o.status = statusLeft
	}
	late := x.overdue(p.deps.Now())
	if x.Tries == 0 && !x.ended() {
		x.Tries = x.made(context.WithoutCancel(ctx))
	}
	if x.Status != 0 && !x.ended() {
		i := x.lastIndex()
		x.AwaitFailures(context.WithoutCancel(ctx), i+1)
		switch x.brokenBy(i, late) { //nolint:exhaustive // any other kind: the caller disconnected
		case fault.Upstream:
			o.Kind, o.Code, o.status = journal.Failed, operation.CodeCut, cmp.Or(sent, http.StatusBadGateway)
		case fault.Timeout:
			o.Kind, o.Code, o.status = journal.Failed, "upstream_timeout", cmp.Or(sent, http.StatusGatewayTimeout)
			p.coolDown(x, i, &wire.Failure{Status: x.Status, Kind: fault.Timeout, CoolDown: true})
		}
	}
	p.settle(ctx, x, o)
}

// timerSlack is how much too early Envoy's timers may expire: its event loop reads the
// clock once per iteration.
const timerSlack = 50 * time.Millisecond

// overdue reports whether Envoy has ended the request because all attempts together
// took too long. If the caller disconnects at the same moment, the attempt log says so.
func (x *Exchange) overdue(now time.Time) bool {
	total := x.Total()
	return x.Status != 0 && total > 0 && now.Sub(x.Start) >= total-timerSlack
}

// brokenBy returns why attempt i, whose response had begun, did not end: Upstream,
// Timeout, or another kind if the caller disconnected.
func (x *Exchange) brokenBy(i int, late bool) fault.Kind {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.mu.settled {
		return fault.Canceled
	}
	t := x.mu.failures.Of(i)
	switch {
	case !t.Known && late:
		x.reportLocked(i, attempt.Failure{Status: x.Status, Code: "upstream_timeout", Kind: fault.Timeout, Reached: true, Cause: cause.TimeoutTotal, RequestID: x.requestID})
		return fault.Timeout
	case !t.Known:
		return fault.Canceled
	case t.Kind == fault.Upstream && t.Cause == cause.Unknown:
		t.Cause = cause.StreamCut
	}
	return t.Kind
}

// ended reports whether the exchange was settled.
func (x *Exchange) ended() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.mu.settled
}
