package pipeline

import (
	"context"
	"log/slog"
	"strings"

	"github.com/modelgateway/modelgateway/cluster/credential"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/journal"
	"github.com/modelgateway/modelgateway/extproc/admission"
	"github.com/modelgateway/modelgateway/extproc/inbound"
)

// logRejected logs a request that was not sent to a provider, and records it if it was
// blocked.
func (p *Pipeline) logRejected(ctx context.Context, x *Exchange, e *fault.Error) {
	ctx = context.WithoutCancel(ctx)
	limit := ""
	switch code := codeOf(e); code {
	case admission.CodeBudgetExceeded, admission.CodeBudgetUnavailable, admission.CodeRateLimited, codePriceUnknown:
		limit = code
	}
	p.deps.Metrics.Rejected(ctx, e.Kind, limit)
	p.blocked(x, e)
	level := slog.LevelInfo
	if e.Kind == fault.Internal {
		level = slog.LevelError
	}
	p.deps.Logger.LogAttrs(ctx, level, "request refused",
		slog.String("request_id", string(x.ID)),
		slog.String("key_alias", x.Principal.Alias),
		slog.String("key_hash", x.keyHash()),
		slog.String("model", inbound.TruncatedLabel(x.Facts.Model)),
		slog.Int("status", e.HTTPStatus()),
		slog.String("client_address", x.Inbound.Address),
		slog.String("user_agent", truncatedForLog(x.Inbound.UserAgent)),
		slog.String("trace_id", x.Inbound.Trace.ID),
		slog.String("kind", e.Kind.String()),
		slog.String("code", e.Code),
		slog.String("param", e.Param),
		slog.Any("error", e.Err))
}

// logEnded logs a request that was dispatched. It is one line a request: the operator's
// access log, and therefore at info.
func (p *Pipeline) logEnded(ctx context.Context, x *Exchange, e *journal.Event) {
	if !p.deps.Logger.Enabled(ctx, slog.LevelInfo) {
		return
	}
	p.deps.Logger.LogAttrs(ctx, slog.LevelInfo, "request",
		slog.String("request_id", string(x.ID)),
		slog.String("key_alias", x.Principal.Alias),
		slog.String("model", string(e.Group)),
		slog.String("deployment", string(e.Deployment)),
		slog.String("outcome", e.Outcome.String()),
		slog.String("code", e.ErrorCode),
		slog.Int("status", e.ClientStatus),
		slog.Int("upstream_status", e.Status),
		slog.Bool("stream", e.Stream),
		slog.Int("retries", e.Steps.Retries),
		slog.Int("fallbacks", e.Steps.Fallbacks),
		slog.String("trace_id", x.Inbound.Trace.ID),
		slog.String("span_id", x.Inbound.Trace.Span),
		slog.Int64("input_tokens", e.Tokens.Input),
		slog.Int64("output_tokens", e.Tokens.Output),
		slog.String("cost_usd", e.Cost.String()),
		slog.Float64("duration_ms", float64(e.End.Sub(e.Start).Microseconds())/1000))
}

// keyHash returns the hash of the request's key, empty without one.
func (x *Exchange) keyHash() string {
	hash := x.Principal.Hash
	if hash == (id.KeyHash{}) {
		hash, _ = credential.HashOf(x.Inbound.Credentials)
	}
	if hash == (id.KeyHash{}) {
		return ""
	}
	return hash.String()
}

// maxUserAgent bounds a logged user agent, in bytes.
const maxUserAgent = 200

// truncatedForLog truncates a caller's text to maxUserAgent.
func truncatedForLog(s string) string {
	return strings.ToValidUTF8(s[:min(len(s), maxUserAgent)], "\uFFFD")
}
