// Command report reads the JSON lines of run-peer.sh and prints Markdown tables: first the
// measured values with the project's targets, then a table for each scenario. A value is the
// median over the rounds and, in brackets, the minimum and the maximum. Latencies are
// differences to those of the peer named direct.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"
	"slices"
	"strings"
)

type quantiles struct{ P50, P90, P99, P999, SD float64 }

// line has the used fields of one scenario's result.
type line struct {
	Labels   struct{ Peer, Version, Scenario, Round string }
	Skipped  string
	Errors   int
	Requests int
	Size     int `json:"request_bytes"`
	RPS      float64
	Chunks   float64            `json:"chunks_per_s"`
	LatMS    *quantiles         `json:"latency_ms"`
	TTFT     *quantiles         `json:"ttft_ms"`
	Gap      *quantiles         `json:"gap_ms"`
	RSS      float64            `json:"rss_mb"`
	RSSBy    map[string]float64 `json:"rss_mb_by"` // by program
	PSS      float64            `json:"pss_mb"`
	StartS   float64            `json:"start_s"`
	Sync     *quantiles         `json:"sync_ms"` // of a synced append to the disk
	Profile  *profile
	Disk     *disk
	Usage    *struct {
		Cores   float64 `json:"gw_cores"`
		PerReq  float64 `json:"gw_cpu_us_per_req"`
		Foreign float64 `json:"foreign_cores"`
		Before  float64 `json:"gw_rss_before_mb"`
		Peak    float64 `json:"gw_rss_peak_mb"`
		Whole   *whole
		Speed   *struct {
			Median float64 `json:"median_us"`
		} `json:"core_speed"`
	}
}

// held returns the memory at most above that before the first request, in MB; 0: not measured.
func (l line) held() float64 {
	if l.Usage == nil || l.Usage.Peak == 0 || l.Size == 0 {
		return 0
	}
	return l.Usage.Peak - l.Usage.Before
}

// whole is the usage until the gateway had no more work after the requests.
type whole struct {
	Requests int
	PerReq   float64            `json:"gw_cpu_us_per_req"`
	By       map[string]float64 `json:"gw_cpu_us_per_req_by"`
	QuietS   float64            `json:"quiet_after_s"`
	Quiet    bool
}

type table struct {
	lines map[string]map[string][]line // by scenario, then by peer
	peers []string                     // in order of appearance
	speed float64                      // median of all probes
}

func read(path string) (*table, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	t := &table{lines: map[string]map[string][]line{}}
	var speeds []float64
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 1<<20)
	for n := 1; sc.Scan(); n++ {
		var l line
		if err := json.Unmarshal(sc.Bytes(), &l); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, n, err)
		}
		s, p := l.Labels.Scenario, l.Labels.Peer
		if t.lines[s] == nil {
			t.lines[s] = map[string][]line{}
		}
		t.lines[s][p] = append(t.lines[s][p], l)
		if l.Sync == nil && !slices.Contains(t.peers, p) {
			t.peers = append(t.peers, p)
		}
		if l.Usage != nil && l.Usage.Speed != nil {
			speeds = append(speeds, l.Usage.Speed.Median)
		}
	}
	t.speed = median(speeds)
	return t, sc.Err()
}

// slow returns how much slower than usual the gateway's core was.
func (t *table) slow(l line) float64 {
	if l.Usage == nil || l.Usage.Speed == nil || t.speed == 0 {
		return 1
	}
	return l.Usage.Speed.Median / t.speed
}

func median(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	v = slices.Sorted(slices.Values(v))
	if n := len(v); n%2 == 0 {
		return (v[n/2-1] + v[n/2]) / 2
	}
	return v[len(v)/2]
}

// column is a table column: a value of each result, false if there is none.
type column struct {
	name   string
	digits int
	added  bool // as the difference to direct's median
	of     func(line) (float64, bool)
}

func (t *table) value(scenario, peer string, c column) []float64 {
	var v []float64
	for _, l := range t.lines[scenario][peer] {
		if x, ok := c.of(l); ok && l.Skipped == "" {
			v = append(v, x)
		}
	}
	return v
}

func (t *table) cell(scenario, peer string, c column) string {
	v := t.value(scenario, peer, c)
	if len(v) == 0 {
		for _, l := range t.lines[scenario][peer] {
			if l.Skipped != "" {
				return "saturated"
			}
		}
		return "–"
	}
	base := 0.0
	if c.added && peer != "direct" {
		base = median(t.value(scenario, "direct", c))
	}
	f := func(x float64) string { return fmt.Sprintf("%.*f", c.digits, x-base) }
	out := f(median(v))
	if len(v) > 1 {
		out += fmt.Sprintf(" [%s–%s]", f(slices.Min(v)), f(slices.Max(v)))
	}
	return out
}

func (t *table) print(title, scenario string, cols []column) {
	if t.lines[scenario] == nil {
		return
	}
	fmt.Printf("\n**%s**\n\n| peer |", title)
	for _, c := range cols {
		fmt.Printf(" %s |", c.name)
	}
	fmt.Printf("\n|---|%s\n", strings.Repeat("---|", len(cols)))
	for _, p := range t.peers {
		fmt.Printf("| %s |", p)
		for _, c := range cols {
			fmt.Printf(" %s |", t.cell(scenario, p, c))
		}
		fmt.Println()
	}
}

func lat(q func(line) *quantiles, pick func(*quantiles) float64) func(line) (float64, bool) {
	return func(l line) (float64, bool) {
		if v := q(l); v != nil {
			return pick(v), true
		}
		return 0, false
	}
}

func usage(pick func(line) float64) func(line) (float64, bool) {
	return func(l line) (float64, bool) {
		if l.Usage == nil {
			return 0, false
		}
		return pick(l), true
	}
}

func main() {
	path := flag.String("in", "results/all.jsonl", "results")
	flag.Parse()
	t, err := read(*path)
	if err != nil {
		log.Fatal(err)
	}
	t.figures(os.Stdout)
	slow := t.slow
	latency := func(l line) *quantiles { return l.LatMS }
	ttft := func(l line) *quantiles { return l.TTFT }
	gap := func(l line) *quantiles { return l.Gap }
	p50 := func(q *quantiles) float64 { return q.P50 }
	p99 := func(q *quantiles) float64 { return q.P99 }
	p999 := func(q *quantiles) float64 { return q.P999 }
	sd := func(q *quantiles) float64 { return q.SD }
	ran := func(f func(line) float64) func(line) (float64, bool) {
		return func(l line) (float64, bool) { return f(l), l.Requests > 0 }
	}
	errs := column{"errors %", 2, false, ran(func(l line) float64 { return 100 * float64(l.Errors) / float64(l.Requests) })}
	perReq := func(unit float64) func(line) (float64, bool) {
		return usage(func(l line) float64 { return l.Usage.PerReq / slow(l) / unit })
	}
	cores := column{"gateway cores", 3, false, usage(func(l line) float64 { return l.Usage.Cores })}
	rps := column{"req/s", 0, false, ran(func(l line) float64 { return l.RPS })}
	rpsN := column{"req/s at usual core speed", 0, false, ran(func(l line) float64 { return l.RPS * slow(l) })}

	fmt.Printf("\nUsual core speed: %.0f µs for the probe's work.\n\nVersions:\n", t.speed)
	for _, p := range t.peers {
		for _, byPeer := range t.lines {
			if ls := byPeer[p]; len(ls) > 0 {
				fmt.Printf("- %s: %s\n", p, ls[0].Labels.Version)
				break
			}
		}
	}
	wholeOf := func(pick func(*whole) float64) func(line) (float64, bool) {
		return func(l line) (float64, bool) {
			if l.Usage == nil || l.Usage.Whole == nil {
				return 0, false
			}
			return pick(l.Usage.Whole), true
		}
	}
	for _, full := range [][2]string{
		{"S1: 1 KB, 0 ms upstream, closed loop, 32 connections", "s1"},
		{"Messages: as S1, from a caller to a provider in Anthropic's language", "messages"},
		{"Prompt: as S1, with a stored prompt of 1 KB and five variables", "prompt"},
	} {
		t.print(full[0], full[1], []column{
			rps, rpsN,
			{"requests", 0, false, ran(func(l line) float64 { return float64(l.Requests) })},
			{"CPU µs/req, same", 0, false, perReq(1)},
			{"with the work left, same", 0, false, func(l line) (float64, bool) { return t.cost(l), t.cost(l) > 0 }},
			{"done after s", 1, false, wholeOf(func(w *whole) float64 { return w.QuietS })},
			{"p50 ms", 2, false, lat(latency, p50)},
			{"p99 ms", 2, false, lat(latency, p99)},
			errs, cores,
		})
	}
	t.printParts(os.Stdout)
	for _, r := range []string{"20", "200", "200-burst", "1000"} {
		rate, after := strings.CutSuffix(r, "-burst")
		title := "S2: " + rate + " req/s open loop, 50 ms upstream"
		if after {
			title += ", for 20 s after a burst of 30,000 requests"
		}
		t.print(title+"; ms added to direct (direct itself: absolute)", "s2-"+r, []column{
			{"p50", 2, true, lat(latency, p50)},
			{"p99", 2, true, lat(latency, p99)},
			{"p99.9", 2, true, lat(latency, p999)},
			errs, cores,
		})
	}
	for _, n := range []string{"s3-5", "s3-20", "s3-200", "translated-200", "guarded-200"} {
		name, count, _ := strings.Cut(n, "-")
		title := "S3: "
		switch name {
		case "translated":
			title = "Translated from Anthropic's language: "
		case "guarded":
			title = "With a guardrail for responses that looks for all personal data: "
		}
		t.print(title+count+" concurrent streams, 50 chunks 20 ms apart, first after 20 ms (direct: absolute)", n, []column{
			{"TTFT added p50", 2, true, lat(ttft, p50)},
			{"TTFT added p99", 2, true, lat(ttft, p99)},
			{"gap p50", 2, false, lat(gap, p50)},
			{"gap p99", 2, false, lat(gap, p99)},
			{"gap sd", 2, false, lat(gap, sd)},
			{"stream added p50", 1, true, lat(latency, p50)},
			{"chunks/s", 0, false, ran(func(l line) float64 { return l.Chunks })},
			errs, cores,
			{"CPU ms/stream at usual speed", 1, false, perReq(1000)},
		})
	}
	t.print("S4: 256 KB requests, closed loop, 8 connections", "s4-max", []column{
		rps, rpsN,
		{"CPU ms/req, same", 2, false, perReq(1000)},
		{"p50 ms", 1, false, lat(latency, p50)},
		{"p99 ms", 1, false, lat(latency, p99)},
		errs, cores,
	})
	t.print("S4: 256 KB requests, 10/s open loop; ms added to direct (direct itself: absolute)", "s4-10", []column{
		{"p50", 2, true, lat(latency, p50)}, {"p99", 2, true, lat(latency, p99)}, errs, cores,
	})
	t.printOthers(rps, rpsN, perReq, errs, cores)
	memory := []column{
		{"RSS MB", 0, false, func(l line) (float64, bool) { return l.RSS, l.RSS > 0 }},
		{"PSS MB", 0, false, func(l line) (float64, bool) { return l.PSS, l.PSS > 0 }},
		{"start s", 1, false, func(l line) (float64, bool) { return l.StartS, l.RSS > 0 }},
	}
	for _, of := range []struct {
		name string
		is   func(program string) bool
	}{
		{"gateway RSS MB", func(p string) bool { return p != envoyProgram }},
		{"Envoy RSS MB", func(p string) bool { return p == envoyProgram }},
	} {
		memory = append(memory, column{of.name, 0, false, func(l line) (float64, bool) {
			sum := 0.0
			for program, mb := range l.RSSBy {
				if of.is(program) {
					sum += mb
				}
			}
			return sum, sum > 0
		}})
	}
	t.print("S5: idle", "idle", memory)
	t.print("S5: after S1", "rss-after-s1", memory)
	t.print("S6: disk, at the end", "disk", []column{
		{"requests", 0, false, func(l line) (float64, bool) { return float64(l.requests()), l.Disk != nil }},
		{"bytes/req, in tables", 0, false, func(l line) (float64, bool) { return l.perRequest(), l.Disk != nil }},
		{"all files MB", 0, false, func(l line) (float64, bool) { return l.megabytes(), l.Disk != nil }},
	})
	t.noise()
}

// noise reports how steady the machine was.
func (t *table) noise() {
	var speeds, foreign []float64
	for _, byPeer := range t.lines {
		for _, ls := range byPeer {
			for _, l := range ls {
				if l.Usage == nil {
					continue
				}
				foreign = append(foreign, l.Usage.Foreign)
				if l.Usage.Speed != nil {
					speeds = append(speeds, l.Usage.Speed.Median)
				}
			}
		}
	}
	if len(foreign) == 0 {
		return
	}
	slices.Sort(foreign)
	loud := 0
	for _, f := range foreign {
		if f > 0.25 {
			loud++
		}
	}
	fmt.Printf("\n**Noise** over %d measurements: other processes used %.2f cores (median; 90%%: %.2f, most: %.2f; more than a quarter core in %d). "+
		"Probe of the gateway's core: %.0f µs median, %.0f to %.0f.\n", len(foreign), median(foreign),
		foreign[len(foreign)*9/10], foreign[len(foreign)-1], loud, median(speeds), slices.Min(speeds), slices.Max(speeds))
}
