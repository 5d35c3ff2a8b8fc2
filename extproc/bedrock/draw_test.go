package bedrock_test

import (
	"fmt"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"github.com/modelgateway/modelgateway/extproc/bedrock"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// models are one of each family with chats.
func models() []string {
	return []string{
		sonnet, "anthropic.claude-v2:1", "anthropic.claude-3-haiku-20240307-v1:0", "us.anthropic.claude-3-7-sonnet-20250219-v1:0", "global.anthropic.claude-opus-4-6-v1",
		"anthropic.claude-opus-4-7", "us.amazon.nova-2-lite-v1:0", "amazon.nova-pro-v1:0", "amazon.titan-text-express-v1", "cohere.command-r-v1:0", "cohere.command-text-v14",
		"us.meta.llama3-3-70b-instruct-v1:0", "mistral.mistral-7b-instruct-v0:2", "mistral.mistral-large-2407-v1:0", "us.deepseek.r1-v1:0", "deepseek.v3-v1:0",
		"openai.gpt-oss-120b-1:0", "qwen.qwen3-32b-v1:0", "ai21.jamba-1-5-large-v1:0", "somebody.new-model-v1:0",
	}
}

// randomCase returns the case of a random request; none if it cannot be sent.
func randomCase(t *testing.T, seed int) []judged {
	t.Helper()
	return rapid.Custom(func(rt *rapid.T) []judged {
		model := rapid.SampledFrom(models()).Draw(rt, "model")
		to := driver.Target{Model: model, Features: bedrock.Features(model), DropParams: rapid.Bool().Draw(rt, "drop"), MaxOutputTokens: rapid.SampledFrom([]int64{0, 4096}).Draw(rt, "most")}
		body, err := bedrock.Codec{}.Encode(drawRequest(rt), to)
		if err != nil {
			return nil
		}
		return []judged{{fmt.Sprint("random ", seed, " for ", model), "Converse request", string(body)}}
	}).Example(seed)
}

// drawRequest draws a request.
func drawRequest(t *rapid.T) *wire.Request {
	maybe := func(label string) bool { return rapid.IntRange(0, 2).Draw(t, label) == 0 }
	r := &wire.Request{Caller: rapid.SampledFrom([]wire.Dialect{wire.OpenAI, wire.Anthropic, wire.Responses}).Draw(t, "caller")}
	names := []string{"f", "mcp.x/y", rapid.StringN(1, 130, -1).Draw(t, "name")}
	for i := range rapid.IntRange(0, 3).Draw(t, "tools") {
		r.Tools = append(r.Tools, wire.Tool{Name: names[i], Description: rapid.SampledFrom([]string{"", " ", "d"}).Draw(t, "description"), Schema: jsontext.Value(`{"properties":{}}`), Cache: drawMark(t)})
	}
	if len(r.Tools) > 0 {
		r.ToolChoice = wire.ToolChoice{Mode: wire.ChoiceMode(rapid.IntRange(0, 4).Draw(t, "mode")), Name: names[0]}
	}
	for range rapid.IntRange(1, 6).Draw(t, "messages") {
		r.Messages = append(r.Messages, drawMessage(t, names))
	}
	if maybe("schema") {
		r.Format = wire.Format{Kind: rapid.SampledFrom([]wire.FormatKind{wire.FormatObject, wire.FormatSchema}).Draw(t, "kind"), Name: names[2], Schema: jsontext.Value(`{"type":"object","properties":{"a":{"type":"integer"}}}`)}
	}
	if maybe("effort") {
		r.Reasoning.Effort = rapid.SampledFrom([]string{"none", "minimal", "low", "medium", "high", "xhigh", "max"}).Draw(t, "effort")
	} else if maybe("thinking") {
		r.Reasoning = wire.Reasoning{Mode: rapid.SampledFrom([]string{"enabled", "disabled", "adaptive"}).Draw(t, "mode of thinking"), Budget: 2000}
	}
	if maybe("limit") {
		n := int64(rapid.IntRange(1, 9000).Draw(t, "limit"))
		r.MaxTokens = &n
	}
	if maybe("temperature") {
		f := rapid.Float64Range(0, 2).Draw(t, "temperature")
		r.Sampling.Temperature, r.Sampling.TopP = &f, &f
		if f > 1 {
			r.Sampling.TopP = nil
		}
	}
	if maybe("stop") {
		r.Stop = []string{" ", "END"}
	}
	if maybe("members") {
		r.Extra = []wire.Field{{Name: "top_k", Value: jsontext.Value("5")}, {Name: "service_tier", Value: jsontext.Value(`"flex"`)}}
	}
	return r
}

func drawMark(t *rapid.T) jsontext.Value {
	return rapid.SampledFrom([]jsontext.Value{nil, nil, nil, jsontext.Value(`{"type":"ephemeral","ttl":"1h"}`)}).Draw(t, "cache")
}

// drawMessage draws a message.
func drawMessage(t *rapid.T, names []string) wire.Message {
	text := wire.Part{Text: rapid.StringN(0, 10, -1).Draw(t, "text"), Cache: drawMark(t)}
	id := rapid.SampledFrom([]string{"tooluse_1", "call 2", "ü", ""}).Draw(t, "id")
	switch rapid.IntRange(0, 4).Draw(t, "role") {
	case 0:
		return wire.Message{Role: wire.System, Parts: []wire.Part{text}}
	case 1:
		return wire.Message{Role: wire.Assistant, Parts: []wire.Part{
			{Kind: wire.ThinkingPart, Text: "t", Signature: rapid.SampledFrom([]string{"", "c2ln", "mgw1:converse:c2ln", "mgw1:gemini:x"}).Draw(t, "signature")},
			text,
			{Kind: wire.ToolCallPart, Call: &wire.ToolCall{ID: id, Name: rapid.SampledFrom(names).Draw(t, "called"), Arguments: rapid.SampledFrom([]string{"", "{}", `{"a":1}`}).Draw(t, "arguments")}},
		}}
	case 2:
		return wire.Message{Role: wire.ToolRole, Parts: []wire.Part{{Kind: wire.ToolResultPart, Cache: drawMark(t), Result: &wire.ToolResult{CallID: id, Parts: []wire.Part{text}, Error: rapid.Bool().Draw(t, "error")}}}}
	case 3:
		return wire.Message{Role: wire.User, Parts: []wire.Part{
			{Kind: wire.FilePart, Media: &wire.Media{Data: "JVBERi0=", Type: "application/pdf", Name: rapid.StringN(0, 300, -1).Draw(t, "file"), About: "c", Cite: true}},
			{Kind: wire.ImagePart, Media: &wire.Media{Data: "AAAA", Type: "image/webp"}},
		}}
	}
	return wire.Message{Role: wire.User, Parts: []wire.Part{text}}
}
