package cohere

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// messages writes the messages; a message with several results of tools becomes one for each.
func (b *builder) messages() error {
	for i := range b.in.Messages {
		m := &b.in.Messages[i]
		out := message{Role: string(m.Role)}
		results := 0
		for j := range m.Parts {
			p := &m.Parts[j]
			switch p.Kind { //nolint:exhaustive // all other kinds are content
			case wire.ToolCallPart:
				if p.Call.Custom {
					return driver.Unsendable(placeOf(p, i), "a call of a custom tool", vendor)
				}
				out.ToolCalls = append(out.ToolCalls, callOf(p.Call))
			case wire.ToolResultPart:
				result, err := resultOf(p, i)
				if err != nil {
					return err
				}
				b.out.Messages = append(b.out.Messages, result)
				results++
			default:
				c, ok, err := partOf(p, i)
				if err != nil {
					return err
				}
				if c.ImageURL != nil && m.Role != wire.User {
					return driver.Unsendable(placeOf(p, i), "a picture that is not the user's", vendor)
				}
				if ok {
					out.Content = append(out.Content, c)
				}
			}
		}
		if m.Role != wire.ToolRole && (results == 0 || len(out.Content) > 0) {
			b.append(out)
		}
	}
	return nil
}

// append adds a message where Cohere takes it: a system message is among the first ones.
func (b *builder) append(m message) {
	if m.Role == string(wire.Developer) {
		m.Role = string(wire.System)
	}
	if n := len(b.out.Messages); m.Role == string(wire.System) && n > 0 && b.out.Messages[n-1].Role != string(wire.System) {
		m.Role = string(wire.User)
	}
	switch {
	case m.Role == string(wire.Assistant) && len(m.ToolCalls) > 0:
		for _, p := range m.Content { // what it says before its calls is its plan
			m.ToolPlan += *p.Text
		}
		m.Content = nil
	case len(m.Content) == 0 && m.Role != string(wire.User):
		return // Cohere rejects it, and it says nothing
	case len(m.Content) == 0:
		m.Content = []part{{Type: "text", Text: new(string)}}
	}
	b.out.Messages = append(b.out.Messages, m)
}

// callOf writes a call. A model that left out the arguments meant none.
func callOf(c *wire.ToolCall) toolCall {
	arguments := c.Arguments
	if strings.TrimSpace(arguments) == "" {
		arguments = "{}"
	}
	return toolCall{ID: c.ID, Type: "function", Function: functionCall{Name: c.Name, Arguments: arguments}}
}

// resultOf writes the result of a tool. Each text that is an object is a document, which the response
// can cite; other texts stay texts.
func resultOf(p *wire.Part, i int) (message, error) {
	out := message{Role: "tool", ToolCallID: p.Result.CallID}
	for j := range p.Result.Parts {
		inner := &p.Result.Parts[j]
		if inner.Kind != wire.TextPart {
			return out, driver.Unsendable(placeOf(inner, i), "a tool result that is not text", vendor)
		}
		if data := jsontext.Value(strings.TrimSpace(inner.Text)); data.IsValid() && data.Kind() == '{' && len(data) > len("{}") {
			out.Content = append(out.Content, part{Type: "document", Document: &document{Data: data}})
		} else {
			out.Content = append(out.Content, part{Type: "text", Text: &inner.Text})
		}
	}
	if len(out.Content) == 0 {
		out.Content = []part{{Type: "text", Text: new(string)}}
	}
	return out, nil
}

// partOf writes one part; not ok if there is nothing to send. Reasoning is not sent back: Cohere's has
// no proof that it is its own.
func partOf(p *wire.Part, i int) (part, bool, error) {
	m := p.Media
	switch p.Kind {
	case wire.TextPart, wire.RefusalPart:
		return part{Type: "text", Text: &p.Text}, p.Text != "", nil
	case wire.ThinkingPart, wire.RedactedPart:
		return part{}, false, nil
	case wire.ImagePart:
		switch {
		case m.ID != "":
			return part{}, false, driver.Unsendable(placeOf(p, i), "a picture by its id", vendor)
		case m.Data != "":
			return part{Type: "image_url", ImageURL: &imageURL{URL: m.DataURL(), Detail: m.Detail}}, true, nil
		}
		return part{Type: "image_url", ImageURL: &imageURL{URL: m.URL, Detail: m.Detail}}, true, nil
	case wire.AudioPart:
		return part{}, false, driver.Unsendable(placeOf(p, i), "audio", vendor)
	case wire.FilePart:
		return part{}, false, driver.Unsendable(placeOf(p, i), "a file", vendor)
	case wire.NativePart:
		return part{}, false, driver.Unsendable(placeOf(p, i), "a block of type "+fault.Quote(p.Native.Type), vendor)
	case wire.ToolCallPart, wire.ToolResultPart: // handled by messages
	}
	return part{}, false, driver.Unsendable(placeOf(p, i), "content of this kind", vendor)
}

// placeOf returns the path of a part of the i-th message.
func placeOf(p *wire.Part, i int) string {
	if at := p.At.String(); at != "" {
		return at
	}
	return fmt.Sprintf("messages[%d]", i)
}
