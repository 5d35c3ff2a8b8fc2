package anthropic

import (
	"bytes"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/dialect"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// mostMessages is Anthropic's own limit. It bounds what a hostile body costs.
const mostMessages = 100_000

// callerMessages is messages; too many of them are rejected while they are read.
type callerMessages []callerMessage

type callerMessage struct {
	Role    string        `json:"role"`
	Content callerContent `json:"content"`
}

// UnmarshalJSONFrom reads an array of messages, or null.
func (m *callerMessages) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	list, err := dialect.ReadMessages(dec, *m, mostMessages)
	*m = list
	return err
}

// callerContent is the content of a message, of a tool's result or of system: a text, blocks,
// or nothing.
type callerContent struct {
	text *string
	list []callerBlock
}

// UnmarshalJSONFrom reads a string, an array of blocks or null.
func (c *callerContent) UnmarshalJSONFrom(dec *jsontext.Decoder) error { return c.read(dec, "") }

// read reads content from a decoder of the value that outer is the path of.
func (c *callerContent) read(dec *jsontext.Decoder, outer string) error {
	if dec.PeekKind() == '"' {
		c.text = new(string)
		return json.UnmarshalDecode(dec, c.text)
	}
	if dec.PeekKind() != '[' {
		raw, err := dec.ReadValue()
		if err != nil || raw.Kind() == 'n' {
			return err
		}
		param := outer + dialect.Path(dec.StackPointer())
		return fault.Field(param, dialect.CodeType, "%s must be a string or an array of blocks.", param)
	}
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	c.list = []callerBlock{}
	for dec.PeekKind() != ']' {
		raw, err := dec.ReadValue()
		if err != nil {
			return err
		}
		var b callerBlock
		if err := json.Unmarshal(raw, &b.callerBlockBody); err != nil {
			return dialect.Reject(err, outer+dialect.Path(dec.StackPointer()))
		}
		if b.native() {
			b.raw = raw.Clone()
		}
		c.list = append(c.list, b)
	}
	_, err := dec.ReadToken()
	return err
}

// given reports whether there was any content, even an empty one.
func (c *callerContent) given() bool { return c.text != nil || c.list != nil }

// system reads system, which becomes the first message.
func (c *callerRequest) system(a *wire.Request) error {
	if !c.System.given() {
		return nil
	}
	m := wire.Message{Role: wire.System}
	if c.System.text != nil {
		m.Parts = []wire.Part{{Text: *c.System.text, At: wire.Place{Member: "system"}}}
	}
	for i := range c.System.list {
		part, err := c.System.list[i].textOnly(wire.Place{Member: "system", Item: i + 1})
		if err != nil {
			return err
		}
		m.Parts = append(m.Parts, part)
	}
	if len(m.Parts) > 0 {
		a.Messages = append(a.Messages, m)
	}
	return nil
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

// canonical converts the i-th message. A user's message with nothing but results of tools gets
// the role of a tool.
func (m *callerMessage) canonical(i int, called dialect.Calls) (wire.Message, error) {
	param := fmt.Sprintf("messages[%d]", i)
	out := wire.Message{Role: wire.Role(m.Role)}
	switch m.Role {
	case "user", "assistant", "system":
	case "":
		return out, fault.Field(param+".role", dialect.CodeMissing, "%s.role is missing.", param)
	default:
		return out, fault.Field(param+".role", dialect.CodeValue, "%s.role must be user, assistant or system.", param)
	}
	if !m.Content.given() {
		return out, fault.Field(param+".content", dialect.CodeMissing, "%s.content is missing.", param)
	}
	at := wire.Place{Member: "messages", Item: i + 1, Field: "content"}
	if m.Content.text != nil {
		out.Parts = []wire.Part{{Text: *m.Content.text, At: at}}
		return out, nil
	}
	results := 0
	for j := range m.Content.list {
		at.Part = j + 1
		part, err := m.Content.list[j].part(out.Role, at)
		if err != nil {
			return out, err
		}
		switch {
		case part.Call != nil:
			called[part.Call.ID] = true
		case part.Result != nil:
			results++
			if err := called.CheckResult(part.Result.CallID, at.String()+".tool_use_id", "a tool_use block"); err != nil {
				return out, err
			}
		}
		out.Parts = append(out.Parts, part)
	}
	if results > 0 && results == len(out.Parts) {
		out.Role = wire.ToolRole
	}
	return out, nil
}

// result reads the content of a tool's result.
func (b *callerBlock) result(at wire.Place) (*wire.ToolResult, error) {
	out := &wire.ToolResult{CallID: callerID(b.ToolUseID), Error: b.IsError}
	raw := dialect.Present(b.Content)
	if raw == nil {
		return out, nil
	}
	var in callerContent
	if err := in.read(jsontext.NewDecoder(bytes.NewBuffer(raw)), at.String()+".content"); err != nil {
		return nil, dialect.Reject(err, at.String()+".content")
	}
	if in.text != nil {
		out.Parts = []wire.Part{{Text: *in.text, At: at}}
		return out, nil
	}
	for i := range in.list {
		at.Inner = i + 1
		part, err := in.list[i].part(wire.ToolRole, at)
		if err != nil {
			return nil, err
		}
		out.Parts = append(out.Parts, part)
	}
	return out, nil
}
