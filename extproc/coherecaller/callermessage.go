package coherecaller

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/dialect"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// mostMessages bounds what a hostile body costs.
const mostMessages = 100_000

// callerMessages is messages; too many of them are rejected while they are read.
type callerMessages []callerMessage

type callerMessage struct {
	Role       string         `json:"role"`
	Content    callerContent  `json:"content"`
	ToolPlan   string         `json:"tool_plan"`
	ToolCalls  []callerCall   `json:"tool_calls"`
	ToolCallID string         `json:"tool_call_id"`
	Citations  jsontext.Value `json:"citations"` // of an earlier response; no model reads them
}

type callerCall struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

// UnmarshalJSONFrom reads an array of messages, or null.
func (m *callerMessages) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	list, err := dialect.ReadMessages(dec, *m, mostMessages)
	*m = list
	return err
}

// callerContent is the content of a message: a text, parts, or nothing.
type callerContent struct {
	text *string
	list []callerPart
}

type callerPart struct {
	Type     string       `json:"type"`
	Text     *string      `json:"text"`
	Thinking *string      `json:"thinking"`
	ImageURL *callerImage `json:"image_url"`
	Document *document    `json:"document"`
}

type callerImage struct {
	URL    string `json:"url"`
	Detail string `json:"detail"`
}

// UnmarshalJSONFrom reads a string, an array of parts or null.
func (c *callerContent) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	switch dec.PeekKind() { //nolint:exhaustive // the others have no meaning here
	case '"':
		c.text = new(string)
		return json.UnmarshalDecode(dec, c.text)
	case '[':
		c.list = []callerPart{}
		return json.UnmarshalDecode(dec, &c.list)
	case 'n':
		return dec.SkipValue()
	}
	if err := dec.SkipValue(); err != nil {
		return err
	}
	param := dialect.Path(dec.StackPointer())
	return fault.Field(param, dialect.CodeType, "%s must be a string or an array of parts.", param)
}

// messages reads messages.
func (c *callerRequest) messages(a *wire.Request) error {
	called := dialect.Calls{}
	for i := range c.Messages {
		m, err := c.Messages[i].canonical(i, called)
		if err != nil {
			return err
		}
		a.Messages = append(a.Messages, m)
	}
	return nil
}

// canonical converts the i-th message.
func (m *callerMessage) canonical(i int, called dialect.Calls) (wire.Message, error) {
	param := fmt.Sprintf("messages[%d]", i)
	out := wire.Message{Role: wire.Role(m.Role)}
	switch out.Role {
	case wire.User, wire.System, wire.Assistant:
	case wire.ToolRole:
		return m.result(i, called)
	case wire.Developer:
		out.Role = ""
	}
	switch {
	case m.Role == "":
		return out, fault.Field(param+".role", dialect.CodeMissing, "%s.role is missing.", param)
	case out.Role != wire.User && out.Role != wire.System && out.Role != wire.Assistant:
		return out, fault.Field(param+".role", dialect.CodeValue, "%s.role must be user, assistant, system or tool.", param)
	case len(m.ToolCalls) > 0 && out.Role != wire.Assistant:
		return out, fault.Field(param+".tool_calls", dialect.CodeValue, "%s.tool_calls can be in a message of the assistant only.", param)
	case m.Content.text == nil && m.Content.list == nil && out.Role != wire.Assistant:
		return out, fault.Field(param+".content", dialect.CodeMissing, "%s.content is missing.", param)
	}
	parts, err := m.Content.parts(out.Role, wire.Place{Member: "messages", Item: i + 1, Field: "content"})
	if err != nil {
		return out, err
	}
	out.Parts = withPlan(parts, m.ToolPlan, wire.Place{Member: "messages", Item: i + 1, Field: "tool_plan"})
	for j := range m.ToolCalls {
		at := wire.Place{Member: "messages", Item: i + 1, Field: "tool_calls", Part: j + 1}
		call, err := m.ToolCalls[j].canonical(at)
		if err != nil {
			return out, err
		}
		called[call.ID] = true
		out.Parts = append(out.Parts, wire.Part{Kind: wire.ToolCallPart, Call: call, At: at})
	}
	return out, nil
}

// withPlan puts what the assistant says before its calls behind its reasoning, and before its text.
func withPlan(parts []wire.Part, plan string, at wire.Place) []wire.Part {
	if plan == "" {
		return parts
	}
	n := 0
	for n < len(parts) && parts[n].Kind == wire.ThinkingPart {
		n++
	}
	out := append(make([]wire.Part, 0, len(parts)+1), parts[:n]...)
	return append(append(out, wire.Part{Text: plan, At: at}), parts[n:]...)
}

// canonical converts a call.
func (c *callerCall) canonical(at wire.Place) (*wire.ToolCall, error) {
	switch {
	case c.Type != "" && c.Type != "function":
		return nil, fault.Field(at.String()+".type", dialect.CodeValue, "%s.type must be function.", at)
	case c.ID == "":
		return nil, fault.Field(at.String()+".id", dialect.CodeMissing, "%s.id is missing.", at)
	case c.Function.Name == "":
		return nil, fault.Field(at.String()+".function.name", dialect.CodeMissing, "%s.function.name is missing.", at)
	}
	arguments := c.Function.Arguments
	if strings.TrimSpace(arguments) == "" {
		arguments = "{}"
	}
	return &wire.ToolCall{ID: c.ID, Name: c.Function.Name, Arguments: arguments}, nil
}

// result converts the i-th message, which is the result of a call.
func (m *callerMessage) result(i int, called dialect.Calls) (wire.Message, error) {
	param := fmt.Sprintf("messages[%d]", i)
	if m.ToolCallID == "" {
		return wire.Message{}, fault.Field(param+".tool_call_id", dialect.CodeMissing, "%s.tool_call_id is missing.", param)
	}
	if err := called.CheckResult(m.ToolCallID, param+".tool_call_id", "a call"); err != nil {
		return wire.Message{}, err
	}
	at := wire.Place{Member: "messages", Item: i + 1, Field: "content"}
	parts, err := m.Content.parts(wire.ToolRole, at)
	if err != nil {
		return wire.Message{}, err
	}
	one := wire.Part{Kind: wire.ToolResultPart, Result: &wire.ToolResult{CallID: m.ToolCallID, Parts: parts}, At: wire.Place{Member: "messages", Item: i + 1}}
	return wire.Message{Role: wire.ToolRole, Parts: []wire.Part{one}}, nil
}

// parts converts the content of a message with that role.
func (c *callerContent) parts(role wire.Role, at wire.Place) ([]wire.Part, error) {
	if c.text != nil {
		if *c.text == "" && role == wire.Assistant {
			return nil, nil
		}
		return []wire.Part{{Text: *c.text, At: at}}, nil
	}
	var out []wire.Part
	for j := range c.list {
		at.Part = j + 1
		one, err := c.list[j].canonical(role, at)
		if err != nil {
			return nil, err
		}
		out = append(out, one)
	}
	return out, nil
}

// canonical converts a part of a message with that role.
func (p *callerPart) canonical(role wire.Role, at wire.Place) (wire.Part, error) {
	missing := func(name string) error {
		return fault.Field(at.String()+"."+name, dialect.CodeMissing, "%s.%s is missing.", at, name)
	}
	switch {
	case p.Type == "":
		return wire.Part{}, missing("type")
	case !p.fits(role):
		return wire.Part{}, fault.Field(at.String()+".type", dialect.CodeValue, "%s.type: a part of type %s cannot be in a message of this role.", at, fault.Quote(p.Type))
	}
	switch p.Type {
	case "text":
		if p.Text == nil {
			return wire.Part{}, missing("text")
		}
		return wire.Part{Text: *p.Text, At: at}, nil
	case "thinking":
		if p.Thinking == nil {
			return wire.Part{}, missing("thinking")
		}
		return wire.Part{Kind: wire.ThinkingPart, Text: *p.Thinking, At: at}, nil
	case "document":
		if p.Document == nil {
			return wire.Part{}, missing("document")
		}
		if role == wire.User {
			return wire.Part{Text: p.Document.inPrompt(), At: at}, nil
		}
		text := p.Document.text
		if p.Document.data != nil {
			text = string(p.Document.data)
		}
		return wire.Part{Text: text, At: at}, nil
	}
	if p.ImageURL == nil || p.ImageURL.URL == "" {
		return wire.Part{}, missing("image_url.url")
	}
	media, ok := dialect.ImageAddress(p.ImageURL.URL)
	if !ok {
		return wire.Part{}, fault.Field(at.String()+".image_url.url", dialect.CodeValue, "%s.image_url.url must be an address with https:// or http://, or a data: address with base64.", at)
	}
	media.Detail = p.ImageURL.Detail
	return wire.Part{Kind: wire.ImagePart, Media: media, At: at}, nil
}

// fits reports whether the part may be in a message of the role.
func (p *callerPart) fits(role wire.Role) bool {
	switch p.Type {
	case "text":
		return true
	case "thinking":
		return role == wire.Assistant
	case "document":
		return role == wire.ToolRole || role == wire.User
	case "image_url":
		return role == wire.User
	}
	return false
}
