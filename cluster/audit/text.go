package audit

import (
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// timeLayout is RFC 3339 in UTC with microseconds.
const timeLayout = "2006-01-02T15:04:05.000000Z"

// micros truncates a time to the precision of a record's text.
func micros(nanos int64) int64 { return nanos / 1000 * 1000 }

func appendTime(b []byte, nanos int64) []byte {
	b = append(b, '"')
	b = time.Unix(0, nanos).UTC().AppendFormat(b, timeLayout)
	return append(b, '"')
}

// clean replaces invalid UTF-8.
func clean(s string) string { return strings.ToValidUTF8(s, string(utf8.RuneError)) }

// appendString appends a JSON string as in RFC 8785, section 3.2.2.2, with the necessary
// escapes only.
func appendString(b []byte, s string) []byte {
	const digits = "0123456789abcdef"
	if !utf8.ValidString(s) {
		s = clean(s)
	}
	b = append(b, '"')
	from := 0
	for i := range len(s) {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		b = append(b, s[from:i]...)
		from = i + 1
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\b':
			b = append(b, '\\', 'b')
		case '\t':
			b = append(b, '\\', 't')
		case '\n':
			b = append(b, '\\', 'n')
		case '\f':
			b = append(b, '\\', 'f')
		case '\r':
			b = append(b, '\\', 'r')
		default:
			b = append(b, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
		}
	}
	return append(append(b, s[from:]...), '"')
}

// appendNullable appends a string, or null for an empty one.
func appendNullable(b []byte, s string) []byte {
	if s == "" {
		return append(b, "null"...)
	}
	return appendString(b, s)
}

// appendDetails appends a JSON object with sorted members. Numbers stay as written, because
// amounts of money have more digits than RFC 8785 preserves. A text that is not an object
// becomes the only member of one: an event is never dropped because of its details.
func appendDetails(b []byte, text string) []byte {
	if text == "" {
		return append(b, "null"...)
	}
	if plain(text) {
		return append(b, text...)
	}
	v := jsontext.Value(text)
	err := v.Canonicalize(jsontext.CanonicalizeRawInts(false), jsontext.CanonicalizeRawFloats(false))
	if err == nil && v.Kind() == '{' {
		return append(b, v...)
	}
	b = append(b, `{"text":`...)
	return append(appendString(b, text), '}')
}
