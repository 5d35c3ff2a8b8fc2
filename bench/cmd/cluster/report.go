package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"time"
)

// report is the list of measurements.
type report struct {
	figures []figure
	notes   []string
}

// figure has sorted durations and the target of their 99th percentile.
type figure struct {
	name  string
	times []time.Duration
	due   time.Duration
}

func (r *report) add(name string, times []time.Duration, due time.Duration) {
	r.figures = append(r.figures, figure{name, slices.Sorted(slices.Values(times)), due})
}

func (r *report) note(format string, args ...any) {
	r.notes = append(r.notes, fmt.Sprintf(format, args...))
}

// at returns the q quantile, for q above 0: the greatest duration if there are few.
func (f figure) at(q float64) time.Duration {
	if len(f.times) == 0 {
		return 0
	}
	return f.times[int(math.Ceil(q*float64(len(f.times))))-1]
}

// met compares the figure with its target.
func (f figure) met() string {
	switch {
	case len(f.times) == 0:
		return "not measured"
	case f.at(0.99) <= f.due:
		return "met"
	}
	return "missed"
}

// print prints a Markdown table.
func (r *report) print(w io.Writer) {
	fmt.Fprint(w, "\n| figure | n | p50 ms | p99 ms | most ms | p99 due ms | |\n|---|---|---|---|---|---|---|\n")
	ms := func(d time.Duration) string { return fmt.Sprintf("%.1f", float64(d.Microseconds())/1000) }
	for _, f := range r.figures {
		fmt.Fprintf(w, "| %s | %d | %s | %s | %s | %d | %s |\n",
			f.name, len(f.times), ms(f.at(0.5)), ms(f.at(0.99)), ms(f.at(1)), f.due.Milliseconds(), f.met())
	}
	fmt.Fprintln(w)
	for _, n := range r.notes {
		fmt.Fprintln(w, n)
	}
}

// hasOne reports whether a response of /key/list has exactly one key.
func hasOne(answer []byte) bool {
	var list struct {
		Keys  []any `json:"keys"`
		Total int   `json:"total_count"`
	}
	return json.Unmarshal(answer, &list) == nil && len(list.Keys) == 1 && list.Total == 1
}
