package template

import (
	"html"
	"strings"
)

// escaped is Jinja's escape: text in which the characters that mean something in HTML are
// replaced. Markup stays as it is.
func (m *counter) escaped(v value) markup {
	switch v := v.(type) {
	case markup:
		return v
	case *undefined:
		if !v.strict {
			return ""
		}
	}
	return m.escapedText(m.str(v))
}

func (m *counter) escapedText(s string) markup {
	if !strings.ContainsAny(s, `&<>'"`) {
		m.work(len(s))
		return markup(s)
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
	m.grow(len(s) + more)
	m.work(2 * (len(s) + more))
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
	return markup(out)
}

// withoutTags removes comments and tags, joins white space, and reads HTML's characters.
func (m *counter) withoutTags(s string) string {
	m.times(len(s), 6)
	m.work(4 * len(s))
	s = without(s, "<!--", "-->")
	if _, after, ok := strings.Cut(s, "<!--"); ok && strings.Contains(after, "-->") {
		m.fail("comments within comments are not supported by striptags")
	}
	s = without(s, "<", ">")
	s = strings.Join(strings.FieldsFunc(s, isSpace), " ")
	if strings.Contains(s, "&#") {
		m.fail("characters that are written as numbers in HTML are not supported by striptags")
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
