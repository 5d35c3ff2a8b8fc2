package fake

import (
	"encoding/json"
	"fmt"
	"strings"
)

// messageAnswer writes an answer as Anthropic's messages.
type messageAnswer struct {
	answer
	plan  plan
	model string
	id    string
}

// block is a content block; which fields it has depends on its type.
type block struct {
	Type      string  `json:"type"`
	Text      *string `json:"text,omitempty"`
	Thinking  *string `json:"thinking,omitempty"`
	Signature *string `json:"signature,omitempty"`
	ID        string  `json:"id,omitempty"`
	Name      string  `json:"name,omitempty"`
	Input     any     `json:"input,omitempty"`
}

type messageDocument struct {
	ID           string  `json:"id"`
	Type         string  `json:"type"`
	Role         string  `json:"role"`
	Model        string  `json:"model"`
	Content      []block `json:"content"`
	StopReason   *string `json:"stop_reason"`
	StopSequence *string `json:"stop_sequence"`
	Usage        any     `json:"usage,omitempty"`
}

// signature is what thinking is signed with; a gateway must hand it back.
const signature = "ZmFrZS1zaWduYXR1cmU="

func (m *messageAnswer) toolID(i int) string {
	return fmt.Sprintf("toolu_%s_%d", strings.TrimPrefix(m.id, "msg_"), i)
}

// stop is the reason in Anthropic's words, and the sequence that was met.
func (m *messageAnswer) stop() (string, *string) {
	c := m.choices[0]
	switch {
	case c.stop != "" && c.finish == "stop":
		return "stop_sequence", &c.stop
	case c.finish == "tool_calls":
		return "tool_use", nil
	case c.finish == "length":
		return "max_tokens", nil
	case c.finish == "content_filter":
		return "refusal", nil
	}
	return "end_turn", nil
}

func (m *messageAnswer) document() messageDocument {
	reason, sequence := m.stop()
	doc := messageDocument{
		ID: m.id, Type: "message", Role: "assistant", Model: m.model, Content: []block{},
		StopReason: &reason, StopSequence: sequence, Usage: m.usage(m.completion),
	}
	if len(m.thinking) > 0 {
		text, sign := strings.Join(m.thinking, ""), signature
		doc.Content = append(doc.Content, block{Type: "thinking", Thinking: &text, Signature: &sign})
	}
	c := m.choices[0]
	if len(c.pieces) > 0 {
		text := strings.Join(c.pieces, "")
		doc.Content = append(doc.Content, block{Type: "text", Text: &text})
	}
	for i, k := range c.calls {
		doc.Content = append(doc.Content, block{
			Type: "tool_use", ID: m.toolID(i), Name: k.name, Input: json.RawMessage(k.arguments),
		})
	}
	return doc
}

// blockEvents are the events of one content block.
func blockEvents(index int, start block, deltas []any) []event {
	out := []event{jsonEvent("content_block_start", struct {
		Type  string `json:"type"`
		Index int    `json:"index"`
		Block block  `json:"content_block"`
	}{"content_block_start", index, start})}
	for _, d := range deltas {
		out = append(out, jsonEvent("content_block_delta", struct {
			Type  string `json:"type"`
			Index int    `json:"index"`
			Delta any    `json:"delta"`
		}{"content_block_delta", index, d}))
	}
	return append(out, jsonEvent("content_block_stop", struct {
		Type  string `json:"type"`
		Index int    `json:"index"`
	}{"content_block_stop", index}))
}

// deltas makes one delta of each piece.
func deltas(kind, field string, pieces []string) []any {
	out := make([]any, 0, len(pieces))
	for _, p := range pieces {
		out = append(out, map[string]string{"type": kind, field: p})
	}
	return out
}

func (m *messageAnswer) events() []event {
	start := m.document()
	start.Content, start.StopReason, start.StopSequence, start.Usage = []block{}, nil, nil, m.usage(1)
	out := []event{
		jsonEvent("message_start", struct {
			Type    string          `json:"type"`
			Message messageDocument `json:"message"`
		}{"message_start", start}),
		jsonEvent("ping", map[string]string{"type": "ping"}),
	}
	index, nothing := 0, ""
	add := func(first block, deltas []any) {
		out = append(out, blockEvents(index, first, deltas)...)
		index++
	}
	if len(m.thinking) > 0 {
		d := append(deltas("thinking_delta", "thinking", m.thinking), deltas("signature_delta", "signature", []string{signature})...)
		add(block{Type: "thinking", Thinking: &nothing, Signature: &nothing}, d)
	}
	c := m.choices[0]
	if len(c.pieces) > 0 {
		add(block{Type: "text", Text: &nothing}, deltas("text_delta", "text", c.pieces))
	}
	for i, k := range c.calls {
		add(block{Type: "tool_use", ID: m.toolID(i), Name: k.name, Input: json.RawMessage("{}")},
			deltas("input_json_delta", "partial_json", append([]string{""}, fragments(k.arguments)...)))
	}
	reason, sequence := m.stop()
	type change struct {
		StopReason   string  `json:"stop_reason"`
		StopSequence *string `json:"stop_sequence"`
	}
	out = append(out, jsonEvent("message_delta", struct {
		Type  string `json:"type"`
		Delta change `json:"delta"`
		Usage any    `json:"usage,omitempty"`
	}{"message_delta", change{reason, sequence}, m.usage(m.completion)}))
	last := jsonEvent("message_stop", map[string]string{"type": "message_stop"})
	last.last = true
	return append(out, last)
}

type messageUsage struct {
	Input         int `json:"input_tokens"`
	CacheCreation int `json:"cache_creation_input_tokens"`
	CacheRead     int `json:"cache_read_input_tokens"`
	Output        int `json:"output_tokens"`
}

// usage says that output tokens were made so far; the input leaves out what
// came from the cache, as Anthropic counts. It is nil where it is to be left out.
func (m *messageAnswer) usage(output int) any {
	if bad := spoilt(m.plan.usage); bad != nil {
		return map[string]any{"input_tokens": bad, "output_tokens": bad}
	}
	switch m.plan.usage {
	case "none":
		return nil
	case "null":
		return null()
	}
	return messageUsage{Input: m.prompt - m.cached, CacheRead: m.cached, Output: output}
}
