package unmark_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"pgregory.net/rapid"

	"github.com/modelgateway/modelgateway/extproc/splice"
	"github.com/modelgateway/modelgateway/extproc/unmark"
)

// language has blocks {"t":…} and blocks {"p":"mark:…"}; proofs that begin with good are valid without the mark.
func language() *unmark.Language {
	return &unmark.Language{
		Empty:  `{"t":"."}`,
		Marked: func(body []byte) bool { return bytes.Contains(body, []byte(`"mark:`)) },
		Proof: func(body []byte, block splice.Span) (at splice.Span, with string, ok bool) {
			for name, value := range splice.Members(body, block) {
				proof, marked := bytes.CutPrefix(value.Of(body), []byte(`"mark:`))
				if string(name) == "p" && marked {
					if at, ok = value, true; bytes.HasPrefix(proof, []byte("good")) {
						with = `"` + string(proof)
					}
				}
			}
			return at, with, ok
		},
	}
}

// Whatever the blocks of a message are, those that the provider would reject go, those with a mark lose it, and all else stays.
func TestMarksGo(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var in, want []string
		marked := false
		for range rapid.IntRange(1, 4).Draw(t, "messages") {
			var blocks, kept []string
			for range rapid.IntRange(1, 5).Draw(t, "blocks") {
				block := rapid.SampledFrom([]string{`{"t":"a, b"}`, `{"p":"own"}`, `{"p":"mark:bad"}`, `{"x":1,"p":"mark:good1"}`, `{"t":"\"mark:bad\""}`}).Draw(t, "block")
				blocks = append(blocks, block)
				marked = marked || strings.Contains(block, `:"mark:`)
				if block != `{"p":"mark:bad"}` {
					kept = append(kept, strings.Replace(block, `:"mark:`, `:"`, 1))
				}
			}
			if len(kept) == 0 {
				kept = []string{`{"t":"."}`}
			}
			gap := rapid.SampledFrom([]string{",", " , ", ",\n"}).Draw(t, "gap")
			in = append(in, `{"role":"a","content":[ `+strings.Join(blocks, gap)+` ]}`)
			want = append(want, `{"role":"a","content":[`+strings.Join(kept, ",")+`]}`)
		}
		body := []byte(`{"x":[{"p":"mark:bad"}],"messages":[` + strings.Join(in, ",") + `],"z":"mark:bad"}`)
		before := []splice.Edit{{Off: 1, End: 4, With: `"y"`}}
		edits := language().Append(slices.Clone(before), body, splice.Span{End: len(body)})
		if !marked && len(edits) != 1 {
			t.Fatalf("%d edits for a body without marks", len(edits))
		}
		out := splice.Apply(nil, body, edits)
		if !same(t, out, `{"y":[{"p":"mark:bad"}],"messages":[`+strings.Join(want, ",")+`],"z":"mark:bad"}`) {
			t.Fatalf("%s became %s", body, out)
		}
	})
}

// same reports whether two texts are the same JSON.
func same(t *rapid.T, a []byte, b string) bool {
	var x, y any
	if err := json.Unmarshal(a, &x); err != nil {
		t.Fatalf("%s: %v", a, err)
	}
	if err := json.Unmarshal([]byte(b), &y); err != nil {
		t.Fatal(err)
	}
	left, _ := json.Marshal(x, json.Deterministic(true))
	right, _ := json.Marshal(y, json.Deterministic(true))
	return bytes.Equal(left, right)
}

// Edits within a block that goes, such as those of a call's id, go with it.
func TestEditsWithinABlockGo(t *testing.T) {
	t.Parallel()
	body := []byte(`{"messages":[{"content":[{"t":"a"},{"p":"mark:bad","id":"i"}]}]}`)
	at := bytes.Index(body, []byte(`"i"`))
	edits := language().Append([]splice.Edit{{Off: at, End: at + 3, With: `"j"`}}, body, splice.Span{End: len(body)})
	if out := string(splice.Apply(nil, body, edits)); out != `{"messages":[{"content":[{"t":"a"}]}]}` {
		t.Error(out)
	}
}
