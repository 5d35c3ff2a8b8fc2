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
	ahead   int       // how far it has decided, from where the merger has
	pending []pending // places are from there as well
}

// pending is a finding that is not reported, or not to its end.
type pending struct {
	engine.Finding
	size     int // how long it is, which decides between findings that overlap
	reported int // the end of what is reported; -1 for nothing
}

// merger runs several scanners over the same text. Each byte belongs to the best of the findings that have it, and
// what other findings have besides is masked as well. All findings that have a byte are known as soon as all
// scanners have decided about it, so the result does not depend on how a text is cut.
type merger struct {
	sources []source
	found   []engine.Finding // of one scanner
	all     []*pending
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
}

// ReadsLabels says that labels are part of contexts.
func (m *merger) ReadsLabels() {}

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
}

// Scan looks at text from at on with all scanners.
func (m *merger) Scan(ctx context.Context, text []byte, at int, end bool, found []engine.Finding) ([]engine.Finding, int, error) {
	decided := len(text)
	for i := range m.sources {
		s := &m.sources[i]
		all, to, err := s.Scan(ctx, text, at+s.ahead, end, m.found[:0])
		if err != nil {
			return found, at, err
		}
		s.ahead, m.found = to-at, all
		for j := range s.pending {
			s.pending[j].shift(at)
		}
		long, _ := s.Scanner.(*coreScanner)
		for _, f := range all {
			size := f.End - f.Start
			if f.Continues || long != nil && slices.Contains(long.opened, f.Start) {
				size = window
			}
			s.add(f, size)
		}
		decided = min(decided, to)
	}
	decided = m.whole(text, decided)
	found = m.report(decided, found)
	for i := range m.sources {
		s := &m.sources[i]
		s.ahead -= decided - at
		for j := range s.pending {
			s.pending[j].shift(-decided)
		}
	}
	return found, decided, nil
}

func (p *pending) shift(by int) {
	p.Start, p.End, p.reported = p.Start+by, p.End+by, p.reported+by
}

// add adds a finding. size is its length; that of one that fills its window, and may go on, is larger than all others.
func (s *source) add(f engine.Finding, size int) {
	if last := len(s.pending) - 1; f.Continues && last >= 0 && s.pending[last].End == f.Start {
		s.pending[last].End = f.End
		return
	}
	s.pending = append(s.pending, pending{f, min(size, window), -1 << 30})
}

// whole returns the place before decided at which no pending finding is cut; decided itself if too much would be
// held back.
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

// report appends what is found before decided, and drops what is reported to its end.
func (m *merger) report(decided int, found []engine.Finding) []engine.Finding {
	m.all = m.all[:0]
	for i := range m.sources {
		for j := range m.sources[i].pending {
			if f := &m.sources[i].pending[j]; f.Start < decided {
				m.all = append(m.all, f)
			}
		}
	}
	slices.SortStableFunc(m.all, func(a, b *pending) int { return a.Start - b.Start })
	for all := m.all; len(all) > 0; {
		n, end := 1, all[0].End
		for n < len(all) && all[n].Start < end { // it overlaps one before
			end = max(end, all[n].End)
			n++
		}
		found = share(all[:n], decided, found)
		all = all[n:]
	}
	for i := range m.sources {
		s := &m.sources[i]
		n := 0
		for n < len(s.pending) && s.pending[n].End <= decided {
			n++
		}
		s.pending = slices.Delete(s.pending, 0, n)
		if len(s.pending) > 0 && s.pending[0].Start < decided { // the rest comes later
			s.pending[0].Start, s.pending[0].Continues = decided, false
		}
	}
	return found
}

// share appends to found what is before decided of findings that overlap, or of one. Each byte goes to the best of
// those that have it.
func share(all []*pending, decided int, found []engine.Finding) []engine.Finding {
	slices.SortStableFunc(all, better)
	first := len(found)
	for _, f := range all {
		end := min(f.End, decided)
		for p := f.Start; p < end; {
			part := f.Finding
			part.Start, part.End = engine.Free(found[first:], p, end)
			if part.Start < part.End {
				part.Continues = f.Continues && part.Start == f.Start || f.reported == part.Start
				at, _ := slices.BinarySearchFunc(found[first:], part.Start, func(t engine.Finding, start int) int { return t.Start - start })
				found = slices.Insert(found, first+at, part)
				f.reported = part.End
			}
			p = part.End
		}
	}
	return found
}

// better orders findings: the longest, the highest score, the first by name.
func better(a, b *pending) int {
	switch {
	case a.size != b.size:
		return b.size - a.size
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
