package gemini

import (
	"net/url"
	"path"
	"strings"

	"github.com/modelgateway/modelgateway/extproc/contents"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

type blob struct {
	MimeType string `json:"mimeType"`
	Data     string `json:"data"`
}

type fileData struct {
	MimeType string `json:"mimeType,omitzero"`
	URI      string `json:"fileUri"`
}

// mediaParts writes an image, audio or a document of the i-th message, after what the model should
// know of it.
func mediaParts(p *wire.Part, i int) ([]part, error) {
	m := p.Media
	var out []part
	if about := strings.TrimSpace(m.Name + "\n\n" + m.About); m.About != "" {
		out = append(out, textPart(about))
	}
	switch {
	case m.ID != "" && p.Kind == wire.AudioPart:
		return nil, driver.Unsendable(placeOf(p, i), "the audio of an earlier response", vendor)
	case m.ID != "", contents.IsStored(m.URL):
		return nil, driver.Unsendable(placeOf(p, i), "a file by its id", vendor)
	case m.URL != "":
		return append(out, part{File: &fileData{MimeType: TypeOfURL(m), URI: m.URL}}), nil
	}
	return append(out, part{Inline: &blob{MimeType: typeOfData(p), Data: m.Data}}), nil
}

// TypeOfURL returns the MIME type of a file elsewhere; empty if the provider must find out.
func TypeOfURL(m *wire.Media) string {
	if m.Type != "" {
		return m.Type
	}
	u, err := url.Parse(m.URL)
	if err != nil {
		return ""
	}
	if kind := typeOfName(u.Path); kind != "" {
		return kind
	}
	return typeOfName(m.Name)
}

// typeOfData returns the MIME type of data, which the API requires.
func typeOfData(p *wire.Part) string {
	m := p.Media
	switch {
	case m.Type != "":
		return m.Type
	case p.Kind == wire.AudioPart:
		return "audio/" + m.Format
	}
	if kind := typeOfName(m.Name); kind != "" {
		return kind
	}
	if p.Kind == wire.ImagePart {
		return "image/png"
	}
	return "application/pdf"
}

// typeOfName guesses a MIME type by the end of a name; empty if it is not known.
func typeOfName(name string) string {
	switch strings.ToLower(path.Ext(name)) {
	case ".pdf":
		return "application/pdf"
	case ".png":
		return "image/png"
	case ".jpg", ".jpeg":
		return "image/jpeg"
	case ".webp":
		return "image/webp"
	case ".gif":
		return "image/gif"
	case ".heic":
		return "image/heic"
	case ".txt", ".md", ".csv":
		return "text/plain"
	case ".html":
		return "text/html"
	case ".json":
		return "application/json"
	case ".mp3":
		return "audio/mp3"
	case ".wav":
		return "audio/wav"
	case ".mp4":
		return "video/mp4"
	case ".mov":
		return "video/quicktime"
	case ".webm":
		return "video/webm"
	}
	return ""
}
