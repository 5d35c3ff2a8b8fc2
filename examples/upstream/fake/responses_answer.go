package fake

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// responseAnswer writes an answer as OpenAI's responses.
type responseAnswer struct {
	answer
	plan    plan
	request *responseRequest
	id      string
	seq     int      // which the ids of items are made of
	custom  []string // names of the tools that take a text instead of JSON
}

type outputMessage struct {
	Type    string       `json:"type"`
	ID      string       `json:"id"`
	Status  string       `json:"status"`
	Role    string       `json:"role"`
	Content []outputText `json:"content"`
}

type outputText struct {
	Type        string `json:"type"`
	Text        string `json:"text"`
	Annotations []any  `json:"annotations"`
	Logprobs    []any  `json:"logprobs"`
}

type outputReasoning struct {
	Type      string        `json:"type"`
	ID        string        `json:"id"`
	Summary   []summaryText `json:"summary"`
	Encrypted string        `json:"encrypted_content,omitempty"`
}

type summaryText struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// outputCall is a call of a function, which has arguments, or of a custom tool, which has an input.
type outputCall struct {
	Type      string  `json:"type"`
	ID        string  `json:"id"`
	Status    string  `json:"status,omitempty"`
	CallID    string  `json:"call_id"`
	Name      string  `json:"name"`
	Arguments *string `json:"arguments,omitempty"`
	Input     *string `json:"input,omitempty"`
}

// encrypted is the reasoning in the form that callers hand back.
const encrypted = "ZmFrZS1lbmNyeXB0ZWQtcmVhc29uaW5n"

// status is completed, or why it is not, in the words of the API.
func (r *responseAnswer) status() (status, reason string) {
	switch r.choices[0].finish {
	case "length":
		return "incomplete", "max_output_tokens"
	case "content_filter":
		return "incomplete", "content_filter"
	}
	return "completed", ""
}

// output is the finished items.
func (r *responseAnswer) output() []any {
	out := []any{}
	if len(r.thinking) > 0 {
		out = append(out, outputReasoning{
			Type: "reasoning", ID: fmt.Sprintf("rs_fake_%d", r.seq), Encrypted: encrypted,
			Summary: []summaryText{{Type: "summary_text", Text: strings.Join(r.thinking, "")}},
		})
	}
	c := r.choices[0]
	if len(c.pieces) > 0 {
		status, _ := r.status()
		out = append(out, outputMessage{
			Type: "message", ID: fmt.Sprintf("msg_fake_%d", r.seq), Status: status, Role: "assistant", Content: []outputText{textPart(strings.Join(c.pieces, ""))},
		})
	}
	for i, k := range c.calls {
		call := outputCall{ID: fmt.Sprintf("fc_fake_%d_%d", r.seq, i), CallID: fmt.Sprintf("call_fake_%d_%d", r.seq, i), Name: k.name}
		if slices.Contains(r.custom, k.name) {
			input := k.text()
			call.Type, call.Input = "custom_tool_call", &input
		} else {
			call.Type, call.Status, call.Arguments = "function_call", "completed", &k.arguments
		}
		out = append(out, call)
	}
	return out
}

func textPart(text string) outputText {
	return outputText{Type: "output_text", Text: text, Annotations: []any{}, Logprobs: []any{}}
}

// document is the response with the items that are there so far.
func (r *responseAnswer) document(output []any, status, reason string) map[string]any {
	q := r.request
	tools, choice := []responseTool{}, json.RawMessage(`"auto"`)
	if q.Tools != nil {
		tools = q.Tools
	}
	if q.ToolChoice != nil {
		choice = q.ToolChoice
	}
	doc := map[string]any{
		"id": r.id, "object": "response", "created_at": created(), "status": status, "background": false, "error": nil, "incomplete_details": nil,
		"instructions": nil, "max_output_tokens": q.MaxOutputTokens, "model": q.Model, "output": output, "parallel_tool_calls": true,
		"previous_response_id": nil, "reasoning": map[string]any{"effort": nil, "summary": nil}, "service_tier": "default", "store": q.stores(),
		"temperature": 1, "text": map[string]any{"format": map[string]any{"type": "text"}}, "tool_choice": choice, "tools": tools, "top_p": 1,
		"truncation": "disabled", "metadata": map[string]any{}, "user": nil,
	}
	if q.Previous != "" {
		doc["previous_response_id"] = q.Previous
	}
	if reason != "" {
		doc["incomplete_details"] = map[string]any{"reason": reason}
	}
	if usage := r.usage(); usage != nil && status != "in_progress" {
		doc["usage"] = usage
	}
	return doc
}

func (r *responseAnswer) usage() any {
	if bad := spoilt(r.plan.usage); bad != nil {
		return map[string]any{"input_tokens": bad, "output_tokens": bad, "total_tokens": bad}
	}
	switch r.plan.usage {
	case "none":
		return nil
	case "null":
		return null()
	}
	return map[string]any{
		"input_tokens": r.prompt, "input_tokens_details": map[string]any{"cached_tokens": r.cached},
		"output_tokens": r.completion, "output_tokens_details": map[string]any{"reasoning_tokens": r.reasoning},
		"total_tokens": r.prompt + r.completion,
	}
}
