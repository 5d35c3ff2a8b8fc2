package main

import (
	"fmt"
	"io"
	"slices"
)

// The peers in the comparison.
const (
	ours  = "modelgateway"
	plain = "envoy"
	none  = "direct"
)

// figure is one of the project's targets for the cost of the gateway.
type figure struct {
	name string
	unit string
	due  float64 // upper limit
	aim  float64 // stricter goal; 0: none
	// of returns a value of each round that has one
	of func(t *table) []float64
}

// figureList is the table of targets. Costs are ratios of CPU time, of the whole process tree,
// within a round, normalized to the usual speed of the core, so that they are comparable
// between machines. Latencies are the difference to no gateway.
func figureList(syncMS float64) []figure {
	return []figure{
		{"1 KB chat: CPU against plain Envoy", "x", 6, 4.2, cpuRatio("s1")},
		{"50-chunk stream, 200 at once: CPU against plain Envoy", "x", 2.5, 1.8, cpuRatio("s3-200")},
		{"256 KB body: CPU against plain Envoy", "x", 12, 8, cpuRatio("s4-max")},
		{
			fmt.Sprintf("200 req/s, 50 ms provider: added p50 (due: 1.5 ms + one fsync of %.2f ms)", syncMS), "ms", 1.5 + syncMS, 0,
			added("s2-200", func(l line) *quantiles { return l.LatMS }, func(q *quantiles) float64 { return q.P50 }),
		},
		{
			"200 req/s, 50 ms provider: added p99", "ms", 8, 0,
			added("s2-200", func(l line) *quantiles { return l.LatMS }, func(q *quantiles) float64 { return q.P99 }),
		},
		{
			"200 streams: added time to the first token, p50", "ms", 1.5, 0,
			added("s3-200", func(l line) *quantiles { return l.TTFT }, func(q *quantiles) float64 { return q.P50 }),
		},
		{"memory with Envoy, at rest", "MB", 150, 0, memory("idle")},
		{"memory with Envoy, after load", "MB", 200, 0, memory("rss-after-s1")},
	}
}

// round finds a peer's result of a scenario in a round.
func (t *table) round(scenario, peer, round string) (line, bool) {
	for _, l := range t.lines[scenario][peer] {
		if l.Labels.Round == round && l.Skipped == "" {
			return l, true
		}
	}
	return line{}, false
}

// pairs calls f with our result of each round and the other peer's of the same round.
func (t *table) pairs(scenario, other string, f func(own, other line)) {
	for _, own := range t.lines[scenario][ours] {
		if own.Skipped != "" {
			continue
		}
		if l, ok := t.round(scenario, other, own.Labels.Round); ok {
			f(own, l)
		}
	}
}

func cpuRatio(scenario string) func(*table) []float64 {
	return func(t *table) []float64 {
		var out []float64
		t.pairs(scenario, plain, func(own, other line) {
			if own.Usage != nil && other.Usage != nil && own.Usage.PerReq > 0 && other.Usage.PerReq > 0 {
				out = append(out, own.Usage.PerReq/t.slow(own)/(other.Usage.PerReq/t.slow(other)))
			}
		})
		return out
	}
}

func added(scenario string, of func(line) *quantiles, pick func(*quantiles) float64) func(*table) []float64 {
	return func(t *table) []float64 {
		var out []float64
		t.pairs(scenario, none, func(own, other line) {
			if a, b := of(own), of(other); a != nil && b != nil {
				out = append(out, pick(a)-pick(b))
			}
		})
		return out
	}
}

func memory(scenario string) func(*table) []float64 {
	return func(t *table) []float64 {
		var out []float64
		for _, l := range t.lines[scenario][ours] {
			if l.RSS > 0 {
				out = append(out, l.RSS)
			}
		}
		return out
	}
}

// verdict compares a value with the target in words; the exit status never does.
func (f figure) verdict(v float64) string {
	switch {
	case v > f.due:
		return "over"
	case f.aim > 0 && v <= f.aim:
		return "aim reached"
	}
	return "within due"
}

// figures prints the table of targets with the measured values. It reports failed requests,
// because a cheap rejection is not a cheap response.
func (t *table) figures(w io.Writer) {
	var syncs []float64
	for _, l := range t.lines["fsync"]["disk"] {
		if l.Sync != nil {
			syncs = append(syncs, l.Sync.P50)
		}
	}
	fmt.Fprintf(w, "**Figures** (median of the rounds; least and greatest in brackets)\n\n| figure | measured | due | aim | |\n|---|---|---|---|---|\n")
	for _, f := range figureList(median(syncs)) {
		aim := "–"
		if f.aim > 0 {
			aim = fmt.Sprintf("≤ %.4g %s", f.aim, f.unit)
		}
		measured, verdict := "–", "not measured"
		if v := f.of(t); len(v) > 0 {
			measured = fmt.Sprintf("%.2f %s [%.2f–%.2f]", median(v), f.unit, slices.Min(v), slices.Max(v))
			verdict = f.verdict(median(v))
		}
		fmt.Fprintf(w, "| %s | %s | ≤ %.4g %s | %s | %s |\n", f.name, measured, f.due, f.unit, aim, verdict)
	}
	for scenario, byPeer := range t.lines {
		for peer, lines := range byPeer {
			for _, l := range lines {
				if l.Errors > 0 {
					fmt.Fprintf(w, "\n%s, %s, round %s: %d of %d requests failed; its figures mean little.\n", peer, scenario, l.Labels.Round, l.Errors, l.Requests)
				}
			}
		}
	}
}
