package fake

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// chatRequest is what is read of a chat completion request.
type chatRequest struct {
	Model               string          `json:"model"`
	Messages            []chatMessage   `json:"messages"`
	Stream              bool            `json:"stream"`
	N                   *int            `json:"n"`
	Stop                json.RawMessage `json:"stop"`
	MaxTokens           *int            `json:"max_tokens"`
	MaxCompletionTokens *int            `json:"max_completion_tokens"`
	ToolChoice          json.RawMessage `json:"tool_choice"`
	StreamOptions       struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
	Tools []struct {
		Function struct {
			Name       string          `json:"name"`
			Parameters json.RawMessage `json:"parameters"`
		} `json:"function"`
	} `json:"tools"`
	ResponseFormat struct {
		Type       string `json:"type"`
		JSONSchema struct {
			Schema json.RawMessage `json:"schema"`
		} `json:"json_schema"`
	} `json:"response_format"`
}

type chatMessage struct {
	Role       string          `json:"role"`
	Content    json.RawMessage `json:"content"`
	ToolCallID string          `json:"tool_call_id"`
	ToolCalls  []struct {
		ID string `json:"id"`
	} `json:"tool_calls"`
}

// part is a piece of a message's content, in any dialect.
type part struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	ID        string          `json:"id"`
	ToolUseID string          `json:"tool_use_id"`
	Content   json.RawMessage `json:"content"`
}

// imageTokens is what an image or a file counts for in a prompt.
const imageTokens = 85

// partsOf reads content that is a string or a list of parts.
func partsOf(content json.RawMessage) []part {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return []part{{Type: "text", Text: text}}
	}
	var parts []part
	_ = json.Unmarshal(content, &parts) // another type has no text
	return parts
}

// textOf is the text of content, and what it counts in tokens.
func textOf(content json.RawMessage) (string, int) {
	var b strings.Builder
	count := 0
	for _, p := range partsOf(content) {
		switch p.Type {
		case "text", "input_text", "output_text":
			b.WriteString(p.Text)
			count += tokens(p.Text)
		case "tool_result":
			text, n := textOf(p.Content)
			b.WriteString(text)
			count += n
		default:
			count += imageTokens
		}
	}
	return b.String(), count
}

// chatCompletion serves POST …/chat/completions.
func (s *Server) chatCompletion(x *exchange) {
	var q chatRequest
	if err := json.Unmarshal(x.body, &q); err != nil {
		x.dialect.fail(x.w, failure{status: http.StatusBadRequest, message: "We could not parse the JSON body of your request: " + err.Error()})
		return
	}
	if f, ok := q.check(); !ok {
		x.dialect.fail(x.w, f)
		return
	}
	p := planOf(q.Model)
	if !s.meet(x, p) {
		return
	}
	a := q.ask()
	out := chatAnswer{
		answer: compose(a, p), plan: p, model: q.Model, id: fmt.Sprintf("chatcmpl-fake-%d", x.seq),
		includeUsage: q.StreamOptions.IncludeUsage,
	}
	x.w.Header().Set("Openai-Processing-Ms", "1")
	x.w.Header().Set("X-Ratelimit-Remaining-Requests", "999")
	if q.Stream {
		s.stream(x, p, out.events())
		return
	}
	s.whole(x, p, out.document())
}

// check refuses what OpenAI refuses, as far as a gateway may get it wrong.
func (q *chatRequest) check() (failure, bool) {
	bad := func(param, message string) (failure, bool) {
		return failure{status: http.StatusBadRequest, param: param, message: message}, false
	}
	if q.Model == "" {
		return bad("model", "you must provide a model parameter")
	}
	if len(q.Messages) == 0 {
		return bad("messages", "Invalid 'messages': empty array. Expected an array with minimum length 1.")
	}
	if q.N != nil && (*q.N < 1 || *q.N > 128) {
		return bad("n", "Invalid 'n': expected an integer from 1 to 128.")
	}
	called := map[string]bool{}
	for i, m := range q.Messages {
		for _, k := range m.ToolCalls {
			called[k.ID] = true
		}
		if m.Role == "tool" && !called[m.ToolCallID] {
			return bad(fmt.Sprintf("messages.[%d].role", i), "messages with role 'tool' must be a response to a preceding message with 'tool_calls'.")
		}
	}
	return failure{}, true
}

func (q *chatRequest) ask() ask {
	a := ask{model: q.Model, stream: q.Stream, n: 1, fromUser: true, prompt: 3}
	if q.N != nil {
		a.n = *q.N
	}
	for _, m := range q.Messages {
		text, n := textOf(m.Content)
		a.hear(m.Role, text)
		a.prompt += 3 + n
	}
	var choice struct {
		Function struct {
			Name string `json:"name"`
		} `json:"function"`
	}
	_ = json.Unmarshal(q.ToolChoice, &choice) // a plain word names no function
	a.chosen = choice.Function.Name
	for _, t := range q.Tools {
		a.prompt += tokens(t.Function.Name) + tokens(string(t.Function.Parameters))
		if string(q.ToolChoice) != `"none"` {
			a.tools = append(a.tools, tool{name: t.Function.Name, schema: t.Function.Parameters})
		}
	}
	for _, bound := range []*int{q.MaxTokens, q.MaxCompletionTokens} {
		if bound != nil {
			a.maxOut = *bound
		}
	}
	var one string
	if json.Unmarshal(q.Stop, &one) == nil {
		a.stop = []string{one}
	} else {
		_ = json.Unmarshal(q.Stop, &a.stop) // another type stops nothing
	}
	a.asJSON = q.ResponseFormat.Type == "json_object" || q.ResponseFormat.Type == "json_schema"
	a.schema = q.ResponseFormat.JSONSchema.Schema
	return a
}

func failOpenAI(w http.ResponseWriter, f failure) {
	writeJSON(w, f.status, map[string]any{"error": openAIError(f)})
}

func failEventOpenAI(f failure) event {
	return jsonEvent("", map[string]any{"error": openAIError(f)})
}

type openAIErrorBody struct {
	Message string  `json:"message"`
	Type    string  `json:"type"`
	Param   *string `json:"param"`
	Code    *string `json:"code"`
}

func openAIError(f failure) openAIErrorBody {
	e := openAIErrorBody{Message: f.message, Type: "invalid_request_error"}
	code := f.code
	switch {
	case f.status == http.StatusUnauthorized && code == "":
		code = "invalid_api_key"
	case f.status == http.StatusNotFound && code == "":
		code = "model_not_found"
	case f.status == http.StatusTooManyRequests:
		e.Type, code = "requests", "rate_limit_exceeded"
	case f.status >= http.StatusInternalServerError:
		e.Type = "server_error"
	}
	if code != "" {
		e.Code = &code
	}
	if f.param != "" {
		e.Param = &f.param
	}
	return e
}
