package auditsink

import (
	"context"
	"math"
	"time"

	otelattribute "go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/modelgateway/modelgateway/cluster/delivery"
)

// Measure makes the instruments of the delivery on a meter, by place: how many records
// wait, since when it fails, and what was delivered and failed. Only the node that
// delivers to a place tells of it. Call it once, before Run.
func (d *Deliverer) Measure(m metric.Meter) error {
	waiting, err := m.Int64ObservableGauge("gateway.delivery.waiting", metric.WithUnit("{record}"),
		metric.WithDescription("Records that this node has yet to deliver to a place."))
	if err != nil {
		return err
	}
	failing, err := m.Float64ObservableGauge("gateway.delivery.failing", metric.WithUnit("s"),
		metric.WithDescription("Time since the delivery to a place began to fail; 0: it does not fail."))
	if err != nil {
		return err
	}
	delivered, err := m.Int64ObservableCounter("gateway.delivery.records", metric.WithUnit("{record}"),
		metric.WithDescription("Records that this node has delivered to a place."))
	if err != nil {
		return err
	}
	failures, err := m.Int64ObservableCounter("gateway.delivery.failures", metric.WithUnit("{attempt}"),
		metric.WithDescription("Attempts to deliver to a place that failed."))
	if err != nil {
		return err
	}
	_, err = m.RegisterCallback(func(ctx context.Context, o metric.Observer) error {
		head, err := d.source.Head(ctx)
		if err != nil {
			return err
		}
		for _, s := range d.Status() {
			place := metric.WithAttributes(otelattribute.String("place", string(s.Place)))
			o.ObserveInt64(delivered, int64(s.Delivered), place)
			o.ObserveInt64(failures, int64(s.Failures), place)
			if !s.Active {
				continue
			}
			waits := head + 1 - min(max(s.Next, 1), head+1)
			if s.Place == delivery.UsageTables {
				if waits, err = d.usage.Count(ctx, s.Next, math.MaxInt64); err != nil {
					return err
				}
			}
			o.ObserveInt64(waiting, int64(waits), place)
			since := time.Duration(0)
			if !s.Since.IsZero() {
				since = time.Since(s.Since)
			}
			o.ObserveFloat64(failing, since.Seconds(), place)
		}
		return nil
	}, waiting, failing, delivered, failures)
	return err
}
