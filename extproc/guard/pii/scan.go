package pii

import (
	"context"
	"unicode/utf8"

	"github.com/modelgateway/modelgateway/extproc/guard/engine"
	"github.com/modelgateway/modelgateway/extproc/texts"
)

// core is what the scanners of an engine share. It never changes.
type core struct {
	threshold float32
	class     *classes
	table     *table
	phones    *phones
	allow     allowList
}

func newCore(wanted map[string]bool, threshold float32, phones *phones, allow allowList) *core {
	return &core{threshold: threshold, class: newClasses(), table: newTable(wanted, threshold), phones: phones, allow: allow}
}

// coreScanner finds what the table knows.
type coreScanner struct {
	c *core

	// open is the entity of a value that is longer than a window and goes on; 0 for none.
	open   entity
	opened []int // the places at which such values begin that Scan has found

	// Scratch of a chunk.
	text   []byte  // what Scan was given
	end    bool    // nothing follows
	base   int     // where the chunk begins in it
	v      []byte  // its normal form
	m      []int32 // places of v's bytes in the chunk; nil if they are the same
	dated  bool    // the chunk has the name of a month
	full   bool    // the chunk fills the window, and may go on
	toks   []token
	found  []candidate
	ctx    contextAt
	form   []byte
	places []int32

	compact [48]byte // letters and digits of a candidate; here so that it is not allocated
}

// Begin begins another text.
func (s *coreScanner) Begin(texts.Kind, texts.Role) { s.open = 0 }

// ReadsLabels says that labels are part of contexts.
func (s *coreScanner) ReadsLabels() {}

// Fork returns a scanner for a text of the response.
func (s *coreScanner) Fork() engine.Scanner { return &coreScanner{c: s.c} }

// Reset forgets everything.
func (s *coreScanner) Reset() { s.open, s.text = 0, nil }

// Scan finds what is in text from at on.
func (s *coreScanner) Scan(_ context.Context, text []byte, at int, end bool, found []engine.Finding) ([]engine.Finding, int, error) {
	p := at
	s.text, s.end, s.opened = text, end, s.opened[:0]
	if s.open != 0 {
		found, p = s.goOn(p, found)
	}
	first := len(found)
	for p < len(text) {
		start, step := s.next(p)
		p = start
		if step == hold {
			break
		}
		if step == plain {
			continue
		}
		var ok bool
		if found, p, ok = s.chunk(p, found); !ok {
			break
		}
		if s.open == 0 {
			continue
		}
		s.opened = append(s.opened, found[len(found)-1].Start)
		found, p = s.goOn(p, found)
		if last := len(found) - 1; last > first && found[last].Continues && found[last-1].End == found[last].Start {
			found[last-1].End = found[last].End
			found = found[:last]
		}
	}
	s.text = nil
	return found, p, nil
}

// What next found.
const (
	plain = iota // nothing yet
	hold         // more of the text is needed
	look         // the beginning of a chunk to look at
)

// next skips what holds nothing. It returns where to go on, and what is there.
func (s *coreScanner) next(p int) (int, int) {
	class, text := s.c.class, s.text
	for p < len(text) {
		switch class[text[p]] {
		case ends:
			p++
			continue
		case opening:
			if p+1 == len(text) && !s.end {
				return p, hold
			}
			if p+1 < len(text) && (isDigit(text[p+1]) || text[p+1] == '+' || text[p+1] >= utf8.RuneSelf) {
				return p, look
			}
			p++
			continue
		case high:
			if !utf8.FullRune(text[p:]) && !s.end {
				return p, hold
			}
			if r, size := utf8.DecodeRune(text[p:]); kindOf(r) == apart {
				p += size
				continue
			}
		}
		q, step := s.run(p)
		if step != plain {
			return p, step
		}
		if q-p >= window && q < len(text) { // too long for a run; the rest is one of its own
			return p + half(text[p:]), plain
		}
		p = q
	}
	return p, plain
}

// half returns where the first half of a window ends, between two characters.
func half(text []byte) int {
	n := window / 2
	for !utf8.RuneStart(text[n]) && n > window/2-utf8.UTFMax {
		n--
	}
	return n
}

// run reads the run at p. step is plain if it holds nothing, and then q is its end.
func (s *coreScanner) run(p int) (q, step int) {
	class, text := s.c.class, s.text
	most := min(p+window, len(text))
	for q = p; q < most; {
		switch class[text[q]] {
		case letter:
			q++
		case connector:
			q++
		case digit, at:
			return q, look
		case point:
			if q+1 == len(text) && !s.end {
				return q, hold
			}
			q++
			if q < len(text) && (text[q] == '/' || isAlnum(text[q]) || text[q] >= utf8.RuneSelf) {
				return q, look
			}
		case high:
			if !utf8.FullRune(text[q:]) && !s.end {
				return q, hold
			}
			r, size := utf8.DecodeRune(text[q:])
			switch kindOf(r) {
			case special:
				return q, look
			case apart:
				return q, s.leads(p, q)
			}
			q += size
		default:
			return q, s.leads(p, q)
		}
	}
	if q == len(text) && !s.end {
		return q, hold
	}
	return q, plain
}

// leads says whether the run from p to q, which has ended, begins a chunk with what follows: the name of a
// month, or the letters with which some numbers begin.
func (s *coreScanner) leads(p, q int) int {
	text := s.text
	word := trimPoint(text[p:q])
	initials := len(word) > 0 && len(word) <= 2 && isUpper(word[0]) && isUpper(word[len(word)-1])
	if !initials && monthOf(word) == 0 {
		return plain
	}
	if q == len(text) || text[q] != ' ' {
		return plain
	}
	if q+1 == len(text) {
		if s.end {
			return plain
		}
		return hold
	}
	if isDigit(text[q+1]) || text[q+1] >= utf8.RuneSelf {
		return look
	}
	return plain
}

// chunk looks at the chunk at p. It returns where the next begins, and false if more of the text is needed.
func (s *coreScanner) chunk(p int, found []engine.Finding) ([]engine.Finding, int, bool) {
	raw := s.text[p:]
	forced := len(raw) > window
	if forced {
		raw = raw[:window]
	}
	whole := forced || s.end
	if forced || !s.end {
		raw = withoutHalf(raw)
	}
	s.setView(raw, p)
	n, ok := s.extent(whole)
	if !ok {
		return found, p, false
	}
	switch {
	case len(s.v) == 0: // nothing that shows
		return found, p + len(raw), true
	case n == 0: // a character whose normal form ends runs
		return found, s.place(1), true
	}
	over := forced && n == len(s.v)
	s.full = over
	all := s.v
	s.v = s.v[:n]
	s.recognize()
	if over {
		n = s.cut(n)
	}
	found = s.report(n, found)
	s.v = all
	return found, s.place(n), true
}

// setView sets the part of the text that is looked at, and its normal form.
func (s *coreScanner) setView(raw []byte, p int) {
	s.base, s.v, s.m = p, raw, nil
	for _, b := range raw {
		if b >= utf8.RuneSelf {
			s.form, s.places = normalForm(raw, s.form[:0], s.places[:0])
			s.v, s.m = s.form, s.places
			return
		}
	}
}

// place returns the place in the text behind the character that has the byte before n of the normal form.
func (s *coreScanner) place(n int) int {
	switch {
	case s.m == nil:
		return s.base + n
	case n == 0:
		return s.base
	}
	first := int(s.m[n-1])
	_, size := utf8.DecodeRune(s.text[s.base+first:])
	return s.base + first + size
}

// before returns the byte before the byte n of the normal form, as in the normal form; 0 if there is none.
func (s *coreScanner) before(n int) byte {
	if n > 0 {
		return s.v[n-1]
	}
	for text := s.text[max(0, s.base-contextBytes):s.base]; len(text) > 0; { // not farther, as for contexts
		b := text[len(text)-1]
		if b < utf8.RuneSelf {
			return b
		}
		r, size := utf8.DecodeLastRune(text)
		text = text[:len(text)-size]
		switch kindOf(r) {
		case foreign:
			return b
		case apart:
			return gone
		}
		var form [32]byte
		if v := appendForm(form[:0], r); len(v) > 0 {
			return v[len(v)-1]
		}
	}
	return 0
}

// withoutHalf returns text without an incomplete character at its end.
func withoutHalf(text []byte) []byte {
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if b := text[len(text)-n]; utf8.RuneStart(b) {
			if !utf8.FullRune(text[len(text)-n:]) {
				return text[:len(text)-n]
			}
			break
		}
	}
	return text
}

// cut returns how much of a chunk is passed that fills the window to n. What is found behind that is
// found again from there.
func (s *coreScanner) cut(n int) int {
	for _, f := range s.found {
		if f.end == n && f.entity.goesOn() {
			s.open = f.entity
			return n
		}
	}
	to := 0
	for _, t := range s.toks {
		if t.start >= window/2 {
			to = t.start
			if b := s.v[to-1]; b == '+' || b == '(' {
				to--
			}
			break
		}
	}
	if to == 0 {
		to = min(n, window/2)
	}
	for s.m != nil && to < n && s.m[to] == s.m[to-1] {
		to++
	}
	for _, f := range s.found {
		if f.start < to && f.end > to {
			to = f.end
		}
	}
	return to
}

// report appends what is found before the byte n of the chunk.
func (s *coreScanner) report(n int, found []engine.Finding) []engine.Finding {
	for _, f := range s.found {
		if f.start < n {
			found = append(found, engine.Finding{Start: s.base + s.from(f.start), End: s.place(f.end), Entity: s.c.table.names[f.entity], Score: f.score})
		}
	}
	return found
}

// from returns the place in the view of the character that has the byte n of the normal form.
func (s *coreScanner) from(n int) int {
	if s.m == nil {
		return n
	}
	return int(s.m[n])
}

// goOn reads on in a value that is longer than a window. It is masked to its end.
func (s *coreScanner) goOn(p int, found []engine.Finding) ([]engine.Finding, int) {
	text, q := s.text, p
	for q < len(text) {
		if text[q] < utf8.RuneSelf {
			if !s.open.holds(text[q]) {
				break
			}
			q++
			continue
		}
		if !utf8.FullRune(text[q:]) && !s.end {
			break
		}
		r, size := utf8.DecodeRune(text[q:])
		if kindOf(r) == apart {
			break
		}
		q += size
	}
	if q > p {
		found = append(found, engine.Finding{Start: p, End: q, Entity: s.c.table.names[s.open], Score: 1, Continues: true})
	}
	if q < len(text) && utf8.FullRune(text[q:]) || s.end {
		s.open = 0
	}
	return found, q
}
