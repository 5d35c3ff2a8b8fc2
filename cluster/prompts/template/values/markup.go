package values

import (
	"html"
	"strings"
)

// Escaped is Jinja's escape: text in which the characters that mean something in HTML are
// replaced. Markup stays as it is.
func (m *Counter) Escaped(v Value) Markup {
	switch v := v.(type) {
	case Markup:
		return v
	case *Undefined:
		if !v.Strict {
			return ""
		}
	}
	return m.EscapedText(m.Str(v))
}

// EscapedText returns a text in which the characters with a meaning in HTML are escaped.
func (m *Counter) EscapedText(s string) Markup {
	if !strings.ContainsAny(s, `&<>'"`) {
		m.Work(len(s))
		return Markup(s)
	}
	more := 0
	for _, c := range []byte(s) {
		switch c {
		case '&', '\'', '"':
			more += 4
		case '<', '>':
			more += 3
		}
	}
	m.Grow(len(s) + more)
	m.Work(2 * (len(s) + more))
	out := make([]byte, 0, len(s)+more)
	for _, c := range []byte(s) {
		switch c {
		case '&':
			out = append(out, "&amp;"...)
		case '<':
			out = append(out, "&lt;"...)
		case '>':
			out = append(out, "&gt;"...)
		case '\'':
			out = append(out, "&#39;"...)
		case '"':
			out = append(out, "&#34;"...)
		default:
			out = append(out, c)
		}
	}
	return Markup(out)
}

// WithoutTags removes comments and tags, joins white space, and reads HTML's characters.
func (m *Counter) WithoutTags(s string) string {
	m.Times(len(s), 6)
	m.Work(4 * len(s))
	s = without(s, "<!--", "-->")
	if _, after, ok := strings.Cut(s, "<!--"); ok && strings.Contains(after, "-->") {
		m.Fail("comments within comments are not supported by striptags")
	}
	s = without(s, "<", ">")
	s = strings.Join(strings.FieldsFunc(s, IsSpace), " ")
	if strings.Contains(s, "&#") {
		m.Fail("characters that are written as numbers in HTML are not supported by striptags")
	}
	return html.UnescapeString(s)
}

// without removes each part that begins with open and ends with the next closing.
func without(s, open, closing string) string {
	var out strings.Builder
	for {
		i := strings.Index(s, open)
		if i < 0 {
			break
		}
		end := strings.Index(s[i:], closing)
		if end < 0 {
			break
		}
		out.WriteString(s[:i])
		s = s[i+end+len(closing):]
	}
	return out.String() + s
}
