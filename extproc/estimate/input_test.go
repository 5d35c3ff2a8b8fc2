package estimate_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/modelgateway/modelgateway/extproc/estimate"
	"github.com/modelgateway/modelgateway/extproc/splice"
	"github.com/modelgateway/modelgateway/extproc/texts"
	"github.com/modelgateway/modelgateway/extproc/tokens"
)

// hello is the smallest request.
const hello = `{"model":"fast","messages":[{"role":"user","content":"Hello"}]}`

// with is hello with more members.
func with(members string) string { return strings.TrimSuffix(hello, "}") + "," + members + "}" }

// counter is shared: unpacking a vocabulary takes longer than most tests.
var counter = tokens.NewCounter()

// bodyBound is the bound of a body for a model of OpenAI's newest vocabulary.
func bodyBound(tb testing.TB, body string) int64 {
	tb.Helper()
	var facts splice.Request
	if err := splice.Scan([]byte(body), &facts); err != nil {
		tb.Fatalf("%.80s: %v", body, err)
	}
	return estimate.Bound(&facts, texts.Chat(), "gpt-4o")
}

// TestEstimatesTheWholeInput: the estimate covers every member that the model reads, and
// no other.
func TestEstimatesTheWholeInput(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("all work and no play makes a dull boy ", 500)
	count := counter.Count("gpt-4o", text)
	base := bodyBound(t, hello)
	for _, member := range []string{
		`"tools":[{"type":"function","function":{"name":"f","description":%q}}]`,
		`"functions":[{"name":"f","description":%q}]`,
		`"response_format":{"type":"json_schema","json_schema":{"name":"s","schema":{"description":%q}}}`,
		`"prediction":{"type":"content","content":%q}`,
		`"stop":[%q]`,
		`"something_new":{"deep":[{"text":%q}]}`,
	} {
		if got := bodyBound(t, with(fmt.Sprintf(member, text))) - base; got < count || got > 2*count {
			t.Errorf("%.30s adds %d, and its text has %d tokens", member, got, count)
		}
	}
	for _, member := range []string{`"user":%q`, `"metadata":{"note":%q}`, `"litellm_metadata":{"note":%q}`} {
		if got := bodyBound(t, with(fmt.Sprintf(member, text[:200]))) - base; got > 2 {
			t.Errorf("%s adds %d, and no model reads it", member, got)
		}
	}
}

// The data of images, audio and files counts by its bytes, whatever they are, and only
// where no model reads it as text.
func TestEstimatesMediaByTheirBytes(t *testing.T) {
	t.Parallel()
	data := strings.Repeat("iVBORw0KGgo9xQz7", 4000)
	message := func(part string) string {
		return fmt.Sprintf(`{"model":"fast","messages":[{"role":"user","content":[{"type":"text","text":"what is it?"},%s]}]}`, part)
	}
	for _, part := range []string{
		`{"type":"image_url","image_url":{"url":"data:image/png;base64,` + data + `","detail":"low"}}`,
		`{"type":"image_url","image_url":"data:image/png;base64,` + data + `"}`,
		`{"type":"input_audio","input_audio":{"data":"` + data + `","format":"wav"}}`,
		`{"type":"file","file":{"file_data":"data:application/pdf;base64,` + data + `"}}`,
	} {
		if got, want := bodyBound(t, message(part)), int64(len(data)/4); got < want || got > want+100 {
			t.Errorf("%.40s: %d, want about %d", part, got, want)
		}
	}
	disguised := message(`{"type":"text","text":"data:image/png;base64,` + data + `"}`)
	if got, want := bodyBound(t, disguised), counter.Count("gpt-4o", data); got < want {
		t.Errorf("as text: %d, and it has %d tokens", got, want)
	}
}

// The estimate of a conversation is not below what settles it where no provider reports.
func TestEstimateCoversTheCount(t *testing.T) {
	t.Parallel()
	words := []string{"the ", "fox", " jumps\\n", "über ", "\u65e5\u672c\u8a9e", "x = y[1];\\n", "    ", "12345 ", "AAAA", "…", "x ", "\\u00e9", "don't ", "🙂", "\\\"quoted\\\" "}
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		b.WriteString(`{"model":"fast","messages":[`)
		var list []tokens.Message
		for i := range rapid.IntRange(1, 20).Draw(t, "messages") {
			if i > 0 {
				b.WriteByte(',')
			}
			raw := strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 0, 60).Draw(t, "words"), "")
			fmt.Fprintf(&b, `{"role":"user","content":"%s"}`, raw)
			list = append(list, tokens.Message{Role: "user", Content: string(splice.Plain([]byte(raw)))})
		}
		b.WriteString("]}")
		var facts splice.Request
		if err := splice.Scan([]byte(b.String()), &facts); err != nil {
			t.Fatal(err)
		}
		for _, model := range []string{"gpt-4o", "gpt-4"} {
			bound, count := estimate.Bound(&facts, texts.Chat(), model), counter.CountMessages(model, list)
			if bound < count || bound > 3*count {
				t.Fatalf("%s: estimated as %d, counted as %d: %s", model, bound, count, b.String())
			}
		}
	})
}
