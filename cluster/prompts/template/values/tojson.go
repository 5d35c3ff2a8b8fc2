package values

import (
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"
)

// JSON is the filter tojson: json.dumps with sorted keys, and with the characters that
// mean something in HTML escaped.
func (m *Counter) JSON(v, indent Value) Value {
	w := &jsonWriter{m: m, start: len(m.Out)}
	if indent != nil {
		w.pretty = true
		if s, ok := TextOf(indent); ok {
			w.indent = s
		} else {
			w.indent = m.Repeat(" ", m.Integer(indent))
		}
	}
	m.Out = w.value(m.Out, v, 0)
	text := m.Made(string(m.Out[w.start:]))
	m.Out = m.Out[:w.start]
	return Markup(text)
}

// jsonWriter writes at the end of the machine's output, from where it is taken.
type jsonWriter struct {
	m      *Counter
	start  int
	pretty bool
	indent string
}

func (w *jsonWriter) value(out []byte, v Value, level int) []byte {
	m := w.m
	m.Step(1)
	m.Room(len(out))
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
	case *List:
		return w.list(out, v.Items, level)
	case *Tuple:
		return w.list(out, v.Items, level)
	case *Dict:
		return w.dict(out, v, level)
	}
	s, ok := TextOf(v)
	if !ok {
		m.Fail("a %s cannot be written as JSON", TypeName(v))
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
	return AppendFloat(out, f)
}

// line begins a line, or a space after a comma.
func (w *jsonWriter) line(out []byte, level int, first bool) []byte { //nolint:revive // the first item has no space before it
	if !w.pretty {
		if first {
			return out
		}
		return append(out, ' ')
	}
	w.m.Room(len(out) + level*len(w.indent))
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

func (w *jsonWriter) list(out []byte, items []Value, level int) []byte {
	if len(items) == 0 {
		return append(out, "[]"...)
	}
	w.m.Deeper()
	defer w.m.Higher()
	out = append(out, '[')
	for i, item := range items {
		if i > 0 {
			out = append(out, ',')
		}
		out = w.value(w.line(out, level+1, i == 0), item, level+1)
	}
	return append(w.end(out, level), ']')
}

func (w *jsonWriter) dict(out []byte, d *Dict, level int) []byte {
	if d.Len() == 0 {
		return append(out, "{}"...)
	}
	w.m.Deeper()
	defer w.m.Higher()
	out = append(out, '{')
	key := func(v Value) Value { return v.(*Tuple).Items[0] }
	for i, entry := range w.m.Sorted(w.m.Entries(d).Items, key, w.m.Less, false) {
		if i > 0 {
			out = append(out, ',')
		}
		pair := entry.(*Tuple).Items
		out = append(w.key(w.line(out, level+1, i == 0), pair[0]), ": "...)
		out = w.value(out, pair[1], level+1)
	}
	return append(w.end(out, level), '}')
}

// key writes a key, which Python makes text of if it is a number, a bool or None.
func (w *jsonWriter) key(out []byte, k Value) []byte {
	if s, ok := TextOf(k); ok {
		return w.text(out, s)
	}
	if k != nil && !IsNumber(k) {
		w.m.Fail("a %s cannot be a key in JSON", TypeName(k))
	}
	return append(w.value(append(out, '"'), k, 0), '"')
}

// text writes a text. Characters outside of ASCII are escaped, as those of HTML are.
func (w *jsonWriter) text(out []byte, s string) []byte {
	w.m.Room(len(out) + len(s))
	w.m.Work(2 * len(s))
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
			w.m.Room(len(out))
		default:
			r -= 0x10000
			out = appendHex(append(out, `\u`...), 0xd800+r>>10, 4)
			out = appendHex(append(out, `\u`...), 0xdc00+r&0x3ff, 4)
			w.m.Room(len(out))
		}
	}
	return append(out, '"')
}

// URLEncoded is the filter urlencode: a text for a path, or pairs for a query.
func (m *Counter) URLEncoded(v Value) Value {
	_, isUndefinedValue := v.(*Undefined)
	if IsText(v) || !IsIterable(v) && !isUndefinedValue {
		return m.quotedURL(m.Str(v), false)
	}
	var pairs []Value
	if d, ok := v.(*Dict); ok {
		pairs = m.Entries(d).Items
	} else {
		pairs = m.Items(v)
	}
	parts := make([]string, 0, len(pairs))
	for _, pair := range pairs {
		kv := m.Items(pair)
		if len(kv) != 2 {
			m.Fail("urlencode needs pairs")
		}
		m.Grow(2 * WordBytes)
		parts = append(parts, m.quotedURL(m.Str(kv[0]), true)+"="+m.quotedURL(m.Str(kv[1]), true))
	}
	return m.JoinTexts(parts, "&")
}

func (m *Counter) quotedURL(s string, query bool) string {
	m.Times(len(s), 3)
	m.Work(3 * len(s))
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

// XMLAttributes is the filter xmlattr.
func (m *Counter) XMLAttributes(v Value, space bool) Value { //nolint:revive // Jinja's flag
	d, ok := v.(*Dict)
	if !ok {
		if u, isUndefined := v.(*Undefined); isUndefined {
			m.Missing(u)
		}
		m.Fail("xmlattr needs a dict, not a %s", TypeName(v))
	}
	var parts []string
	for i, k := range d.Keys {
		if d.Values[i] == nil || IsUndefined(d.Values[i]) {
			continue
		}
		m.Step(1)
		m.Grow(WordBytes)
		key := m.Text(k)
		if strings.ContainsAny(key, " \t\n\r\f\v/>=") {
			m.Fail("the name of an attribute has a character that it cannot have")
		}
		parts = append(parts, string(m.Escaped(k))+`="`+string(m.Escaped(d.Values[i]))+`"`)
	}
	out := m.JoinTexts(parts, " ")
	if space && out != "" {
		out = " " + out
	}
	return out
}
