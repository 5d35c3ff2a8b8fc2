package openai

import (
	"fmt"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// vendor names the provider in texts for callers: one of many that speak this language.
const vendor = "this provider"

// messages writes the messages; a message with several tool results becomes one
// for each.
func (d Driver) messages(r *wire.Request) (chatMessages, error) {
	out := make(chatMessages, 0, len(r.Messages))
	for i := range r.Messages {
		m := &r.Messages[i]
		one := chatMessage{Role: string(m.Role), Name: m.Name}
		if m.Role == wire.Developer && d.Variation.NoDeveloper {
			one.Role = string(wire.System)
		}
		var parts []chatPart
		for j := range m.Parts {
			p := &m.Parts[j]
			switch p.Kind {
			case wire.ToolResultPart:
				result, err := resultOf(p.Result, i)
				if err != nil {
					return nil, err
				}
				out = append(out, result)
			case wire.ToolCallPart:
				one.ToolCalls = append(one.ToolCalls, callOf(p.Call))
				last := &one.ToolCalls[len(one.ToolCalls)-1]
				last.ID = CallID(last.ID)
			case wire.ThinkingPart:
				if d.GivesThinkingBack {
					one.ReasoningContent += p.Text
				}
			case wire.RefusalPart:
				one.Refusal += p.Text
			case wire.RedactedPart: // only its own provider can read it
			case wire.NativePart:
				return nil, driver.Unsendable(placeOf(p, i), "a block of type "+fault.Quote(p.Native.Type), vendor)
			case wire.AudioPart:
				if p.Media.ID != "" {
					one.Audio = &chatAudioRef{ID: p.Media.ID}
					continue
				}
				parts = append(parts, partOf(p))
			case wire.TextPart, wire.ImagePart, wire.FilePart:
				part, err := contentPartOf(r.Caller, p, i)
				if err != nil {
					return nil, err
				}
				parts = append(parts, part)
			}
		}
		if m.Role != wire.ToolRole {
			one.Content = contentOf(parts, m.Role)
			out = append(out, one)
		}
	}
	return out, nil
}

// contentOf returns a plain string if one suffices: not every compatible
// provider reads parts.
func contentOf(parts []chatPart, role wire.Role) chatContent {
	switch {
	case len(parts) == 0 && role == wire.Assistant:
		return chatContent{}
	case len(parts) == 0:
		return chatContent{text: new(string)}
	case len(parts) == 1 && parts[0].Text != nil:
		return chatContent{text: parts[0].Text}
	}
	return chatContent{list: parts}
}

// partOf writes one part of text, image, audio or file.
func partOf(p *wire.Part) chatPart {
	m := p.Media
	switch {
	case m == nil:
		return chatPart{Type: "text", Text: &p.Text}
	case p.Kind == wire.AudioPart:
		return chatPart{Type: "input_audio", InputAudio: &chatAudio{Data: m.Data, Format: m.Format}}
	case p.Kind == wire.FilePart:
		return chatPart{Type: "file", File: &chatFile{ID: m.ID, Data: m.DataURL(), Name: m.Name}}
	case m.Data != "":
		return chatPart{Type: "image_url", ImageURL: &chatImage{URL: m.DataURL(), Detail: m.Detail}}
	}
	return chatPart{Type: "image_url", ImageURL: &chatImage{URL: m.URL, Detail: m.Detail}}
}

// placeOf returns the path of a part of the i-th message.
func placeOf(p *wire.Part, i int) string {
	if at := p.At.String(); at != "" {
		return at
	}
	return fmt.Sprintf("messages[%d]", i)
}

// callOf writes a tool call.
func callOf(c *wire.ToolCall) chatCall {
	if c.Custom {
		return chatCall{ID: c.ID, Type: "custom", Custom: &chatCustomCall{Name: c.Name, Input: c.Arguments}}
	}
	return chatCall{ID: c.ID, Type: "function", Function: &chatFunctionCall{Name: c.Name, Arguments: c.Arguments}}
}

// resultOf writes a tool's result of the given message. It has no place for images.
func resultOf(result *wire.ToolResult, message int) (chatMessage, error) {
	out := chatMessage{Role: "tool", ToolCallID: CallID(result.CallID)}
	var parts []chatPart
	for i := range result.Parts {
		if result.Parts[i].Kind != wire.TextPart {
			return out, driver.Unsendable(placeOf(&result.Parts[i], message), "a tool result that is not text", vendor)
		}
		parts = append(parts, partOf(&result.Parts[i]))
	}
	out.Content = contentOf(parts, wire.ToolRole)
	return out, nil
}
