package openai

import (
	"encoding/base64"
	"strings"

	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// contentPartOf writes a text, an image or a file of the given message, if chat requests have a
// place for it.
func contentPartOf(caller wire.Dialect, p *wire.Part, message int) (chatPart, error) {
	m := p.Media
	if m == nil {
		return partOf(p), nil
	}
	if what := foreign(caller, p); what != "" {
		return chatPart{}, driver.Unsendable(placeOf(p, message), what, vendor)
	}
	out := partOf(p)
	if caller.IsOpenAIs() || out.File == nil {
		return out, nil
	}
	if strings.HasPrefix(m.Type, "text/") { // OpenAI's files are PDFs
		text, err := base64.StdEncoding.DecodeString(m.Data)
		if err != nil {
			return out, driver.Unsendable(placeOf(p, message), "a file whose data is not base64", vendor)
		}
		return textOf(m.Name, string(text)), nil
	}
	if out.File.Name == "" {
		out.File.Name = "document.pdf" // OpenAI requires a name, others do not
	}
	return out, nil
}

// foreign names a medium that chat requests have no form for; empty if they have one. The files
// of a caller of another language are at another provider.
func foreign(caller wire.Dialect, p *wire.Part) string {
	m := p.Media
	switch {
	case p.Kind == wire.ImagePart && m.ID != "":
		return "a picture by the id of its file"
	case m.ID != "" && !caller.IsOpenAIs():
		return "a file by its id"
	case p.Kind == wire.FilePart && m.URL != "":
		return "a file by its address"
	case m.About != "":
		return "the context of a document"
	case p.Kind == wire.FilePart && !caller.IsOpenAIs() && strings.HasPrefix(m.Type, "video/"):
		return "a video"
	}
	return ""
}

// textOf writes a document of plain text as a text.
func textOf(name, text string) chatPart {
	if name != "" {
		text = name + "\n\n" + text
	}
	return chatPart{Type: "text", Text: &text}
}
