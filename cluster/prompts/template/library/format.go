package library

import (
	"strings"
	"unicode/utf8"

	"github.com/modelgateway/modelgateway/cluster/prompts/template/values"
)

// formatted is str.format and str.format_map.
func (m *Caller) formatted(name string, self values.Value, a *Arguments) values.Value {
	s, _ := values.TextOf(self)
	if values.IsMarkup(self) {
		m.Fail("%s of markup is not supported", name)
	}
	f := &formatter{m: m, args: a}
	if name == "format_map" {
		if len(a.Pos) != 1 || len(a.Names) > 0 {
			m.Fail("format_map takes one dict")
		}
		d, ok := a.Pos[0].(*values.Dict)
		if !ok {
			m.Fail("format_map takes a dict, not a %s", values.TypeName(a.Pos[0]))
		}
		f.args, f.named = &Arguments{}, d
	}
	return m.Made(f.run(s, 2))
}

type formatter struct {
	m      *Caller
	args   *Arguments
	named  *values.Dict // of format_map
	next   int          // number of the next field without one
	manual bool         // fields have numbers
}

// run formats a text. Fields may stand in the formats of fields, levels deep.
func (f *formatter) run(s string, levels int) string {
	if levels == 0 {
		f.m.Fail("fields of a format are nested too deep")
	}
	f.m.Work(len(s))
	var out []byte
	for s != "" {
		f.m.Room(len(out) + len(s))
		i := strings.IndexAny(s, "{}")
		if i < 0 {
			return string(append(out, s...))
		}
		out = append(out, s[:i]...)
		c := s[i]
		s = s[i+1:]
		if s != "" && s[0] == c {
			out, s = append(out, c), s[1:]
			continue
		}
		if c == '}' {
			f.m.Fail("a } in a format stands alone")
		}
		end := fieldEnd(s)
		if end < 0 {
			f.m.Fail("a { in a format is not closed")
		}
		out = append(out, f.field(s[:end], levels)...)
		s = s[end+1:]
	}
	return string(out)
}

// fieldEnd returns where the bracket is that ends a field.
func fieldEnd(s string) int {
	depth := 0
	for i := range len(s) {
		switch s[i] {
		case '{':
			depth++
		case '}':
			if depth == 0 {
				return i
			}
			depth--
		}
	}
	return -1
}

func (f *formatter) field(s string, levels int) string {
	m := f.m
	m.Step(1)
	name, spec := s, ""
	conversion := ""
	if i := strings.IndexAny(s, "!:"); i >= 0 {
		name = s[:i]
		if strings.Contains(name, "[") && !strings.Contains(name, "]") {
			m.Fail("this format is not supported")
		}
		rest := s[i:]
		if rest[0] == '!' {
			if len(rest) < 2 || len(rest) > 2 && rest[2] != ':' {
				m.Fail("a conversion in a format is one letter")
			}
			conversion, rest = rest[1:2], rest[2:]
		}
		spec = strings.TrimPrefix(rest, ":")
	}
	if strings.ContainsAny(name, "{}") {
		m.Fail("a { in the name of a field is not supported")
	}
	v := f.value(name)
	switch conversion {
	case "":
	case "s":
		v = m.Str(v)
	case "r", "a":
		s := m.Made(string(m.AppendRepr(nil, v)))
		if conversion == "a" {
			s = m.ASCII(s)
		}
		v = s
	default:
		m.Fail("a format knows the conversions r, s and a")
	}
	if strings.ContainsAny(spec, "{}") {
		spec = f.run(spec, levels-1)
	}
	return m.formatValue(v, spec)
}

// value returns what a field names: an argument, and attributes and elements of it.
func (f *formatter) value(name string) values.Value {
	m := f.m
	end := strings.IndexAny(name, ".[")
	if end < 0 {
		end = len(name)
	}
	v := f.argument(name[:end])
	for rest := name[end:]; rest != ""; {
		m.Step(1)
		if rest[0] == '.' {
			end := strings.IndexAny(rest[1:], ".[") + 1
			if end == 0 {
				end = len(rest)
			}
			attribute := rest[1:end]
			if attribute == "" {
				m.Fail("a field of a format has an empty attribute")
			}
			if Hidden(attribute) {
				m.Fail(Unreachable)
			}
			v, rest = m.Attribute(v, attribute, &values.Undefined{Name: attribute}), rest[end:]
			continue
		}
		end := strings.IndexByte(rest, ']')
		if rest[0] != '[' || end < 2 {
			m.Fail("a field of a format is not closed")
		}
		var key values.Value = rest[1:end]
		if values.Every(rest[1:end], func(r rune) bool { return r >= '0' && r <= '9' }) {
			key, _ = values.ParseInteger(strings.TrimLeft(rest[1:end-1], "0")+rest[end-1:end], 10)
		}
		v, rest = m.Element(v, key, &values.Undefined{}), rest[end+1:]
	}
	return v
}

func (f *formatter) argument(name string) values.Value {
	m := f.m
	if name == "" {
		if f.manual {
			m.Fail("fields of a format have numbers or none, not both")
		}
		f.next++
		return f.position(f.next - 1)
	}
	if values.Every(name, func(r rune) bool { return r >= '0' && r <= '9' }) {
		if f.next > 0 {
			m.Fail("fields of a format have numbers or none, not both")
		}
		f.manual = true
		n, _ := values.ParseInteger(strings.TrimLeft(name[:len(name)-1], "0")+name[len(name)-1:], 10)
		return f.position(m.Integer(n))
	}
	if f.named != nil {
		if v, ok := f.named.Text(name); ok {
			return v
		}
	} else if v, ok := f.args.keyword(name); ok {
		return v
	}
	m.Fail("a format uses a value that is not given")
	return nil
}

func (f *formatter) position(i int) values.Value {
	if i >= len(f.args.Pos) || f.named != nil {
		f.m.Fail("a format uses more values than are given")
	}
	return f.args.Pos[i]
}

// formatValue is Python's format() of a value.
func (m *Caller) formatValue(v values.Value, spec string) string {
	if spec == "" {
		return m.Str(v)
	}
	d := m.spec(spec)
	s, isString := values.TextOf(v)
	if values.IsMarkup(v) {
		m.Fail("a format of markup is not supported")
	}
	switch {
	case isString:
		return m.formatText(d, s)
	case values.IsFloatValue(v):
		return m.formatNumber(d, v.(float64))
	case !values.IsNumber(v):
		m.Fail("a %s has no format", values.TypeName(v))
	}
	if values.IsBool(v) && d.Kind == 0 {
		m.Fail("a format of a bool is not supported")
	}
	return m.formatWhole(d, v)
}

// spec reads a format such as *^+10,.2f.
func (m *Caller) spec(s string) values.Directive {
	whole := s
	d := values.Directive{Precision: -1}
	_, n := utf8.DecodeRuneInString(s)
	switch {
	case len(s) > n && strings.IndexByte("<>=^", s[n]) >= 0:
		d.Fill, d.Align, s = s[:n], s[n], s[n+1:]
	case strings.IndexByte("<>=^", s[0]) >= 0:
		d.Align, s = s[0], s[1:]
	}
	take := func(chars string) byte {
		if s == "" || strings.IndexByte(chars, s[0]) < 0 {
			return 0
		}
		c := s[0]
		s = s[1:]
		return c
	}
	if c := take("+- "); c != '-' {
		d.Sign = c
	}
	d.Alternate = take("#") != 0
	if take("0") != 0 {
		d.Zero = d.Fill == ""
		if d.Align == 0 {
			d.Align = '='
		}
	}
	number := func() int {
		n := 0
		for s != "" && values.Digit(s[0]) {
			if n = n*10 + int(s[0]-'0'); n > values.MaxBytes {
				m.Costly("the width of a format is too large")
			}
			s = s[1:]
		}
		return n
	}
	d.Width = number()
	d.Group = take(",_")
	if take(".") != 0 {
		if s == "" || !values.Digit(s[0]) {
			m.Fail("a precision is missing in a format")
		}
		d.Precision = number()
	}
	if len(s) == 1 {
		d.Kind = s[0]
		s = ""
	}
	if s != "" {
		m.Fail("the format %s is not valid", values.Quote(whole[:min(len(whole), 40)]))
	}
	return d
}

func (m *Caller) formatText(d values.Directive, s string) string {
	if d.Kind != 0 && d.Kind != 's' || d.Sign != 0 || d.Alternate || d.Group != 0 || d.Align == '=' && !d.Zero {
		m.Fail("this format is not one for text")
	}
	if d.Precision >= 0 {
		s = s[:values.ByteAt(s, d.Precision)]
	}
	if d.Align == 0 || d.Align == '=' {
		d.Align = '<'
	}
	return d.Pad(m.Counter, "", s)
}

func alignedNumber(d values.Directive) values.Directive {
	if d.Align == 0 {
		d.Align = '>'
	}
	return d
}

func (m *Caller) formatWhole(d values.Directive, v values.Value) string {
	d = alignedNumber(d)
	switch d.Kind {
	case 'e', 'E', 'f', 'F', 'g', 'G', '%':
		return m.formatNumber(d, m.AsFloat(v))
	case 0, 'n':
		d.Kind = 'd'
	case 'd', 'x', 'X', 'o', 'b':
	default:
		m.Fail("this format is not one for integers")
	}
	if d.Precision >= 0 || d.Group == ',' && d.Kind != 'd' {
		m.Fail("this format is not one for integers")
	}
	return m.FormatInteger(d, v)
}

func (m *Caller) formatNumber(d values.Directive, f float64) string {
	d = alignedNumber(d)
	switch d.Kind {
	case 'e', 'E', 'f', 'F', 'g', 'G', '%':
		if d.Precision < 0 {
			d.Precision = 6
		}
		return m.FormatFloat(d, f)
	case 0:
		if d.Alternate {
			m.Fail("this format is not supported")
		}
		if d.Precision >= 0 {
			return m.formatShort(d, f)
		}
		s := string(values.AppendFloat(nil, f))
		sign := d.SignOf(strings.HasPrefix(s, "-"))
		return d.PadNumber(m.Counter, sign, strings.TrimPrefix(s, "-"))
	}
	m.Fail("this format is not one for floats")
	return ""
}

// formatShort is a format with a precision and without a kind: like g, but with a digit
// after the point.
func (m *Caller) formatShort(d values.Directive, f float64) string {
	if f-f != 0 {
		d.Kind = 'g'
		return m.FormatFloat(d, f)
	}
	s := string(values.AppendFloat(nil, f))
	sign := d.SignOf(strings.HasPrefix(s, "-"))
	if f < 0 {
		f = -f
	}
	if f == 0 {
		f = 0
	}
	digits := max(1, d.Precision)
	m.Times(digits, 2)
	s = values.General(f, digits, false)
	i := strings.IndexByte(s, 'e')
	if i < 0 && !strings.Contains(s, ".") {
		if len(s) >= digits {
			m.Fail("this format is not supported")
		}
		s += ".0"
	}
	return d.PadNumber(m.Counter, sign, s)
}
