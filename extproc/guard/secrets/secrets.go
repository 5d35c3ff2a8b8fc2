package secrets

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/modelgateway/modelgateway/extproc/guard/engine"
	"github.com/modelgateway/modelgateway/extproc/texts"
)

// window bounds what a run is decided on, in bytes. Of a longer run, what begins in the first half of the window is
// decided, and the rest is another run. So a secret of up to half a window is always seen whole.
const window = engine.Ahead

// shortestRun is the length of the shortest secret that is no basic_auth, in bytes.
const shortestRun = 16

// Settings are those of the engine.
type Settings struct {
	Detectors []string // what to look for; empty means all
}

// Engine finds secrets. It never changes.
type Engine struct {
	wanted [detectors]bool
	kinds  kinds
}

// New returns an engine.
func New(settings Settings) (engine.Engine, error) {
	e := &Engine{kinds: newKinds()}
	names := Detectors()
	for i := range names {
		e.wanted[i] = len(settings.Detectors) == 0
	}
	for i, name := range settings.Detectors {
		at := slices.Index(names, name)
		if at < 0 {
			return nil, fmt.Errorf("detectors[%d]: there is no detector %q, only %s", i, name, strings.Join(names, ", "))
		}
		e.wanted[at] = true
	}
	return e, nil
}

// Scanner returns a scanner.
func (e *Engine) Scanner() engine.Scanner { return &scanner{e: e} }

// scanner reads one text after the other, run by run. A run is a sequence of characters that secrets have.
type scanner struct {
	e *Engine

	// What a secret that has begun goes on with.
	masks  detector // whose secret it is
	within charset  // characters that belong to it; 0: none has begun
	key    keyBody  // for private_key
	inKey  bool

	f finder
	r reader // of this call
}

func (s *scanner) Begin(texts.Kind, texts.Role) {
	s.within, s.inKey, s.key = 0, false, keyBody{}
}

// ReadsLabels says that a label is like what is before a value.
func (s *scanner) ReadsLabels() {}

func (s *scanner) Fork() engine.Scanner { return s.e.Scanner() }

func (s *scanner) Reset() {
	s.Begin(texts.Skipped, texts.NoRole)
	s.r, s.f.text = reader{}, nil
}

// Scan finds secrets.
func (s *scanner) Scan(ctx context.Context, text []byte, at int, end bool, found []engine.Finding) ([]engine.Finding, int, error) { //nolint:revive // end says where the text ends, and is no mode
	r := &s.r
	*r = reader{s: s, text: text, end: end, found: found}
	for n := 0; at < len(text); n++ {
		if n%1024 == 0 {
			if err := ctx.Err(); err != nil {
				return r.found, at, err
			}
		}
		if s.within != 0 || s.inKey {
			at = r.goOn(at)
			continue
		}
		for at < len(text) && s.e.kinds[text[at]]&inRun == 0 {
			at++
		}
		next := r.run(at)
		if next == at {
			break
		}
		at = next
	}
	if !end {
		at = min(at, complete(text))
	}
	return r.found, at, nil
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

// reader is one call of Scan.
type reader struct {
	s     *scanner
	text  []byte
	end   bool
	found []engine.Finding
}

// goOn masks what belongs to the secret that has begun before.
func (r *reader) goOn(at int) int {
	s, to := r.s, at
	if s.inKey {
		for to < len(r.text) && s.inKey {
			if !s.key.takes(r.text[to]) {
				s.inKey = false
				break
			}
			to++
			s.inKey = !s.key.ended
		}
		s.masks = privateKey
	} else {
		for to < len(r.text) && s.e.kinds[r.text[to]]&s.within != 0 {
			to++
		}
		if to < len(r.text) {
			s.within = 0
		}
	}
	if to > at {
		r.mask(at, to, s.masks)
	}
	return to
}

// mask notes what goes on with the finding before.
func (r *reader) mask(start, end int, d detector) {
	if n := len(r.found); n > 0 && r.found[n-1].End == start {
		r.found[n-1].End = end
		return
	}
	r.found = append(r.found, engine.Finding{Start: start, End: end, Entity: d.name(), Score: form, Continues: true})
}

// run looks at the run, or window of one, that begins at a place, and returns where the next one begins: at, if it
// cannot be decided yet.
func (r *reader) run(at int) int {
	to, kinds, mail := at, &r.s.e.kinds, false
	limit := min(at+window, len(r.text))
	for to < limit && kinds[r.text[to]]&inRun != 0 {
		mail = mail || r.text[to] == '@'
		to++
	}
	if to == len(r.text) && to < at+window && !r.end {
		return at
	}
	f := &r.s.f
	f.r, f.text, f.at, f.end, f.stop, f.cut = r, r.text, at, to, to, to == at+window
	if f.cut {
		f.stop = at + window/2
	}
	begins := -1
	if keyDashes := []byte(keyBegin); !f.cut && r.s.e.wanted[privateKey] && bytes.HasSuffix(r.text[at:to], keyDashes) {
		begins = to - len(keyDashes)
		f.end, f.stop = begins, begins
	}
	next := f.stop
	if mail || f.end-at >= shortestRun {
		next = max(next, f.find())
	}
	switch {
	case begins < 0 || r.s.within != 0:
		return next
	case begins > at:
		return begins
	}
	end, state := keyHeader(r.text[begins:], r.end)
	switch state {
	case open:
		return at
	case no:
		return to
	case yes:
	}
	r.found = append(r.found, engine.Finding{Start: begins, End: begins + end, Entity: privateKey.name(), Score: form})
	r.s.inKey, r.s.key = true, keyBody{}
	return begins + end
}
