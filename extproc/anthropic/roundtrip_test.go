package anthropic_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/modelgateway/modelgateway/extproc/anthropic"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// TestDecodeReadsWhatEncodeWrites checks that what the driver writes means the same when it is
// read again, for requests that need no change to be sent.
func TestDecodeReadsWhatEncodeWrites(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		t.Helper()
		want := drawRequest(t)
		body, err := anthropic.Driver{}.Encode(want, driver.Target{
			Model: want.Model, Features: driver.Features{JSONSchema: true, AdaptiveThinking: true, HighEfforts: true},
		})
		if err != nil {
			t.Fatalf("%v: %+v", err, want)
		}
		got, err := anthropic.Dialect{}.DecodeRequest(body)
		if err != nil {
			t.Fatalf("%v: %s", err, body)
		}
		slices.SortFunc(got.Extra, func(a, b wire.Field) int { return strings.Compare(a.Name, b.Name) })
		if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(wire.Part{}, "At")); diff != "" {
			t.Fatalf("(-sent +read) %s\n%s", diff, body)
		}
	})
}

// words draws a text that is sent as it is: not empty, and without space at the end.
func words(t *rapid.T, label string) string { return rapid.String().Draw(t, label) + "." }

// cached draws a cache_control object, or none.
func cached(t *rapid.T) jsontext.Value {
	return rapid.SampledFrom([]jsontext.Value{nil, nil, jsontext.Value(`{"type":"ephemeral"}`), jsontext.Value(`{"type":"ephemeral","ttl":"1h"}`)}).Draw(t, "cache")
}

const closedSchema = `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}`

// drawRequest draws a request of a caller of Anthropic's language.
func drawRequest(t *rapid.T) *wire.Request {
	limit := int64(rapid.IntRange(1, 9000).Draw(t, "limit"))
	r := &wire.Request{Caller: wire.Anthropic, Model: "m", MaxTokens: &limit, Stream: rapid.Bool().Draw(t, "stream")}
	r.IncludeUsage = r.Stream
	r.User = rapid.SampledFrom([]string{"", "u"}).Draw(t, "user")
	r.Stop = rapid.SampledFrom([][]string{nil, {"END"}, {"a", "b"}}).Draw(t, "stop")
	if rapid.Bool().Draw(t, "structured") {
		r.Format = wire.Format{Kind: wire.FormatSchema, Schema: jsontext.Value(closedSchema)}
	}
	drawReasoning(t, r)
	drawConversation(t, r)
	drawTools(t, r)
	for _, f := range []wire.Field{
		{Name: "container", Value: jsontext.Value(`"c"`)},
		{Name: "future", Value: jsontext.Value(`{"a":[1.50]}`)},
		{Name: "service_tier", Value: jsontext.Value(`"auto"`)},
	} {
		if rapid.Bool().Draw(t, f.Name) {
			r.Extra = append(r.Extra, f)
		}
	}
	return r
}

// drawReasoning draws how much to think. The driver leaves sampling out if the model thinks.
func drawReasoning(t *rapid.T, r *wire.Request) {
	r.Reasoning.Mode = rapid.SampledFrom([]string{"", "enabled", "adaptive", "disabled", "between_tools"}).Draw(t, "mode")
	r.Reasoning.Effort = rapid.SampledFrom([]string{"", "low", "medium", "high", "xhigh", "max"}).Draw(t, "effort")
	switch r.Reasoning.Mode {
	case "enabled":
		r.Reasoning.Budget = int64(rapid.IntRange(1024, 9000).Draw(t, "budget"))
		fallthrough
	case "adaptive":
		r.Reasoning.Display = rapid.SampledFrom([]string{"", "summarized", "omitted"}).Draw(t, "display")
	case "", "disabled":
		if rapid.Bool().Draw(t, "sampling") {
			half, most := 0.5, 1.0
			r.Sampling = wire.Sampling{Temperature: &half, TopP: &most}
		}
	}
}

// drawTools draws tools. Conversations with calls need some.
func drawTools(t *rapid.T, r *wire.Request) {
	yes, no := true, false
	for i := range rapid.IntRange(1, 3).Draw(t, "tools") {
		tool := wire.Tool{Name: fmt.Sprint("f", i), Description: words(t, "description"), Schema: jsontext.Value(closedSchema), Cache: cached(t)}
		tool.Strict = rapid.SampledFrom([]*bool{nil, &yes}).Draw(t, "strict")
		if rapid.Bool().Draw(t, "more of the tool") {
			tool.Extra = jsontext.Value(`{"input_examples":[{}]}`)
		}
		r.Tools = append(r.Tools, tool)
	}
	if rapid.Bool().Draw(t, "server tool") {
		r.Tools = append(r.Tools, wire.Tool{Name: "bash", Type: "bash_20250124", Raw: jsontext.Value(`{"type":"bash_20250124","name":"bash"}`)})
	}
	if rapid.Bool().Draw(t, "search") {
		r.WebSearch = &wire.WebSearch{
			Version: "web_search_20260209", MostUses: int64(rapid.IntRange(0, 9).Draw(t, "uses")), Cache: cached(t),
			Allowed:  rapid.SampledFrom([][]string{nil, {"a.test"}}).Draw(t, "allowed"),
			Blocked:  rapid.SampledFrom([][]string{nil, {"b.test", "c.test"}}).Draw(t, "blocked"),
			Location: rapid.SampledFrom([]jsontext.Value{nil, jsontext.Value(`{"city":"Oslo","country":"NO"}`)}).Draw(t, "location"),
		}
	}
	r.ToolChoice.Mode = wire.ChoiceMode(rapid.IntRange(0, 4).Draw(t, "choice"))
	switch r.ToolChoice.Mode {
	case wire.ChoiceNamed:
		r.ToolChoice.Name = "f0"
		fallthrough
	case wire.ChoiceAuto, wire.ChoiceRequired:
		r.ParallelTools = rapid.SampledFrom([]*bool{nil, &no}).Draw(t, "parallel")
	case wire.ChoiceUnset, wire.ChoiceNone:
	}
}

// drawConversation draws turns that alternate, beginning with the user's.
func drawConversation(t *rapid.T, r *wire.Request) {
	if rapid.Bool().Draw(t, "system") {
		r.Messages = append(r.Messages, wire.Message{Role: wire.System, Parts: []wire.Part{{Text: words(t, "system"), Cache: cached(t)}, {Text: words(t, "system")}}})
	}
	var open []string // ids of calls without a result
	for turn := range rapid.IntRange(1, 6).Draw(t, "turns") {
		if turn%2 == 1 {
			m := wire.Message{Role: wire.Assistant}
			m.Parts, open = drawTurn(t, turn)
			r.Messages = append(r.Messages, m)
			continue
		}
		m := wire.Message{Role: wire.ToolRole}
		for _, id := range open {
			m.Parts = append(m.Parts, drawResult(t, id))
		}
		if open == nil || rapid.Bool().Draw(t, "says more") {
			m.Role, m.Parts = wire.User, append(m.Parts, wire.Part{Text: words(t, "text"), Cache: cached(t)}, drawMedium(t))
		}
		r.Messages, open = append(r.Messages, m), nil
	}
}

// drawTurn draws a turn of the assistant, and returns the ids of its calls.
func drawTurn(t *rapid.T, turn int) (parts []wire.Part, ids []string) {
	if rapid.Bool().Draw(t, "thinks") {
		parts = append(parts, wire.Part{Kind: wire.ThinkingPart, Text: rapid.String().Draw(t, "thought"), Signature: "sig"}, wire.Part{Kind: wire.RedactedPart, Signature: "opaque"})
	}
	cited := rapid.SampledFrom([]jsontext.Value{nil, jsontext.Value(`[{"type":"char_location","cited_text":"c"}]`)}).Draw(t, "cited")
	parts = append(parts, wire.Part{Text: words(t, "said"), Cache: cached(t), Citations: cited})
	for i := range rapid.IntRange(0, 3).Draw(t, "calls") {
		id := fmt.Sprintf("call_%d_%d", turn, i)
		arguments := rapid.SampledFrom([]string{"{}", string(encode(object{"a": rapid.String().Draw(t, "argument")}))}).Draw(t, "arguments")
		parts = append(parts, wire.Part{Kind: wire.ToolCallPart, Call: &wire.ToolCall{ID: id, Name: "f0", Arguments: arguments}, Cache: cached(t)})
		ids = append(ids, id)
	}
	return parts, ids
}

// drawResult draws a tool's result.
func drawResult(t *rapid.T, id string) wire.Part {
	out := &wire.ToolResult{CallID: id, Error: rapid.Bool().Draw(t, "error")}
	if rapid.Bool().Draw(t, "result") {
		out.Parts = []wire.Part{{Text: words(t, "result")}, drawMedium(t)}
	}
	return wire.Part{Kind: wire.ToolResultPart, Result: out, Cache: cached(t)}
}

// drawMedium draws a picture, a document, or a block that only Anthropic knows.
func drawMedium(t *rapid.T) wire.Part {
	return rapid.SampledFrom([]wire.Part{
		{Kind: wire.ImagePart, Media: &wire.Media{Type: "image/png", Data: "aQ=="}, Cache: cached(t)},
		{Kind: wire.ImagePart, Media: &wire.Media{URL: "https://x.test/i"}},
		{Kind: wire.FilePart, Media: &wire.Media{Type: "application/pdf", Data: "cA==", Name: "T", About: "C", Cite: true}, Cache: cached(t)},
		{Kind: wire.FilePart, Media: &wire.Media{URL: "https://x.test/d", Name: "T"}},
		{Kind: wire.FilePart, Media: &wire.Media{Type: "text/plain", Data: "w6U=", Cite: true}},
		{Kind: wire.NativePart, Native: &wire.Native{
			Language: wire.Anthropic, Type: "search_result", Raw: jsontext.Value(`{"type":"search_result","source":"s","title":"t","content":[{"type":"text","text":"x"}]}`),
		}},
	}).Draw(t, "medium")
}
