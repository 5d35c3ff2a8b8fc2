package pipeline

import (
	"context"
	"log/slog"
	"strings"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/journal"
	"github.com/modelgateway/modelgateway/cluster/rights"
	"github.com/modelgateway/modelgateway/cluster/usage"
	"github.com/modelgateway/modelgateway/extproc/attempt"
	"github.com/modelgateway/modelgateway/extproc/cause"
	"github.com/modelgateway/modelgateway/extproc/inbound"
	"github.com/modelgateway/modelgateway/extproc/message"
	"github.com/modelgateway/modelgateway/extproc/operation"
	"github.com/modelgateway/modelgateway/extproc/redact"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// failureText adds the provider's error of attempt i to t.
func (x *Exchange) failureText(t *attempt.Failure, i int, f *wire.Failure, generated []byte) {
	if x.op.Passes() { // what the caller has sent is not known, and must not be recorded
		unsaid := *f
		unsaid.ProviderMessage = ""
		f = &unsaid
	}
	t.SetProviderError(f, &redact.Attempt{Body: x.Facts.Document(), Model: x.Facts.Model, Generated: generated, Deployment: x.Plan[i].Deployment})
}

// failures returns why attempts failed: all but the last, and the last unless it
// succeeded or the caller disconnected.
func (x *Exchange) failures(all []attempt.Failure, last int, o *Outcome) []usage.Failure {
	var out []usage.Failure
	for i := range last {
		out = append(out, all[i].Record(i, x.Plan[i].Deployment))
	}
	if o.Kind != journal.Failed {
		return out
	}
	t := all[last]
	if t.Cause == "" {
		t.Cause = causeOfCode(o.Code)
	}
	if t.Status == 0 && t.Cause != cause.Reset {
		t.Status = x.Status
	}
	return append(out, t.Record(last, x.Plan[last].Deployment))
}

// causeOfCode returns the cause of a failure that only this package has detected.
func causeOfCode(code string) string {
	switch code {
	case operation.CodeCut:
		return cause.StreamCut
	case "upstream_invalid_response":
		return cause.InvalidAnswer
	case "content_filter":
		return cause.ContentFilter
	}
	return cause.StreamError
}

// logFailures logs each failed attempt of a request, and counts rejected credentials.
func (p *Pipeline) logFailures(ctx context.Context, x *Exchange, list []usage.Failure, all []attempt.Failure) {
	for i := range list {
		f := &list[i]
		a, t := &x.Plan[f.Attempt-1], &all[f.Attempt-1]
		attrs := []slog.Attr{
			slog.String("request_id", string(x.ID)),
			slog.Int("attempt", f.Attempt),
			slog.String("deployment", string(f.Deployment)),
			slog.String("model", string(x.Group.Name)),
			slog.String("provider", f.Provider),
			slog.Int("upstream_status", f.Status),
			slog.String("cause", f.Cause),
			slog.String("transport", t.Detail),
			slog.String("error_type", f.Type),
			slog.String("error_code", f.Code),
			slog.String("message", f.Message),
			slog.String("provider_request_id", f.RequestID),
		}
		if t.IsCredentialRejected() {
			p.deps.Metrics.CredentialRejected(ctx, a.Deployment)
			p.deps.Logger.LogAttrs(ctx, slog.LevelError, "attempt failed: the provider rejected the deployment's credential", attrs...)
			continue
		}
		p.deps.Logger.LogAttrs(ctx, slog.LevelWarn, "attempt failed", attrs...)
	}
}

// debug rejects x-gateway-debug from callers without permission to see everything: the header
// names deployments and has providers' messages.
func (p *Pipeline) debug(_ context.Context, x *Exchange) error {
	switch strings.ToLower(x.Inbound.Debug) {
	case "", "false", "0":
		x.Inbound.Debug = ""
		return nil
	case "true", "1":
	default:
		return fault.Field(inbound.HeaderDebug, "invalid_value", "The header %s must be true or false.", inbound.HeaderDebug)
	}
	if rights.Of(x.View.Keys, nil, x.Principal).SeesAll() {
		return nil
	}
	return &fault.Error{
		Kind: fault.Denied, Param: inbound.HeaderDebug,
		Detail: "This API key may not ask for " + inbound.HeaderDebug + ": it takes the master key or a key of a proxy_admin or proxy_admin_viewer. Leave the header out.",
	}
}

// appendDebug adds the header if the caller requested it: a JSON list, empty if no attempt
// failed. last is 1 if the last attempt failed, and 0 if it succeeded.
func (x *Exchange) appendDebug(dst []message.Header, last int) []message.Header {
	if x == nil || x.Inbound.Debug == "" || len(x.Plan) == 0 {
		return dst
	}
	x.mu.Lock()
	n := x.lastIndex() + last
	failures := make([]usage.Failure, 0, n)
	for i := range n {
		failures = append(failures, x.mu.failures.Of(i).Record(i, x.Plan[i].Deployment))
	}
	x.mu.Unlock()
	value, ok := attempt.Debug(failures)
	if !ok {
		return dst
	}
	return append(dst, message.Header{Name: inbound.HeaderDebug, Value: value})
}
