package responses

import (
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/dialect"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// content is a text, an array of parts, or nothing.
type content struct {
	text *string
	list []part
	bad  bool // it is something else
}

// part is a part of the content of an input item.
type part struct {
	Type        string          `json:"type"`
	Text        *string         `json:"text,omitzero"` // a pointer: a text may be empty but must be there
	Refusal     string          `json:"refusal,omitzero"`
	ImageURL    string          `json:"image_url,omitzero"`
	Detail      string          `json:"detail,omitzero"`
	FileID      string          `json:"file_id,omitzero"`
	FileData    string          `json:"file_data,omitzero"`
	FileURL     string          `json:"file_url,omitzero"`
	Filename    string          `json:"filename,omitzero"`
	Audio       *inputAudio     `json:"input_audio,omitzero"`
	Breakpoint  *breakpoint     `json:"prompt_cache_breakpoint,omitzero"`
	Annotations *jsontext.Value `json:"annotations,omitzero"` // not read; the schema requires it of output_text
	Logprobs    *jsontext.Value `json:"logprobs,omitzero"`    // likewise, in later versions of it
}

type inputAudio struct {
	Data   string `json:"data"`
	Format string `json:"format"`
}

// breakpoint marks the end of what the provider should cache.
type breakpoint struct {
	Mode string `json:"mode"`
	TTL  string `json:"ttl,omitzero"`
}

// UnmarshalJSONFrom reads any value. A wrong type is noted, because only the item knows
// where it is.
func (c *content) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	if dec.PeekKind() == '"' {
		c.text = new(string)
		return json.UnmarshalDecode(dec, c.text)
	}
	if dec.PeekKind() == '[' {
		c.list = []part{}
		return json.UnmarshalDecode(dec, &c.list)
	}
	raw, err := dec.ReadValue()
	c.bad = err == nil && raw.Kind() != 'n'
	return err
}

// MarshalJSONTo writes what UnmarshalJSONFrom reads.
func (c *content) MarshalJSONTo(enc *jsontext.Encoder) error {
	switch {
	case c.text != nil:
		return enc.WriteToken(jsontext.String(*c.text))
	case c.list != nil:
		return json.MarshalEncode(enc, &c.list)
	}
	return enc.WriteToken(jsontext.Null)
}

// given reports whether there was any content, even an empty one.
func (c *content) given() bool { return c.text != nil || c.list != nil || c.bad }

// parts converts the content to the canonical form. at is its place, without the part.
func (c *content) parts(at wire.Place) ([]wire.Part, error) {
	if c.bad {
		return nil, fault.Field(at.String(), dialect.CodeType, "%s must be a string or an array of parts.", at)
	}
	if c.text != nil {
		return []wire.Part{{Kind: wire.TextPart, Text: *c.text, At: at}}, nil
	}
	if len(c.list) == 0 {
		return nil, nil
	}
	out := make([]wire.Part, 0, len(c.list))
	for i := range c.list {
		at.Part = i + 1
		p, err := c.list[i].canonical(at)
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}

// canonical converts a part to the canonical form.
func (p *part) canonical(at wire.Place) (wire.Part, error) {
	out := wire.Part{At: at, Cache: p.Breakpoint.cache()}
	switch p.Type {
	case "input_text", "output_text":
		if p.Text == nil {
			return out, fault.Field(at.String()+".text", dialect.CodeMissing, "%s.text is missing.", at)
		}
		out.Kind, out.Text = wire.TextPart, *p.Text
	case "refusal":
		out.Kind, out.Text = wire.RefusalPart, p.Refusal
	case "input_image":
		media, err := p.image(at)
		if err != nil {
			return out, err
		}
		out.Kind, out.Media = wire.ImagePart, media
	case "input_file":
		media, err := p.file(at)
		if err != nil {
			return out, err
		}
		out.Kind, out.Media = wire.FilePart, media
	case "input_audio":
		if p.Audio == nil {
			return out, fault.Field(at.String()+".input_audio", dialect.CodeMissing, "%s.input_audio is missing.", at)
		}
		out.Kind, out.Media = wire.AudioPart, &wire.Media{Data: p.Audio.Data, Format: p.Audio.Format}
	default:
		return out, fault.Field(at.String()+".type", dialect.CodeValue, "%s.type must be input_text, input_image, input_file, output_text or refusal.", at)
	}
	return out, nil
}

// image reads where an image is.
func (p *part) image(at wire.Place) (*wire.Media, error) {
	switch {
	case p.ImageURL != "":
		media, ok := dialect.ImageAddress(p.ImageURL)
		if !ok {
			return nil, fault.Field(at.String()+".image_url", dialect.CodeValue, "%s.image_url must be an https or http address, or a data: address in base64.", at)
		}
		media.Detail = p.Detail
		return media, nil
	case p.FileID != "":
		return &wire.Media{ID: p.FileID, Detail: p.Detail}, nil
	}
	return nil, fault.Field(at.String(), dialect.CodeMissing, "%s needs image_url or file_id.", at)
}

// file reads where a document is.
func (p *part) file(at wire.Place) (*wire.Media, error) {
	var media *wire.Media
	switch {
	case p.FileData != "":
		var ok bool
		if media, ok = dialect.Document(p.FileData); !ok {
			return nil, fault.Field(at.String()+".file_data", dialect.CodeValue, "%s.file_data must be base64, best as a data: address.", at)
		}
	case p.FileURL != "":
		var ok bool
		if media, ok = dialect.ImageAddress(p.FileURL); !ok || media.URL == "" {
			return nil, fault.Field(at.String()+".file_url", dialect.CodeValue, "%s.file_url must be an https or http address.", at)
		}
	case p.FileID != "":
		media = &wire.Media{ID: p.FileID}
	default:
		return nil, fault.Field(at.String(), dialect.CodeMissing, "%s needs file_data, file_url or file_id.", at)
	}
	media.Name = p.Filename
	return media, nil
}

// cache returns the mark of a cached part in Anthropic's form; nil if there is none. Of
// Anthropic's two times the longer is nearest to 12 hours.
func (b *breakpoint) cache() jsontext.Value {
	switch {
	case b == nil:
		return nil
	case strings.HasSuffix(b.TTL, "h"):
		return jsontext.Value(`{"type":"ephemeral","ttl":"1h"}`)
	}
	return jsontext.Value(`{"type":"ephemeral"}`)
}
