package fake

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
)

// mistralRequest is a request for a chat: Mistral rejects any other member.
type mistralRequest struct {
	Model    string           `json:"model"`
	Messages []mistralMessage `json:"messages"`
	Tools    []struct {
		Type     string `json:"type"`
		Function struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			Strict      bool            `json:"strict"`
			Parameters  json.RawMessage `json:"parameters"`
		} `json:"function"`
	} `json:"tools"`
	ToolChoice     json.RawMessage `json:"tool_choice"`
	MaxTokens      int             `json:"max_tokens"`
	Stop           []string        `json:"stop"`
	Stream         bool            `json:"stream"`
	Effort         string          `json:"reasoning_effort"`
	ResponseFormat struct {
		Type       string `json:"type"`
		JSONSchema struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			Strict      bool            `json:"strict"`
			Schema      json.RawMessage `json:"schema"`
		} `json:"json_schema"`
	} `json:"response_format"`
	mistralUnread
}

// mistralUnread are the members that the fake has no use for.
type mistralUnread struct {
	Temperature      *float64        `json:"temperature"`
	TopP             *float64        `json:"top_p"`
	PresencePenalty  *float64        `json:"presence_penalty"`
	FrequencyPenalty *float64        `json:"frequency_penalty"`
	N                *int            `json:"n"`
	Seed             *uint64         `json:"random_seed"`
	Metadata         json.RawMessage `json:"metadata"`
	Parallel         *bool           `json:"parallel_tool_calls"`
	SafePrompt       bool            `json:"safe_prompt"`
	PromptMode       string          `json:"prompt_mode"`
	PromptCacheKey   string          `json:"prompt_cache_key"`
	Prediction       json.RawMessage `json:"prediction"`
}

type mistralMessage struct {
	Role      string          `json:"role"`
	Content   json.RawMessage `json:"content"`
	ToolCalls []struct {
		ID       string       `json:"id"`
		Type     string       `json:"type"`
		Function chatFunction `json:"function"`
	} `json:"tool_calls"`
	ToolCallID string `json:"tool_call_id"`
	Name       string `json:"name"`
	Prefix     bool   `json:"prefix"`
}

// mistralChat serves POST /mistral/…/chat/completions.
func (s *Server) mistralChat(x *exchange) {
	var q mistralRequest
	d := json.NewDecoder(bytes.NewReader(x.body))
	d.DisallowUnknownFields()
	if err := d.Decode(&q); err != nil {
		x.dialect.fail(x.w, failure{status: http.StatusUnprocessableEntity, message: err.Error()})
		return
	}
	if problem := q.check(); problem != "" {
		x.dialect.fail(x.w, failure{status: http.StatusBadRequest, code: "invalid_request_message_order", message: problem})
		return
	}
	p := planOf(q.Model)
	p.thinks = p.thinks || q.Effort == "high"
	if !s.meet(x, p) {
		return
	}
	out := mistralAnswer{answer: compose(q.ask(), p), plan: p, model: q.Model, seq: x.seq}
	if q.Stream {
		s.stream(x, p, out.events())
		return
	}
	s.whole(x, p, out.document())
}

// check says what Mistral rejects, as far as a gateway may get it wrong.
func (q *mistralRequest) check() string {
	id := regexp.MustCompile(`^[a-zA-Z0-9]{9}$`)
	follows := map[string]string{
		"": "system user assistant", "system": "system user assistant", "user": "system user assistant",
		"assistant": "assistant user tool", "tool": "assistant tool",
	}
	if len(q.Messages) == 0 {
		return "Conversation must have at least one message"
	}
	last, open := "", map[string]bool{}
	for _, m := range q.Messages {
		if !strings.Contains(follows[last], m.Role) {
			return fmt.Sprintf("Unexpected role '%s' after role '%s'", m.Role, last)
		}
		empty := len(m.Content) == 0 || string(m.Content) == "null" || string(m.Content) == `""`
		if m.Role == "assistant" && empty && len(m.ToolCalls) == 0 {
			return "Assistant message must have either content or tool_calls, but not none."
		}
		for _, k := range m.ToolCalls {
			if !id.MatchString(k.ID) {
				return fmt.Sprintf("Tool call id was %s but must be a-z, A-Z, 0-9, with a length of 9.", k.ID)
			}
			open[k.ID] = true
		}
		if m.Role == "tool" && !open[m.ToolCallID] {
			return "Unexpected tool call id " + m.ToolCallID + " in tool results"
		}
		delete(open, m.ToolCallID)
		last = m.Role
	}
	switch end := q.Messages[len(q.Messages)-1]; {
	case len(open) > 0:
		return "Not the same number of function calls and responses"
	case end.Role == "assistant" && !end.Prefix:
		return "Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant"
	}
	return ""
}

func (q *mistralRequest) ask() ask {
	a := ask{model: q.Model, stream: q.Stream, n: 1, fromUser: true, prompt: 3, maxOut: q.MaxTokens, stop: q.Stop}
	if q.N != nil {
		a.n = *q.N
	}
	for _, m := range q.Messages {
		text, n := textOf(m.Content)
		a.prompt += 3 + n
		a.hear(m.Role, text)
	}
	var named struct {
		Function struct {
			Name string `json:"name"`
		} `json:"function"`
	}
	_ = json.Unmarshal(q.ToolChoice, &named) // a word names none
	a.chosen = named.Function.Name
	for _, t := range q.Tools {
		a.prompt += tokens(t.Function.Name) + tokens(string(t.Function.Parameters))
		if string(q.ToolChoice) != `"none"` {
			a.tools = append(a.tools, tool{name: t.Function.Name, schema: t.Function.Parameters})
		}
	}
	a.asJSON = strings.HasPrefix(q.ResponseFormat.Type, "json")
	a.schema = q.ResponseFormat.JSONSchema.Schema
	return a
}

// mistralAnswer writes an answer as Mistral does.
type mistralAnswer struct {
	answer
	plan  plan
	model string
	seq   int
}

type object = map[string]any

func (m *mistralAnswer) head(kind string, choices []object) object {
	return object{"id": fmt.Sprintf("%032x", m.seq), "object": kind, "created": created(), "model": m.model, "choices": choices}
}

func (m *mistralAnswer) usage() object {
	return object{"prompt_tokens": m.prompt, "completion_tokens": m.completion, "total_tokens": m.prompt + m.completion, "num_cached_tokens": m.cached}
}

// thought is reasoning as a chunk of content.
func thought(text string) object {
	return object{"type": "thinking", "thinking": []object{{"type": "text", "text": text}}}
}

// called lists the calls of a choice. All have the index 0, as Mistral's sometimes have.
func (m *mistralAnswer) called(choice int, calls []call) []object {
	var out []object
	for i, k := range calls {
		out = append(out, object{
			"id": fmt.Sprintf("f%04d%02d%02d", m.seq%10000, choice, i), "type": "function", "index": 0,
			"function": object{"name": k.name, "arguments": k.arguments},
		})
	}
	return out
}

func (m *mistralAnswer) document() object {
	var choices []object
	for i, c := range m.choices {
		message := object{"role": "assistant", "content": strings.Join(c.pieces, ""), "tool_calls": m.called(i, c.calls)}
		if len(m.thinking) > 0 {
			message["content"] = []object{thought(strings.Join(m.thinking, "")), {"type": "text", "text": strings.Join(c.pieces, "")}}
		}
		choices = append(choices, object{"index": i, "message": message, "finish_reason": c.finish})
	}
	doc := m.head("chat.completion", choices)
	if m.plan.usage != "none" {
		doc["usage"] = m.usage()
	}
	return doc
}

func (m *mistralAnswer) events() []event {
	var out []event
	emit := func(i int, delta object, finish any) {
		doc := m.head("chat.completion.chunk", []object{{"index": i, "delta": delta, "finish_reason": finish}})
		if finish != nil && i == len(m.choices)-1 && m.plan.usage != "none" {
			doc["usage"] = m.usage()
		}
		out = append(out, jsonEvent("", doc))
	}
	for i, c := range m.choices {
		emit(i, object{"role": "assistant", "content": ""}, nil)
		for _, t := range m.thinking {
			emit(i, object{"content": []object{thought(t)}}, nil)
		}
		for _, t := range c.pieces {
			emit(i, object{"content": t}, nil)
		}
		end := object{"content": ""}
		if len(c.calls) > 0 {
			end["tool_calls"] = m.called(i, c.calls)
		}
		emit(i, end, c.finish)
	}
	return append(out, event{data: "[DONE]", last: true})
}

func mistralError(f failure) object {
	if f.status == http.StatusUnprocessableEntity {
		return object{"object": "error", "message": object{"detail": []object{{"type": "extra_forbidden", "loc": []string{"body"}, "msg": f.message}}}}
	}
	kind := f.code
	if kind == "" {
		kind = "invalid_request_error"
	}
	return object{"object": "error", "message": f.message, "type": kind, "param": nil, "code": "1000"}
}

func failMistral(w http.ResponseWriter, f failure) {
	writeJSON(w, max(f.status, http.StatusBadRequest), mistralError(f))
}

func failEventMistral(f failure) event {
	return jsonEvent("", mistralError(failure{status: http.StatusInternalServerError, code: "internal_server_error", message: f.message}))
}
