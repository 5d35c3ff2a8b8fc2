package guard_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/modelgateway/modelgateway/cluster/guardrails"
	"github.com/modelgateway/modelgateway/extproc/splice"
	"github.com/modelgateway/modelgateway/extproc/texts"
)

// TestTextsThatBeginBeforeTheirDeltas: the text in an event that begins a block, a part or a summary, and that of the deltas after
// it are one text, wherever it is cut.
func TestTextsThatBeginBeforeTheirDeltas(t *testing.T) {
	t.Parallel()
	const text, want = `Ask a@b or c@d now e@f`, `Ask [EMAIL_ADDRESS] or [EMAIL_ADDRESS] now [EMAIL_ADDRESS]`
	for name, c := range map[string]struct {
		reader             texts.Reader
		begin, delta, stop string
		kind               texts.Kind
	}{
		"a text of messages": {
			texts.Messages(), `{"type":"content_block_start","index":2,"content_block":{"type":"text","text":"%s"}}`,
			`{"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"%s"}}`, `{"type":"content_block_stop","index":2}`, texts.Content,
		},
		"thinking": {
			texts.Messages(), `{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"%s","signature":""}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"%s"}}`, `{"type":"content_block_stop","index":0}`, texts.Reasoning,
		},
		"a part": {
			texts.Responses(), `{"type":"response.content_part.added","item_id":"m","output_index":1,"content_index":1,"part":{"type":"output_text","text":"%s","annotations":[]}}`,
			`{"type":"response.output_text.delta","item_id":"m","output_index":1,"content_index":1,"delta":"%s"}`, `{"type":"response.output_text.done","output_index":1,"content_index":1,"text":""}`, texts.Content,
		},
		"a refusal": {
			texts.Responses(), `{"type":"response.content_part.added","item_id":"m","output_index":1,"content_index":0,"part":{"type":"refusal","refusal":"%s"}}`,
			`{"type":"response.refusal.delta","item_id":"m","output_index":1,"content_index":0,"delta":"%s"}`, `{"type":"response.refusal.done","output_index":1,"content_index":0,"refusal":""}`, texts.Refusal,
		},
		"a summary": {
			texts.Responses(), `{"type":"response.reasoning_summary_part.added","item_id":"r","output_index":0,"summary_index":1,"part":{"type":"summary_text","text":"%s"}}`,
			`{"type":"response.reasoning_summary_text.delta","item_id":"r","output_index":0,"summary_index":1,"delta":"%s"}`, `{"type":"response.reasoning_summary_text.done","output_index":0,"summary_index":1,"text":""}`, texts.Reasoning,
		},
	} {
		for cut := range len(text) + 1 {
			event := func(form, piece string) string { return "data: " + strings.Replace(form, "%s", piece, 1) + "\n\n" }
			in := event(c.begin, text[:cut])
			if cut < len(text) {
				in += event(c.delta, text[cut:])
			}
			out := streamed(t, screen(presidio("", guardrails.PostCall)), c.reader, false, in+event(c.stop, ""))
			got, types := "", []string{}
			var split splice.Splitter
			var e splice.Event
			split.Push([]byte(out))
			for split.Next(&e) {
				types = append(types, string(splice.Lookup(e.Data, "type")))
				for x := range c.reader.Event(e.Data) {
					if x.Kind == texts.Logprobs {
						continue
					}
					if x.Kind != c.kind {
						t.Errorf("%s: %s is of kind %s", name, e.Data, x.Kind)
					}
					got += string(x.Of(e.Data))
				}
			}
			if kind := func(form string) string { return string(splice.Lookup([]byte(form), "type")) }; got != want || types[0] != kind(c.begin) || types[len(types)-1] != kind(c.stop) ||
				strings.Count(fmt.Sprint(types), kind(c.delta)) != len(types)-2 {
				t.Errorf("%s, cut at %d: %q in events %v, want %q\n%s", name, cut, got, types, want, out)
			}
		}
	}
}
