//go:build linux && nightly

package e2e

import (
	"cmp"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestFlood sends 500 bodies of 64 MiB by one key and by twenty, complete ones and withheld
// ones. The memory of both processes is bounded, and no request of another tenant fails.
// The test logs the times of those requests next to the quiet ones: they depend on the
// machine.
func TestFlood(t *testing.T) {
	a := newAttacker(t)
	g := startGateway(t, models(newUpstream(t), "fast=openai/fake-gpt")+
		strings.TrimPrefix(models(&upstream{url: a.provider}, "bulk=openai/bulk"), "model_list:\n"))
	other := g.tenant(tree{})
	var keys []string
	for range 20 {
		keys = append(keys, g.tenant(tree{}))
	}
	quiet := g.watching(other, func() { <-time.After(10 * time.Second) })
	t.Logf("quiet: p50 %s, p99 %s of %d; gateway %d MiB, Envoy %d MiB", at(quiet.served, 50), at(quiet.served, 99), len(quiet.served), quiet.gateway>>20, quiet.envoy>>20)
	for _, order := range []attack{
		{Keys: keys[:1], Withhold: true},
		{Keys: keys, Withhold: true},
		{Keys: keys[:1]},
		{Keys: keys},
		{Keys: keys[:1], Chunked: true},
		{Keys: keys, Chunked: true},
	} {
		order.URL, order.Requests, order.Seconds = g.url, 500, 10
		var got attacked
		w := g.watching(other, func() { got = a.run(order) })
		t.Logf("%d keys, withheld %t, chunked %t: statuses %v; other tenant p50 %s, p99 %s (%.1f times the quiet one) of %d; gateway %d MiB, Envoy %d MiB",
			len(order.Keys), order.Withhold, order.Chunked, got.Statuses, at(w.served, 50), at(w.served, 99),
			float64(at(w.served, 99))/float64(at(quiet.served, 99)), len(w.served), w.gateway>>20, w.envoy>>20)
		// 500 bodies are 31 GiB, and three quarters of 512 MiB are for large ones. Each
		// process has some copies of a body for a moment.
		if most := int64(2 << 30); w.envoy > most || w.gateway > most {
			t.Errorf("the gateway has %d MiB, Envoy %d MiB", w.gateway>>20, w.envoy>>20)
		}
		// Bodies of undeclared length grow together until none has room to end.
		if !order.Withhold && !order.Chunked && got.Statuses[200] == 0 {
			t.Errorf("no body within the limits is served: %v", got.Statuses)
		}
		g.until("nothing is in flight", func() bool { return g.inFlight() == "0" })
	}
}

// at returns a percentile.
func at[T cmp.Ordered](of []T, percent int) T {
	sorted := slices.Sorted(slices.Values(of))
	return sorted[min(len(sorted)*percent/100, len(sorted)-1)]
}
