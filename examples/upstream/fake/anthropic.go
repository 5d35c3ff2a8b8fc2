package fake

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// messageRequest is what is read of a messages request.
type messageRequest struct {
	Model    string          `json:"model"`
	System   json.RawMessage `json:"system"`
	Messages []struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	} `json:"messages"`
	MaxTokens     *int     `json:"max_tokens"`
	Stream        bool     `json:"stream"`
	StopSequences []string `json:"stop_sequences"`
	Tools         []struct {
		Name        string          `json:"name"`
		InputSchema json.RawMessage `json:"input_schema"`
	} `json:"tools"`
	ToolChoice struct {
		Type string `json:"type"`
		Name string `json:"name"`
	} `json:"tool_choice"`
	Thinking struct {
		Type string `json:"type"`
	} `json:"thinking"`
	OutputConfig struct {
		Format struct {
			Type   string          `json:"type"`
			Schema json.RawMessage `json:"schema"`
		} `json:"format"`
	} `json:"output_config"`

	midway bool // instructions may stand between messages
}

// message serves POST …/messages.
func (s *Server) message(x *exchange) {
	q := readMessage(x, true)
	if q == nil {
		return
	}
	p := planOf(q.Model)
	p.thinks = p.thinks || q.Thinking.Type == "enabled" || q.Thinking.Type == "adaptive"
	if !s.meet(x, p) {
		return
	}
	out := messageAnswer{answer: compose(q.ask(), p), plan: p, model: q.Model, id: fmt.Sprintf("msg_fake_%d", x.seq)}
	x.w.Header().Set("Request-Id", fmt.Sprintf("req_fake_%d", x.seq))
	if q.Stream {
		s.stream(x, p, out.events())
		return
	}
	s.whole(x, p, out.document())
}

// countMessage serves POST …/messages/count_tokens.
func (s *Server) countMessage(x *exchange) {
	q := readMessage(x, false)
	if q == nil {
		return
	}
	if p := planOf(q.Model); s.meet(x, p) {
		s.whole(x, p, map[string]int{"input_tokens": q.ask().prompt})
	}
}

// readMessage reads a request, or answers it with an error and returns nil.
func readMessage(x *exchange, bounded bool) *messageRequest {
	var q messageRequest
	err := json.Unmarshal(x.body, &q)
	q.midway = strings.Contains(strings.Join(x.r.Header.Values("Anthropic-Beta"), ","), "mid-conversation-")
	problem := ""
	switch {
	case x.r.Header.Get("Anthropic-Version") == "":
		problem = "anthropic-version: header is required"
	case err != nil:
		problem = "The request body is not valid JSON: " + err.Error()
	default:
		problem = q.check(bounded)
	}
	if problem != "" {
		x.dialect.fail(x.w, failure{status: http.StatusBadRequest, message: problem})
		return nil
	}
	return &q
}

// check says what Anthropic would refuse, as far as a gateway may get it wrong. Only a request that
// makes output has a bound of it.
func (q *messageRequest) check(bounded bool) string {
	switch {
	case q.Model == "":
		return "model: Field required"
	case bounded && q.MaxTokens == nil:
		return "max_tokens: Field required"
	case bounded && *q.MaxTokens < 1:
		return "max_tokens: Input should be greater than or equal to 1"
	case len(q.Messages) == 0:
		return "messages: at least one message is required"
	}
	used := map[string]bool{}
	for i, m := range q.Messages {
		if m.Role != "user" && m.Role != "assistant" && (m.Role != "system" || !q.midway) {
			return fmt.Sprintf("messages.%d.role: Input should be 'user' or 'assistant'", i)
		}
		for k, p := range partsOf(m.Content) {
			switch p.Type {
			case "tool_use":
				used[p.ID] = true
			case "tool_result":
				if !used[p.ToolUseID] {
					return fmt.Sprintf("messages.%d.content.%d: unexpected `tool_use_id` found in `tool_result` blocks: %s", i, k, p.ToolUseID)
				}
			case "text":
				if strings.TrimSpace(p.Text) == "" {
					return fmt.Sprintf("messages.%d: text content blocks must be non-empty", i)
				}
			}
		}
	}
	return ""
}

func (q *messageRequest) ask() ask {
	a := ask{model: q.Model, stream: q.Stream, n: 1, fromUser: true, prompt: 3, stop: q.StopSequences}
	if q.MaxTokens != nil {
		a.maxOut = *q.MaxTokens
	}
	_, system := textOf(q.System)
	a.prompt += system
	for _, m := range q.Messages {
		text, n := textOf(m.Content)
		a.prompt += 3 + n
		role := m.Role
		if slices.ContainsFunc(partsOf(m.Content), func(p part) bool { return p.Type == "tool_result" }) {
			role = "tool"
		}
		a.hear(role, text)
	}
	a.chosen = q.ToolChoice.Name
	for _, t := range q.Tools {
		a.prompt += tokens(t.Name) + tokens(string(t.InputSchema))
		if q.ToolChoice.Type != "none" {
			a.tools = append(a.tools, tool{name: t.Name, schema: t.InputSchema})
		}
	}
	a.asJSON = q.OutputConfig.Format.Type == "json_schema"
	a.schema = q.OutputConfig.Format.Schema
	return a
}

func failAnthropic(w http.ResponseWriter, f failure) {
	if f.status == 0 {
		f.status = http.StatusInternalServerError
	}
	writeJSON(w, f.status, anthropicError(f))
}

func failEventAnthropic(f failure) event {
	f.status = statusOverloaded
	return jsonEvent("error", anthropicError(f))
}

// statusOverloaded is Anthropic's own status for a lack of capacity.
const statusOverloaded = 529

type anthropicErrorBody struct {
	Type  string `json:"type"`
	Error struct {
		Type    string `json:"type"`
		Message string `json:"message"`
	} `json:"error"`
	RequestID string `json:"request_id"`
}

func anthropicError(f failure) anthropicErrorBody {
	e := anthropicErrorBody{Type: "error", RequestID: "req_fake"}
	e.Error.Message = f.message
	switch f.status {
	case http.StatusUnauthorized:
		e.Error.Type = "authentication_error"
	case http.StatusForbidden:
		e.Error.Type = "permission_error"
	case http.StatusNotFound:
		e.Error.Type = "not_found_error"
	case http.StatusRequestEntityTooLarge:
		e.Error.Type = "request_too_large"
	case http.StatusTooManyRequests:
		e.Error.Type = "rate_limit_error"
	case statusOverloaded:
		e.Error.Type = "overloaded_error"
	default:
		e.Error.Type = "invalid_request_error"
		if f.status >= http.StatusInternalServerError {
			e.Error.Type = "api_error"
		}
	}
	return e
}
