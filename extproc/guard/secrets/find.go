package secrets

import (
	"bytes"

	"github.com/modelgateway/modelgateway/extproc/guard/engine"
)

// finder looks for secrets in a run, or in a window of one.
type finder struct {
	r    *reader
	text []byte
	at   int  // where the run begins
	end  int  // where it ends
	stop int  // secrets that begin from here on belong to the next run
	cut  bool // the run goes on after end

	start   int    // of the token that is looked at
	context []byte // the lower-case text before start; nil if it was not looked at
	lower   [contextSize]byte
}

// match is what a detector has found.
type match struct {
	who        detector
	start, end int
	score      float32
	goes       charset // what the secret can go on with, if it fills the window
}

// find notes the secrets of the run, and returns where the next run begins at the earliest.
func (f *finder) find() int {
	s := f.r.s
	for i := f.at; i < f.stop; {
		if s.e.kinds[f.text[i]]&inValue == 0 && f.text[i] != ':' || f.text[i] != ':' && !f.boundary(i) {
			i++
			continue
		}
		f.start, f.context = i, nil
		m, ok := f.token()
		if !ok {
			i++
			continue
		}
		f.r.found = append(f.r.found, engine.Finding{Start: m.start, End: m.end, Entity: m.who.name(), Score: m.score})
		if f.cut && m.goes != 0 && m.end == f.end {
			s.within, s.masks = m.goes, m.who
			return m.end
		}
		if i = m.end; i >= f.stop {
			return i
		}
	}
	return f.stop
}

// boundary reports whether a token can begin at a place: no letter or digit is before it, but that of an escape as in \n.
func (f *finder) boundary(i int) bool {
	if i == 0 || f.r.s.e.kinds[f.text[i-1]]&inAlnum == 0 {
		return true
	}
	c := f.text[i-1]
	return (c == 'n' || c == 't' || c == 'r') && i > 1 && f.text[i-2] == '\\'
}

// upTo returns where the characters of a set that begin at start end.
func (f *finder) upTo(set charset) int { return f.from(f.start, set) }

// from returns where the characters of a set that begin at a place end.
func (f *finder) from(i int, set charset) int {
	for i < f.end && f.r.s.e.kinds[f.text[i]]&set != 0 {
		i++
	}
	return i
}

// has reports whether the text at start begins with one of some words.
func (f *finder) has(words ...string) bool {
	for _, w := range words {
		if rest := f.text[f.start:f.end]; len(rest) >= len(w) && string(rest[:len(w)]) == w {
			return true
		}
	}
	return false
}

// exactly reports whether n characters of a set, and no more letters or digits, follow at a place.
func (f *finder) exactly(i int, set charset, n int) bool {
	if i+n > f.end {
		return false
	}
	for _, c := range f.text[i : i+n] {
		if f.r.s.e.kinds[c]&set == 0 {
			return false
		}
	}
	return !f.follows(i+n, inAlnum)
}

// follows reports whether a character of a set is at a place.
func (f *finder) follows(i int, set charset) bool {
	return i < len(f.text) && i < f.end && f.r.s.e.kinds[f.text[i]]&set != 0 || i == f.end && f.cut
}

// contextSize is how many bytes before a value can have the word that says what it is.
const contextSize = 96

// before returns the text before start in lower case: of the same line, contextSize bytes at most.
func (f *finder) before() []byte {
	if f.context == nil {
		from := max(0, f.start-contextSize)
		near := f.text[from:f.start]
		// Values often stand in the line after their names, so one end of a line is part of the context.
		if last := bytes.LastIndexByte(near, '\n'); last >= 0 {
			near = near[bytes.LastIndexByte(near[:last], '\n')+1:]
		}
		f.context = f.lower[:len(near)]
		for i, c := range near {
			if c >= 'A' && c <= 'Z' {
				c |= 0x20
			}
			f.context[i] = c
		}
	}
	return f.context
}

// after reports whether one of some words is before start.
func (f *finder) after(words ...string) bool {
	context := f.before()
	for _, w := range words {
		if bytes.Contains(context, []byte(w)) {
			return true
		}
	}
	return false
}
