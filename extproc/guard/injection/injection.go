package injection

import (
	"context"
	"errors"
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/modelgateway/modelgateway/extproc/guard/engine"
	"github.com/modelgateway/modelgateway/extproc/texts"
)

// thresholdDefault is the least score of a finding if settings have none. Scores are stored in thousandths.
const (
	thresholdDefault = 0.7
	thousandths      = 1000
)

// Bounds in bytes: of a phrase, of a word, and of what is held back of a text.
const (
	longest     = 160
	longestWord = 64
	reach       = longest + longestWord
)

// Settings are those of the engine.
type Settings struct {
	Threshold *uint32 // findings of a lower score are left, in thousandths; nil: 700
}

// Engine finds what could be a prompt injection. It never changes.
type Engine struct {
	threshold float32
	classes   map[string]class
	rules     []rule
	firsts    class // of words that can begin a phrase
	marks     []mark
}

// New returns an engine.
func New(settings Settings) (engine.Engine, error) {
	e := &Engine{threshold: thresholdDefault, classes: newClasses(), rules: newRules(), marks: newMarks()}
	if t := settings.Threshold; t != nil {
		if *t > thousandths {
			return nil, errors.New("score_threshold must be between 0 and 1")
		}
		e.threshold = float32(*t) / thousandths
	}
	for _, r := range e.rules {
		e.firsts |= r.steps[0].class
	}
	return e, nil
}

// Scanner returns a scanner.
func (e *Engine) Scanner() engine.Scanner { return &scanner{e: e} }

// scanner reads one text after the other.
type scanner struct {
	e      *Engine
	looks  bool           // this text is looked at
	doubts [sorts]float32 // 1 - the highest weight so far, by sort
	words  []word         // that can be part of a phrase
	next   int            // index of the next word
	inner  *inner         // nil before something is encoded
}

// word is a word of the text.
type word struct {
	start, end int
	index      int // among the words; an end of a sentence counts for some words
	class      class
}

func (s *scanner) Begin(kind texts.Kind, role texts.Role) {
	s.looks = kind == texts.Result || role == texts.Tool || role == texts.User
	s.words, s.next = s.words[:0], 0
	for i := range s.doubts {
		s.doubts[i] = 1
	}
}

func (s *scanner) Fork() engine.Scanner { return s.e.Scanner() }

func (s *scanner) Reset() { s.Begin(texts.Skipped, texts.NoRole) }

// Scan finds phrases and marks. What it read after the place where it returns is read again.
func (s *scanner) Scan(ctx context.Context, text []byte, at int, end bool, found []engine.Finding) ([]engine.Finding, int, error) { //nolint:revive // end says where the text ends, and is no mode
	if !end {
		text = text[:complete(text)]
	}
	if !s.looks {
		return found, len(text), nil
	}
	s.words = s.words[:0]
	decided := at
	for i, n := at, 0; i < len(text); n++ {
		if n%1024 == 0 {
			if err := ctx.Err(); err != nil {
				return found, decided, err
			}
		}
		f, size, open := s.read(text, i, end)
		if open {
			return found, s.earliest(i, len(text)), nil
		}
		i += size
		if f.weight > 0 {
			found = s.note(f, found)
			s.words, decided = s.words[:0], i
		}
	}
	if end {
		return found, len(text), nil
	}
	return found, s.earliest(len(text), len(text)), nil
}

// earliest returns where the first word begins that can still become a phrase, or at.
func (s *scanner) earliest(at, length int) int {
	for _, w := range s.words {
		if w.class&s.e.firsts != 0 && length-w.start <= reach {
			return min(at, w.start)
		}
	}
	return at
}

// signal is something that was found.
type signal struct {
	start, end int
	sort       sort
	weight     float32
}

// read reads what begins at i: a mark, a word, or what is between words. open says that more text is needed.
func (s *scanner) read(text []byte, i int, end bool) (f signal, size int, open bool) { //nolint:revive // says where the text ends, and is no mode
	if c := text[i]; c < utf8.RuneSelf && !isWordByte(c) {
		if isMarkByte(c) {
			if f, state := s.mark(text, i, end); state != none {
				return f, f.end - i, state == unknown
			}
		}
		if (c == '.' || c == '!' || c == '?') && i+1 < len(text) && text[i+1] <= ' ' {
			s.next += sentence
		}
		return signal{}, 1, false
	}
	if r, n := utf8.DecodeRune(text[i:]); isHidden(r) {
		f, state := s.hidden(text, i, end)
		if state == none {
			return signal{}, n, false
		}
		return f, f.end - i, state == unknown
	} else if !isWordRune(r) && !isInvisible(r) {
		return signal{}, n, false
	}
	to, done := wordEnd(text, i)
	if !done && !end {
		return signal{}, 0, true
	}
	if f, state := s.encoded(text, i, end); state != none {
		return f, f.end - i, state == unknown
	}
	return s.word(text, i, to), to - i, false
}

// word reads a word, and returns the phrase that it ends.
func (s *scanner) word(text []byte, start, end int) signal {
	c := s.e.classes[string(plain(text[start:end], make([]byte, 0, longestWord)))]
	w := word{start: start, end: end, index: s.next, class: c}
	s.next++
	if c == 0 {
		return signal{}
	}
	far := 0
	for far < len(s.words) && end-s.words[far].start > longest {
		far++
	}
	s.words = append(slices.Delete(s.words, 0, far), w)
	best := signal{}
	for i := range s.e.rules {
		r := &s.e.rules[i]
		if from, ok := s.ends(r, len(s.words)-1, len(r.steps)-1); ok && r.weight > best.weight {
			best = signal{start: s.words[from].start, end: end, sort: r.sort, weight: r.weight}
		}
	}
	return best
}

// ends reports whether the steps of a rule up to one end with a word, and returns the first word.
func (s *scanner) ends(r *rule, at, step int) (int, bool) {
	if s.words[at].class&r.steps[step].class == 0 {
		return 0, false
	}
	if step == 0 {
		return at, true
	}
	for i := at - 1; i >= 0 && s.words[at].index-s.words[i].index-1 <= r.steps[step].gap; i-- {
		if from, ok := s.ends(r, i, step-1); ok {
			return from, true
		}
	}
	return 0, false
}

// note counts a signal, and appends it if the score is high enough.
func (s *scanner) note(f signal, found []engine.Finding) []engine.Finding {
	s.doubts[f.sort] = min(s.doubts[f.sort], 1-f.weight)
	doubt := float32(1)
	for _, d := range s.doubts {
		doubt *= d
	}
	// Weights have two decimals, and sums of them must not miss a threshold by a rounding.
	if score := 1 - doubt; score+1e-4 >= s.e.threshold {
		found = append(found, engine.Finding{Start: f.start, End: f.end, Entity: f.sort.name(), Score: score})
	}
	return found
}

// wordEnd returns where a word ends, and whether that is known without more text.
func wordEnd(text []byte, i int) (end int, done bool) {
	for end = i; end < len(text); {
		r, size := rune(text[end]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRune(text[end:])
		}
		if end > i && !isWordRune(r) && !isInvisible(r) {
			return end, true
		}
		if end+size-i > longestWord {
			return end, true
		}
		end += size
	}
	return end, false
}

// plain appends the word without case, apostrophes and invisible characters.
func plain(text, to []byte) []byte {
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		i += size
		switch {
		case r >= 'A' && r <= 'Z':
			to = append(to, byte(r)|0x20)
		case r == '\'' || r == '\u2019' || isInvisible(r):
		case r < utf8.RuneSelf:
			to = append(to, byte(r))
		default:
			to = utf8.AppendRune(to, unicode.ToLower(fullWidth(r)))
		}
	}
	return to
}

// fullWidth returns the usual form of a full-width letter.
func fullWidth(r rune) rune {
	if r >= '\uff01' && r <= '\uff5e' {
		return r - '\uff01' + '!'
	}
	return r
}

func isWordByte(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || c == '\'' || c == '_'
}

func isWordRune(r rune) bool {
	if r < utf8.RuneSelf {
		return isWordByte(byte(r))
	}
	return r == '\u2019' || unicode.IsLetter(r) || unicode.IsMark(r)
}

// complete returns the length of text without a character at its end that is not complete.
func complete(text []byte) int {
	for i := len(text) - 1; i >= 0 && i > len(text)-utf8.UTFMax; i-- {
		if utf8.RuneStart(text[i]) {
			if !utf8.FullRune(text[i:]) {
				return i
			}
			break
		}
	}
	return len(text)
}
