package metrics

import (
	"context"
	"slices"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/journal"
	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	"github.com/modelgateway/modelgateway/cluster/usage"
)

// Metrics are the pipeline's instruments. Names that begin with gen_ai are those of
// OpenTelemetry's semantic conventions for generative AI; the gateway's own begin with
// gateway. A nil *Metrics counts nothing.
// It is safe for concurrent use.
type Metrics struct {
	tokens   metric.Int64Histogram   // gen_ai.client.token.usage
	duration metric.Float64Histogram // gen_ai.client.operation.duration
	first    metric.Float64Histogram // gen_ai.server.time_to_first_token
	requests metric.Int64Counter     // gateway.requests
	refusals metric.Int64Counter     // gateway.requests.refused
	limited  metric.Int64Counter     // gateway.requests.limited
	local    metric.Int64Counter     // gateway.requests.local
	failures metric.Int64Counter     // gateway.attempts.failed
	capped   metric.Int64Counter     // gateway.usage.capped
	rejected metric.Int64Counter     // gateway.credentials.rejected
	cost     metric.Float64Counter   // gateway.cost_usd

	overhead metric.Float64Histogram // gateway.request.overhead

	models modelNames

	spending *spending
	findings *findings

	// labels caches the attribute sets of deployments and outcomes: creating one costs
	// more than recording with it. Bounded by deployments x outcomes x models in a
	// deployment's responses.
	labels sync.Map // labelKey → *labels
}

// Spent returns what an account has spent in its window.
type Spent func(ctx context.Context, account id.Account) (money.Pico, error)

// maxSpenders is the number of keys with series of their own; likewise of teams, users and
// organizations.
const maxSpenders = 1000

type labelKey struct {
	deployment id.Deployment
	outcome    usage.Outcome
	code       string
	model      string // as in the response
	operation  string
}

// Overhead has the labels of the time that the gateway spends on a request. The zero value has
// none.
type Overhead struct{ labels metric.MeasurementOption }

type labels struct {
	base, input, output metric.MeasurementOption
	whole, streamed     metric.MeasurementOption // of the overhead
}

// New makes the instruments on a meter.
func New(m metric.Meter, spent Spent) (*Metrics, error) {
	b := builder{meter: m}
	out := &Metrics{
		duration: b.seconds("gen_ai.client.operation.duration", "Time from a request's arrival to the end of its answer."),
		first:    b.seconds("gen_ai.server.time_to_first_token", "Time from a request's arrival to the first piece of its answer's text."),
		requests: b.counter("gateway.requests", "{request}", "Requests that were sent to a provider, by outcome."),
		refusals: b.counter("gateway.requests.refused", "{request}", "Requests that were refused before a provider was asked, by kind."),
		limited:  b.counter("gateway.requests.limited", "{request}", "Requests that a budget or a rate refused, by code."),
		local:    b.counter("gateway.requests.local", "{request}", "Requests that the gateway answered itself because no provider of the model could, by model."),
		failures: b.counter("gateway.attempts.failed", "{attempt}", "Attempts that failed and were followed by another."),
		capped:   b.counter("gateway.usage.capped", "{attempt}", "Attempts whose provider reported more usage than is possible."),
	}
	out.rejected = b.counter("gateway.credentials.rejected", "{attempt}", "Attempts whose credential the provider rejected, by deployment.")
	out.tokens = b.histogram("gen_ai.client.token.usage")
	out.cost = b.money("gateway.cost_usd", "Cost of all attempts, by list or configured prices.")
	out.overhead = b.histogram64("gateway.request.overhead", "Time that the gateway itself spent on a request; without waiting for its caller, for its provider, and without the time within Envoy.",
		0.0001, 0.00025, 0.0005, 0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.128, 0.256, 0.512, 1.024)
	out.findings = newFindings(&b)
	var err error
	out.spending, err = newSpending(m, spent)
	b.keep(err)
	return out, b.err
}

// Request is what an event does not say of its request.
type Request struct {
	// Group is the configured name: callers choose what a wildcard matches, and could create
	// any number of series.
	Group  id.ModelName
	Model  string // as Model returns it; empty if the response names none
	Start  time.Time
	Bounds []tenancy.Bound
}

// Settled counts a request that has ended, and returns what Took needs. OpenTelemetry records
// nothing in a context that is done, so ctx must not be.
func (m *Metrics) Settled(ctx context.Context, r Request, e *journal.Event) Overhead {
	if m == nil {
		return Overhead{}
	}
	l := m.label(r, e)
	m.requests.Add(ctx, 1, l.base)
	if e.UsageCapped {
		m.capped.Add(ctx, 1, l.base)
	}
	m.duration.Record(ctx, e.End.Sub(r.Start).Seconds(), l.base)
	if !e.FirstToken.IsZero() {
		m.first.Record(ctx, e.FirstToken.Sub(r.Start).Seconds(), l.base)
	}
	m.tokens.Record(ctx, e.Tokens.Input, l.input)
	m.tokens.Record(ctx, e.Tokens.Output, l.output)
	m.cost.Add(ctx, dollars(e.Cost), l.base)
	m.spending.add(r.Bounds, e)
	if e.Stream {
		return Overhead{l.streamed}
	}
	return Overhead{l.whole}
}

// Took records the time that the gateway spent on a settled request. Without labels it does
// nothing.
func (m *Metrics) Took(ctx context.Context, o Overhead, busy time.Duration) {
	if m == nil || o.labels == nil {
		return
	}
	m.overhead.Record(context.WithoutCancel(ctx), busy.Seconds(), o.labels)
}

// Failed counts an attempt that failed and was followed by another.
func (m *Metrics) Failed(ctx context.Context, r Request, e *journal.Event) {
	if m == nil {
		return
	}
	r.Model = ""
	l := m.label(r, e)
	m.failures.Add(ctx, 1, l.base)
	m.cost.Add(ctx, dollars(e.Cost), l.base)
	m.spending.add(r.Bounds, e)
}

// CredentialRejected counts an attempt whose credential the provider rejected.
func (m *Metrics) CredentialRejected(ctx context.Context, d *catalog.Deployment) {
	if m == nil {
		return
	}
	m.rejected.Add(ctx, 1, metric.WithAttributes(
		attribute.String("gen_ai.provider.name", d.Provider), attribute.String("gateway.deployment.id", string(d.ID))))
}

// Rejected counts a request that was not sent to a provider. limit is the code of the limit that
// rejected it; empty if none did.
func (m *Metrics) Rejected(ctx context.Context, kind fault.Kind, limit string) {
	if m == nil {
		return
	}
	m.refusals.Add(ctx, 1, metric.WithAttributes(attribute.String("error.type", kind.String())))
	if limit != "" {
		m.limited.Add(ctx, 1, metric.WithAttributes(attribute.String("gateway.code", limit)))
	}
}

// Local counts a request that the gateway answered itself. group is as in Request.
func (m *Metrics) Local(ctx context.Context, group id.ModelName) {
	if m != nil {
		m.local.Add(ctx, 1, metric.WithAttributes(attribute.String("gen_ai.request.model", string(group))))
	}
}

func (m *Metrics) label(r Request, e *journal.Event) *labels {
	name := "chat"
	if e.Passed != (usage.Passed{}) {
		name = e.CallType
	}
	key := labelKey{e.Deployment, e.Outcome, e.ErrorCode, r.Model, name}
	if l, ok := m.labels.Load(key); ok {
		return l.(*labels)
	}
	base := []attribute.KeyValue{
		attribute.String("gen_ai.operation.name", name),
		attribute.String("gen_ai.provider.name", e.Provider),
		attribute.String("gen_ai.request.model", string(r.Group)),
		attribute.String("gateway.deployment.id", string(e.Deployment)),
		attribute.String("gateway.outcome", e.Outcome.String()),
	}
	if e.ErrorCode != "" {
		base = append(base, attribute.String("error.type", e.ErrorCode))
	}
	if r.Model != "" {
		base = append(base, attribute.String("gen_ai.response.model", r.Model))
	}
	set := func(more ...attribute.KeyValue) metric.MeasurementOption {
		return metric.WithAttributeSet(attribute.NewSet(append(slices.Clip(base), more...)...))
	}
	of := func(stream bool) metric.MeasurementOption {
		return metric.WithAttributeSet(attribute.NewSet(
			attribute.String("gen_ai.request.model", string(r.Group)), attribute.Bool("gateway.stream", stream)))
	}
	l := &labels{
		base:   set(),
		input:  set(attribute.String("gen_ai.token.type", "input")),
		output: set(attribute.String("gen_ai.token.type", "output")),
		whole:  of(false), streamed: of(true),
	}
	m.labels.Store(key, l)
	return l
}

// dollars is for metrics only. Exact sums come from the journal.
func dollars(p money.Pico) float64 { return float64(p) / float64(money.USD) }

// builder makes instruments and keeps the first error.
type builder struct {
	meter metric.Meter
	err   error
}

func (b *builder) keep(err error) {
	if b.err == nil {
		b.err = err
	}
}

func (b *builder) seconds(name, text string) metric.Float64Histogram {
	// The buckets that the GenAI semantic conventions recommend.
	return b.histogram64(name, text, 0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92)
}

func (b *builder) histogram64(name, text string, bounds ...float64) metric.Float64Histogram {
	h, err := b.meter.Float64Histogram(name, metric.WithUnit("s"), metric.WithDescription(text), metric.WithExplicitBucketBoundaries(bounds...))
	b.keep(err)
	return h
}

func (b *builder) histogram(name string) metric.Int64Histogram {
	h, err := b.meter.Int64Histogram(name, metric.WithUnit("{token}"), metric.WithDescription("Tokens of a request, by type."),
		metric.WithExplicitBucketBoundaries(1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864))
	b.keep(err)
	return h
}

func (b *builder) counter(name, unit, text string) metric.Int64Counter {
	c, err := b.meter.Int64Counter(name, metric.WithUnit(unit), metric.WithDescription(text))
	b.keep(err)
	return c
}

func (b *builder) money(name, text string) metric.Float64Counter {
	c, err := b.meter.Float64Counter(name, metric.WithDescription(text))
	b.keep(err)
	return c
}
