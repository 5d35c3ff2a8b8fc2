package anthropic

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/extproc/dialect"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// answer is a whole response, and the start of a streamed one.
type answer struct {
	ID           string         `json:"id"`
	Type         string         `json:"type"` // always message
	Role         string         `json:"role"` // always assistant
	Model        string         `json:"model"`
	Content      []answerBlock  `json:"content"`
	StopReason   *string        `json:"stop_reason"`
	StopSequence *string        `json:"stop_sequence"`
	StopDetails  jsontext.Value `json:"stop_details,omitzero"`
	Usage        answerUsage    `json:"usage"`
}

// answerBlock is a content block of any type; each type uses some of the members. Pointers are
// members that may be empty but must be there.
type answerBlock struct {
	Type      string           `json:"type"`
	Text      *string          `json:"text,omitzero"`
	Citations []jsontext.Value `json:"citations,omitzero"`
	Thinking  *string          `json:"thinking,omitzero"`
	Signature *string          `json:"signature,omitzero"`
	Data      string           `json:"data,omitzero"`
	ID        string           `json:"id,omitzero"`
	Name      *string          `json:"name,omitzero"`
	Input     jsontext.Value   `json:"input,omitzero"`
}

// answerOf converts a response to Anthropic's form, which has one choice. Its blocks are in the
// order in which models write them: the reasoning, the text, the calls.
func answerOf(r *wire.Response, m dialect.Meta) *answer {
	id := m.ID
	if id == "" {
		id = r.ID
	}
	m.ID = messageID(id)
	out := begin(m, &r.Usage)
	out.Usage.ServiceTier = tierOf(r.ServiceTier)
	var c wire.Choice
	if len(r.Choices) > 0 {
		c = r.Choices[0]
	}
	for i := range c.Thinking {
		out.Content = append(out.Content, thinkingBlock(&c.Thinking[i]))
	}
	out.Content = append(out.Content, textBlocks(c.Text, c.Annotations)...)
	if c.Refusal != "" {
		out.Content = append(out.Content, answerBlock{Type: "text", Text: &c.Refusal})
	}
	for i := range c.ToolCalls {
		t := &c.ToolCalls[i]
		out.Content = append(out.Content, answerBlock{Type: "tool_use", ID: answerID(t.ID, m, i), Name: &t.Name, Input: inputOf(t.Arguments)})
	}
	reason := stopReason(&stop{finish: c.Finish, ending: c.Ending, tools: len(c.ToolCalls) > 0, refused: c.Refusal != ""})
	out.StopReason, out.StopDetails = &reason, c.Ending.Details
	if reason == stoppedByText {
		out.StopSequence = &c.Ending.Sequence
	}
	return out
}

// begin returns a response without content.
func begin(m dialect.Meta, u *wire.Usage) *answer {
	return &answer{
		ID: messageID(m.ID), Type: "message", Role: "assistant", Model: m.Model, Content: []answerBlock{}, Usage: usageOf(u),
	}
}

// thinkingBlock writes a block of reasoning. Reasoning of other providers has no signature.
func thinkingBlock(t *wire.Thinking) answerBlock {
	if t.Redacted != "" {
		return answerBlock{Type: "redacted_thinking", Data: t.Redacted}
	}
	return answerBlock{Type: "thinking", Thinking: &t.Text, Signature: &t.Signature}
}

// inputOf returns the arguments of a tool call as the object that Anthropic's clients read.
// Arguments that are none stand in an object of the form that Anthropic recommends for them.
func inputOf(arguments string) jsontext.Value {
	input := jsontext.Value(strings.TrimSpace(arguments))
	switch {
	case len(input) == 0:
		return jsontext.Value("{}")
	case input.IsValid() && input.Kind() == '{':
		return input
	}
	out := quote([]byte(`{"INVALID_JSON":`), arguments)
	return append(out, '}')
}

// quote appends a text as a JSON string. Bytes that are not UTF-8 are replaced.
func quote(dst []byte, text string) []byte {
	dst, _ = jsontext.AppendQuote(dst, text) // the error only says that bytes were replaced
	return dst
}

// stoppedByText is the reason that stop_sequence belongs to.
const stoppedByText = "stop_sequence"

// stop is all that the reason for the end depends on.
type stop struct {
	finish  wire.Finish
	ending  wire.Ending
	tools   bool // the response calls a tool
	refused bool // the response has a refusal's text
}

// stopReason names the reason in Anthropic's words. A complete response with a tool call ends
// for the call, whatever its provider says: clients run tools only then.
func stopReason(s *stop) string {
	switch {
	case s.finish == wire.FinishFilter, s.refused:
		return "refusal"
	case s.finish == wire.FinishLength && s.ending.Window:
		return "model_context_window_exceeded"
	case s.finish == wire.FinishLength:
		return "max_tokens"
	case s.tools:
		return "tool_use"
	case s.ending.Paused:
		return "pause_turn"
	case s.ending.Sequence != "":
		return stoppedByText
	}
	return "end_turn"
}

// answerUsage is the usage of a response. In it, the input excludes what was read from and
// written to the cache.
type answerUsage struct {
	Input       int64          `json:"input_tokens"`
	Creation    int64          `json:"cache_creation_input_tokens"`
	Read        int64          `json:"cache_read_input_tokens"`
	Created     *usageCreated  `json:"cache_creation,omitzero"` // not in the events after the first
	Output      int64          `json:"output_tokens"`
	Details     *outputDetails `json:"output_tokens_details,omitzero"`
	Server      *serverTools   `json:"server_tool_use,omitzero"`
	ServiceTier string         `json:"service_tier,omitzero"`
}

type usageCreated struct {
	FiveMinutes int64 `json:"ephemeral_5m_input_tokens"`
	OneHour     int64 `json:"ephemeral_1h_input_tokens"`
}

type outputDetails struct {
	Thinking int64 `json:"thinking_tokens"`
}

type serverTools struct {
	Searches int64 `json:"web_search_requests"`
	Fetches  int64 `json:"web_fetch_requests"`
}

// usageOf converts usage to Anthropic's form. It is zero if it is not known: clients require it.
func usageOf(u *wire.Usage) answerUsage {
	if u == nil {
		u = &wire.Usage{}
	}
	t := u.Tokens
	out := answerUsage{
		Input: t.Input - t.CacheRead - t.CacheWrite - t.CacheWrite1h, Creation: t.CacheWrite + t.CacheWrite1h, Read: t.CacheRead,
		Created: &usageCreated{FiveMinutes: t.CacheWrite, OneHour: t.CacheWrite1h}, Output: t.Output,
	}
	if t.Reasoning > 0 {
		out.Details = &outputDetails{Thinking: t.Reasoning}
	}
	if t.SearchQueries > 0 {
		out.Server = &serverTools{Searches: t.SearchQueries}
	}
	return out
}

// tierOf names a service tier in Anthropic's words; empty if it has none for it.
func tierOf(tier string) string {
	switch tier {
	case "default", "standard":
		return "standard"
	case "priority", "batch":
		return tier
	}
	return ""
}
