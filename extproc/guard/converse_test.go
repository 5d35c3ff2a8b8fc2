package guard_test

import (
	"strings"
	"testing"

	"github.com/modelgateway/modelgateway/cluster/guardrails"
	"github.com/modelgateway/modelgateway/extproc/splice"
	"github.com/modelgateway/modelgateway/extproc/texts"
)

// TestStreamsOfConverseAreHeldBack: a text, a thought and the input of a call get the same replacements wherever their deltas are cut, and
// what is held back leaves before the event that ends the block.
func TestStreamsOfConverseAreHeldBack(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ begin, delta, text, want string }{
		"text":    {"", `{"contentBlockIndex":1,"delta":{"text":"%s"},"p":"abc"}`, `Ask a@b or c@d now e@f`, `Ask [EMAIL_ADDRESS] or [EMAIL_ADDRESS] now [EMAIL_ADDRESS]`},
		"thought": {"", `{"contentBlockIndex":1,"delta":{"reasoningContent":{"text":"%s"}}}`, `Ask a@b now`, `Ask [EMAIL_ADDRESS] now`},
		"input": {
			`{"contentBlockIndex":1,"start":{"toolUse":{"toolUseId":"t","name":"f"}}}`, `{"contentBlockIndex":1,"delta":{"toolUse":{"input":"%s"}}}`,
			`{\"to\":\"a@b\"}`, `{\"to\":\"[EMAIL_ADDRESS]\"}`,
		},
	} {
		for cut := range len(c.text) + 1 {
			if cut > 0 && c.text[cut-1] == '\\' {
				continue // within an escape
			}
			event := func(kind, data string) string { return "event: " + kind + "\ndata: " + data + "\n\n" }
			delta := func(piece string) string {
				return event("contentBlockDelta", strings.Replace(c.delta, "%s", piece, 1))
			}
			in := event("messageStart", `{"role":"assistant"}`)
			if c.begin != "" {
				in += event("contentBlockStart", c.begin)
			}
			in += delta(c.text[:cut]) + delta(c.text[cut:]) + event("contentBlockStop", `{"contentBlockIndex":1}`) +
				event("messageStop", `{"stopReason":"end_turn"}`) + event("metadata", `{"usage":{"inputTokens":1,"outputTokens":1,"totalTokens":2},"metrics":{"latencyMs":1}}`)
			out := streamed(t, screen(presidio("", guardrails.PostCall)), texts.Converse(), false, in)
			got, ended := "", false
			var split splice.Splitter
			var e splice.Event
			split.Push([]byte(out))
			for split.Next(&e) {
				kind := string(e.Type)
				switch {
				case kind == "contentBlockDelta" && ended, kind == "":
					t.Errorf("%s, cut at %d: %s", name, cut, e.Raw)
				case kind == "contentBlockStop":
					ended = true
				case kind == "contentBlockDelta":
					for x := range texts.Converse().Event(e.Data) {
						got += string(x.Of(e.Data))
					}
				}
			}
			if got != c.want || !ended || !strings.HasSuffix(out, event("metadata", `{"usage":{"inputTokens":1,"outputTokens":1,"totalTokens":2},"metrics":{"latencyMs":1}}`)) {
				t.Errorf("%s, cut at %d: %q, want %q\n%s", name, cut, got, c.want, out)
			}
		}
	}
}
