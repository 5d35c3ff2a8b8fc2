package values

import (
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Quote returns a word in quotes, for error texts.
func Quote(word string) string { return strconv.Quote(word) }

// Text returns a value that has to be text.
func (m *Counter) Text(v Value) string {
	s, ok := TextOf(v)
	if !ok {
		m.Fail("text is needed, not a %s", TypeName(v))
	}
	return s
}

// Print writes a value as Python's str.
func (m *Counter) Print(v Value) {
	if s, ok := v.(string); ok {
		m.Write(s)
		return
	}
	before := len(m.Out)
	m.Out = m.AppendText(m.Out, v)
	m.Room(len(m.Out))
	m.Work(len(m.Out) - before)
}

// Str is Python's str.
func (m *Counter) Str(v Value) string {
	switch v := v.(type) {
	case string:
		return v
	case Markup:
		return string(v)
	case *Undefined:
		return ""
	}
	return m.Made(string(m.AppendText(nil, v)))
}

// SoftText is Jinja's soft_str: str, but markup stays markup.
func (m *Counter) SoftText(v Value) (string, Value) {
	s := m.Str(v)
	if _, ok := v.(Markup); ok {
		return s, v
	}
	return s, s
}

// AppendText writes a value as Python's str.
func (m *Counter) AppendText(out []byte, v Value) []byte {
	switch v := v.(type) {
	case string:
		m.Room(len(out) + len(v))
		return append(out, v...)
	case Markup:
		m.Room(len(out) + len(v))
		return append(out, v...)
	case *Undefined:
		return out
	}
	return m.AppendRepr(out, v)
}

// AppendRepr writes a value as Python's repr.
func (m *Counter) AppendRepr(out []byte, v Value) []byte {
	m.Room(len(out))
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
		return AppendFloat(out, v)
	case string:
		return m.AppendQuoted(out, v)
	case Markup:
		return append(m.AppendQuoted(append(out, "Markup("...), string(v)), ')')
	case *Undefined:
		return append(out, "Undefined"...)
	}
	m.Deeper()
	defer m.Higher()
	switch v := v.(type) {
	case *List:
		return m.appendItems(out, '[', v.Items, ']')
	case *Tuple:
		if len(v.Items) == 1 {
			return append(m.AppendRepr(append(out, '('), v.Items[0]), ",)"...)
		}
		return m.appendItems(out, '(', v.Items, ')')
	case *Dict:
		return m.appendDict(out, v)
	case *View:
		return append(m.appendItems(append(append(out, "dict_"...), v.Kind+"("...), '[', v.Items, ']'), ')')
	case *Namespace:
		return append(m.appendDict(append(out, "<Namespace "...), v.Attrs), '>')
	case *RangeOf:
		out = append(strconv.AppendInt(append(out, "range("...), int64(v.Start), 10), ", "...)
		out = strconv.AppendInt(out, int64(v.Stop), 10)
		if v.Step != 1 {
			out = strconv.AppendInt(append(out, ", "...), int64(v.Step), 10)
		}
		return append(out, ')')
	case object:
		return v.AppendTo(out)
	}
	m.Fail("Python shows a %s with its address in memory; make a list of it, or call it", TypeName(v))
	return out
}

// digits returns the digits of a large integer. Python shows 4,300 at most.
func (m *Counter) digits(v *big.Int) string {
	const most = 4300
	m.Step(v.BitLen() / 8)
	s := v.String()
	if len(strings.TrimPrefix(s, "-")) > most {
		m.Fail("Python shows integers of up to %d digits", most)
	}
	return m.Made(s)
}

func (m *Counter) appendItems(out []byte, open byte, items []Value, closing byte) []byte {
	out = append(out, open)
	for i, item := range items {
		m.Step(1)
		if i > 0 {
			out = append(out, ", "...)
		}
		out = m.AppendRepr(out, item)
	}
	return append(out, closing)
}

func (m *Counter) appendDict(out []byte, d *Dict) []byte {
	out = append(out, '{')
	for i, k := range d.Keys {
		m.Step(1)
		if i > 0 {
			out = append(out, ", "...)
		}
		out = append(m.AppendRepr(out, k), ": "...)
		out = m.AppendRepr(out, d.Values[i])
	}
	return append(out, '}')
}

// AppendFloat writes a float as Python does: the fewest digits, and an exponent for very
// large and very small ones.
func AppendFloat(out []byte, f float64) []byte {
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

// AppendQuoted writes a text as Python's repr: in single quotes, or in double ones if
// only they need no escape.
func (m *Counter) AppendQuoted(out []byte, s string) []byte {
	m.Room(len(out) + len(s))
	m.Work(len(s))
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
		case IsPrintable(r):
			out = utf8.AppendRune(out, r)
		default:
			out = appendEscape(out, r)
			m.Room(len(out))
		}
	}
	return append(out, mark)
}

// IsPrintable is str.isprintable for a character.
func IsPrintable(r rune) bool { return r == ' ' || unicode.IsPrint(r) }

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

// Repeat returns a text n times.
func (m *Counter) Repeat(s string, n int) string {
	if s == "" || n <= 0 {
		return ""
	}
	m.Times(n, len(s))
	m.Work(n * len(s))
	return strings.Repeat(s, n)
}

func indexText(s, part string) int { return strings.Index(s, part) }

// JoinTexts joins texts, whose length is counted before.
func (m *Counter) JoinTexts(parts []string, between string) string {
	size := 0
	for _, p := range parts {
		size += len(p)
	}
	if len(parts) > 1 {
		m.Times(len(parts)-1, len(between))
		size += (len(parts) - 1) * len(between)
	}
	m.Grow(size)
	m.Work(size)
	return strings.Join(parts, between)
}
