package openai

import (
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/dialect"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// chatMessages is messages; too many of them are rejected while they are read.
type chatMessages []chatMessage

// UnmarshalJSONFrom reads an array of messages, or null.
func (m *chatMessages) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	list, err := dialect.ReadMessages(dec, *m, mostMessages)
	*m = list
	return err
}

type chatMessage struct {
	Role             string            `json:"role"`
	Name             string            `json:"name,omitzero"`
	Content          chatContent       `json:"content"`
	ReasoningContent string            `json:"reasoning_content,omitzero"`
	Refusal          string            `json:"refusal,omitzero"`
	ThinkingBlocks   []chatThinking    `json:"thinking_blocks,omitzero"`
	ToolCalls        []chatCall        `json:"tool_calls,omitzero"`
	FunctionCall     *chatFunctionCall `json:"function_call,omitzero"`
	ToolCallID       string            `json:"tool_call_id,omitzero"`
	IsError          bool              `json:"is_error,omitzero"`
	Audio            *chatAudioRef     `json:"audio,omitzero"`
	Cache            jsontext.Value    `json:"cache_control,omitzero"`
}

type chatAudioRef struct {
	ID string `json:"id"`
}

type chatThinking struct {
	Index     *int   `json:"index,omitzero"` // streams only: OpenAI's libraries join lists by it
	Type      string `json:"type"`
	Thinking  string `json:"thinking,omitzero"`
	Signature string `json:"signature,omitzero"`
	Data      string `json:"data,omitzero"`
}

type chatCall struct {
	Index    *int              `json:"index,omitzero"` // streams only
	ID       string            `json:"id,omitzero"`
	Type     string            `json:"type,omitzero"`
	Function *chatFunctionCall `json:"function,omitzero"`
	Custom   *chatCustomCall   `json:"custom,omitzero"`
}

type chatFunctionCall struct {
	Name      string `json:"name,omitzero"`
	Arguments string `json:"arguments"`
}

type chatCustomCall struct {
	Name  string `json:"name,omitzero"`
	Input string `json:"input"`
}

// history is what earlier messages mean for later ones. Calls of the older functions have no ids, so the
// gateway makes one up, and a result belongs to the last call.
type history struct {
	lastCall string
	called   dialect.Calls
}

// messages reads messages.
func (c *chatRequest) messages(a *wire.Request) error {
	a.Messages = make([]wire.Message, 0, len(c.Messages))
	h := history{called: dialect.Calls{}}
	for i := range c.Messages {
		m, err := h.message(&c.Messages[i], i)
		if err != nil {
			return err
		}
		a.Messages = append(a.Messages, m)
	}
	return nil
}

// message reads the i-th message.
func (h *history) message(in *chatMessage, i int) (wire.Message, error) {
	param := fmt.Sprintf("messages[%d]", i)
	out := wire.Message{Role: wire.Role(in.Role), Name: in.Name}
	parts, err := in.Content.parts(param + ".content")
	if err != nil {
		return out, err
	}
	switch in.Role {
	case "system", "developer", "user":
		if !in.Content.given() {
			return out, fault.Field(param+".content", dialect.CodeMissing, "%s.content is missing.", param)
		}
		out.Parts = parts
	case "assistant":
		if out.Parts, err = h.assistant(in, i, parts); err != nil {
			return out, err
		}
	case "tool", "function":
		id := in.ToolCallID
		if in.Role == "function" {
			id = h.lastCall
		}
		if id == "" {
			return out, fault.Field(param+".tool_call_id", dialect.CodeMissing, "%s.tool_call_id is missing; it must be the id of a tool call before it.", param)
		}
		if err := h.called.CheckResult(id, param+".tool_call_id", "a tool call"); err != nil {
			return out, err
		}
		out.Role = wire.ToolRole
		out.Parts = []wire.Part{{Kind: wire.ToolResultPart, Result: &wire.ToolResult{CallID: id, Parts: parts, Error: in.IsError}}}
	case "":
		return out, fault.Field(param+".role", dialect.CodeMissing, "%s.role is missing.", param)
	default:
		return out, fault.Field(param+".role", dialect.CodeValue, "%s.role must be developer, system, user, assistant or tool.", param)
	}
	if cache := dialect.Present(in.Cache); cache != nil && len(out.Parts) > 0 {
		if cache.Kind() != '{' {
			return out, fault.Field(param+".cache_control", dialect.CodeType, "%s.cache_control must be an object.", param)
		}
		out.Parts[len(out.Parts)-1].Cache = cache
	}
	return out, nil
}

// assistant returns the parts of an assistant's message in the order in which the
// model wrote them: the reasoning, the text, the calls.
func (h *history) assistant(in *chatMessage, i int, text []wire.Part) ([]wire.Part, error) {
	var parts []wire.Part
	for j, b := range in.ThinkingBlocks {
		switch b.Type {
		case "thinking":
			parts = append(parts, wire.Part{Kind: wire.ThinkingPart, Text: b.Thinking, Signature: b.Signature})
		case "redacted_thinking":
			parts = append(parts, wire.Part{Kind: wire.RedactedPart, Signature: b.Data})
		default:
			param := fmt.Sprintf("messages[%d].thinking_blocks[%d].type", i, j)
			return nil, fault.Field(param, dialect.CodeValue, "%s must be thinking or redacted_thinking.", param)
		}
	}
	if len(parts) == 0 && in.ReasoningContent != "" {
		parts = append(parts, wire.Part{Kind: wire.ThinkingPart, Text: in.ReasoningContent})
	}
	parts = append(parts, text...)
	if in.Refusal != "" {
		parts = append(parts, wire.Part{Kind: wire.RefusalPart, Text: in.Refusal})
	}
	if in.Audio != nil && in.Audio.ID != "" {
		parts = append(parts, wire.Part{Kind: wire.AudioPart, Media: &wire.Media{ID: in.Audio.ID}})
	}
	for j, c := range in.ToolCalls {
		call, err := c.call(fmt.Sprintf("messages[%d].tool_calls[%d]", i, j))
		if err != nil {
			return nil, err
		}
		h.called[call.ID] = true
		parts = append(parts, wire.Part{Kind: wire.ToolCallPart, Call: call})
	}
	if f := in.FunctionCall; f != nil {
		h.lastCall = fmt.Sprintf("call_function_%d", i)
		h.called[h.lastCall] = true
		parts = append(parts, wire.Part{Kind: wire.ToolCallPart, Call: &wire.ToolCall{ID: h.lastCall, Name: f.Name, Arguments: f.Arguments}})
	}
	return parts, nil
}

// call converts a tool call to the canonical form.
func (c *chatCall) call(param string) (*wire.ToolCall, error) {
	call := &wire.ToolCall{ID: c.ID}
	switch {
	case c.ID == "":
		return nil, fault.Field(param+".id", dialect.CodeMissing, "%s.id is missing.", param)
	case c.Custom != nil:
		call.Name, call.Arguments, call.Custom = c.Custom.Name, c.Custom.Input, true
	case c.Function != nil:
		call.Name, call.Arguments = c.Function.Name, c.Function.Arguments
	}
	if call.Name == "" {
		return nil, fault.Field(param+".function.name", dialect.CodeMissing, "%s.function.name is missing.", param)
	}
	return call, nil
}
