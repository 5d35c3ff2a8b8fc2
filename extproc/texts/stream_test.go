package texts_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/modelgateway/modelgateway/extproc/anthropic"
	"github.com/modelgateway/modelgateway/extproc/coherecaller"
	"github.com/modelgateway/modelgateway/extproc/converse"
	"github.com/modelgateway/modelgateway/extproc/dialect"
	"github.com/modelgateway/modelgateway/extproc/googlecaller"
	"github.com/modelgateway/modelgateway/extproc/openai"
	"github.com/modelgateway/modelgateway/extproc/responses"
	"github.com/modelgateway/modelgateway/extproc/splice"
	"github.com/modelgateway/modelgateway/extproc/texts"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// field names one text of an answer.
type field struct {
	kind               texts.Kind
	choice, item, part int
}

// add adds a text to those of an answer. An object without members is no argument.
func add(to map[field]string, x *texts.Text, body []byte) {
	text := string(splice.Plain(x.Of(body)))
	if x.JSON {
		text = string(compact(x.Of(body)))
	}
	if x.Repeat || text == "" || text == "{}" {
		return
	}
	to[field{x.Kind, x.Choice, x.Item, x.Part}] += text
}

// drawAnswer draws what a model says, whole and in pieces. Anthropic's language has no refusal next to a
// text: there it is more text.
func drawAnswer(t *rapid.T, language string, index int) (c wire.Choice, chunks []wire.Chunk) {
	c = wire.Choice{Index: index, Finish: wire.FinishStop}
	pieces := func(text string, chunk func(piece string) wire.Chunk) {
		for runes := []rune(text); len(runes) > 0; {
			n := rapid.IntRange(1, len(runes)).Draw(t, "piece")
			one := chunk(string(runes[:n]))
			one.Index = index
			chunks, runes = append(chunks, one), runes[n:]
		}
	}
	text := rapid.StringN(0, 12, -1)
	if thought := text.Draw(t, "thought"); thought != "" {
		c.Thinking = []wire.Thinking{{Text: thought}}
		pieces(thought, func(s string) wire.Chunk { return wire.Chunk{Thinking: s} })
		chunks = append(chunks, wire.Chunk{Index: index, Block: &c.Thinking[0]})
	}
	c.Text = text.Draw(t, "text")
	pieces(c.Text, func(s string) wire.Chunk { return wire.Chunk{Text: s} })
	if rapid.IntRange(0, 3).Draw(t, "refuses") == 0 && (language == "chat" || language == "responses" || c.Text == "") {
		c.Refusal = text.Draw(t, "refusal")
		pieces(c.Refusal, func(s string) wire.Chunk { return wire.Chunk{Refusal: s} })
	}
	for i := range rapid.IntRange(0, 3).Draw(t, "calls") {
		call := wire.ToolCall{ID: fmt.Sprintf("call_%d", i), Name: rapid.StringMatching("[a-z]{1,8}").Draw(t, "name")}
		call.Arguments = `{"city":` + string(splice.Quote(nil, text.Draw(t, "city"))) + `}`
		c.ToolCalls, c.Finish = append(c.ToolCalls, call), wire.FinishToolCalls
		chunks = append(chunks, wire.Chunk{Index: index, Tool: &wire.ToolDelta{Index: i, ID: call.ID, Name: call.Name}})
		pieces(call.Arguments, func(s string) wire.Chunk { return wire.Chunk{Tool: &wire.ToolDelta{Index: i, Arguments: s}} })
	}
	return c, append(chunks, wire.Chunk{Index: index, Finish: c.Finish})
}

// TestStreamsHaveTheTextsOfWholeAnswers: in each language, the texts of a stream's events are joined those
// of the same answer as a whole, and what the model has said is among them.
func TestStreamsHaveTheTextsOfWholeAnswers(t *testing.T) {
	t.Parallel()
	for language, d := range map[string]dialect.Dialect{"chat": openai.Dialect{}, "messages": anthropic.Dialect{}, "responses": responses.Dialect{}, "contents": googlecaller.Dialect{}, "converse": converse.Dialect{}, "turns": coherecaller.Dialect{}} {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				reply := wire.Response{ID: "id"}
				var all []wire.Chunk
				choices := 1
				if language == "chat" || language == "contents" {
					choices = rapid.IntRange(1, 3).Draw(t, "choices")
				}
				for i := range choices {
					c, chunks := drawAnswer(t, language, i)
					reply.Choices, all = append(reply.Choices, c), append(all, chunks...)
				}
				meta := dialect.Meta{ID: "id", Model: "alias", Created: 1}
				whole, streamed := wholeTexts(t, language, d.EncodeResponse(nil, &reply, meta)), streamTexts(t, language, d.Stream(meta), all)
				compared := whole
				if language == "contents" { // whose events do not say which part they continue
					compared, streamed = withoutItems(whole), withoutItems(streamed)
				}
				if language == "turns" { // whose text before calls is a plan, which a stream cannot know
					compared, streamed = withoutParts(whole), withoutParts(streamed)
				}
				if diff := cmp.Diff(compared, streamed, cmp.AllowUnexported(field{})); diff != "" {
					t.Fatalf("(-whole +streamed) %s", diff)
				}
				for i := range reply.Choices {
					says(t, whole, i, &reply.Choices[i])
				}
			})
		})
	}
}

// withoutItems joins the texts of all items.
func withoutItems(in map[field]string) map[field]string {
	out := make(map[field]string)
	byItem := func(a, b field) int { return a.item - b.item }
	for _, f := range slices.SortedStableFunc(maps.Keys(in), byItem) {
		out[field{kind: f.kind, choice: f.choice}] += in[f]
	}
	return out
}

// withoutParts gives a plan the place of the text that it is in a stream.
func withoutParts(in map[field]string) map[field]string {
	out := make(map[field]string)
	for f, text := range in {
		if f.kind == texts.Content {
			f.item, f.part = 0, 0
		}
		out[f] += text
	}
	return out
}

func wholeTexts(t *rapid.T, language string, body []byte) map[field]string {
	out := make(map[field]string)
	for _, x := range collect(t, body, readers()[language].Answer(body)) {
		add(out, &x, body)
	}
	return out
}

// streamTexts also requires that each repeat is one of a text that earlier events have given.
func streamTexts(t *rapid.T, language string, enc dialect.Encoder, chunks []wire.Chunk) map[field]string {
	var stream []byte
	for i := range chunks {
		stream = enc.Chunk(stream, &chunks[i])
	}
	stream = enc.End(stream, &wire.Usage{})
	out := make(map[field]string)
	var split splice.Splitter
	split.Push(stream)
	var e splice.Event
	for split.Next(&e) {
		if !e.HasData || splice.IsDone(e.Data) {
			continue
		}
		for _, x := range collect(t, e.Data, readers()[language].Event(e.Data)) {
			text := string(splice.Plain(x.Of(e.Data)))
			if have := out[field{x.Kind, x.Choice, x.Item, x.Part}]; x.Repeat && !x.JSON && text != have {
				t.Fatalf("%q repeats %q: %s", text, have, e.Data)
			}
			add(out, &x, e.Data)
		}
	}
	return out
}

// says requires that what a choice says is among the texts of an answer, in any items.
func says(t *rapid.T, all map[field]string, choice int, c *wire.Choice) {
	want := map[string]int{}
	for _, text := range []string{c.Text, c.Refusal} {
		want[text]++
	}
	for i := range c.Thinking {
		want[c.Thinking[i].Text]++
	}
	for i := range c.ToolCalls {
		want[c.ToolCalls[i].Name]++
		want[c.ToolCalls[i].Arguments]++
	}
	delete(want, "")
	got := map[string]int{}
	for f, text := range all {
		if f.choice == choice {
			got[text]++
		}
	}
	if !maps.Equal(want, got) {
		t.Fatalf("said %v, found %v", want, got)
	}
}
