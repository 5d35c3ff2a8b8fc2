package evaluate

import (
	"context"
	"maps"
	"slices"

	"github.com/modelgateway/modelgateway/extproc/guard/engine"
	"github.com/modelgateway/modelgateway/extproc/texts"
)

// Count is how often an engine was right.
type Count struct {
	Found     int // spans that the engine found
	Right     int // of these, those that match a label
	Labelled  int // spans that are labelled
	Recovered int // of these, those that match a finding
}

// Precision returns the share of the findings that is right. It is 1 if there are none.
func (c Count) Precision() float64 { return share(c.Right, c.Found) }

// Recall returns the share of the labels that was found. It is 1 if there are none.
func (c Count) Recall() float64 { return share(c.Recovered, c.Labelled) }

// F1 returns the harmonic mean of precision and recall.
func (c Count) F1() float64 {
	p, r := c.Precision(), c.Recall()
	if p+r == 0 {
		return 0
	}
	return 2 * p * r / (p + r)
}

func share(part, all int) float64 {
	if all == 0 {
		return 1
	}
	return float64(part) / float64(all)
}

// Result is how well an engine finds one entity.
type Result struct {
	Entity string

	// With Overlap, a finding matches a label that it shares a byte with: what was masked has reached
	// the name. With Exact, both must have the same start and end.
	Overlap, Exact Count
}

// Miss is a difference between labels and findings.
type Miss struct {
	Text   string
	Span   Span
	Wanted bool // it is labelled, but was not found; otherwise it was found, but is not labelled
}

// Report is how well an engine does with a set.
type Report struct {
	Examples int
	Results  []Result // by entity, in order
	Misses   []Miss
}

// Result returns the result for an entity.
func (r *Report) Result(entity string) Result {
	for _, x := range r.Results {
		if x.Entity == entity {
			return x
		}
	}
	return Result{Entity: entity}
}

// Engine measures an engine with a set. Each example is a request of its own. Labels of entities that the
// set has and the engine never finds count as not found.
func Engine(ctx context.Context, e engine.Engine, set []Example) (*Report, error) {
	results := map[string]*Result{}
	report := &Report{Examples: len(set)}
	s := e.Scanner()
	var found []engine.Finding
	for i := range set {
		s.Reset()
		s.Begin(texts.Content, texts.User)
		var err error
		if found, _, err = s.Scan(ctx, []byte(set[i].Text), 0, true, found[:0]); err != nil {
			return nil, err
		}
		report.Misses = append(report.Misses, compare(&set[i], merged(found), results)...)
	}
	for _, name := range slices.Sorted(maps.Keys(results)) {
		report.Results = append(report.Results, *results[name])
	}
	return report, nil
}

// merged returns findings as spans, with those that continue as one.
func merged(found []engine.Finding) []Span {
	out := make([]Span, 0, len(found))
	for _, f := range found {
		if n := len(out); f.Continues && n > 0 {
			out[n-1].End = f.End
			continue
		}
		out = append(out, Span{Start: f.Start, End: f.End, Entity: f.Entity})
	}
	return out
}

func compare(e *Example, found []Span, results map[string]*Result) []Miss {
	var misses []Miss
	of := func(entity string) *Result {
		if results[entity] == nil {
			results[entity] = &Result{Entity: entity}
		}
		return results[entity]
	}
	for _, f := range found {
		r := of(f.Entity)
		r.Overlap.Found++
		r.Exact.Found++
		if overlaps(f, e.Spans) {
			r.Overlap.Right++
		} else {
			misses = append(misses, Miss{Text: e.Text, Span: f})
		}
		if slices.Contains(e.Spans, f) {
			r.Exact.Right++
			r.Exact.Recovered++
		}
	}
	for _, l := range e.Spans {
		r := of(l.Entity)
		r.Overlap.Labelled++
		r.Exact.Labelled++
		if overlaps(l, found) {
			r.Overlap.Recovered++
		} else {
			misses = append(misses, Miss{Text: e.Text, Span: l, Wanted: true})
		}
	}
	return misses
}

// overlaps reports whether a span of the same entity shares a byte with s.
func overlaps(s Span, spans []Span) bool {
	return slices.ContainsFunc(spans, func(o Span) bool { return o.Entity == s.Entity && o.Start < s.End && s.Start < o.End })
}
