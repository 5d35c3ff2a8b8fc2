package gemini_test

import (
	"encoding/base64"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"github.com/modelgateway/modelgateway/extproc/wire"
)

// drawRequest draws a chat that every model takes, but for what drop_params drops.
func drawRequest(t *rapid.T) *wire.Request {
	text := rapid.StringN(0, 12, -1)
	out := &wire.Request{
		Caller: rapid.SampledFrom([]wire.Dialect{"", wire.OpenAI, wire.Anthropic, wire.Responses}).Draw(t, "caller"),
		Stream: rapid.Bool().Draw(t, "stream"), User: text.Draw(t, "user"),
	}
	called := 0
	for range rapid.IntRange(0, 6).Draw(t, "messages") {
		out.Messages = append(out.Messages, drawTurn(t, &called)...)
	}
	for i := range rapid.IntRange(0, 3).Draw(t, "tools") {
		schema := rapid.SampledFrom([]jsontext.Value{
			nil, jsontext.Value(`{}`), jsontext.Value(`{"type":"object","properties":{"a":{"type":["string","null"],"minLength":1}},"required":["a"],"additionalProperties":false}`),
			jsontext.Value(`{"$defs":{"A":{"type":"object","properties":{"a":{"$ref":"#/$defs/A"}}}},"allOf":[{"$ref":"#/$defs/A"},{"type":"object","properties":{"b":{"enum":["x"]}}}]}`),
		}).Draw(t, "schema")
		out.Tools = append(out.Tools, wire.Tool{Name: fmt.Sprintf("f_%d", i), Description: text.Draw(t, "description"), Schema: schema})
	}
	out.ToolChoice = wire.ToolChoice{Mode: wire.ChoiceMode(rapid.IntRange(0, 4).Draw(t, "choice")), Name: "f_0"}
	out.Format = wire.Format{Kind: wire.FormatKind(rapid.IntRange(0, 2).Draw(t, "format")), Schema: jsontext.Value(`{"type":"object","properties":{"a":{"type":"integer","minimum":1}}}`)}
	out.Reasoning = wire.Reasoning{
		Effort:  rapid.SampledFrom([]string{"", "none", "minimal", "low", "medium", "high", "xhigh", "max"}).Draw(t, "effort"),
		Mode:    rapid.SampledFrom([]string{"", "enabled", "adaptive", "disabled"}).Draw(t, "mode"),
		Budget:  rapid.Int64Range(0, 1<<17).Draw(t, "budget"),
		Summary: rapid.SampledFrom([]string{"", "auto"}).Draw(t, "summary"),
	}
	out.Sampling = wire.Sampling{
		Temperature: drawn(t, rapid.Float64Range(0, 2)), TopP: drawn(t, rapid.Float64Range(0, 1)),
		FrequencyPenalty: drawn(t, rapid.Float64Range(-2, 2)), PresencePenalty: drawn(t, rapid.Float64Range(-2, 2)),
		N: drawn(t, rapid.Int64Range(1, 8)), Seed: drawn(t, rapid.Int64()), Logprobs: drawn(t, rapid.Bool()), TopLogprobs: drawn(t, rapid.Int64Range(0, 20)),
	}
	out.MaxTokens = drawn(t, rapid.Int64Range(1, 1<<20))
	out.Stop = rapid.SliceOfN(rapid.StringN(1, 5, -1), 0, 7).Draw(t, "stop")
	if rapid.Bool().Draw(t, "searches") {
		out.WebSearch = &wire.WebSearch{ContextSize: "low", Allowed: rapid.SampledFrom([][]string{nil, {"a.test"}}).Draw(t, "domains")}
	}
	if rapid.Bool().Draw(t, "more") {
		out.Extra = []wire.Field{
			{Name: "top_k", Value: jsontext.Value("40")},
			{Name: "unheard_of", Value: jsontext.Value("{}")},
			{Name: "service_tier", Value: jsontext.Value(`"flex"`)},
			{Name: "safetySettings", Value: jsontext.Value(`[{"category":"HARM_CATEGORY_HARASSMENT","threshold":"BLOCK_NONE"}]`)},
		}
	}
	return out
}

// drawn draws a value that may be missing.
func drawn[V any](t *rapid.T, g *rapid.Generator[V]) *V {
	return rapid.Ptr(g, true).Draw(t, "value")
}

// drawTurn draws a message, or one with calls and those with their results.
func drawTurn(t *rapid.T, called *int) []wire.Message {
	text := func(label string) wire.Part {
		return wire.Part{Kind: wire.TextPart, Text: rapid.StringN(0, 12, -1).Draw(t, label)}
	}
	raw := base64.StdEncoding.EncodeToString([]byte(rapid.StringN(1, 9, -1).Draw(t, "data")))
	switch rapid.IntRange(0, 3).Draw(t, "turn") {
	case 0:
		return []wire.Message{{Role: wire.System, Parts: []wire.Part{text("system")}}}
	case 1:
		return []wire.Message{{Role: wire.Assistant, Parts: []wire.Part{text("said"), {Kind: wire.RedactedPart, Signature: "mgw1:gemini::c2ln"}}}}
	case 2:
		media := []wire.Part{
			{Kind: wire.ImagePart, Media: &wire.Media{Data: raw, Type: "image/png"}},
			{Kind: wire.ImagePart, Media: &wire.Media{URL: "https://a.test/b.webp"}},
			{Kind: wire.AudioPart, Media: &wire.Media{Data: raw, Format: "mp3"}},
			{Kind: wire.FilePart, Media: &wire.Media{Data: raw, Name: "a.csv", About: "b"}},
		}
		return []wire.Message{{Role: wire.User, Parts: []wire.Part{text("asked"), rapid.SampledFrom(media).Draw(t, "media")}}}
	}
	calls := wire.Message{Role: wire.Assistant, Parts: []wire.Part{text("said")}}
	var results []wire.Message
	for range rapid.IntRange(1, 3).Draw(t, "calls") {
		*called++
		id := fmt.Sprintf("call_%d", *called)
		if rapid.Bool().Draw(t, "signed") {
			calls.Parts = append(calls.Parts, wire.Part{Kind: wire.ThinkingPart, Text: "hm", Signature: "mgw1:gemini:" + id + ":c2ln"})
		}
		calls.Parts = append(calls.Parts, wire.Part{Kind: wire.ToolCallPart, Call: &wire.ToolCall{ID: id, Name: "f_0", Arguments: `{"a":[1,null]}`}})
		result := &wire.ToolResult{CallID: id, Error: rapid.Bool().Draw(t, "failed"), Parts: []wire.Part{text("result")}}
		if rapid.Bool().Draw(t, "shown") {
			result.Parts = append(result.Parts, wire.Part{Kind: wire.ImagePart, Media: &wire.Media{Data: raw, Type: "image/png"}})
		}
		results = append(results, wire.Message{Role: wire.ToolRole, Parts: []wire.Part{{Kind: wire.ToolResultPart, Result: result}}})
	}
	return append([]wire.Message{calls}, results...)
}
