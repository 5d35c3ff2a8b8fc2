package responses

import (
	"bytes"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/dialect"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// mostItems is the most items of input. It bounds what a hostile body costs.
const mostItems = 100_000

// input is a text of the user, or items.
type input struct {
	text  *string
	items []item
}

// Types of items.
const (
	typeMessage      = "message"
	typeReasoning    = "reasoning"
	typeCall         = "function_call"
	typeResult       = "function_call_output"
	typeCustomCall   = "custom_tool_call"
	typeCustomResult = "custom_tool_call_output"
	typeReference    = "item_reference"
)

// item is an item of input, of any type; each type uses some of the members.
type item struct {
	Type      string     `json:"type"`
	ID        string     `json:"id,omitzero"`
	Role      string     `json:"role,omitzero"`
	Status    string     `json:"status,omitzero"`
	Content   content    `json:"content,omitzero"`
	CallID    string     `json:"call_id,omitzero"`
	Name      string     `json:"name,omitzero"`
	Namespace string     `json:"namespace,omitzero"`
	Arguments *string    `json:"arguments,omitzero"`
	Input     *string    `json:"input,omitzero"`
	Output    content    `json:"output,omitzero"`
	Summary   []textItem `json:"summary,omitzero"`
	Encrypted string     `json:"encrypted_content,omitzero"`
}

// textItem is a part of a reasoning item.
type textItem struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// UnmarshalJSONFrom reads a string, an array of items or null; too many items are
// rejected while they are read.
func (in *input) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	if dec.PeekKind() == '"' {
		in.text = new(string)
		return json.UnmarshalDecode(dec, in.text)
	}
	if dec.PeekKind() != '[' {
		raw, err := dec.ReadValue()
		if err != nil || raw.Kind() == 'n' {
			return err
		}
		return fault.Field("input", dialect.CodeType, "input must be a string or an array of items.")
	}
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	for dec.PeekKind() != ']' {
		if len(in.items) == mostItems {
			return fault.Field("input", dialect.CodeMany, "input has more than %d items.", mostItems)
		}
		var one item
		if err := json.UnmarshalDecode(dec, &one); err != nil {
			return err
		}
		in.items = append(in.items, one)
	}
	_, err := dec.ReadToken()
	return err
}

// MarshalJSONTo writes items.
func (in *input) MarshalJSONTo(enc *jsontext.Encoder) error {
	if in.items == nil {
		return enc.WriteToken(jsontext.String(""))
	}
	return json.MarshalEncode(enc, &in.items)
}

// UnmarshalJSONFrom reads an item. Its type is read first: members of types that are
// rejected may have any form.
func (t *item) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	raw, err := dec.ReadValue()
	if err != nil {
		return err
	}
	path := dialect.Path(dec.StackPointer())
	if raw.Kind() != '{' {
		return fault.Field(path, dialect.CodeType, "%s must be an object.", path)
	}
	var head struct {
		Type *string        `json:"type"`
		Role jsontext.Value `json:"role"`
		ID   jsontext.Value `json:"id"`
	}
	if err := json.Unmarshal(raw, &head); err != nil {
		return dialect.Reject(err, path)
	}
	kind := ""
	switch {
	case head.Type != nil:
		kind = *head.Type
	case dialect.Present(head.Role) != nil:
		kind = typeMessage
	default:
		kind = typeReference // the only other type that may be left out
	}
	if kind == typeReference && bytes.HasPrefix(head.ID, []byte(`"`+prefixReasoning)) {
		t.Type = typeReasoning // without its text: a model goes on without what it thought
		return nil
	}
	if err := understood(kind, path); err != nil {
		return err
	}
	if kind == typeReasoning {
		return t.readReasoning(raw, path)
	}
	type plain item
	if err := json.Unmarshal(raw, (*plain)(t)); err != nil {
		return dialect.Reject(err, path)
	}
	t.Type = kind
	return nil
}

// readReasoning reads a reasoning item, whose content has parts of its own.
func (t *item) readReasoning(raw jsontext.Value, path string) error {
	var in struct {
		ID        string     `json:"id"`
		Summary   []textItem `json:"summary"`
		Content   []textItem `json:"content"`
		Encrypted string     `json:"encrypted_content"`
	}
	if err := json.Unmarshal(raw, &in); err != nil {
		return dialect.Reject(err, path)
	}
	t.Type, t.ID, t.Summary, t.Encrypted = typeReasoning, in.ID, in.Summary, in.Encrypted
	if len(t.Summary) == 0 {
		t.Summary = in.Content
	}
	return nil
}

// understood rejects types of items that have no canonical form.
func understood(kind, path string) error {
	param := path + ".type"
	switch kind {
	case typeMessage, typeReasoning, typeCall, typeResult, typeCustomCall, typeCustomResult:
		return nil
	case typeReference:
		return unstored(path, "send the item itself. SDKs do so if store is false in the request")
	case "file_search_call", "web_search_call", "computer_call", "computer_call_output", "image_generation_call", "code_interpreter_call",
		"local_shell_call", "local_shell_call_output", "shell_call", "shell_call_output", "apply_patch_call", "apply_patch_call_output",
		"mcp_list_tools", "mcp_approval_request", "mcp_approval_response", "mcp_call", "tool_search_call", "tool_search_output",
		"additional_tools", "compaction", "compaction_trigger", "program", "program_output":
		return fault.Field(param, driver.CodeUnsupported, "%s: items of type %s cannot be sent to this model; leave the item out.", param, kind)
	}
	return fault.Field(param, dialect.CodeValue,
		"%s must be message, reasoning, function_call, function_call_output, custom_tool_call or custom_tool_call_output.", param)
}

// messages reads instructions and input.
func (r *request) messages(a *wire.Request) error {
	if r.Instructions != "" {
		at := wire.Place{Member: "instructions"}
		a.Messages = append(a.Messages, wire.Message{Role: wire.System, Parts: []wire.Part{{Kind: wire.TextPart, Text: r.Instructions, At: at}}})
	}
	if t := r.Input.text; t != nil {
		a.Messages = append(a.Messages, wire.Message{Role: wire.User, Parts: []wire.Part{{Kind: wire.TextPart, Text: *t, At: wire.Place{Member: "input"}}}})
	}
	called := dialect.Calls{}
	turn := false // the last message is the assistant's, and more of it may follow
	for i := range r.Input.items {
		one, at := &r.Input.items[i], wire.Place{Member: "input", Item: i + 1}
		m, err := one.message(at)
		if err == nil && m.Role == wire.ToolRole {
			err = called.CheckResult(one.CallID, at.String()+".call_id", "a call")
		}
		if err != nil {
			return err
		}
		if one.Type == typeCall || one.Type == typeCustomCall {
			called[one.CallID] = true
		}
		if m.Role == wire.Assistant && len(m.Parts) == 0 {
			continue // reasoning without a text and a proof: chats have no message without content
		}
		if turn && m.Role == wire.Assistant {
			last := &a.Messages[len(a.Messages)-1]
			last.Parts = append(last.Parts, m.Parts...)
			continue
		}
		turn = m.Role == wire.Assistant
		a.Messages = append(a.Messages, m)
	}
	if len(a.Messages) == 0 {
		return fault.Field("input", dialect.CodeMissing, "input is missing; send a text or at least one item.")
	}
	return nil
}

// message converts one item to the canonical form.
func (t *item) message(at wire.Place) (wire.Message, error) {
	switch t.Type {
	case typeReasoning:
		return t.thinking(at)
	case typeCall, typeCustomCall:
		return t.call(at)
	case typeResult, typeCustomResult:
		return t.result(at)
	}
	out := wire.Message{Role: wire.Role(t.Role)}
	switch t.Role {
	case "system", "developer", "user", "assistant":
	case "":
		return out, missing(at, "role")
	default:
		return out, fault.Field(at.String()+".role", dialect.CodeValue, "%s.role must be developer, system, user or assistant.", at)
	}
	if !t.Content.given() {
		return out, missing(at, "content")
	}
	at.Field = "content"
	var err error
	out.Parts, err = t.Content.parts(at)
	return out, err
}

// missing rejects an item without a required member.
func missing(at wire.Place, member string) error {
	return fault.Field(at.String()+"."+member, dialect.CodeMissing, "%s.%s is missing.", at, member)
}

// thinking reads a reasoning item.
func (t *item) thinking(at wire.Place) (wire.Message, error) {
	out := wire.Message{Role: wire.Assistant}
	texts := make([]string, 0, len(t.Summary))
	for _, s := range t.Summary {
		texts = append(texts, s.Text)
	}
	p, ok := unseal(t.ID, t.Encrypted, strings.Join(texts, betweenSummaries))
	if !ok {
		at.Field = "encrypted_content"
		return out, fault.Field(at.String(), dialect.CodeValue, "%s is damaged; send it as it was received, or leave it out.", at)
	}
	if p.At = at; p.Text != "" || p.Signature != "" {
		out.Parts = []wire.Part{p}
	}
	return out, nil
}

// call reads a call of a function or of a custom tool.
func (t *item) call(at wire.Place) (wire.Message, error) {
	out := wire.Message{Role: wire.Assistant}
	custom := t.Type == typeCustomCall
	arguments, field := t.Arguments, "arguments"
	if custom {
		arguments, field = t.Input, "input"
	}
	switch {
	case t.CallID == "":
		return out, missing(at, "call_id")
	case t.Name == "":
		return out, missing(at, "name")
	case arguments == nil:
		return out, missing(at, field)
	}
	at.Field = field
	call := &wire.ToolCall{ID: t.CallID, Name: inNamespace(t.Namespace, t.Name), Arguments: *arguments, Custom: custom}
	out.Parts = []wire.Part{{Kind: wire.ToolCallPart, Call: call, At: at}}
	return out, nil
}

// result reads the result of a call.
func (t *item) result(at wire.Place) (wire.Message, error) {
	out := wire.Message{Role: wire.ToolRole}
	switch {
	case t.CallID == "":
		return out, missing(at, "call_id")
	case !t.Output.given():
		return out, missing(at, "output")
	}
	at.Field = "output"
	parts, err := t.Output.parts(at)
	out.Parts = []wire.Part{{Kind: wire.ToolResultPart, Result: &wire.ToolResult{CallID: t.CallID, Parts: parts}, At: at}}
	return out, err
}
