package pipeline

import (
	"context"
	"log/slog"
	"time"

	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/extproc/admission"
	"github.com/modelgateway/modelgateway/extproc/estimate"
	"github.com/modelgateway/modelgateway/extproc/inbound"
	"github.com/modelgateway/modelgateway/extproc/message"
	"github.com/modelgateway/modelgateway/extproc/metering"
)

// Values of headerTokenCount: who has counted.
const (
	countedByProvider = "provider"
	countedByGateway  = "estimated"
)

// Local reports whether the gateway responds to the admitted request itself.
func (x *Exchange) Local() bool { return x.local }

// Respond ends a Local request with the gateway's own response: the number of tokens of its input.
// It counts as a request, costs nothing, and has no attempt, so the journal has no event of it.
func (p *Pipeline) Respond(ctx context.Context, x *Exchange) *message.Response {
	ask, err := x.op.Decode(x.withoutExtensions())
	if err != nil {
		return p.Reject(ctx, x, err)
	}
	n := metering.CountPrompt(p.deps.Tokens, estimate.Vocabulary(x.Group.Deployments[0]), ask)
	now := p.deps.Now()
	p.admission.Settle(&x.admission, now, admission.Used{})

	r := &message.Response{Status: 200, Body: x.op.Counted(n)}
	r.Set = append(x.appendIdentity(nil),
		message.Header{Name: headerContentType, Value: contentTypeJSON},
		message.Header{Name: headerTokenCount, Value: countedByGateway},
		message.Header{Name: headerModelGroup, Value: string(x.Group.Asked)},
		message.Header{Name: headerVersion, Value: p.deps.Settings.Version},
		costHeader(money.Pico(0)),
		durationHeader(now.Sub(x.Start)))
	if len(x.bounds) > 0 {
		r.Set = p.admission.AppendLimits(r.Set, &x.admission, x.bounds)
	}
	ctx = context.WithoutCancel(ctx)
	p.deps.Metrics.Local(ctx, x.Group.Name)
	p.logLocal(ctx, x, n, now)
	p.foundOnly(x, nil)
	return r
}

func (p *Pipeline) logLocal(ctx context.Context, x *Exchange, n int64, end time.Time) {
	p.deps.Logger.LogAttrs(ctx, slog.LevelInfo, "request answered by the gateway",
		slog.String("request_id", string(x.ID)),
		slog.String("key_alias", x.Principal.Alias),
		slog.String("model", inbound.TruncatedLabel(x.Facts.Model)),
		slog.String("call_type", x.op.CallType),
		slog.String("trace_id", x.Inbound.Trace.ID),
		slog.Int64("input_tokens", n),
		slog.Float64("duration_ms", float64(end.Sub(x.Start).Microseconds())/1000))
}
