package metering

import (
	"bytes"
	"encoding/base64"
	"strings"

	"github.com/modelgateway/modelgateway/extproc/estimate"
	"github.com/modelgateway/modelgateway/extproc/media"
	"github.com/modelgateway/modelgateway/extproc/splice"
	"github.com/modelgateway/modelgateway/extproc/tokens"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// prompt collects what a model reads.
type prompt struct {
	model string // whose vocabulary applies
	text  []byte // of everything but messages
	other int64  // tokens of what is not text
}

// perTool is the number of tokens that frame the description of a tool.
const perTool = 8

// CountPrompt returns the number of tokens of a request's input for a model.
func CountPrompt(counter *tokens.Counter, model string, ask *wire.Request) int64 {
	c := prompt{model: model}
	return c.count(counter, ask)
}

// count returns the number of tokens of a request's input.
func (c *prompt) count(counter *tokens.Counter, ask *wire.Request) int64 {
	messages := make([]tokens.Message, len(ask.Messages))
	for i := range ask.Messages {
		m := &ask.Messages[i]
		messages[i] = tokens.Message{Role: string(m.Role), Name: m.Name, Content: string(c.parts(nil, m.Parts))}
	}
	for i := range ask.Tools {
		t := &ask.Tools[i]
		c.add(t.Name, t.Description, string(splice.Plain(t.Schema)), string(splice.Plain(t.Raw)))
		c.other += perTool
	}
	c.add(ask.Format.Name, ask.Format.Description, string(splice.Plain(ask.Format.Schema)))
	total := counter.CountMessages(c.model, messages) + c.other
	if len(c.text) > 0 {
		total += counter.Count(c.model, string(c.text))
	}
	return total
}

// add adds texts that are not in messages.
func (c *prompt) add(texts ...string) {
	for _, text := range texts {
		if text != "" {
			c.text = append(append(c.text, text...), '\n')
		}
	}
}

// parts appends the text of parts of a message to dst.
func (c *prompt) parts(dst []byte, parts []wire.Part) []byte {
	for i := range parts {
		p := &parts[i]
		switch p.Kind {
		case wire.TextPart, wire.ThinkingPart, wire.RefusalPart:
			dst = append(dst, p.Text...)
		case wire.ImagePart, wire.AudioPart, wire.FilePart:
			dst = c.media(dst, p)
		case wire.ToolCallPart:
			dst = append(append(append(dst, p.Call.Name...), '\n'), p.Call.Arguments...)
		case wire.ToolResultPart:
			dst = c.parts(dst, p.Result.Parts)
		case wire.NativePart:
			dst = append(dst, splice.Plain(p.Native.Raw)...)
		case wire.RedactedPart: // nobody but its provider can read it
		}
		dst = append(dst, '\n')
	}
	return bytes.TrimRight(dst, "\n")
}

// media counts a picture, sound or a document; it appends the text of a document that is text.
func (c *prompt) media(dst []byte, p *wire.Part) []byte {
	m := p.Media
	if m == nil {
		return dst
	}
	switch {
	case p.Kind == wire.ImagePart:
		width, height, _ := media.Size(beginning(m.Data))
		c.other += estimate.Picture(c.model, m.Detail, width, height)
	case strings.HasPrefix(m.Type, "text/"):
		text, err := base64.StdEncoding.DecodeString(m.Data)
		if err != nil {
			text = []byte(m.Data)
		}
		dst = append(dst, text...)
	default:
		c.other += estimate.Document(len(m.Data))
	}
	return append(append(dst, m.Name...), m.About...)
}

// maxPictureHead bounds the beginning of a picture that is decoded, in characters of base64. The
// size of a JPEG is behind its metadata, which may have 64 KiB each.
const maxPictureHead = 256 << 10

// beginning decodes the beginning of base64; as far as it is valid.
func beginning(data string) []byte {
	data = data[:min(len(data), maxPictureHead)]
	out := make([]byte, base64.StdEncoding.DecodedLen(len(data)))
	n, _ := base64.StdEncoding.Decode(out, []byte(data))
	return out[:n]
}
