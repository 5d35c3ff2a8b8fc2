package openai

import (
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/dialect"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// chatContent is a message's content: a text, an array of parts, or nothing.
type chatContent struct {
	text *string
	list []chatPart
}

type chatPart struct {
	Type       string         `json:"type"`
	Text       *string        `json:"text,omitzero"` // a pointer: a text may be empty but must be there
	Refusal    string         `json:"refusal,omitzero"`
	ImageURL   *chatImage     `json:"image_url,omitzero"`
	InputAudio *chatAudio     `json:"input_audio,omitzero"`
	File       *chatFile      `json:"file,omitzero"`
	Cache      jsontext.Value `json:"cache_control,omitzero"`
}

// chatImage is an image: an object, or only its address.
type chatImage struct {
	URL    string `json:"url"`
	Detail string `json:"detail,omitzero"`
}

type chatAudio struct {
	Data   string `json:"data"`
	Format string `json:"format"`
}

type chatFile struct {
	ID   string `json:"file_id,omitzero"`
	Data string `json:"file_data,omitzero"`
	Name string `json:"filename,omitzero"`
}

// UnmarshalJSONFrom reads a string, an array of parts or null.
func (c *chatContent) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	if dec.PeekKind() == '"' {
		c.text = new(string)
		return json.UnmarshalDecode(dec, c.text)
	}
	if dec.PeekKind() == '[' {
		c.list = []chatPart{}
		return json.UnmarshalDecode(dec, &c.list)
	}
	raw, err := dec.ReadValue()
	if err != nil || raw.Kind() == 'n' {
		return err
	}
	param := dialect.Path(dec.StackPointer())
	return fault.Field(param, dialect.CodeType, "%s must be a string or an array of parts.", param)
}

// MarshalJSONTo writes what UnmarshalJSONFrom reads.
func (c *chatContent) MarshalJSONTo(enc *jsontext.Encoder) error {
	switch {
	case c.text != nil:
		return enc.WriteToken(jsontext.String(*c.text))
	case c.list != nil:
		return json.MarshalEncode(enc, &c.list)
	}
	return enc.WriteToken(jsontext.Null)
}

// UnmarshalJSONFrom reads an object or a string.
func (c *chatImage) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	if dec.PeekKind() == '"' {
		return json.UnmarshalDecode(dec, &c.URL)
	}
	type object chatImage
	return json.UnmarshalDecode(dec, (*object)(c))
}

// given reports whether there was any content, even an empty one.
func (c *chatContent) given() bool { return c.text != nil || c.list != nil }

// parts converts the content to the canonical form.
func (c *chatContent) parts(param string) ([]wire.Part, error) {
	if c.text != nil {
		return []wire.Part{{Kind: wire.TextPart, Text: *c.text}}, nil
	}
	if len(c.list) == 0 {
		return nil, nil
	}
	out := make([]wire.Part, 0, len(c.list))
	for i := range c.list {
		p, err := c.list[i].part(param, i)
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}

// part converts the i-th part to the canonical form.
func (c *chatPart) part(outer string, i int) (wire.Part, error) {
	out := wire.Part{Cache: dialect.Present(c.Cache)}
	param := func(rest string) string { return fmt.Sprintf("%s[%d]%s", outer, i, rest) }
	if out.Cache != nil && out.Cache.Kind() != '{' {
		return out, fault.Field(param(".cache_control"), dialect.CodeType, "%s must be an object.", param(".cache_control"))
	}
	switch {
	case c.Type == "text":
		if out.Kind = wire.TextPart; c.Text != nil {
			out.Text = *c.Text
		}
	case c.Type == "refusal":
		out.Kind, out.Text = wire.RefusalPart, c.Refusal
	case c.Type == "image_url" && c.ImageURL != nil:
		media, ok := dialect.ImageAddress(c.ImageURL.URL)
		if !ok {
			return out, fault.Field(param(".image_url.url"), dialect.CodeValue, "%s must be an https or http address, or a data: address in base64.", param(".image_url.url"))
		}
		media.Detail = c.ImageURL.Detail
		out.Kind, out.Media = wire.ImagePart, media
	case c.Type == "input_audio" && c.InputAudio != nil:
		out.Kind, out.Media = wire.AudioPart, &wire.Media{Data: c.InputAudio.Data, Format: c.InputAudio.Format}
	case c.Type == "file" && c.File != nil:
		media := &wire.Media{ID: c.File.ID, Name: c.File.Name}
		if c.File.Data != "" {
			var ok bool
			if media, ok = dialect.Document(c.File.Data); !ok {
				return out, fault.Field(param(".file.file_data"), dialect.CodeValue, "%s must be base64, best as a data: address.", param(".file.file_data"))
			}
			media.Name = c.File.Name
		}
		if media.ID == "" && media.Data == "" {
			return out, fault.Field(param(".file"), dialect.CodeMissing, "%s needs file_data or file_id.", param(".file"))
		}
		out.Kind, out.Media = wire.FilePart, media
	case c.Type == "image_url", c.Type == "input_audio", c.Type == "file":
		return out, fault.Field(param("."+c.Type), dialect.CodeMissing, "%s is missing.", param("."+c.Type))
	default:
		return out, fault.Field(param(".type"), dialect.CodeValue, "%s must be text, image_url, input_audio, file or refusal.", param(".type"))
	}
	return out, nil
}
