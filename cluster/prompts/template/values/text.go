package template

import (
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

func quote(word string) string { return strconv.Quote(word) }

// text returns a value that has to be text.
func (m *counter) text(v value) string {
	s, ok := textOf(v)
	if !ok {
		m.fail("text is needed, not a %s", typeName(v))
	}
	return s
}

// print writes a value as Python's str.
func (m *counter) print(v value) {
	if s, ok := v.(string); ok {
		m.write(s)
		return
	}
	before := len(m.out)
	m.out = m.appendText(m.out, v)
	m.room(len(m.out))
	m.work(len(m.out) - before)
}

// str is Python's str.
func (m *counter) str(v value) string {
	switch v := v.(type) {
	case string:
		return v
	case markup:
		return string(v)
	case *undefined:
		return ""
	}
	return m.made(string(m.appendText(nil, v)))
}

// softText is Jinja's soft_str: str, but markup stays markup.
func (m *counter) softText(v value) (string, value) {
	s := m.str(v)
	if _, ok := v.(markup); ok {
		return s, v
	}
	return s, s
}

func (m *counter) appendText(out []byte, v value) []byte {
	switch v := v.(type) {
	case string:
		m.room(len(out) + len(v))
		return append(out, v...)
	case markup:
		m.room(len(out) + len(v))
		return append(out, v...)
	case *undefined:
		return out
	}
	return m.appendRepr(out, v)
}

// appendRepr writes a value as Python's repr.
func (m *counter) appendRepr(out []byte, v value) []byte {
	m.room(len(out))
	switch v := v.(type) {
	case nil:
		return append(out, "None"...)
	case bool:
		if v {
			return append(out, "True"...)
		}
		return append(out, "False"...)
	case int:
		return strconv.AppendInt(out, int64(v), 10)
	case *big.Int:
		return append(out, m.digits(v)...)
	case float64:
		return appendFloat(out, v)
	case string:
		return m.appendQuoted(out, v)
	case markup:
		return append(m.appendQuoted(append(out, "Markup("...), string(v)), ')')
	case *undefined:
		return append(out, "Undefined"...)
	}
	m.deeper()
	defer m.higher()
	switch v := v.(type) {
	case *list:
		return m.appendItems(out, '[', v.items, ']')
	case *tuple:
		if len(v.items) == 1 {
			return append(m.appendRepr(append(out, '('), v.items[0]), ",)"...)
		}
		return m.appendItems(out, '(', v.items, ')')
	case *dict:
		return m.appendDict(out, v)
	case *view:
		return append(m.appendItems(append(append(out, "dict_"...), v.kind+"("...), '[', v.items, ']'), ')')
	case *namespace:
		return append(m.appendDict(append(out, "<Namespace "...), v.attrs), '>')
	case *rangeOf:
		out = append(strconv.AppendInt(append(out, "range("...), int64(v.start), 10), ", "...)
		out = strconv.AppendInt(out, int64(v.stop), 10)
		if v.step != 1 {
			out = strconv.AppendInt(append(out, ", "...), int64(v.step), 10)
		}
		return append(out, ')')
	case object:
		return v.appendTo(out)
	}
	m.fail("Python shows a %s with its address in memory; make a list of it, or call it", typeName(v))
	return out
}

// digits returns the digits of a large integer. Python shows 4,300 at most.
func (m *counter) digits(v *big.Int) string {
	const most = 4300
	m.step(v.BitLen() / 8)
	s := v.String()
	if len(strings.TrimPrefix(s, "-")) > most {
		m.fail("Python shows integers of up to %d digits", most)
	}
	return m.made(s)
}

func (m *counter) appendItems(out []byte, open byte, items []value, closing byte) []byte {
	out = append(out, open)
	for i, item := range items {
		m.step(1)
		if i > 0 {
			out = append(out, ", "...)
		}
		out = m.appendRepr(out, item)
	}
	return append(out, closing)
}

func (m *counter) appendDict(out []byte, d *dict) []byte {
	out = append(out, '{')
	for i, k := range d.keys {
		m.step(1)
		if i > 0 {
			out = append(out, ", "...)
		}
		out = append(m.appendRepr(out, k), ": "...)
		out = m.appendRepr(out, d.values[i])
	}
	return append(out, '}')
}

// appendFloat writes a float as Python does: the fewest digits, and an exponent for very
// large and very small ones.
func appendFloat(out []byte, f float64) []byte {
	switch {
	case math.IsNaN(f):
		return append(out, "nan"...)
	case math.IsInf(f, 1):
		return append(out, "inf"...)
	case math.IsInf(f, -1):
		return append(out, "-inf"...)
	}
	if a := math.Abs(f); a != 0 && (a < 1e-4 || a >= 1e16) {
		return strconv.AppendFloat(out, f, 'e', -1, 64)
	}
	start := len(out)
	out = strconv.AppendFloat(out, f, 'f', -1, 64)
	if !strings.Contains(string(out[start:]), ".") {
		out = append(out, ".0"...)
	}
	return out
}

// appendQuoted writes a text as Python's repr: in single quotes, or in double ones if
// only they need no escape.
func (m *counter) appendQuoted(out []byte, s string) []byte {
	m.room(len(out) + len(s))
	m.work(len(s))
	mark := byte('\'')
	if strings.IndexByte(s, '\'') >= 0 && strings.IndexByte(s, '"') < 0 {
		mark = '"'
	}
	out = append(out, mark)
	for _, r := range s {
		switch {
		case r == rune(mark), r == '\\':
			out = append(out, '\\', byte(r))
		case r == '\n':
			out = append(out, `\n`...)
		case r == '\r':
			out = append(out, `\r`...)
		case r == '\t':
			out = append(out, `\t`...)
		case isPrintable(r):
			out = utf8.AppendRune(out, r)
		default:
			out = appendEscape(out, r)
			m.room(len(out))
		}
	}
	return append(out, mark)
}

func isPrintable(r rune) bool { return r == ' ' || unicode.IsPrint(r) }

// appendEscape writes a character as \x, \u or \U.
func appendEscape(out []byte, r rune) []byte {
	length := 8
	switch {
	case r < 0x100:
		out, length = append(out, `\x`...), 2
	case r < 0x10000:
		out, length = append(out, `\u`...), 4
	default:
		out = append(out, `\U`...)
	}
	return appendHex(out, r, length)
}

func appendHex(out []byte, r rune, length int) []byte {
	for shift := 4 * (length - 1); shift >= 0; shift -= 4 {
		out = append(out, "0123456789abcdef"[r>>shift&15])
	}
	return out
}

// repeat returns a text n times.
func (m *counter) repeat(s string, n int) string {
	if s == "" || n <= 0 {
		return ""
	}
	m.times(n, len(s))
	m.work(n * len(s))
	return strings.Repeat(s, n)
}

func indexText(s, part string) int { return strings.Index(s, part) }

// joinTexts joins texts, whose length is counted before.
func (m *counter) joinTexts(parts []string, between string) string {
	size := 0
	for _, p := range parts {
		size += len(p)
	}
	if len(parts) > 1 {
		m.times(len(parts)-1, len(between))
		size += (len(parts) - 1) * len(between)
	}
	m.grow(size)
	m.work(size)
	return strings.Join(parts, between)
}
