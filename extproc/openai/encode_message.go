package openai

import (
	"fmt"

	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

type oaMessage struct {
	Role       string      `json:"role"`
	Name       string      `json:"name,omitzero"`
	Content    any         `json:"content"`
	Reasoning  string      `json:"reasoning_content,omitzero"`
	Refusal    string      `json:"refusal,omitzero"`
	ToolCalls  []oaCall    `json:"tool_calls,omitzero"`
	ToolCallID string      `json:"tool_call_id,omitzero"`
	Audio      *oaAudioRef `json:"audio,omitzero"`
}

type oaAudioRef struct {
	ID string `json:"id"`
}

type oaPart struct {
	Type  string   `json:"type"`
	Text  *string  `json:"text,omitzero"`
	Image *oaImage `json:"image_url,omitzero"`
	Sound *oaSound `json:"input_audio,omitzero"`
	File  *oaFile  `json:"file,omitzero"`
}

type oaImage struct {
	URL    string `json:"url"`
	Detail string `json:"detail,omitzero"`
}

type oaSound struct {
	Data   string `json:"data"`
	Format string `json:"format"`
}

type oaFile struct {
	ID   string `json:"file_id,omitzero"`
	Data string `json:"file_data,omitzero"`
	Name string `json:"filename,omitzero"`
}

type oaCall struct {
	Index    *int      `json:"index,omitzero"`
	ID       string    `json:"id,omitzero"`
	Type     string    `json:"type,omitzero"`
	Function *oaCalled `json:"function,omitzero"`
	Custom   *oaInput  `json:"custom,omitzero"`
}

type oaCalled struct {
	Name      string `json:"name,omitzero"`
	Arguments string `json:"arguments"`
}

type oaInput struct {
	Name  string `json:"name,omitzero"`
	Input string `json:"input"`
}

// messages writes the messages; a message with several tool results becomes one
// for each.
func (d Driver) messages(ask *wire.Ask) ([]oaMessage, error) {
	out := make([]oaMessage, 0, len(ask.Messages))
	for i := range ask.Messages {
		m := &ask.Messages[i]
		one := oaMessage{Role: string(m.Role), Name: m.Name}
		var parts []oaPart
		for j := range m.Parts {
			p := &m.Parts[j]
			switch p.Kind {
			case wire.ToolResultPart:
				result, err := oaResult(p.Result, fmt.Sprintf("messages[%d]", i))
				if err != nil {
					return nil, err
				}
				out = append(out, result)
			case wire.ToolCallPart:
				one.ToolCalls = append(one.ToolCalls, oaCallOf(p.Call))
			case wire.ThinkingPart:
				if d.GivesThinkingBack {
					one.Reasoning += p.Text
				}
			case wire.RefusalPart:
				one.Refusal += p.Text
			case wire.RedactedPart: // only its own provider can read it
			case wire.AudioPart:
				if p.Media.ID != "" {
					one.Audio = &oaAudioRef{ID: p.Media.ID}
					continue
				}
				parts = append(parts, oaPartOf(p))
			case wire.TextPart, wire.ImagePart, wire.FilePart:
				parts = append(parts, oaPartOf(p))
			}
		}
		if m.Role != wire.ToolRole {
			one.Content = oaContent(parts, m.Role)
			out = append(out, one)
		}
	}
	return out, nil
}

// oaContent is a plain string where one will do: not every copy of the API
// reads parts.
func oaContent(parts []oaPart, role wire.Role) any {
	switch {
	case len(parts) == 0 && role == wire.Assistant:
		return nil
	case len(parts) == 0:
		return ""
	case len(parts) == 1 && parts[0].Text != nil:
		return *parts[0].Text
	}
	return parts
}

// oaPartOf writes one part of text, picture, sound or file.
func oaPartOf(p *wire.Part) oaPart {
	m := p.Media
	switch {
	case m == nil:
		return oaPart{Type: "text", Text: &p.Text}
	case p.Kind == wire.AudioPart:
		return oaPart{Type: "input_audio", Sound: &oaSound{Data: m.Data, Format: m.Format}}
	case p.Kind == wire.FilePart:
		return oaPart{Type: "file", File: &oaFile{ID: m.ID, Data: dataURL(m), Name: m.Name}}
	case m.Data != "":
		return oaPart{Type: "image_url", Image: &oaImage{URL: dataURL(m), Detail: m.Detail}}
	}
	return oaPart{Type: "image_url", Image: &oaImage{URL: m.URL, Detail: m.Detail}}
}

// dataURL puts a medium into a data: address; empty if its data is elsewhere.
func dataURL(m *wire.Media) string {
	if m.Data == "" || m.Type == "" {
		return m.Data
	}
	return "data:" + m.Type + ";base64," + m.Data
}

// oaCallOf writes a tool call.
func oaCallOf(c *wire.ToolCall) oaCall {
	if c.Custom {
		return oaCall{ID: c.ID, Type: "custom", Custom: &oaInput{Name: c.Name, Input: c.Arguments}}
	}
	return oaCall{ID: c.ID, Type: "function", Function: &oaCalled{Name: c.Name, Arguments: c.Arguments}}
}

// oaResult writes a tool's result, which has no place for pictures.
func oaResult(r *wire.ToolResult, param string) (oaMessage, error) {
	out := oaMessage{Role: "tool", ToolCallID: r.CallID}
	var parts []oaPart
	for i := range r.Parts {
		if r.Parts[i].Kind != wire.TextPart {
			return out, driver.Unsendable(param, "a tool result that is not text", "this provider")
		}
		parts = append(parts, oaPartOf(&r.Parts[i]))
	}
	out.Content = oaContent(parts, wire.ToolRole)
	return out, nil
}
