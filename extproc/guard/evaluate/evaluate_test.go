package evaluate_test

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/guard/engine"
	"github.com/modelgateway/modelgateway/extproc/guard/evaluate"
	"github.com/modelgateway/modelgateway/extproc/texts"
)

// capitals is an engine for which each run of capitals is a NAME, in pieces of at most two letters.
type capitals struct{}

func (capitals) Scanner() engine.Scanner      { return capitals{} }
func (capitals) Begin(texts.Kind, texts.Role) {}
func (capitals) Fork() engine.Scanner         { return capitals{} }
func (capitals) Reset()                       {}
func (capitals) Scan(_ context.Context, text []byte, at int, _ bool, found []engine.Finding) ([]engine.Finding, int, error) {
	if strings.Contains(string(text), "fail") {
		return nil, 0, errors.New("the engine fails")
	}
	for _, loc := range regexp.MustCompile(`[A-Z]+`).FindAllIndex(text[at:], -1) {
		for start := loc[0]; start < loc[1]; start += 2 {
			found = append(found, engine.Finding{Start: at + start, End: at + min(start+2, loc[1]), Entity: "NAME", Continues: start > loc[0]})
		}
	}
	return found, len(text), nil
}

func TestEngine(t *testing.T) {
	set, err := evaluate.Read(strings.NewReader(`{"text": "ä ANN met ä BOB", "spans": [[12, 15, "NAME"], [2, 5, "NAME"]]}

{"text": "EVE and zoe in ROM", "spans": [[0, 7, "NAME"], [8, 11, "NAME"], [15, 18, "PLACE"]]}
{"text": "nobody"}
`))
	if err != nil {
		t.Fatal(err)
	}
	report, err := evaluate.Engine(t.Context(), capitals{}, set)
	if err != nil {
		t.Fatal(err)
	}
	want := &evaluate.Report{
		Examples: 3,
		Results: []evaluate.Result{
			{Entity: "NAME", Overlap: evaluate.Count{Found: 4, Right: 3, Labelled: 4, Recovered: 3}, Exact: evaluate.Count{Found: 4, Right: 2, Labelled: 4, Recovered: 2}},
			{Entity: "PLACE", Overlap: evaluate.Count{Labelled: 1}, Exact: evaluate.Count{Labelled: 1}},
		},
		Misses: []evaluate.Miss{
			{Text: "EVE and zoe in ROM", Span: evaluate.Span{Start: 15, End: 18, Entity: "NAME"}},
			{Text: "EVE and zoe in ROM", Span: evaluate.Span{Start: 8, End: 11, Entity: "NAME"}, Wanted: true},
			{Text: "EVE and zoe in ROM", Span: evaluate.Span{Start: 15, End: 18, Entity: "PLACE"}, Wanted: true},
		},
	}
	if diff := cmp.Diff(want, report); diff != "" {
		t.Error(diff)
	}
	if c := report.Result("NAME").Overlap; c.Precision() != 0.75 || c.Recall() != 0.75 || c.F1() != 0.75 {
		t.Errorf("precision %v, recall %v, F1 %v; each should be 0.75", c.Precision(), c.Recall(), c.F1())
	}
	if c := report.Result("OTHER").Exact; c.Precision() != 1 || c.Recall() != 1 {
		t.Errorf("an entity that is neither labelled nor found has precision %v and recall %v", c.Precision(), c.Recall())
	}
	if _, err := evaluate.Engine(t.Context(), capitals{}, []evaluate.Example{{Text: "fail"}}); err == nil {
		t.Error("an engine that fails gives a report")
	}
}

func TestReadRejects(t *testing.T) {
	for name, c := range map[string]struct{ set, detail string }{
		"nothing":       {"\n", "the set has no examples"},
		"no JSON":       {"{\"text\": \"x\"}\nname\n", "line 2: write an object with text and spans"},
		"no text":       {`{"spans": []}`, "line 1: write an object with text and spans"},
		"other span":    {`{"text": "x", "spans": [[0, "NAME"]]}`, "line 1: "},
		"span of words": {`{"text": "x", "spans": [["a", "b", "NAME"]]}`, "line 1: "},
		"beyond":        {`{"text": "ä", "spans": [[0, 2, "NAME"]]}`, "line 1: a span must be within the text"},
		"before":        {`{"text": "ab", "spans": [[-1, 2, "NAME"]]}`, "line 1: a span must be within the text"},
		"empty":         {`{"text": "ab", "spans": [[1, 1, "NAME"]]}`, "line 1: a span must be within the text"},
		"overlap":       {`{"text": "abcd", "spans": [[0, 3, "NAME"], [2, 4, "NAME"]]}`, "line 1: a span must be within the text"},
		"no entity":     {`{"text": "ab", "spans": [[0, 1, ""]]}`, "line 1: a span must be within the text"},
	} {
		_, err := evaluate.Read(strings.NewReader(c.set))
		var f *fault.Error
		if !errors.As(err, &f) || f.Kind != fault.Malformed || !strings.HasPrefix(f.Detail, c.detail) {
			t.Errorf("%s: %v, not %q", name, err, c.detail)
		}
	}
}
