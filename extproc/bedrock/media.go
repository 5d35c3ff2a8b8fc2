package bedrock

import (
	"fmt"
	"path"
	"strings"
	"unicode"

	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// medium writes a picture, a document, a video or sound. Only data is sent: the gateway fetches nothing, the API
// fetches from S3 alone, and what is there belongs to the account that all callers share.
func (b *builder) medium(p *wire.Part, i int) (*block, error) {
	m := p.Media
	kind := typeOf(p)
	switch {
	case m.ID != "" && p.Kind == wire.AudioPart:
		return nil, driver.Unsendable(placeOf(p, i), "the audio of an earlier response", vendor)
	case m.ID != "":
		return nil, driver.Unsendable(placeOf(p, i), "a file by its id", vendor)
	case m.URL != "":
		return nil, driver.Unsendable(placeOf(p, i), "a file by its address", vendor)
	}
	data := source{m.Data}
	main, format, _ := strings.Cut(kind, "/")
	switch main {
	case "image":
		if format, ok := imageFormat(format); ok {
			return &block{Image: &medium{format, data}}, nil
		}
		return nil, driver.Unsendable(placeOf(p, i), "a picture that is not a PNG, JPEG, GIF or WebP", vendor)
	case "audio":
		return &block{Audio: &medium{strings.TrimPrefix(format, "x-"), data}}, nil
	case "video":
		return &block{Video: &medium{videoFormat(format), data}}, nil
	}
	format = documentFormat(kind)
	if format == "" {
		return nil, driver.Unsendable(placeOf(p, i), "a file that is neither a picture nor a document", vendor)
	}
	out := &document{Format: format, Name: b.documentName(m.Name), Source: data, Context: m.About}
	if m.Cite {
		out.Citations = &citations{true}
	}
	return &block{Document: out}, nil
}

// imageFormat returns the format of a MIME type of a picture.
func imageFormat(format string) (string, bool) {
	switch format {
	case "png", "jpeg", "gif", "webp":
		return format, true
	case "jpg":
		return "jpeg", true
	}
	return "", false
}

// videoFormat returns the format of a MIME type of a video.
func videoFormat(format string) string {
	switch format {
	case "quicktime":
		return "mov"
	case "x-matroska":
		return "mkv"
	case "x-flv":
		return "flv"
	case "x-ms-wmv":
		return "wmv"
	case "3gpp":
		return "three_gp"
	}
	return format
}

// documentFormat returns the format of a MIME type; empty if it is not one of a document.
func documentFormat(kind string) string {
	switch kind {
	case "application/pdf":
		return "pdf"
	case "text/csv":
		return "csv"
	case "application/msword":
		return "doc"
	case "application/vnd.openxmlformats-officedocument.wordprocessingml.document":
		return "docx"
	case "application/vnd.ms-excel":
		return "xls"
	case "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet":
		return "xlsx"
	case "text/html":
		return "html"
	case "text/markdown":
		return "md"
	}
	if strings.HasPrefix(kind, "text/") || kind == "application/json" || kind == "application/xml" {
		return "txt"
	}
	return ""
}

// typeOf returns the MIME type of data: as the caller says, else as the name of the file suggests.
func typeOf(p *wire.Part) string {
	m := p.Media
	switch {
	case m.Type != "" && m.Type != "application/octet-stream":
		return m.Type
	case p.Kind == wire.AudioPart:
		return "audio/" + m.Format
	case p.Kind == wire.ImagePart:
		return "image/png"
	}
	switch ext := strings.TrimPrefix(strings.ToLower(path.Ext(m.Name)), "."); ext {
	case "png", "jpg", "jpeg", "gif", "webp":
		return "image/" + ext
	case "csv", "html":
		return "text/" + ext
	case "md":
		return "text/markdown"
	case "txt", "log", "xml", "json", "yaml", "yml":
		return "text/plain"
	case "doc":
		return "application/msword"
	case "docx":
		return "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
	case "xls":
		return "application/vnd.ms-excel"
	case "xlsx":
		return "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
	case "mp4", "mov", "mkv", "webm":
		return "video/" + ext
	case "mp3", "wav", "flac", "ogg":
		return "audio/" + ext
	}
	return "application/pdf"
}

// longestDocument is the most characters of a document's name.
const longestDocument = 200

// documentName makes a name that the API accepts: letters, digits, -, brackets and single spaces. The
// end with the format goes, as the format stands next to it. No two documents have the same name.
func (b *builder) documentName(name string) string {
	name = strings.TrimSuffix(name, path.Ext(name))
	safe := strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		switch {
		case r < 0x80 && (unicode.IsLetter(r) || unicode.IsDigit(r)), strings.ContainsRune("-()[]", r):
			return r
		}
		return ' '
	}, name)), " ")
	if safe == "" {
		safe = "document"
	}
	safe = strings.TrimSpace(safe[:min(len(safe), longestDocument-len(" (999)"))])
	b.names[safe]++
	if n := b.names[safe]; n > 1 {
		return fmt.Sprintf("%s (%d)", safe, n)
	}
	return safe
}
