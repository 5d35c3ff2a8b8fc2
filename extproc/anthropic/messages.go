package anthropic

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"hash/fnv"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

type message struct {
	Role    string         `json:"role"`
	Content []contentBlock `json:"content"`
}

// contentBlock is a content block of any type; each type uses some of the members.
type contentBlock struct {
	Type      string         `json:"type"`
	Text      string         `json:"text,omitzero"`
	Source    *contentSource `json:"source,omitzero"`
	Title     string         `json:"title,omitzero"`
	Context   string         `json:"context,omitzero"`
	Citations jsontext.Value `json:"citations,omitzero"` // of a text: an array; of a document: an object
	Thinking  *string        `json:"thinking,omitzero"`  // a pointer: thinking may be empty but must be there
	Signature string         `json:"signature,omitzero"`
	Data      string         `json:"data,omitzero"`
	ID        string         `json:"id,omitzero"`
	Name      string         `json:"name,omitzero"`
	Input     jsontext.Value `json:"input,omitzero"`
	ToolUseID string         `json:"tool_use_id,omitzero"`
	Content   []contentBlock `json:"content,omitzero"`
	IsError   bool           `json:"is_error,omitzero"`
	Cache     jsontext.Value `json:"cache_control,omitzero"`

	raw jsontext.Value // the whole block, if the canonical form has no kind for it
}

// MarshalJSONTo writes the block.
func (c *contentBlock) MarshalJSONTo(enc *jsontext.Encoder) error {
	if c.raw != nil {
		return enc.WriteValue(c.raw)
	}
	type plain contentBlock
	return json.MarshalEncode(enc, (*plain)(c))
}

type contentSource struct {
	Type      string `json:"type"`
	MediaType string `json:"media_type,omitzero"`
	Data      string `json:"data,omitzero"`
	URL       string `json:"url,omitzero"`
}

// firstTurn is the user's turn that the API requires if the caller has none.
const firstTurn = "Please continue."

// messages writes system and messages. All system messages go to system, tool
// results become the user's, and adjacent messages of one role are merged: the API
// requires that the roles alternate, starting with the user.
func (b *builder) messages() error {
	for i := range b.in.Messages {
		m := &b.in.Messages[i]
		var blocks []contentBlock
		for j := range m.Parts {
			block, err := blockOf(&m.Parts[j], partPath(m, i, j))
			if err != nil {
				return err
			}
			if block != nil {
				blocks = append(blocks, *block)
			}
		}
		switch m.Role {
		case wire.System, wire.Developer:
			for _, block := range blocks {
				if block.Type != "text" {
					return driver.Unsendable(partPath(m, i, 0)(), "a system message with more than text", vendor)
				}
			}
			b.out.System = append(b.out.System, blocks...)
		case wire.User, wire.ToolRole:
			b.say("user", blocks)
		case wire.Assistant:
			b.say("assistant", blocks)
		}
	}
	if b.part {
		return nil
	}
	if len(b.out.Messages) == 0 || b.out.Messages[0].Role != "user" {
		first := message{Role: "user", Content: []contentBlock{{Type: "text", Text: firstTurn}}}
		b.out.Messages = append([]message{first}, b.out.Messages...)
	}
	b.trimPrefill()
	return nil
}

// say adds a turn, or adds to the last one.
func (b *builder) say(role string, blocks []contentBlock) {
	if len(blocks) == 0 {
		return
	}
	n := len(b.out.Messages)
	if n == 0 || b.out.Messages[n-1].Role != role {
		b.out.Messages = append(b.out.Messages, message{Role: role, Content: blocks})
		return
	}
	last := &b.out.Messages[n-1]
	last.Content = resultsFirst(append(last.Content, blocks...))
}

// resultsFirst moves tool results to the front, where the API requires them.
func resultsFirst(blocks []contentBlock) []contentBlock {
	var results, others []contentBlock
	for _, block := range blocks {
		if block.Type == "tool_result" {
			results = append(results, block)
		} else {
			others = append(others, block)
		}
	}
	return append(results, others...)
}

// trimPrefill removes white space from the end of a last assistant turn, which
// the model continues: the API rejects it.
func (b *builder) trimPrefill() {
	n := len(b.out.Messages) - 1
	last := &b.out.Messages[n]
	end := len(last.Content) - 1
	if last.Role != "assistant" || last.Content[end].Type != "text" {
		return
	}
	block := &last.Content[end]
	if block.Text = strings.TrimRight(block.Text, " \t\r\n"); block.Text != "" {
		return
	}
	if last.Content = last.Content[:end]; end == 0 {
		b.out.Messages = b.out.Messages[:n]
	}
}

// partPath returns the path of a part in the caller's request, where reasoning,
// content and tool calls are counted separately. It is computed only for an error.
func partPath(m *wire.Message, message, part int) func() string {
	return func() string {
		if at := m.Parts[part].At.String(); at != "" {
			return at
		}
		if m.Role == wire.ToolRole { // its content is the result's
			return fmt.Sprintf("messages[%d].content", message)
		}
		list := func(p *wire.Part) string {
			switch p.Kind {
			case wire.ToolCallPart:
				return "tool_calls"
			case wire.ThinkingPart, wire.RedactedPart:
				return "thinking_blocks"
			case wire.TextPart, wire.ImagePart, wire.AudioPart, wire.FilePart, wire.ToolResultPart, wire.RefusalPart, wire.NativePart:
			}
			return "content"
		}
		place, own := 0, list(&m.Parts[part])
		for i := range part {
			if list(&m.Parts[i]) == own {
				place++
			}
		}
		return fmt.Sprintf("messages[%d].%s[%d]", message, own, place)
	}
}

// blockOf writes one part; nil if there is nothing to send: the API rejects empty
// texts, and reasoning without a signature of its own.
func blockOf(p *wire.Part, param func() string) (*contentBlock, error) {
	switch p.Kind {
	case wire.TextPart, wire.RefusalPart:
		if p.Text == "" {
			return nil, nil
		}
		return &contentBlock{Type: "text", Text: p.Text, Citations: p.Citations, Cache: p.Cache}, nil
	case wire.ThinkingPart:
		if p.Signature == "" || wire.Marked(p.Signature) {
			return nil, nil
		}
		return &contentBlock{Type: "thinking", Thinking: &p.Text, Signature: p.Signature}, nil
	case wire.RedactedPart:
		if wire.Marked(p.Signature) {
			return nil, nil
		}
		return &contentBlock{Type: "redacted_thinking", Data: p.Signature}, nil
	case wire.ToolCallPart:
		return callBlock(p, param)
	case wire.ToolResultPart:
		return resultBlock(p, param)
	case wire.ImagePart, wire.FilePart:
		return mediaBlock(p, param)
	case wire.NativePart:
		if p.Native.Language == wire.Anthropic {
			return &contentBlock{raw: p.Native.Raw}, nil
		}
	case wire.AudioPart:
		return nil, driver.Unsendable(param(), "audio", vendor)
	}
	return nil, driver.Unsendable(param(), "content of this kind", vendor)
}

// callBlock writes a tool call. Its arguments are a text in the canonical form and
// an object here.
func callBlock(p *wire.Part, param func() string) (*contentBlock, error) {
	input := jsontext.Value(strings.TrimSpace(p.Call.Arguments))
	if len(input) == 0 {
		input = jsontext.Value("{}")
	}
	if !input.IsValid() || input.Kind() != '{' {
		return nil, fault.Field(param(), "invalid_value", "%s: the arguments of the call of tool %q are not a JSON object.", param(), p.Call.Name)
	}
	return &contentBlock{Type: "tool_use", ID: toolID(p.Call.ID), Name: p.Call.Name, Input: input, Cache: p.Cache}, nil
}

// resultBlock writes a tool's result.
func resultBlock(p *wire.Part, param func() string) (*contentBlock, error) {
	out := &contentBlock{Type: "tool_result", ToolUseID: toolID(p.Result.CallID), IsError: p.Result.Error, Cache: p.Cache}
	for i := range p.Result.Parts {
		part := &p.Result.Parts[i]
		block, err := blockOf(part, func() string {
			if at := part.At.String(); at != "" {
				return at
			}
			return fmt.Sprintf("%s[%d]", param(), i)
		})
		if err != nil {
			return nil, err
		}
		if block != nil {
			out.Content = append(out.Content, *block)
		}
	}
	return out, nil
}

// longestToolID is the most characters of an id that is sent as it is.
const longestToolID = 128

// toolID makes an id that the API accepts: letters, digits, - and _ only. Ids of
// other providers may have other characters. Those get a hash, so that two of
// them stay different. A longer one becomes its hash.
func toolID(id string) string {
	if len(id) > longestToolID {
		return fmt.Sprintf("toolu_%x", sha256.Sum256([]byte(id)))
	}
	safe := strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r < 0x80 && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
			return r
		}
		return '_'
	}, id)
	if safe == id && id != "" {
		return id
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(id))
	return fmt.Sprintf("%s_%08x", safe, h.Sum32())
}

// mediaBlock writes an image or a document. Files by id are rejected: ids belong
// to an account at the provider that all callers of the gateway share, and
// OpenAI's ids are not known to Anthropic.
func mediaBlock(p *wire.Part, param func() string) (*contentBlock, error) {
	m := p.Media
	out := &contentBlock{Type: "image", Cache: p.Cache}
	if p.Kind == wire.FilePart {
		out.Type, out.Title, out.Context = "document", m.Name, m.About
		if m.Cite {
			out.Citations = jsontext.Value(`{"enabled":true}`)
		}
	}
	switch {
	case m.ID != "":
		return nil, driver.Unsendable(param(), "a file by its id", vendor)
	case m.URL != "":
		if p.Kind == wire.FilePart {
			out.Type, out.Title = "document", m.Name
		}
		out.Source = &contentSource{Type: "url", URL: m.URL}
		return out, nil
	}
	kind := m.Type
	if kind == "" {
		kind = typeOfName(m.Name)
	}
	switch {
	case strings.HasPrefix(kind, "image/"):
		*out = contentBlock{Type: "image", Cache: p.Cache, Source: &contentSource{Type: "base64", MediaType: kind, Data: m.Data}}
	case kind == "application/pdf":
		out.Type, out.Title = "document", m.Name
		out.Source = &contentSource{Type: "base64", MediaType: kind, Data: m.Data}
	case strings.HasPrefix(kind, "text/"):
		plain, err := base64.StdEncoding.DecodeString(m.Data)
		if err != nil {
			return nil, fault.Field(param(), "invalid_value", "%s: the data of the file is not base64.", param())
		}
		out.Type, out.Title = "document", m.Name
		out.Source = &contentSource{Type: "text", MediaType: "text/plain", Data: strings.ToValidUTF8(string(plain), "\uFFFD")}
	default:
		return nil, driver.Unsendable(param(), "a file that is neither a picture, a PDF nor text", vendor)
	}
	return out, nil
}

// typeOfName guesses a MIME type if the caller gave none.
func typeOfName(name string) string {
	name = strings.ToLower(name)
	if strings.HasSuffix(name, ".txt") || strings.HasSuffix(name, ".md") || strings.HasSuffix(name, ".csv") {
		return "text/plain"
	}
	return "application/pdf"
}
