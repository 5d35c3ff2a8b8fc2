package token

import (
	"context"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/modelgateway/modelgateway/cluster/cloud"
)

// counts are the fetches, by cloud and result.
type counts struct{ good, bad [3]atomic.Int64 }

func clouds() [3]cloud.Kind { return [3]cloud.Kind{cloud.AWS, cloud.Google, cloud.Azure} }

func (c *counts) add(of cloud.Kind, good bool) {
	for i, k := range clouds() {
		switch {
		case k != of:
		case good:
			c.good[i].Add(1)
		default:
			c.bad[i].Add(1)
		}
	}
}

// Measure makes the instruments of the tokens.
func (m *Manager) Measure(meter metric.Meter) error {
	_, err := meter.Int64ObservableCounter("gateway.cloud.token.fetches", metric.WithUnit("{fetch}"),
		metric.WithDescription("Fetches of tokens of clouds, by cloud and result."),
		metric.WithInt64Callback(func(_ context.Context, o metric.Int64Observer) error {
			for i, k := range clouds() {
				o.Observe(m.fetches.good[i].Load(), labels(k, "gateway.cloud.result", "success"))
				o.Observe(m.fetches.bad[i].Load(), labels(k, "gateway.cloud.result", "failure"))
			}
			return nil
		}))
	if err != nil {
		return err
	}
	_, err = meter.Int64ObservableGauge("gateway.cloud.deployments", metric.WithUnit("{deployment}"),
		metric.WithDescription("Deployments at clouds, by cloud and by whether they have a valid token. Those without one get no requests."),
		metric.WithInt64Callback(func(_ context.Context, o metric.Int64Observer) error {
			valid, missing := make(map[cloud.Kind]int64), make(map[cloud.Kind]int64)
			now := time.Now()
			for _, d := range *m.held.Load() {
				if _, ok := d.source.token(now); ok {
					valid[d.source.of.Of]++
				} else {
					missing[d.source.of.Of]++
				}
			}
			for _, k := range clouds() {
				o.Observe(valid[k], labels(k, "gateway.cloud.token", "valid"))
				o.Observe(missing[k], labels(k, "gateway.cloud.token", "missing"))
			}
			return nil
		}))
	return err
}

func labels(of cloud.Kind, name, value string) metric.ObserveOption {
	return metric.WithAttributes(attribute.String("gateway.cloud", string(of)), attribute.String(name, value))
}
