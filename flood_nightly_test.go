//go:build linux && nightly

package main

import (
	"cmp"
	"slices"
	"testing"
	"time"
)

// 500 bodies of 64 MiB, by one key and by twenty, complete ones and ones that are
// withheld. The memory of both processes is bounded. The time of another tenant's
// requests is logged: it depends on the machine.
func TestFlood(t *testing.T) {
	g := startGateway(t, models(newUpstream(t), "fast=openai/fake-gpt"))
	other := g.tenant(tree{})
	var keys []string
	for range 20 {
		keys = append(keys, g.tenant(tree{}))
	}
	quiet := g.watching(other, func() { <-time.After(10 * time.Second) })
	t.Logf("quiet: p50 %s, p99 %s of %d; gateway %d MiB, Envoy %d MiB", at(quiet.served, 50), at(quiet.served, 99), len(quiet.served), quiet.gateway>>20, quiet.envoy>>20)
	for _, f := range []floods{
		{keys: keys[:1], requests: 500, withhold: true},
		{keys: keys, requests: 500, withhold: true},
		{keys: keys[:1], requests: 500},
		{keys: keys, requests: 500},
		{keys: keys, requests: 500, chunked: true},
	} {
		statuses := make(map[int]int)
		w := g.watching(other, func() {
			leave := make(chan struct{})
			timer := time.AfterFunc(10*time.Second, func() {
				if f.withhold {
					close(leave)
				}
			})
			defer timer.Stop()
			for _, r := range g.flood(f, leave) {
				statuses[r.status]++
			}
		})
		t.Logf("%d keys, withheld %t, chunked %t: statuses %v; other tenant p50 %s, p99 %s of %d; gateway %d MiB, Envoy %d MiB",
			len(f.keys), f.withhold, f.chunked, statuses, at(w.served, 50), at(w.served, 99), len(w.served), w.gateway>>20, w.envoy>>20)
		// 500 bodies are 31 GiB, and 512 MiB may be in flight. Each process has some
		// copies of a body for a moment.
		if most := int64(2560 << 20); w.envoy > most || w.gateway > most {
			t.Errorf("the gateway has %d MiB, Envoy %d MiB", w.gateway>>20, w.envoy>>20)
		}
		g.until("nothing is in flight", func() bool { return g.inFlight() == "0" })
	}
}

// at returns a percentile.
func at[T cmp.Ordered](of []T, percent int) T {
	sorted := slices.Sorted(slices.Values(of))
	return sorted[min(len(sorted)*percent/100, len(sorted)-1)]
}
