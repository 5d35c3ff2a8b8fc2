package splice

import (
	"bytes"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// appendUnescaped appends the text of a JSON string without its quotes. The scanner must have
// accepted the string.
func appendUnescaped(dst, raw []byte) []byte {
	for {
		i := bytes.IndexByte(raw, '\\')
		if i < 0 {
			return append(dst, raw...)
		}
		dst = append(dst, raw[:i]...)
		c := raw[i+1]
		raw = raw[i+2:]
		switch c {
		case 'b':
			dst = append(dst, '\b')
		case 'f':
			dst = append(dst, '\f')
		case 'n':
			dst = append(dst, '\n')
		case 'r':
			dst = append(dst, '\r')
		case 't':
			dst = append(dst, '\t')
		case 'u':
			r := rune(hex4(raw, 0))
			raw = raw[4:]
			if utf16.IsSurrogate(r) {
				r = utf16.DecodeRune(r, rune(hex4(raw, 2)))
				raw = raw[6:]
			}
			dst = utf8.AppendRune(dst, r)
		default: // a quote, a slash or a backslash
			dst = append(dst, c)
		}
	}
}

// AppendPlain appends the text of a JSON string, given without its quotes. Scan must have accepted it.
func AppendPlain(dst, raw []byte) []byte { return appendUnescaped(dst, raw) }

// Plain returns JSON with its escapes decoded, for counting; the result is not JSON. Scan must
// have accepted it.
func Plain(json []byte) []byte { return appendUnescaped(make([]byte, 0, len(json)), json) }

// Quote appends text as a JSON string. Invalid UTF-8 becomes U+FFFD.
func Quote(dst []byte, text string) []byte {
	if plain(text) {
		dst = append(dst, '"')
		dst = append(dst, text...)
		return append(dst, '"')
	}
	out, _ := jsontext.AppendQuote(dst, strings.ToValidUTF8(text, "\uFFFD")) // only invalid UTF-8 fails
	return out
}

// plain reports whether text needs no escape in JSON.
func plain(text string) bool {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c >= utf8.RuneSelf || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}
