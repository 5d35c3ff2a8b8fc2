package fake

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// cohereRequest is what is read of a request for Cohere's chat. Members of others are rejected.
type cohereRequest struct {
	Model    string `json:"model"`
	Stream   bool   `json:"stream"`
	Messages []struct {
		Role       string          `json:"role"`
		Content    json.RawMessage `json:"content"`
		ToolPlan   string          `json:"tool_plan"`
		ToolCallID string          `json:"tool_call_id"`
		ToolCalls  []struct {
			ID       string       `json:"id"`
			Type     string       `json:"type"`
			Function chatFunction `json:"function"`
		} `json:"tool_calls"`
	} `json:"messages"`
	Tools []struct {
		Type     string `json:"type"`
		Function struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			Parameters  json.RawMessage `json:"parameters"`
		} `json:"function"`
	} `json:"tools"`
	ToolChoice string   `json:"tool_choice"`
	MaxTokens  int      `json:"max_tokens"`
	Stop       []string `json:"stop_sequences"`
	Thinking   struct {
		Type   string `json:"type"`
		Budget int    `json:"token_budget"`
	} `json:"thinking"`
	ResponseFormat struct {
		Type   string          `json:"type"`
		Schema json.RawMessage `json:"json_schema"`
	} `json:"response_format"`
	Temperature      *float64          `json:"temperature"`
	P                *float64          `json:"p"`
	K                *int              `json:"k"`
	Seed             *uint64           `json:"seed"`
	FrequencyPenalty *float64          `json:"frequency_penalty"`
	PresencePenalty  *float64          `json:"presence_penalty"`
	StrictTools      bool              `json:"strict_tools"`
	SafetyMode       string            `json:"safety_mode"`
	Documents        []json.RawMessage `json:"documents"`
	CitationOptions  json.RawMessage   `json:"citation_options"`
}

// cohereChat serves POST /v2/chat.
func (s *Server) cohereChat(x *exchange) {
	var q cohereRequest
	d := json.NewDecoder(bytes.NewReader(x.body))
	d.DisallowUnknownFields()
	problem := ""
	if err := d.Decode(&q); err != nil {
		problem = err.Error()
	} else {
		problem = q.check()
	}
	if problem != "" {
		x.dialect.fail(x.w, failure{status: http.StatusBadRequest, message: "invalid request: " + problem})
		return
	}
	p := planOf(q.Model)
	p.thinks = p.thinks || q.Thinking.Type == "enabled"
	if !s.meet(x, p) {
		return
	}
	out := cohereAnswer{answer: compose(q.ask(), p), plan: p, seq: x.seq}
	if q.Stream {
		s.stream(x, p, out.events())
		return
	}
	s.whole(x, p, out.document())
}

// check says what Cohere rejects, as far as a gateway may get it wrong.
func (q *cohereRequest) check() string {
	outside := func(v *float64) bool { return v != nil && (*v < 0 || *v > 1) }
	switch {
	case q.Model == "":
		return "a model parameter is required for this endpoint."
	case len(q.Messages) == 0:
		return "list of messages must not be empty"
	case outside(q.Temperature):
		return "temperature must be between 0 and 1.0 inclusive."
	case outside(q.FrequencyPenalty), outside(q.PresencePenalty):
		return "presence_penalty must be between 0 and 1 inclusive."
	case q.P != nil && (*q.P < 0.01 || *q.P > 0.99):
		return "p must be between 0.01 and 0.99 inclusive."
	case q.ToolChoice != "" && q.ToolChoice != "REQUIRED" && q.ToolChoice != "NONE":
		return "tool_choice must be one of REQUIRED, NONE"
	}
	called, last := map[string]bool{}, ""
	for _, m := range q.Messages {
		switch {
		case m.Role == "system" && last != "" && last != "system":
			return "system turn must be the first in the list"
		case m.Role == "assistant" && len(m.Content) == 0 && len(m.ToolCalls) == 0:
			return "message must not be empty in a turn"
		case m.Role == "tool" && !called[m.ToolCallID]:
			return "tool call id not found in previous tool calls"
		}
		for _, k := range m.ToolCalls {
			called[k.ID] = true
		}
		last = m.Role
	}
	return ""
}

func (q *cohereRequest) ask() ask {
	a := ask{model: q.Model, stream: q.Stream, n: 1, fromUser: true, prompt: 3, maxOut: q.MaxTokens, stop: q.Stop}
	for _, m := range q.Messages {
		text, n := cohereText(m.Content)
		a.prompt += 3 + n
		a.hear(m.Role, text)
	}
	for _, t := range q.Tools {
		a.prompt += tokens(t.Function.Name) + tokens(string(t.Function.Parameters))
		if q.ToolChoice != "NONE" {
			a.tools = append(a.tools, tool{name: t.Function.Name, schema: t.Function.Parameters})
		}
	}
	a.asJSON = q.ResponseFormat.Type == "json_object"
	a.schema = q.ResponseFormat.Schema
	return a
}

// cohereText is the text of content, of documents too.
func cohereText(content json.RawMessage) (string, int) {
	var parts []struct {
		Document struct {
			Data json.RawMessage `json:"data"`
		} `json:"document"`
	}
	text, n := textOf(content)
	if json.Unmarshal(content, &parts) == nil {
		for _, p := range parts {
			text += string(p.Document.Data)
		}
	}
	return text, n
}

// cohereAnswer writes an answer as Cohere does.
type cohereAnswer struct {
	answer
	plan plan
	seq  int
}

func (c *cohereAnswer) usage() any {
	if c.plan.usage == "none" {
		return nil
	}
	const preamble = 60 // what Cohere adds to a prompt
	return object{
		"billed_units": object{"input_tokens": float64(c.prompt), "output_tokens": float64(c.completion)},
		"tokens":       object{"input_tokens": float64(c.prompt + preamble), "output_tokens": float64(c.completion + 2)},
	}
}

func (c *cohereAnswer) callID(i int) string { return fmt.Sprintf("tool_%d_%d", c.seq, i) }

// reason is a reason to finish in Cohere's words.
func reason(finish string) string {
	switch finish {
	case "length":
		return "MAX_TOKENS"
	case "tool_calls":
		return "TOOL_CALL"
	}
	return "COMPLETE"
}

const coherePlan = "I will use a tool."

func (c *cohereAnswer) document() object {
	first := c.choices[0]
	message := object{"role": "assistant"}
	var content, calls []object
	if len(c.thinking) > 0 {
		content = append(content, object{"type": "thinking", "thinking": strings.Join(c.thinking, "")})
	}
	for i, k := range first.calls {
		calls = append(calls, object{"id": c.callID(i), "type": "function", "function": object{"name": k.name, "arguments": k.arguments}})
	}
	if len(calls) > 0 {
		message["tool_plan"], message["tool_calls"] = coherePlan, calls
	} else {
		content = append(content, object{"type": "text", "text": strings.Join(first.pieces, "")})
	}
	if content != nil {
		message["content"] = content
	}
	return object{"id": fmt.Sprintf("cohere-%d", c.seq), "finish_reason": reason(first.finish), "message": message, "usage": c.usage()}
}

func (c *cohereAnswer) events() []event {
	var out []event
	emit := func(kind string, index int, message any) {
		doc := object{"type": kind, "index": index}
		if message != nil {
			doc["delta"] = object{"message": message}
		}
		out = append(out, jsonEvent(kind, doc))
	}
	out = append(out, jsonEvent("message-start", object{"type": "message-start", "id": fmt.Sprintf("cohere-%d", c.seq), "delta": object{
		"message": object{"role": "assistant", "content": []any{}, "tool_plan": "", "tool_calls": []any{}, "citations": []any{}},
	}}))
	index := 0
	write := func(kind string, pieces []string) {
		if len(pieces) == 0 {
			return
		}
		emit("content-start", index, object{"content": object{"type": kind, kind: ""}})
		for _, t := range pieces {
			emit("content-delta", index, object{"content": object{kind: t}})
		}
		emit("content-end", index, nil)
		index++
	}
	first := c.choices[0]
	write("thinking", c.thinking)
	if len(first.calls) > 0 {
		for _, t := range pieces(coherePlan) {
			out = append(out, jsonEvent("tool-plan-delta", object{"type": "tool-plan-delta", "delta": object{"message": object{"tool_plan": t}}}))
		}
	} else {
		write("text", first.pieces)
	}
	for i, k := range first.calls {
		emit("tool-call-start", i, object{"tool_calls": object{"id": c.callID(i), "type": "function", "function": object{"name": k.name, "arguments": ""}}})
		for _, t := range fragments(k.arguments) {
			emit("tool-call-delta", i, object{"tool_calls": object{"function": object{"arguments": t}}})
		}
		emit("tool-call-end", i, nil)
	}
	e := jsonEvent("message-end", object{"type": "message-end", "delta": object{"finish_reason": reason(first.finish), "usage": c.usage()}})
	e.last = true
	return append(out, e)
}

func failEventCohere(failure) event {
	return jsonEvent("message-end", object{"type": "message-end", "delta": object{"finish_reason": "ERROR", "error": "internal server error"}})
}
