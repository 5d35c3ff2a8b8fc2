package fake

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
)

// responseRequest is what is read of a request for a response.
type responseRequest struct {
	Model           string          `json:"model"`
	Instructions    string          `json:"instructions"`
	Input           json.RawMessage `json:"input"`
	Previous        string          `json:"previous_response_id"`
	Store           *bool           `json:"store"`
	Stream          bool            `json:"stream"`
	MaxOutputTokens *int            `json:"max_output_tokens"`
	ToolChoice      json.RawMessage `json:"tool_choice"`
	Tools           []responseTool  `json:"tools"`
	Text            struct {
		Format struct {
			Type   string          `json:"type"`
			Schema json.RawMessage `json:"schema"`
		} `json:"format"`
	} `json:"text"`
	Reasoning struct {
		Effort string `json:"effort"`
	} `json:"reasoning"`
}

// responseTool is a tool of any type, of which the response repeats what was sent.
type responseTool struct {
	Type       string
	Name       string
	Parameters json.RawMessage
	raw        json.RawMessage
}

func (t *responseTool) UnmarshalJSON(raw []byte) error {
	type plain struct {
		Type       string          `json:"type"`
		Name       string          `json:"name"`
		Parameters json.RawMessage `json:"parameters"`
	}
	var p plain
	err := json.Unmarshal(raw, &p)
	*t = responseTool{Type: p.Type, Name: p.Name, Parameters: p.Parameters, raw: bytes.Clone(raw)}
	return err
}

// MarshalJSON writes the tool as it was sent.
func (t responseTool) MarshalJSON() ([]byte, error) { return t.raw, nil }

// item is an item of input.
type item struct {
	Type    string          `json:"type"`
	ID      string          `json:"id"`
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
	CallID  string          `json:"call_id"`
	Output  json.RawMessage `json:"output"`
}

// respond serves POST …/responses.
func (s *Server) respond(x *exchange) {
	q, items, f := s.readResponse(x)
	if f != nil {
		x.dialect.fail(x.w, *f)
		return
	}
	p := planOf(q.Model)
	p.thinks = p.thinks || q.Reasoning.Effort != "" && q.Reasoning.Effort != "none"
	if !s.meet(x, p) {
		return
	}
	out := responseAnswer{answer: compose(q.ask(items), p), plan: p, request: q, id: fmt.Sprintf("resp_fake_%d", x.seq), seq: x.seq}
	for _, t := range q.Tools {
		if t.Type == "custom" {
			out.custom = append(out.custom, t.Name)
		}
	}
	if q.stores() {
		s.kept.add(out.id, items, out.output())
	}
	x.w.Header().Set("Openai-Processing-Ms", "1")
	if q.Stream {
		s.stream(x, p, out.events())
		return
	}
	status, reason := out.status()
	s.whole(x, p, out.document(out.output(), status, reason))
}

// countInput serves POST …/responses/input_tokens.
func (s *Server) countInput(x *exchange) {
	q, items, f := s.readResponse(x)
	if f != nil {
		x.dialect.fail(x.w, *f)
		return
	}
	if p := planOf(q.Model); s.meet(x, p) {
		s.whole(x, p, map[string]any{"object": "response.input_tokens", "input_tokens": q.ask(items).prompt})
	}
}

// stores reports whether the provider keeps the response, which it does unless told otherwise.
func (q *responseRequest) stores() bool { return q.Store == nil || *q.Store }

// readResponse reads a request and the items that it has, refers to and continues.
func (s *Server) readResponse(x *exchange) (*responseRequest, []item, *failure) {
	var q responseRequest
	bad := func(param, code, message string) (*responseRequest, []item, *failure) {
		return nil, nil, &failure{status: http.StatusBadRequest, param: param, code: code, message: message}
	}
	if err := json.Unmarshal(x.body, &q); err != nil {
		return bad("", "", "We could not parse the JSON body of your request: "+err.Error())
	}
	if q.Model == "" {
		return bad("model", "missing_required_parameter", "Missing required parameter: 'model'.")
	}
	items, err := itemsOf(q.Input)
	if err != nil {
		return bad("input", "invalid_type", "Invalid type for 'input': expected one of an array of items or a string.")
	}
	for i := range items {
		if items[i].Type != "item_reference" {
			continue
		}
		kept, ok := s.kept.item(items[i].ID)
		if !ok {
			f := failure{
				status: http.StatusNotFound, code: "item_not_found", param: "input",
				message: fmt.Sprintf("Item with id '%s' not found. Items are not persisted when `store` is set to false.", items[i].ID),
			}
			return nil, nil, &f
		}
		items[i] = kept
	}
	if q.Previous != "" {
		earlier, ok := s.kept.history(q.Previous)
		if !ok {
			return bad("previous_response_id", "previous_response_not_found", fmt.Sprintf("Previous response with id '%s' not found.", q.Previous))
		}
		items = append(earlier, items...)
	}
	called := map[string]bool{}
	for _, t := range items {
		switch t.Type {
		case "function_call", "custom_tool_call":
			called[t.CallID] = true
		case "function_call_output", "custom_tool_call_output":
			if !called[t.CallID] {
				return bad("input", "", "No tool call found for function call output with call_id "+t.CallID+".")
			}
		}
	}
	if len(items) == 0 {
		return bad("input", "missing_required_parameter", "One of \"input\" or \"previous_response_id\" must be provided.")
	}
	return &q, items, nil
}

// itemsOf reads input, which is a text of the user or a list.
func itemsOf(input json.RawMessage) ([]item, error) {
	var text string
	if json.Unmarshal(input, &text) == nil {
		return []item{{Type: "message", Role: "user", Content: input}}, nil
	}
	var items []item
	if len(input) == 0 {
		return nil, nil
	}
	err := json.Unmarshal(input, &items)
	for i := range items {
		if items[i].Type == "" && items[i].Role != "" {
			items[i].Type = "message"
		}
	}
	return items, err
}

func (q *responseRequest) ask(items []item) ask {
	a := ask{model: q.Model, stream: q.Stream, n: 1, fromUser: true, prompt: 3 + tokens(q.Instructions)}
	for _, t := range items {
		content := t.Content
		if t.Output != nil {
			content = t.Output
		}
		text, n := textOf(content)
		a.prompt += 3 + n
		switch t.Type {
		case "message":
			a.hear(t.Role, text)
		case "function_call_output", "custom_tool_call_output":
			a.hear("tool", text)
		}
	}
	var choice struct {
		Name string `json:"name"`
	}
	_ = json.Unmarshal(q.ToolChoice, &choice) // a plain word names no tool
	a.chosen = choice.Name
	for _, t := range q.Tools {
		a.prompt += tokens(t.Name) + tokens(string(t.Parameters))
		if string(q.ToolChoice) != `"none"` && slices.Contains([]string{"function", "custom"}, t.Type) {
			a.tools = append(a.tools, tool{name: t.Name, schema: t.Parameters})
		}
	}
	if q.MaxOutputTokens != nil {
		a.maxOut = *q.MaxOutputTokens
	}
	a.asJSON = q.Text.Format.Type == "json_object" || q.Text.Format.Type == "json_schema"
	a.schema = q.Text.Format.Schema
	return a
}

func failEventResponses(f failure) event {
	e := openAIError(f)
	return jsonEvent("error", map[string]any{"type": "error", "code": e.Code, "message": e.Message, "param": e.Param, "sequence_number": 0})
}
