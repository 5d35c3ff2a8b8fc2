package mistral

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// content is a text, a list of chunks, or nothing.
type content struct {
	text   string
	chunks []chunk
	none   bool
}

// MarshalJSONTo writes the simplest form.
func (c content) MarshalJSONTo(enc *jsontext.Encoder) error {
	switch {
	case c.none:
		return enc.WriteToken(jsontext.Null)
	case c.chunks != nil:
		return json.MarshalEncode(enc, c.chunks)
	}
	return enc.WriteToken(jsontext.String(c.text))
}

// contentOf returns chunks as content: one text as itself.
func contentOf(chunks []chunk) content {
	switch {
	case len(chunks) == 0:
		return content{}
	case len(chunks) == 1 && chunks[0].Type == "text":
		return content{text: *chunks[0].Text}
	}
	return content{chunks: chunks}
}

// isEmpty reports whether there is neither a text nor a chunk.
func (c content) isEmpty() bool { return c.none || c.chunks == nil && c.text == "" }

// messages writes the messages.
func (b *builder) messages() error {
	names := map[string]string{} // of the tools, by the ids of their calls
	for i := range b.in.Messages {
		m := &b.in.Messages[i]
		out := message{Role: string(m.Role)}
		var chunks []chunk
		for j := range m.Parts {
			p := &m.Parts[j]
			switch p.Kind { //nolint:exhaustive // all other kinds are content
			case wire.ToolCallPart:
				if p.Call.Custom {
					return driver.Unsendable(placeOf(p, i), "a call of a custom tool", vendor)
				}
				names[p.Call.ID] = p.Call.Name
				out.ToolCalls = append(out.ToolCalls, callOf(p.Call))
			case wire.ToolResultPart:
				result, err := resultOf(p, i)
				if err != nil {
					return err
				}
				result.Name = names[p.Result.CallID]
				b.append(result)
			default:
				c, ok, err := chunkOf(p, i)
				if err != nil {
					return err
				}
				if c.ImageURL != nil && m.Role != wire.User && m.Role != wire.Assistant {
					return driver.Unsendable(placeOf(p, i), "a picture of the system's", vendor)
				}
				if ok {
					chunks = append(chunks, c)
				}
			}
		}
		if m.Role == wire.ToolRole || onlyResults(m) {
			continue
		}
		out.Content = contentOf(chunks)
		b.append(out)
	}
	b.prefix()
	return nil
}

// onlyResults reports whether a message has no other parts than results of tools, which are messages of their own.
func onlyResults(m *wire.Message) bool {
	for i := range m.Parts {
		if m.Parts[i].Kind != wire.ToolResultPart {
			return false
		}
	}
	return len(m.Parts) > 0
}

// callOf writes a call. A model that left out the arguments meant none.
func callOf(c *wire.ToolCall) toolCall {
	arguments := c.Arguments
	if strings.TrimSpace(arguments) == "" {
		arguments = "{}"
	}
	return toolCall{ID: callID(c.ID), Type: "function", Function: functionCall{Name: c.Name, Arguments: arguments}}
}

// resultOf writes the result of a tool.
func resultOf(p *wire.Part, i int) (out message, err error) {
	out = message{Role: "tool", ToolCallID: callID(p.Result.CallID)}
	var chunks []chunk
	for j := range p.Result.Parts {
		c, ok, err := chunkOf(&p.Result.Parts[j], i)
		if err != nil {
			return out, err
		}
		if ok {
			chunks = append(chunks, c)
		}
	}
	out.Content = contentOf(chunks)
	return out, nil
}

// chunkOf writes one part; not ok if there is nothing to send.
func chunkOf(p *wire.Part, i int) (chunk, bool, error) {
	m := p.Media
	switch p.Kind {
	case wire.TextPart, wire.RefusalPart:
		return chunk{Type: "text", Text: &p.Text}, p.Text != "", nil
	case wire.ThinkingPart:
		signature, own := wire.Unmark(wire.Mistral, p.Signature)
		text := p.Text
		return chunk{Type: "thinking", Thinking: []chunk{{Type: "text", Text: &text}}, Signature: signature}, own, nil
	case wire.RedactedPart: // only its own provider can read it
		return chunk{}, false, nil
	case wire.ImagePart:
		switch {
		case m.ID != "":
			return chunk{}, false, driver.Unsendable(placeOf(p, i), "a picture by its id", vendor)
		case m.Data != "":
			return chunk{Type: "image_url", ImageURL: &imageURL{URL: m.DataURL(), Detail: m.Detail}}, true, nil
		}
		return chunk{Type: "image_url", ImageURL: &imageURL{URL: m.URL, Detail: m.Detail}}, true, nil
	case wire.AudioPart:
		if m.ID != "" {
			return chunk{}, false, driver.Unsendable(placeOf(p, i), "sound by its id", vendor)
		}
		return chunk{Type: "input_audio", InputAudio: m.Data}, true, nil
	case wire.FilePart:
		return documentOf(p, i)
	case wire.NativePart:
		return chunk{}, false, driver.Unsendable(placeOf(p, i), "a block of type "+fault.Quote(p.Native.Type), vendor)
	case wire.ToolCallPart, wire.ToolResultPart: // handled by messages
	}
	return chunk{}, false, driver.Unsendable(placeOf(p, i), "content of this kind", vendor)
}

// documentOf writes a file, which Mistral reads from an address. Files by id are rejected: ids belong to
// an account at the provider that all callers of the gateway share.
func documentOf(p *wire.Part, i int) (chunk, bool, error) {
	m := p.Media
	switch {
	case m.ID != "":
		return chunk{}, false, driver.Unsendable(placeOf(p, i), "a file by its id", vendor)
	case m.Data != "":
		kind := m.Type
		if kind == "" {
			kind = "application/pdf"
		}
		return chunk{Type: "document_url", DocumentURL: "data:" + kind + ";base64," + m.Data, DocumentName: m.Name}, true, nil
	}
	return chunk{Type: "document_url", DocumentURL: m.URL, DocumentName: m.Name}, true, nil
}

// placeOf returns the path of a part of the i-th message.
func placeOf(p *wire.Part, i int) string {
	if at := p.At.String(); at != "" {
		return at
	}
	return fmt.Sprintf("messages[%d]", i)
}
