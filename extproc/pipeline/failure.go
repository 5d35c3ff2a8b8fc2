package pipeline

import (
	"context"
	"errors"
	"slices"

	"github.com/modelgateway/modelgateway/cluster/cooldown"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/envoy/contract"
	"github.com/modelgateway/modelgateway/extproc/attempt"
	"github.com/modelgateway/modelgateway/extproc/cause"
	"github.com/modelgateway/modelgateway/extproc/reply"
	"github.com/modelgateway/modelgateway/extproc/strategy"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// explain makes the error for the caller of a response that failed, or that a stage has
// stopped, and the outcome of the request.
func (p *Pipeline) explain(ctx context.Context, x *Exchange) error {
	r := &x.response
	if r.err == nil {
		r.fault = p.fail(ctx, x)
		r.outcome = outcomeOf(r.fault)
	} else {
		r.fault = p.unusable(x, r.err)
		r.outcome = outcomeOf(r.fault)
		r.outcome.Text = r.body
		if !r.inPieces {
			r.outcome.Bytes, r.outcome.Unread = int64(len(r.body)), true
		}
	}
	r.outcome.status, r.final = r.fault.HTTPStatus(), true
	return nil
}

// fail finds why the last attempt failed, and returns the caller's error.
func (p *Pipeline) fail(ctx context.Context, x *Exchange) *fault.Error {
	h := &x.response.head
	f := p.classify(x, h, x.response.body)
	last := x.lastIndex()
	t := attempt.Failure{Status: f.Status, Code: f.Reason(), Kind: f.Kind, Reached: h.Reached, RequestID: h.RequestID, Cause: cause.OfStatus(h.Status)}
	if h.Local {
		t.Cause, t.Detail = h.Cause, h.Detail
	}
	x.failureText(&t, last, f, nil)
	x.report(last, t)
	x.awaitEarlier(ctx)
	if h.Local && t.Cause == cause.ConnectFailed {
		x.awaitLog(ctx, last) // distinguishes a name without an address from other reasons
	}
	p.coolDown(x, x.lastIndex(), f)
	p.coolDownEarlier(x)
	switch {
	case x.withoutSlot():
		return strategy.AtLimit()
	case !f.Retryable && !f.CoolDown:
		return f.Fault() // the caller's error: every deployment would report it
	}
	return attempt.Exhausted(x.tried(), f, x.View.Catalog.Settings().RetryAfter)
}

// unusable returns the error for a good status without a valid response.
func (p *Pipeline) unusable(x *Exchange, err error) *fault.Error {
	if f, ok := errors.AsType[*wire.Failure](err); ok {
		x.reportBroken(f, nil)
		return f.Fault()
	}
	return p.broken(x, err)
}

// broken returns the error for a response that has a good status and cannot be read.
func (p *Pipeline) broken(x *Exchange, err error) *fault.Error {
	x.report(x.lastIndex(), attempt.Failure{
		Status: x.Status, Code: "upstream_invalid_response", Kind: fault.Upstream, Reached: true, Cause: cause.InvalidAnswer, RequestID: x.requestID,
	})
	p.coolDown(x, x.lastIndex(), &wire.Failure{Kind: fault.Upstream, Status: 502, CoolDown: true})
	return &fault.Error{
		Kind: fault.Upstream, Code: "upstream_invalid_response", Err: err,
		Detail: "The provider's answer could not be understood.",
	}
}

// brokeOff reports that the last attempt failed after a good status, and what the
// provider said of it. generated is the text that had come by then.
func (x *Exchange) reportBroken(f *wire.Failure, generated []byte) {
	t := attempt.Failure{Status: x.Status, Code: f.Reason(), Kind: f.Kind, Reached: true, Cause: cause.StreamError, RequestID: x.requestID}
	if f.Code == "upstream_invalid_response" {
		t.Cause = cause.InvalidAnswer
	}
	x.failureText(&t, x.lastIndex(), f, generated)
	x.report(x.lastIndex(), t)
}

// classify turns an error response into a Failure.
func (p *Pipeline) classify(x *Exchange, h *reply.Head, body []byte) *wire.Failure {
	if h.Status == contract.StatusNext {
		x.mu.Lock()
		defer x.mu.Unlock()
		return x.mu.failures.Of(x.lastIndex()).Checked()
	}
	if !h.Local {
		return x.last().Provider.Driver.Classify(h.Status, h.Value, body)
	}
	if x.withoutSlot() {
		e := strategy.AtLimit()
		return &wire.Failure{Kind: e.Kind, Code: e.Code, Message: e.Detail, RetryAfter: e.RetryAfter}
	}
	return attempt.Unanswered(h.Expired)
}

// withoutSlot reports whether the last attempt was not sent because its deployment was
// full; see acquireSlot.
func (x *Exchange) withoutSlot() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	t := x.mu.failures.Of(x.lastIndex())
	return t.Cause == cause.NotSent && t.Kind == fault.RateLimited
}

// codeOf returns the error code of an event: the code that the caller gets. It is never
// empty: an empty code means success.
func codeOf(e *fault.Error) string {
	if e.Code != "" {
		return e.Code
	}
	return e.Kind.Code()
}

// tried lists the attempts, for the caller.
func (x *Exchange) tried() []map[string]any {
	x.mu.Lock()
	defer x.mu.Unlock()
	out := make([]map[string]any, 0, x.lastIndex()+1)
	for i := range x.lastIndex() + 1 {
		out = append(out, x.mu.failures.Of(i).Tried(x.Plan[i].Deployment.ID))
	}
	return out
}

// coolDownEarlier records the failures of the attempts before the last one.
func (p *Pipeline) coolDownEarlier(x *Exchange) {
	x.mu.Lock()
	failed := slices.Clone(x.mu.failures.First(x.lastIndex()))
	x.mu.Unlock()
	for i := range failed {
		p.coolDownAfter(x, i, failed[i])
	}
}

// coolDownAfter is coolDown for an attempt that another one followed.
func (p *Pipeline) coolDownAfter(x *Exchange, i int, t attempt.Failure) {
	if t.Known && t.Kind != fault.Blocked && t.Kind != fault.Canceled {
		p.coolDown(x, i, &wire.Failure{Status: t.Status, Kind: t.Kind, RetryAfter: t.RetryAfter, CoolDown: true})
	}
}

// coolDown records a failure of attempt i, and puts its deployment into cooldown if another
// one can replace it.
func (p *Pipeline) coolDown(x *Exchange, i int, f *wire.Failure) {
	if !f.CoolDown || x.op.Passes() || x.lacksEndpoint(i, f.Status) || (!x.Alternatives() && len(x.Group.Deployments) == 1) {
		return
	}
	s := x.View.Catalog.Settings()
	d, reason := x.Plan[i].Deployment, attempt.CooldownReason(f.Status, f.Kind)
	if reason == cooldown.TimedOut && x.timeout().Shortens(d, s) {
		return // the caller chose a short timeout: one key must not make a model unavailable to all
	}
	p.deps.Cooldown.Fail(d.ID, cooldown.Failure{
		Reason: reason, RetryAfter: f.RetryAfter, Now: p.deps.Now(),
	}, cooldown.Policy{Time: s.CooldownTime, AllowedFails: s.AllowedFails, Disabled: s.DisableCooldowns})
}

// lacksEndpoint reports whether attempt i may have failed because its provider does not have the
// endpoint. That says nothing of the deployment's other requests: one caller must not make a model
// unavailable to all by asking for what its provider lacks. Only the endpoint of a provider's own
// chats is certain to be there.
func (x *Exchange) lacksEndpoint(i, status int) bool {
	return (status == 404 || status == 405) && (!x.endpoint(&x.Plan[i]).IsChat() || x.Plan[i].language == wire.Responses)
}

// failureOf converts a driver's error to a Failure.
func failureOf(err error) *wire.Failure {
	if f, ok := errors.AsType[*wire.Failure](err); ok {
		return f
	}
	return &wire.Failure{Kind: fault.Upstream, Code: "upstream_invalid_response", Message: "The provider's answer could not be understood.", Retryable: true, CoolDown: true}
}
