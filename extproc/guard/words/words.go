package words

import (
	"context"
	"fmt"
	"math/bits"
	"unicode/utf8"

	"github.com/modelgateway/modelgateway/extproc/guard/engine"
	"github.com/modelgateway/modelgateway/extproc/texts"
)

// longest bounds matches, in bytes. With the character after it, a match has at most engine.Ahead bytes.
const longest = engine.Ahead - utf8.UTFMax

// block is how many starts are looked at together, in bytes.
const block = 2048

// Settings are those of the engine.
type Settings struct {
	Keywords   []string // what to find, in any case
	Patterns   []string // regular expressions, in any case
	WholeWords bool     // keywords are not found within other words
}

// Engine finds words and patterns. It never changes.
type Engine struct {
	names    []string // of entities: keywords, then patterns
	keywords int
	whole    bool
	words    *automaton
	patterns []*pattern
	size     int // instructions of the longest program
}

// New returns an engine.
func New(settings Settings) (engine.Engine, error) {
	e := &Engine{keywords: len(settings.Keywords), whole: settings.WholeWords}
	b := newBuilder(settings.WholeWords)
	for i, word := range settings.Keywords {
		if word == "" {
			return nil, fmt.Errorf("banned_keywords[%d] is empty", i)
		}
		e.names = append(e.names, fmt.Sprintf("KEYWORD_%d", i))
		b.add(word, use{what: keyword, index: i})
	}
	for i, text := range settings.Patterns {
		p, err := newPattern(text)
		if err != nil {
			return nil, fmt.Errorf("banned_patterns[%d]: %w", i, err)
		}
		e.names = append(e.names, fmt.Sprintf("PATTERN_%d", i))
		e.patterns = append(e.patterns, p)
		e.size = max(e.size, len(p.prog.Inst))
		for _, literal := range p.prefixes {
			b.add(literal, use{what: prefix, index: i})
		}
		for _, literal := range p.needs {
			b.add(literal, use{what: inner, index: i})
		}
	}
	e.words = b.build()
	return e, nil
}

// Scanner returns a scanner.
func (e *Engine) Scanner() engine.Scanner {
	return &scanner{e: e, m: newMachine(e.size), needed: make([]bool, len(e.patterns))}
}

// scanner looks at a text in blocks. Nothing of a text is kept between calls but memory.
type scanner struct {
	e      *Engine
	m      *machine
	best   [block]match
	have   [block / 64]uint64 // the starts that have a match
	hits   []hit              // of prefixes
	needed []bool             // patterns whose needed literals are there

	text     []byte // up to the last complete character
	end      bool
	from, to int // the starts of this block
	open     int // the earliest start that is not decided; len(text) for none
}

// match is the best one from a start.
type match struct {
	end  int
	name int32
}

// hit is a place where a pattern can begin.
type hit struct{ pattern, start int }

func (s *scanner) Begin(texts.Kind, texts.Role) {}

func (s *scanner) Fork() engine.Scanner { return s.e.Scanner() }

func (s *scanner) Reset() { s.text = nil }

// Scan finds what is banned.
func (s *scanner) Scan(ctx context.Context, text []byte, at int, end bool, found []engine.Finding) ([]engine.Finding, int, error) { //nolint:revive // end says where the text ends, and is no mode
	s.text, s.end = text, end
	if !end {
		s.text = complete(text)
	}
	for at < len(s.text) {
		if err := ctx.Err(); err != nil {
			return found, at, err
		}
		s.from, s.to, s.open = at, min(at+block, len(s.text)), len(s.text)
		for s.to < len(s.text) && !utf8.RuneStart(s.text[s.to]) {
			s.to--
		}
		s.literals()
		s.simulate()
		var done bool
		if found, at, done = s.choose(found); done {
			break
		}
	}
	if end {
		at = len(text)
	}
	return found, at, nil
}

// complete returns text without a character at its end that is not complete.
func complete(text []byte) []byte {
	for i := len(text) - 1; i >= 0 && i > len(text)-utf8.UTFMax; i-- {
		if utf8.RuneStart(text[i]) {
			if !utf8.FullRune(text[i:]) {
				return text[:i]
			}
			break
		}
	}
	return text
}

// offer notes a match. Names are offered in any order.
func (s *scanner) offer(start, end, name int) {
	if end <= start || end-start > longest || start >= s.to {
		return
	}
	i := start - s.from
	m := &s.best[i]
	if s.have[i/64]&(1<<(i%64)) == 0 {
		s.have[i/64] |= 1 << (i % 64)
	} else if end < m.end || end == m.end && name >= int(m.name) {
		return
	}
	*m = match{end, int32(name)}
}

// first returns the first start from at on that has a match.
func (s *scanner) first(at int) (int, bool) {
	for i := at - s.from; i < s.to-s.from; i = (i/64 + 1) * 64 {
		if rest := s.have[i/64] >> (i % 64); rest != 0 {
			return s.from + i + bits.TrailingZeros64(rest), true
		}
	}
	return 0, false
}

// choose appends the findings of the block, and returns where the next one begins. done says that nothing there
// can be decided before more text has come.
func (s *scanner) choose(found []engine.Finding) (_ []engine.Finding, next int, done bool) {
	defer clear(s.have[:])
	at := s.from
	for {
		start, ok := s.first(at)
		if !ok || start >= s.open {
			break
		}
		m := s.best[start-s.from]
		found = append(found, engine.Finding{Start: start, End: m.end, Entity: s.e.names[m.name], Score: 1})
		if at = m.end; at > s.open { // what is open overlaps the finding
			return found, at, false
		}
	}
	if s.open < s.to {
		return found, s.open, true
	}
	return found, max(s.to, at), false
}
