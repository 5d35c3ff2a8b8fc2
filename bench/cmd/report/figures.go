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

// enough is the number of requests in which Pebble compacts several times.
const enough = 100_000

// figure is one of the project's targets for the cost of the gateway.
type figure struct {
	name string
	unit string
	due  float64 // upper limit; of a rate, the least
	aim  float64 // stricter goal; 0: none
	rate bool    // more is better
	// of returns a value of each round that has one
	of func(t *table) []float64
}

// figureList is the table of targets. Costs are ratios of CPU time, of the whole process tree,
// within a round, normalized to the usual speed of the core, so that they are comparable
// between machines. Latencies are the difference to no gateway.
func figureList(syncMS float64) []figure {
	latency := func(l line) *quantiles { return l.LatMS }
	p50 := func(q *quantiles) float64 { return q.P50 }
	p99 := func(q *quantiles) float64 { return q.P99 }
	return []figure{
		{"1 KB chat, recorded and posted: CPU against plain Envoy", "x", 5.6, 4.6, false, cpuRatio("s1")},
		{"50-chunk stream, 200 at once: CPU against plain Envoy", "x", 2, 1.7, false, cpuRatio("s3-200")},
		{"256 KB body: CPU against plain Envoy", "x", 12, 8, false, cpuRatio("s4-max")},
		{fmt.Sprintf("200 req/s, 50 ms provider: added p50 (one fsync: %.2f ms)", syncMS), "ms", 1.3, 0.8, false, added("s2-200", latency, p50)},
		{"200 req/s, 50 ms provider: added p99", "ms", 4, 2.5, false, added("s2-200", latency, p99)},
		{"the same right after a burst of 30,000 requests: added p50", "ms", 1.3, 0.8, false, added("s2-200-burst", latency, p50)},
		{"the same right after a burst of 30,000 requests: added p99", "ms", 4, 2.5, false, added("s2-200-burst", latency, p99)},
		{"p99 after the burst above that without", "ms", 2, 0, false, afterBurst},
		{
			"200 streams: added time to the first token, p50", "ms", 1.5, 0, false,
			added("s3-200", func(l line) *quantiles { return l.TTFT }, p50),
		},
		{"1 KB message, spliced: CPU against chat", "x", 1.1, 0, false, costRatio("messages", "s1")},
		{"50-chunk stream from Anthropic's language, 200 at once: CPU against a spliced one", "x", 1.6, 0, false, costRatio("translated-200", "s3-200")},
		{"50-chunk stream with a guardrail for responses, 200 at once: CPU against one without", "x", 1.8, 0, false, costRatio("guarded-200", "s3-200")},
		{"chat with a prompt of 1 KB and five variables: CPU against chat", "x", 1.12, 0, false, costRatio("prompt", "s1")},
		{"transcription of 25 MB: memory above that at rest, of its body", "x", 3, 0, false, heldOfBody("transcription")},
		{"transcription of 25 MB: time against plain Envoy, p50", "x", 1.3, 0, false, timeRatio("transcription")},
		{"speech: added time to the first piece, p50", "ms", 3, 0, false, added("speech", func(l line) *quantiles { return l.TTFT }, p50)},
		{"embeddings of 1 KB on one core", "/s", 2000, 0, true, rate("embeddings")},
		{"memory with Envoy, at rest", "MB", 110, 90, false, memory("idle")},
		{"memory with Envoy, after load", "MB", 160, 130, false, memory("rss-after-s1")},
		{"disk: bytes a request", "B", 350, 250, false, diskPerRequest},
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
			if a, b := t.cost(own), t.cost(other); a > 0 && b > 0 {
				out = append(out, a/b)
			}
		})
		return out
	}
}

// costRatio returns the CPU time of a request of one scenario as a ratio to that of another of the
// same round, both ours.
func costRatio(scenario, to string) func(*table) []float64 {
	return func(t *table) []float64 {
		var out []float64
		for _, l := range t.lines[scenario][ours] {
			base, ok := t.round(to, ours, l.Labels.Round)
			if a, b := t.cost(l), t.cost(base); ok && a > 0 && b > 0 {
				out = append(out, a/b)
			}
		}
		return out
	}
}

func timeRatio(scenario string) func(*table) []float64 {
	return func(t *table) []float64 {
		var out []float64
		t.pairs(scenario, plain, func(own, other line) {
			if own.LatMS != nil && other.LatMS != nil && other.LatMS.P50 > 0 {
				out = append(out, own.LatMS.P50/other.LatMS.P50)
			}
		})
		return out
	}
}

// heldOfBody returns how often the memory that requests add at most holds the body of one.
func heldOfBody(scenario string) func(*table) []float64 {
	return func(t *table) []float64 {
		var out []float64
		for _, l := range t.lines[scenario][ours] {
			if held := l.held(); held > 0 {
				out = append(out, held*(1<<20)/float64(l.Size))
			}
		}
		return out
	}
}

// rate returns the requests a second at the usual speed of the core.
func rate(scenario string) func(*table) []float64 {
	return func(t *table) []float64 {
		var out []float64
		for _, l := range t.lines[scenario][ours] {
			if l.Requests > l.Errors {
				out = append(out, l.RPS*t.slow(l))
			}
		}
		return out
	}
}

// cost returns the CPU time of a request at the usual speed of the core, 0 if there is none. It
// includes what the gateway does after its responses, if that was measured.
func (t *table) cost(l line) float64 {
	switch {
	case l.Usage == nil:
		return 0
	case l.Usage.Whole != nil:
		return l.Usage.Whole.PerReq / t.slow(l)
	}
	return l.Usage.PerReq / t.slow(l)
}

// afterBurst returns how much greater the 99th percentile of the latency is after a burst.
func afterBurst(t *table) []float64 {
	var out []float64
	for _, l := range t.lines["s2-200-burst"][ours] {
		if quiet, ok := t.round("s2-200", ours, l.Labels.Round); ok && l.LatMS != nil && quiet.LatMS != nil {
			out = append(out, l.LatMS.P99-quiet.LatMS.P99)
		}
	}
	return out
}

func diskPerRequest(t *table) []float64 {
	var out []float64
	for _, l := range t.lines["disk"][ours] {
		if l.requests() > 0 {
			out = append(out, l.perRequest())
		}
	}
	return out
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
	case f.rate && v < f.due:
		return "under"
	case f.rate:
		return "within due"
	case v < -f.due: // a difference that no gateway can make
		return "noise"
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
		aim, limit := "–", "≤"
		if f.rate {
			limit = "≥"
		}
		if f.aim > 0 {
			aim = fmt.Sprintf("%s %.4g %s", limit, f.aim, f.unit)
		}
		measured, verdict := "–", "not measured"
		if v := f.of(t); len(v) > 0 {
			measured = fmt.Sprintf("%.2f %s [%.2f–%.2f]", median(v), f.unit, slices.Min(v), slices.Max(v))
			verdict = f.verdict(median(v))
		}
		fmt.Fprintf(w, "| %s | %s | %s %.4g %s | %s | %s |\n", f.name, measured, limit, f.due, f.unit, aim, verdict)
	}
	for scenario, byPeer := range t.lines {
		for peer, lines := range byPeer {
			for _, l := range lines {
				if l.Usage != nil && l.Usage.Whole != nil && !l.Usage.Whole.Quiet {
					fmt.Fprintf(w, "\n%s, %s, round %s: still at work %.0f s after the last request; its CPU is that until then.\n", peer, scenario, l.Labels.Round, l.Usage.Whole.QuietS)
				}
				if scenario == "s1" && l.Requests > 0 && l.Requests < enough {
					fmt.Fprintf(w, "\n%s, round %s: S1 made %d requests, too few for compactions to have their usual share.\n", peer, l.Labels.Round, l.Requests)
				}
				if l.Errors > 0 {
					fmt.Fprintf(w, "\n%s, %s, round %s: %d of %d requests failed; its figures mean little.\n", peer, scenario, l.Labels.Round, l.Errors, l.Requests)
				}
			}
		}
	}
}
