// Package enginetest tests engines of guardrails.
package enginetest

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/modelgateway/modelgateway/extproc/guard/engine"
	"github.com/modelgateway/modelgateway/extproc/texts"
)

// Whole returns what an engine finds in a text that comes in one piece.
func Whole(tb testing.TB, e engine.Engine, text string) []engine.Finding {
	tb.Helper()
	s := e.Scanner()
	s.Begin(texts.Content, texts.User)
	found, decided, err := s.Scan(tb.Context(), []byte(text), 0, true, nil)
	if err != nil {
		tb.Fatalf("Scan(%q): %v", text, err)
	}
	if decided != len(text) {
		tb.Fatalf("Scan(%q) decides %d bytes of %d", text, decided, len(text))
	}
	return found
}

// Marked returns a text with its findings as [ENTITY:what was found].
func Marked(text string, found []engine.Finding) string {
	var out []byte
	at := 0
	for _, f := range found {
		out = append(append(out, text[at:f.Start]...), "["+f.Entity+":"+text[f.Start:f.End]+"]"...)
		at = f.End
	}
	return string(append(out, text[at:]...))
}

// Stream is a text that comes in pieces.
type Stream struct {
	t     testing.TB
	s     engine.Scanner
	text  []byte // context, and what is not decided
	from  int    // offset of text[0] in the whole text
	at    int    // in text
	found []engine.Finding
}

// NewStream returns a stream for a scanner.
func NewStream(tb testing.TB, s engine.Scanner) *Stream {
	tb.Helper()
	s.Begin(texts.Content, texts.Assistant)
	return &Stream{t: tb, s: s}
}

// Push adds a piece, and returns how many bytes are held back after it.
func (w *Stream) Push(piece string, end bool) int { //nolint:revive // says where the text ends, and is no mode
	w.t.Helper()
	w.text = append(w.text, piece...)
	found, decided, err := w.s.Scan(w.t.Context(), w.text, w.at, end, nil)
	if err != nil {
		w.t.Fatalf("Scan: %v", err)
	}
	if decided < w.at || decided > len(w.text) || end && decided != len(w.text) {
		w.t.Fatalf("Scan of %q from %d decides up to %d", w.text, w.at, decided)
	}
	last := w.at
	for _, f := range found {
		if f.Start < last || f.End <= f.Start || f.End > decided {
			w.t.Fatalf("Scan of %q from %d to %d finds %+v", w.text, w.at, decided, f)
		}
		last = f.End
		f.Start, f.End = f.Start+w.from, f.End+w.from
		if n := len(w.found); f.Continues && n > 0 && w.found[n-1].End == f.Start {
			w.found[n-1].End = f.End
			continue
		}
		f.Continues = false
		w.found = append(w.found, f)
	}
	w.at = decided
	if drop := w.at - engine.Behind; drop > 0 { // a scanner must not need more
		w.text, w.at, w.from = append([]byte(nil), w.text[drop:]...), w.at-drop, w.from+drop
	}
	return len(w.text) - w.at
}

// Found returns what was found so far.
func (w *Stream) Found() []engine.Finding { return w.found }

// CutAnywhere tests that an engine finds the same in each text, however it is cut, and holds back no
// more than engine.Ahead bytes: cut once at each byte, in single bytes, and in random ways.
func CutAnywhere(t *testing.T, e engine.Engine, corpus []string) {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the cuts must be the same in each run
	for _, text := range corpus {
		want := Whole(t, e, text)
		check := func(cuts ...int) {
			t.Helper()
			w, last := NewStream(t, e.Scanner()), 0
			for _, cut := range append(cuts, len(text)) {
				if held := w.Push(text[last:cut], cut == len(text)); held > engine.Ahead {
					t.Fatalf("%q cut at %v: %d bytes are held back", text, cuts, held)
				}
				last = cut
			}
			if !slices.Equal(w.found, want) {
				t.Fatalf("%q\ncut at %v\nfound %s\nwhole %s", text, cuts, Marked(text, w.found), Marked(text, want))
			}
		}
		step := max(1, len(text)/500)
		for cut := 1; cut < len(text); cut += step {
			check(cut)
		}
		single := make([]int, 0, len(text))
		for cut := 1; cut < len(text); cut++ {
			single = append(single, cut)
		}
		check(single...)
		for range 30 {
			var cuts []int
			for at := 1 + random.IntN(12); at < len(text); at += 1 + random.IntN(12) {
				cuts = append(cuts, at)
			}
			check(cuts...)
		}
	}
}
