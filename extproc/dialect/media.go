package dialect

import (
	"strings"

	"github.com/modelgateway/modelgateway/extproc/wire"
)

// ImageAddress reads where an image is. Other schemes are rejected, so a caller
// cannot make a provider read its own files.
func ImageAddress(url string) (*wire.Media, bool) {
	if media, ok := parseDataURL(url); ok {
		return media, true
	}
	scheme, rest, _ := strings.Cut(url, "://")
	scheme = strings.ToLower(scheme)
	if (scheme == "https" || scheme == "http") && rest != "" {
		return &wire.Media{URL: url}, true
	}
	return nil, false
}

// Document reads a file: a data: address, or the base64 alone.
func Document(data string) (*wire.Media, bool) {
	if media, ok := parseDataURL(data); ok {
		return media, true
	}
	if strings.Contains(data, ":") {
		return nil, false
	}
	return &wire.Media{Data: data}, true
}

// parseDataURL splits "data:image/png;base64,iVBOR…".
func parseDataURL(url string) (*wire.Media, bool) {
	if len(url) < 5 || !strings.EqualFold(url[:5], "data:") {
		return nil, false
	}
	head, data, found := strings.Cut(url[5:], ",")
	kind, base64 := strings.CutSuffix(head, ";base64")
	if !found || !base64 || data == "" {
		return nil, false
	}
	kind, _, _ = strings.Cut(kind, ";")
	return &wire.Media{Data: data, Type: strings.ToLower(kind)}, true
}
