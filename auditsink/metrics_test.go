package auditsink_test

import (
	"testing"
	"testing/synctest"
	"time"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

// What an operator sees of a receiver that is away, and then of one that is back.
func TestMetricsOfAReceiverThatIsAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.to.set(true)
		d, stop := b.start(b.config())
		defer stop()
		reader := sdkmetric.NewManualReader()
		if err := d.Measure(sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)).Meter("test")); err != nil {
			t.Fatal(err)
		}
		b.log.add(7)
		time.Sleep(time.Hour)
		seen := measured(t, reader)
		if seen["gateway.delivery.waiting"] != 7 || seen["gateway.delivery.failing"] < 3500 || seen["gateway.delivery.failures"] == 0 || seen["gateway.delivery.records"] != 0 {
			t.Errorf("while it is away: %v", seen)
		}
		b.to.set(false)
		time.Sleep(time.Hour)
		seen = measured(t, reader)
		if seen["gateway.delivery.waiting"] != 0 || seen["gateway.delivery.failing"] != 0 || seen["gateway.delivery.records"] != 7 {
			t.Errorf("when it is back: %v", seen)
		}
	})
}

// measured is what the instruments tell of the webhook.
func measured(t *testing.T, from *sdkmetric.ManualReader) map[string]float64 {
	t.Helper()
	var all metricdata.ResourceMetrics
	if err := from.Collect(t.Context(), &all); err != nil {
		t.Fatal(err)
	}
	out := map[string]float64{}
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			switch data := m.Data.(type) {
			case metricdata.Gauge[int64]:
				out[m.Name] = float64(data.DataPoints[0].Value)
			case metricdata.Gauge[float64]:
				out[m.Name] = data.DataPoints[0].Value
			case metricdata.Sum[int64]:
				out[m.Name] = float64(data.DataPoints[0].Value)
			}
		}
	}
	return out
}
