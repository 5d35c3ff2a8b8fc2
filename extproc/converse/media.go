package converse

import (
	"encoding/base64"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/dialect"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// callerMedium is a picture, a video or sound.
type callerMedium struct {
	Format string       `json:"format"`
	Source callerSource `json:"source"`
}

type callerDocument struct {
	Format    string       `json:"format"`
	Name      string       `json:"name"`
	Source    callerSource `json:"source"`
	Context   string       `json:"context"`
	Citations struct {
		Enabled bool `json:"enabled"`
	} `json:"citations"`
}

type callerSource struct {
	Bytes   string         `json:"bytes"` // base64
	S3      jsontext.Value `json:"s3Location"`
	Text    *string        `json:"text"` // of a document
	Content []struct {
		Text string `json:"text"`
	} `json:"content"` // of a document
}

// data returns the data of a source. param is the field of the block.
func (s *callerSource) data(param string) (string, error) {
	param += ".source"
	if dialect.Present(s.S3) != nil {
		return "", stored(param + ".s3Location")
	}
	if s.Bytes == "" {
		return "", fault.Field(param+".bytes", dialect.CodeMissing, "%s.bytes is missing.", param)
	}
	return s.Bytes, nil
}

// stored is the error for an object in S3.
func stored(param string) error {
	return fault.Field(param, "unsupported_parameter", "%s names what is stored in the provider's account, which all callers of the gateway share. Send its bytes.", param)
}

// formatOf returns the format of a medium.
func formatOf(format, param string) (string, error) {
	if format == "" || strings.ContainsFunc(format, func(c rune) bool { return c != '-' && c != '_' && (c < 'a' || c > 'z') && (c < '0' || c > '9') }) {
		return "", fault.Field(param+".format", dialect.CodeValue, "%s.format must be one of the formats of AWS, such as png.", param)
	}
	return format, nil
}

// image converts a picture.
func (m *callerMedium) image(at wire.Place) (wire.Part, error) {
	return m.part(at, "image", func(format string) wire.Part {
		return wire.Part{Kind: wire.ImagePart, Media: &wire.Media{Type: "image/" + format}}
	})
}

// video converts a video.
func (m *callerMedium) video(at wire.Place) (wire.Part, error) {
	return m.part(at, "video", func(format string) wire.Part {
		kind := map[string]string{"mov": "quicktime", "mkv": "x-matroska", "flv": "x-flv", "wmv": "x-ms-wmv", "three_gp": "3gpp", "mpg": "mpeg"}[format]
		if kind == "" {
			kind = format
		}
		return wire.Part{Kind: wire.FilePart, Media: &wire.Media{Type: "video/" + kind}}
	})
}

// audio converts sound.
func (m *callerMedium) audio(at wire.Place) (wire.Part, error) {
	return m.part(at, "audio", func(format string) wire.Part {
		format = strings.TrimPrefix(format, "x-")
		if format == "mpeg" || format == "mpga" {
			format = "mp3"
		}
		return wire.Part{Kind: wire.AudioPart, Media: &wire.Media{Type: "audio/" + format, Format: format}}
	})
}

// part converts a medium that is a member of a block. of makes the part for a format.
func (m *callerMedium) part(at wire.Place, member string, of func(format string) wire.Part) (wire.Part, error) {
	param := at.String() + "." + member
	format, err := formatOf(m.Format, param)
	if err != nil {
		return wire.Part{}, err
	}
	data, err := m.Source.data(param)
	if err != nil {
		return wire.Part{}, err
	}
	out := of(format)
	out.Media.Data, out.At = data, at
	return out, nil
}

// part converts a document. Its name has no end with the format here, which other providers expect.
func (d *callerDocument) part(at wire.Place) (wire.Part, error) {
	param := at.String() + ".document"
	m := &wire.Media{About: d.Context, Cite: d.Citations.Enabled}
	format := d.Format
	var err error
	switch s := &d.Source; {
	case s.Text != nil:
		m.Data = base64.StdEncoding.EncodeToString([]byte(*s.Text))
	case len(s.Content) > 0:
		var b strings.Builder
		for i, one := range s.Content {
			if i > 0 {
				b.WriteByte('\n')
			}
			b.WriteString(one.Text)
		}
		m.Data = base64.StdEncoding.EncodeToString([]byte(b.String()))
	default:
		if m.Data, err = s.data(param); err != nil {
			return wire.Part{}, err
		}
	}
	if format == "" && d.Source.Bytes == "" {
		format = "txt"
	}
	if format, err = formatOf(format, param); err != nil {
		return wire.Part{}, err
	}
	if m.Type = documentType(format); m.Type == "" {
		return wire.Part{}, fault.Field(param+".format", dialect.CodeValue, "%s.format must be pdf, csv, doc, docx, xls, xlsx, html, txt or md.", param)
	}
	if d.Name != "" {
		m.Name = d.Name + "." + format
	}
	return wire.Part{Kind: wire.FilePart, Media: m, At: at}, nil
}

// documentType returns the MIME type of a format of documents; empty if there is no such format.
func documentType(format string) string {
	switch format {
	case "pdf":
		return "application/pdf"
	case "csv", "html":
		return "text/" + format
	case "txt":
		return "text/plain"
	case "md":
		return "text/markdown"
	case "doc":
		return "application/msword"
	case "docx":
		return "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
	case "xls":
		return "application/vnd.ms-excel"
	case "xlsx":
		return "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
	}
	return ""
}
