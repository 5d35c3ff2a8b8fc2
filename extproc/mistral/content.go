package mistral

import (
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// looseContent is the content of a response: a text, or chunks. Chunks that refer to sources have no
// text, and are left out.
type looseContent struct {
	text     string
	thinking []looseThinking
}

// looseThinking is a chunk of reasoning. In a stream, one that is not closed goes on.
type looseThinking struct{ text, signature string }

type looseChunk struct {
	Type      string         `json:"type"`
	Text      string         `json:"text"`
	Thinking  jsontext.Value `json:"thinking"`
	Signature string         `json:"signature"`
}

// UnmarshalJSONFrom reads any value.
func (c *looseContent) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	if dec.PeekKind() == '"' {
		return json.UnmarshalDecode(dec, &c.text)
	}
	raw, err := dec.ReadValue()
	if err != nil || raw.Kind() != '[' {
		return err
	}
	var chunks []looseChunk
	if driver.DecodeLoose(raw, &chunks) == nil {
		c.read(chunks)
	}
	return nil
}

// read reads chunks.
func (c *looseContent) read(chunks []looseChunk) {
	for i := range chunks {
		switch k := &chunks[i]; k.Type {
		case "text":
			c.text += k.Text
		case "thinking":
			c.thinking = append(c.thinking, looseThinking{k.inner(), k.Signature})
		}
	}
}

// inner returns the text of a chunk of reasoning, which is a list of chunks or a text.
func (k *looseChunk) inner() string {
	if len(k.Thinking) == 0 || k.Thinking.Kind() != '[' {
		return driver.Text(k.Thinking)
	}
	var parts []looseChunk
	var text strings.Builder
	if driver.DecodeLoose(k.Thinking, &parts) == nil {
		for _, p := range parts {
			text.WriteString(p.Text)
		}
	}
	return text.String()
}

// blocks returns the reasoning. Its signature is for Mistral alone.
func (c *looseContent) blocks() []wire.Thinking {
	var out []wire.Thinking
	for _, t := range c.thinking {
		block := wire.Thinking{Text: t.text}
		if t.signature != "" {
			block.Signature = wire.Mark(wire.Mistral, t.signature)
		}
		if block.Text != "" || block.Signature != "" {
			out = append(out, block)
		}
	}
	return out
}
