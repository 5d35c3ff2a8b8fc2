package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"time"
)

// report is the list of measurements.
type report struct{ rows []row }

// row is one line of the table: a rate, a size or times.
type row struct {
	name      string
	n         int
	perSecond float64       // 0: the row has times
	each      time.Duration // of CPU time of the whole process
	bytes     float64       // 0: the row has no size
	sorted    []time.Duration
	aim       string
}

func (r *report) rate(name string, n int, s effort) {
	r.rows = append(r.rows, row{name: name, n: n, perSecond: float64(n) / s.time.Seconds(), each: s.cpu / time.Duration(n)})
}

// size adds the bytes that each of n requests takes.
func (r *report) size(name string, n int, bytes int64) {
	r.rows = append(r.rows, row{name: name, n: n, bytes: float64(bytes) / float64(n)})
}

func (r *report) times(name string, times []time.Duration, aim string) {
	r.rows = append(r.rows, row{name: name, n: len(times), sorted: sorted(times), aim: aim})
}

func sorted(times []time.Duration) []time.Duration { return slices.Sorted(slices.Values(times)) }

// at returns the q quantile of sorted times, for q above 0: the greatest if there are few.
func at(sorted []time.Duration, q float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[int(math.Ceil(q*float64(len(sorted))))-1]
}

func millis(d time.Duration) string { return fmt.Sprintf("%.2f", float64(d.Microseconds())/1000) }

// judged compares a quantile with its target.
func judged(times []time.Duration, q float64, due time.Duration) string {
	verdict := "missed"
	switch {
	case len(times) == 0:
		verdict = "not measured"
	case at(sorted(times), q) <= due:
		verdict = "met"
	}
	return fmt.Sprintf("p%.0f %s: %s", 100*q, millis(due), verdict)
}

// print prints a Markdown table.
func (r *report) print(w io.Writer) {
	fmt.Fprint(w, "\n| figure | n | a second | CPU µs each | bytes each | p50 ms | p99 ms | most ms | aim, ms |\n|---|---|---|---|---|---|---|---|---|\n")
	for _, f := range r.rows {
		switch {
		case f.perSecond > 0:
			fmt.Fprintf(w, "| %s | %d | %.0f | %.1f | | | | | |\n", f.name, f.n, f.perSecond, float64(f.each.Nanoseconds())/1000)
			continue
		case f.bytes > 0:
			fmt.Fprintf(w, "| %s | %d | | | %.0f | | | | |\n", f.name, f.n, f.bytes)
			continue
		}
		fmt.Fprintf(w, "| %s | %d | | | | %s | %s | %s | %s |\n", f.name, f.n, millis(at(f.sorted, 0.5)), millis(at(f.sorted, 0.99)), millis(at(f.sorted, 1)), f.aim)
	}
}
