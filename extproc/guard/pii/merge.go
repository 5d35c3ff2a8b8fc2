package pii

import (
	"context"
	"slices"
	"strings"

	"github.com/modelgateway/modelgateway/extproc/guard/engine"
	"github.com/modelgateway/modelgateway/extproc/texts"
)

// source is a scanner and what it has found that is not reported yet.
type source struct {
	engine.Scanner
	ahead   int              // how far it has decided, from where the merger has
	pending []engine.Finding // places are from there as well
}

// merger runs several scanners over the same text. It decides as far as all of them have, and not into a
// finding that is still to be compared with others.
type merger struct {
	sources []source
	scratch []engine.Finding
	split   bool // the last finding was reported in part
}

// newMerger returns a scanner for several; for one it is that one.
func newMerger(scanners []engine.Scanner) engine.Scanner {
	if len(scanners) == 1 {
		return scanners[0]
	}
	m := &merger{}
	for _, s := range scanners {
		m.sources = append(m.sources, source{Scanner: s})
	}
	return m
}

// Begin begins another text.
func (m *merger) Begin(kind texts.Kind, role texts.Role) {
	for i := range m.sources {
		s := &m.sources[i]
		s.Begin(kind, role)
		s.ahead, s.pending = 0, s.pending[:0]
	}
	m.split = false
}

// Fork returns a scanner for a text of the response.
func (m *merger) Fork() engine.Scanner {
	scanners := make([]engine.Scanner, len(m.sources))
	for i := range m.sources {
		scanners[i] = m.sources[i].Fork()
	}
	return newMerger(scanners)
}

// Reset forgets everything.
func (m *merger) Reset() {
	for i := range m.sources {
		s := &m.sources[i]
		s.Reset()
		s.ahead, s.pending = 0, s.pending[:0]
	}
	m.split = false
}

// Scan looks at text from at on with all scanners.
func (m *merger) Scan(ctx context.Context, text []byte, at int, end bool, found []engine.Finding) ([]engine.Finding, int, error) {
	decided := len(text)
	for i := range m.sources {
		s := &m.sources[i]
		n := len(s.pending)
		for j := range s.pending { // places in the text for this call
			s.pending[j].Start += at
			s.pending[j].End += at
		}
		all, to, err := s.Scan(ctx, text, at+s.ahead, end, s.pending)
		if err != nil {
			return found, at, err
		}
		s.pending, s.ahead = all, to-at
		if n > 0 && n < len(all) && all[n].Continues && all[n-1].End == all[n].Start { // one value for the comparison
			all[n-1].End = all[n].End
			s.pending = slices.Delete(all, n, n+1)
		}
		decided = min(decided, to)
	}
	decided = m.whole(text, decided)
	found = m.report(decided, found)
	for i := range m.sources {
		s := &m.sources[i]
		s.ahead -= decided - at
		for j := range s.pending {
			s.pending[j].Start -= decided
			s.pending[j].End -= decided
		}
	}
	return found, decided, nil
}

// whole returns the place before decided at which no pending finding is cut. A finding that is longer than what
// may be held back is cut anyway.
func (m *merger) whole(text []byte, decided int) int {
	to := decided
	for again := true; again; {
		again = false
		for i := range m.sources {
			for _, f := range m.sources[i].pending {
				if f.Start < to && f.End > to {
					to, again = f.Start, true
				}
			}
		}
	}
	if len(text)-to > engine.Ahead {
		return decided
	}
	return to
}

// report appends the findings before decided, of those that overlap the best, and drops them.
func (m *merger) report(decided int, found []engine.Finding) []engine.Finding {
	all := m.scratch[:0]
	for i := range m.sources {
		s := &m.sources[i]
		n := 0
		for n < len(s.pending) && s.pending[n].Start < decided {
			n++
		}
		all = append(all, s.pending[:n]...)
		s.pending = slices.Delete(s.pending, 0, n)
		if last := len(all) - 1; n > 0 && all[last].End > decided { // the rest comes with the next call
			rest := all[last]
			rest.Start, rest.Continues = decided, true
			all[last].End = decided
			s.pending = slices.Insert(s.pending, 0, rest)
		}
	}
	m.scratch = all
	slices.SortStableFunc(all, better)
	first := len(found)
next:
	for _, f := range all {
		for _, k := range found[first:] {
			if f.Start < k.End && k.Start < f.End {
				continue next
			}
		}
		found = append(found, f)
	}
	slices.SortFunc(found[first:], func(a, b engine.Finding) int { return a.Start - b.Start })
	return found
}

// better orders findings: what goes on, the longest, the highest score, the first by name.
func better(a, b engine.Finding) int {
	switch {
	case a.Continues != b.Continues:
		if a.Continues {
			return -1
		}
		return 1
	case a.End-a.Start != b.End-b.Start:
		return (b.End - b.Start) - (a.End - a.Start)
	case a.Score != b.Score:
		if a.Score > b.Score {
			return -1
		}
		return 1
	}
	return strings.Compare(a.Entity, b.Entity)
}

// filtered is a scanner of names of which some findings are left.
type filtered struct {
	engine.Scanner
	wanted    map[string]bool // nil means all
	threshold float32
	allow     allowList
}

// Fork returns a scanner for a text of the response.
func (f *filtered) Fork() engine.Scanner {
	g := *f
	g.Scanner = f.Scanner.Fork()
	return &g
}

// Scan leaves what is not wanted.
func (f *filtered) Scan(ctx context.Context, text []byte, at int, end bool, found []engine.Finding) ([]engine.Finding, int, error) {
	first := len(found)
	found, decided, err := f.Scanner.Scan(ctx, text, at, end, found)
	kept := found[:first]
	for _, one := range found[first:] {
		if (f.wanted == nil || f.wanted[one.Entity]) && one.Score >= f.threshold && !f.allow.has(text[one.Start:one.End]) {
			kept = append(kept, one)
		}
	}
	return kept, decided, err
}
