package extproc

import (
	"context"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	sdk "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/metrics"
	"github.com/modelgateway/modelgateway/extproc/pipeline"
)

// Dashboards depend on these names.
func TestMetrics(t *testing.T) {
	t.Parallel()
	reader := sdk.NewManualReader()
	provider := sdk.NewMeterProvider(sdk.WithReader(reader))
	instruments, err := metrics.New(provider.Meter("test"), nil)
	if err != nil {
		t.Fatal(err)
	}
	k := newKit(t, trio(), func(_ *kit, d *pipeline.Deps) { d.Metrics = instruments })
	good := k.open(t)
	taken(t, good, streaming())
	k.attempt(good.uuid, 1, 503, nil)
	c := streamAnswer()
	c.attempt, c.pieces = 2, []string{text("Hi") + stop() + reported() + done}
	good.answer(c)
	// A caller that leaves counts as well, although its context has ended.
	gone := k.open(t)
	taken(t, gone, hello)
	gone.quit()
	refused := k.open(t)
	refused.ask("{")
	refused.close()
	blocked := newKit(t, one(), bounded(budget(1)), func(_ *kit, d *pipeline.Deps) {
		d.Metrics, d.Budgets = instruments, broke{&fault.Error{Kind: fault.OverBudget, Code: "budget_exceeded"}}
	}).open(t)
	blocked.ask(hello)
	blocked.close()

	var all metricdata.ResourceMetrics
	if err := reader.Collect(context.Background(), &all); err != nil {
		t.Fatal(err)
	}
	got := make(map[string]int64)
	for _, m := range all.ScopeMetrics[0].Metrics {
		switch data := m.Data.(type) {
		case metricdata.Sum[int64]:
			for _, p := range data.DataPoints {
				got[m.Name] += p.Value
			}
		case metricdata.Histogram[int64]:
			for _, p := range data.DataPoints {
				got[m.Name] += int64(p.Count)
			}
		case metricdata.Histogram[float64]:
			for _, p := range data.DataPoints {
				got[m.Name] += int64(p.Count)
				if !slices.IsSorted(p.Bounds) || len(p.Bounds) != 14 {
					t.Errorf("%s has the buckets %v", m.Name, p.Bounds)
				}
			}
		case metricdata.Sum[float64]:
			for _, p := range data.DataPoints {
				got[m.Name] += int64(p.Value*1e6 + 0.5) // millionths of a dollar
			}
		}
	}
	want := map[string]int64{
		"gen_ai.client.token.usage":         4, // in and out, twice
		"gen_ai.client.operation.duration":  2,
		"gen_ai.server.time_to_first_token": 1,
		"gateway.requests":                  2,
		"gateway.requests.refused":          2,
		"gateway.requests.limited":          1,
		"gateway.attempts.failed":           1,
		"gateway.cost_usd":                  39 + 8,
		"gateway.request.overhead":          2,
		"gateway.key.cost_usd":              39 + 8,
		"gateway.key.tokens":                20,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("metrics (-want +got):\n%s", diff)
	}
}
