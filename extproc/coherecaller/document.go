package coherecaller

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/dialect"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// document is one that the model may use: a text, or an object with data.
type document struct {
	text string         // of a text
	data jsontext.Value // of an object: what the model reads, compact
	id   string         // the caller's name for it
}

// UnmarshalJSONFrom reads a text or an object.
func (d *document) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	if dec.PeekKind() == '"' {
		return json.UnmarshalDecode(dec, &d.text)
	}
	var in struct {
		ID   string         `json:"id"`
		Data jsontext.Value `json:"data"`
	}
	if err := json.UnmarshalDecode(dec, &in); err != nil {
		return err
	}
	param := dialect.Path(dec.StackPointer())
	switch d.data, d.id = dialect.Present(in.Data).Clone(), in.ID; {
	case d.data == nil:
		return fault.Field(param+".data", dialect.CodeMissing, "%s.data is missing; send an object, or the document as a text.", param)
	case d.data.Kind() != '{':
		return fault.Field(param+".data", dialect.CodeType, "%s.data must be an object.", param)
	}
	return d.data.Compact()
}

// inPrompt returns the document as a model reads it in a prompt, with its name if it has one.
func (d *document) inPrompt() string {
	text := d.text
	if d.data != nil {
		text = string(d.data)
		if d.id != "" {
			named, err := json.Marshal(struct {
				ID   string         `json:"id"`
				Data jsontext.Value `json:"data"`
			}{d.id, d.data})
			if err == nil {
				text = string(named)
			}
		}
	}
	return "<document>\n" + text + "\n</document>"
}

// documents puts the documents in front of the last message of the user: other languages have no place of their own for
// them. Without such a message they are one.
func (c *callerRequest) documents(a *wire.Request) error {
	if len(c.Documents) == 0 {
		return nil
	}
	parts := make([]wire.Part, 0, len(c.Documents)+1)
	for i := range c.Documents {
		parts = append(parts, wire.Part{Text: c.Documents[i].inPrompt(), At: wire.Place{Member: "documents", Item: i + 1}})
	}
	for i := len(a.Messages) - 1; i >= 0; i-- {
		if m := &a.Messages[i]; m.Role == wire.User {
			m.Parts = append(parts, m.Parts...)
			return nil
		}
	}
	a.Messages = append(a.Messages, wire.Message{Role: wire.User, Parts: parts})
	return nil
}
