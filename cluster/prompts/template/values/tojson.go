package template

import (
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"
)

// json is the filter tojson: json.dumps with sorted keys, and with the characters that
// mean something in HTML escaped.
func (m *counter) json(v, indent value) value {
	w := &jsonWriter{m: m, start: len(m.out)}
	if indent != nil {
		w.pretty = true
		if s, ok := textOf(indent); ok {
			w.indent = s
		} else {
			w.indent = m.repeat(" ", m.integer(indent))
		}
	}
	m.out = w.value(m.out, v, 0)
	text := m.made(string(m.out[w.start:]))
	m.out = m.out[:w.start]
	return markup(text)
}

// jsonWriter writes at the end of the machine's output, from where it is taken.
type jsonWriter struct {
	m      *counter
	start  int
	pretty bool
	indent string
}

func (w *jsonWriter) value(out []byte, v value, level int) []byte {
	m := w.m
	m.step(1)
	m.room(len(out))
	switch v := v.(type) {
	case nil:
		return append(out, "null"...)
	case bool:
		return strconv.AppendBool(out, v)
	case int:
		return strconv.AppendInt(out, int64(v), 10)
	case *big.Int:
		return append(out, m.digits(v)...)
	case float64:
		return appendJSONFloat(out, v)
	case *list:
		return w.list(out, v.items, level)
	case *tuple:
		return w.list(out, v.items, level)
	case *dict:
		return w.dict(out, v, level)
	}
	s, ok := textOf(v)
	if !ok {
		m.fail("a %s cannot be written as JSON", typeName(v))
	}
	return w.text(out, s)
}

func appendJSONFloat(out []byte, f float64) []byte {
	switch {
	case math.IsNaN(f):
		return append(out, "NaN"...)
	case math.IsInf(f, 1):
		return append(out, "Infinity"...)
	case math.IsInf(f, -1):
		return append(out, "-Infinity"...)
	}
	return appendFloat(out, f)
}

// line begins a line, or a space after a comma.
func (w *jsonWriter) line(out []byte, level int, first bool) []byte { //nolint:revive // the first item has no space before it
	if !w.pretty {
		if first {
			return out
		}
		return append(out, ' ')
	}
	w.m.room(len(out) + level*len(w.indent))
	out = append(out, '\n')
	for range level {
		out = append(out, w.indent...)
	}
	return out
}

func (w *jsonWriter) end(out []byte, level int) []byte {
	if w.pretty {
		return w.line(out, level, false)
	}
	return out
}

func (w *jsonWriter) list(out []byte, items []value, level int) []byte {
	if len(items) == 0 {
		return append(out, "[]"...)
	}
	w.m.deeper()
	defer w.m.higher()
	out = append(out, '[')
	for i, item := range items {
		if i > 0 {
			out = append(out, ',')
		}
		out = w.value(w.line(out, level+1, i == 0), item, level+1)
	}
	return append(w.end(out, level), ']')
}

func (w *jsonWriter) dict(out []byte, d *dict, level int) []byte {
	if d.len() == 0 {
		return append(out, "{}"...)
	}
	w.m.deeper()
	defer w.m.higher()
	out = append(out, '{')
	key := func(v value) value { return v.(*tuple).items[0] }
	for i, entry := range w.m.sorted(w.m.entries(d).items, key, w.m.less, false) {
		if i > 0 {
			out = append(out, ',')
		}
		pair := entry.(*tuple).items
		out = append(w.key(w.line(out, level+1, i == 0), pair[0]), ": "...)
		out = w.value(out, pair[1], level+1)
	}
	return append(w.end(out, level), '}')
}

// key writes a key, which Python makes text of if it is a number, a bool or None.
func (w *jsonWriter) key(out []byte, k value) []byte {
	if s, ok := textOf(k); ok {
		return w.text(out, s)
	}
	if k != nil && !isNumber(k) {
		w.m.fail("a %s cannot be a key in JSON", typeName(k))
	}
	return append(w.value(append(out, '"'), k, 0), '"')
}

// text writes a text. Characters outside of ASCII are escaped, as those of HTML are.
func (w *jsonWriter) text(out []byte, s string) []byte {
	w.m.room(len(out) + len(s))
	w.m.work(2 * len(s))
	out = append(out, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			out = append(out, '\\', byte(r))
		case r == '<' || r == '>' || r == '&' || r == '\'':
			out = appendHex(append(out, `\u`...), r, 4)
		case r >= ' ' && r < 0x7f:
			out = append(out, byte(r))
		case r < ' ' && strings.ContainsRune("\n\r\t\f\b", r):
			out = append(out, '\\', "nrtfb"[strings.IndexRune("\n\r\t\f\b", r)])
		case r < 0x10000:
			out = appendHex(append(out, `\u`...), r, 4)
			w.m.room(len(out))
		default:
			r -= 0x10000
			out = appendHex(append(out, `\u`...), 0xd800+r>>10, 4)
			out = appendHex(append(out, `\u`...), 0xdc00+r&0x3ff, 4)
			w.m.room(len(out))
		}
	}
	return append(out, '"')
}

// urlEncoded is the filter urlencode: a text for a path, or pairs for a query.
func (m *counter) urlEncoded(v value) value {
	_, isUndefinedValue := v.(*undefined)
	if isText(v) || !isIterable(v) && !isUndefinedValue {
		return m.quotedURL(m.str(v), false)
	}
	var pairs []value
	if d, ok := v.(*dict); ok {
		pairs = m.entries(d).items
	} else {
		pairs = m.items(v)
	}
	parts := make([]string, 0, len(pairs))
	for _, pair := range pairs {
		kv := m.items(pair)
		if len(kv) != 2 {
			m.fail("urlencode needs pairs")
		}
		m.grow(2 * wordBytes)
		parts = append(parts, m.quotedURL(m.str(kv[0]), true)+"="+m.quotedURL(m.str(kv[1]), true))
	}
	return m.joinTexts(parts, "&")
}

func (m *counter) quotedURL(s string, query bool) string {
	m.times(len(s), 3)
	m.work(3 * len(s))
	out := make([]byte, 0, len(s)+len(s)/4)
	for i := range len(s) {
		c := s[i]
		switch {
		case c < utf8.RuneSelf && (digitValue(c) >= 0 || strings.IndexByte("_.-~", c) >= 0), c == '/' && !query:
			out = append(out, c)
		case c == ' ' && query:
			out = append(out, '+')
		default:
			out = append(out, '%', "0123456789ABCDEF"[c>>4], "0123456789ABCDEF"[c&15])
		}
	}
	return string(out)
}

// xmlAttributes is the filter xmlattr.
func (m *counter) xmlAttributes(v value, space bool) value { //nolint:revive // Jinja's flag
	d, ok := v.(*dict)
	if !ok {
		if u, isUndefined := v.(*undefined); isUndefined {
			m.missing(u)
		}
		m.fail("xmlattr needs a dict, not a %s", typeName(v))
	}
	var parts []string
	for i, k := range d.keys {
		if d.values[i] == nil || isUndefined(d.values[i]) {
			continue
		}
		m.step(1)
		m.grow(wordBytes)
		key := m.text(k)
		if strings.ContainsAny(key, " \t\n\r\f\v/>=") {
			m.fail("the name of an attribute has a character that it cannot have")
		}
		parts = append(parts, string(m.escaped(k))+`="`+string(m.escaped(d.values[i]))+`"`)
	}
	out := m.joinTexts(parts, " ")
	if space && out != "" {
		out = " " + out
	}
	return out
}
