package metrics

import (
	"context"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/modelgateway/modelgateway/cluster/usage"
)

// Bounds of the series of findings. Guardrails come and go, and an engine may be a service that names
// what it finds.
const (
	maxFindings    = 1000 // sets of labels; further ones become otherFinding
	longestFinding = 128  // bytes of a label
	otherFinding   = "other"
)

// findings has the instruments of guardrails, and the labels of what they find. It is safe for concurrent use.
type findings struct {
	found metric.Int64Counter     // gateway.guardrail.findings
	took  metric.Float64Histogram // gateway.guardrail.duration

	mu struct {
		sync.Mutex
		labels map[usage.Violation]metric.MeasurementOption // by sort
	}
}

func newFindings(b *builder) *findings {
	f := &findings{
		found: b.counter("gateway.guardrail.findings", "{finding}", "What guardrails found in requests and responses, by guardrail, engine, entity, action and hook."),
		took: b.histogram64("gateway.guardrail.duration", "Time that the guardrails of a request took, by hook; of a stream the sum.",
			0.0001, 0.00025, 0.0005, 0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.128, 0.256, 0.512, 1.024),
	}
	f.mu.labels = make(map[usage.Violation]metric.MeasurementOption)
	return f
}

// Guarded counts what the guardrails of a request found.
func (m *Metrics) Guarded(ctx context.Context, found []usage.Violation) {
	if m == nil {
		return
	}
	ctx = context.WithoutCancel(ctx)
	for i := range found {
		m.findings.found.Add(ctx, found[i].Count, m.findings.label(&found[i]))
	}
}

// GuardrailsTook records the time that the guardrails of a hook took for a request.
func (m *Metrics) GuardrailsTook(ctx context.Context, hook string, stream bool, took time.Duration) {
	if m == nil {
		return
	}
	m.findings.took.Record(context.WithoutCancel(ctx), took.Seconds(),
		metric.WithAttributes(attribute.String("gateway.guardrail.hook", hook), attribute.Bool("gateway.stream", stream)))
}

// label returns the labels of a finding.
func (f *findings) label(v *usage.Violation) metric.MeasurementOption {
	sort := usage.Violation{
		Guardrail: finding(v.Guardrail), Engine: finding(v.Engine), Hook: finding(v.Hook), Entity: finding(v.Entity), Action: finding(v.Action),
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	l, ok := f.mu.labels[sort]
	if !ok && len(f.mu.labels) >= maxFindings-1 { // the last one is that of all others
		sort = usage.Violation{Guardrail: otherFinding, Engine: otherFinding, Hook: otherFinding, Entity: otherFinding, Action: otherFinding}
		l, ok = f.mu.labels[sort]
	}
	if !ok {
		l = metric.WithAttributeSet(attribute.NewSet(
			attribute.String("gateway.guardrail.name", sort.Guardrail), attribute.String("gateway.guardrail.engine", sort.Engine),
			attribute.String("gateway.guardrail.entity", sort.Entity), attribute.String("gateway.guardrail.action", sort.Action),
			attribute.String("gateway.guardrail.hook", sort.Hook)))
		f.mu.labels[sort] = l
	}
	return l
}

// finding returns a text that is fit for a label.
func finding(s string) string {
	if len(s) > longestFinding || !utf8.ValidString(s) || strings.ContainsFunc(s, unicode.IsControl) {
		return otherFinding
	}
	return s
}
