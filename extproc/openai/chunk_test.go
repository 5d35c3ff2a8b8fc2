package openai_test

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"github.com/modelgateway/modelgateway/extproc/dialect"
	"github.com/modelgateway/modelgateway/extproc/openai"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// An event with a text alone, which is written by itself, has the members of any other event, and the text as it is.
func TestEventsOfTexts(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		meta := dialect.Meta{ID: rapid.String().Draw(t, "id"), Model: rapid.String().Draw(t, "model"), Created: 1700000000, IncludeUsage: rapid.Bool().Draw(t, "usage")}
		chunk := wire.Chunk{Index: rapid.IntRange(0, 3).Draw(t, "index"), Text: rapid.OneOf(rapid.StringN(1, -1, -1), rapid.SampledFrom([]string{"\xff<\x00>", "\"\\\u2028&", "é😀"})).Draw(t, "text")}
		with := chunk
		with.Thinking = "t" // the slow way
		event := func(c wire.Chunk) string {
			s := openai.Dialect{}.Stream(meta)
			s.Chunk(nil, &wire.Chunk{Index: c.Index}) // the role
			return string(s.Chunk(nil, &c))
		}
		got, slow := event(chunk), event(with)
		if want := strings.Replace(slow, `,"reasoning_content":"t"`, "", 1); got != want {
			t.Fatalf("the event is\n%s and should be\n%s", got, want)
		}
		var read struct {
			Choices []struct {
				Delta struct {
					Content string `json:"content"`
				} `json:"delta"`
			} `json:"choices"`
		}
		data := strings.TrimSpace(strings.TrimPrefix(got, "data: "))
		if err := json.Unmarshal([]byte(data), &read); err != nil || read.Choices[0].Delta.Content != strings.ToValidUTF8(chunk.Text, "\uFFFD") || !jsontext.Value(data).IsValid() {
			t.Fatalf("%s: %v", got, err)
		}
	})
}
