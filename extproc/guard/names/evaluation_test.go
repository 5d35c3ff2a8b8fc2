package names_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelgateway/modelgateway/extproc/guard/engine/enginetest"
	"github.com/modelgateway/modelgateway/extproc/guard/evaluate"
	"github.com/modelgateway/modelgateway/extproc/guard/names"
	"github.com/modelgateway/modelgateway/extproc/texts"
)

// goals has the figures that were measured with the labelled sets. If new weights are better, raise them.
func goals() map[string]map[string][3]float64 {
	return map[string]map[string][3]float64{ // precision, recall and F1, with overlap
		"dev.jsonl":       {names.Person: {0.957, 0.900, 0.928}, names.Location: {0.901, 0.954, 0.927}},
		"held-back.jsonl": {names.Person: {0.876, 0.943, 0.908}, names.Location: {0.902, 0.957, 0.929}},
	}
}

// labelled returns a labelled set.
func labelled(tb testing.TB, file string) []evaluate.Example {
	tb.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		tb.Fatal(err)
	}
	set, err := evaluate.Read(bytes.NewReader(b))
	if err != nil {
		tb.Fatal(err)
	}
	return set
}

// TestEvaluation fails if a figure drops by a point.
func TestEvaluation(t *testing.T) {
	for file, want := range goals() {
		set := labelled(t, file)
		report, err := evaluate.Engine(t.Context(), names.New(), set)
		if err != nil {
			t.Fatal(err)
		}
		for entity, goal := range want {
			r := report.Result(entity)
			got := [3]float64{r.Overlap.Precision(), r.Overlap.Recall(), r.Overlap.F1()}
			t.Logf("%s: %s: precision %.3f, recall %.3f, F1 %.3f; exact F1 %.3f", file, entity, got[0], got[1], got[2], r.Exact.F1())
			for i := range got {
				if got[i] < goal[i]-0.01 {
					t.Errorf("%s: %s: precision, recall, F1 are %.3f; at least %.3f, less a point, is expected", file, entity, got, goal)
					break
				}
			}
		}
	}
}

// TestLearnedNames looks for names that a text alone does not tell.
func TestLearnedNames(t *testing.T) {
	e := names.New()
	request, answer := "My name is Ottokar Xylander. Please write to me.", "Xylander needs a reply."
	s := e.Scanner()
	s.Begin(texts.Content, texts.User)
	found, _, err := s.Scan(t.Context(), []byte(request), 0, true, nil)
	if err != nil || enginetest.Marked(request, found) != "My name is [PERSON:Ottokar Xylander]. Please write to me." {
		t.Fatalf("request: %s, %v", enginetest.Marked(request, found), err)
	}
	f := s.Fork()
	f.Begin(texts.Content, texts.Assistant)
	if found, _, err = f.Scan(t.Context(), []byte(answer), 0, true, nil); err != nil || enginetest.Marked(answer, found) != "[PERSON:Xylander] needs a reply." {
		t.Errorf("answer after the request: %s, %v", enginetest.Marked(answer, found), err)
	}
}

// TestHeldBack streams a text without names, and one with a name.
func TestHeldBack(t *testing.T) {
	w := enginetest.NewStream(t, names.New().Scanner())
	for _, piece := range strings.SplitAfter("in the evening we often sit outside and talk about our plans for the next few weeks", " ") {
		if held := w.Push(piece, false); held > 8 {
			t.Errorf("%d bytes are held back after %q", held, piece)
		}
	}
	w = enginetest.NewStream(t, names.New().Scanner())
	text := "we met Maria Gonzalez and "
	w.Push(text, false)
	if held := w.Push("her ", false); held > 4 {
		t.Errorf("%d bytes are held back two words after a name", held)
	}
}

func TestNothingIsAllocated(t *testing.T) {
	s := names.New().Scanner()
	text := []byte("the quick brown fox jumps over the lazy dog. It does so every day, at 10:30; nobody knows why.")
	if n := testing.AllocsPerRun(100, func() {
		s.Begin(texts.Content, texts.User)
		if _, _, err := s.Scan(t.Context(), text, 0, true, nil); err != nil {
			t.Fatal(err)
		}
	}); n > 0 {
		t.Errorf("a text without names allocates %v times", n)
	}
}
