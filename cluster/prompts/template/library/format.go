package template

import (
	"strings"
	"unicode/utf8"
)

// formatted is str.format and str.format_map.
func (m *caller) formatted(name string, self value, a *arguments) value {
	s, _ := textOf(self)
	if isMarkup(self) {
		m.fail("%s of markup is not supported", name)
	}
	f := &formatter{m: m, args: a}
	if name == "format_map" {
		if len(a.pos) != 1 || len(a.names) > 0 {
			m.fail("format_map takes one dict")
		}
		d, ok := a.pos[0].(*dict)
		if !ok {
			m.fail("format_map takes a dict, not a %s", typeName(a.pos[0]))
		}
		f.args, f.named = &arguments{}, d
	}
	return m.made(f.run(s, 2))
}

type formatter struct {
	m      *caller
	args   *arguments
	named  *dict // of format_map
	next   int   // number of the next field without one
	manual bool  // fields have numbers
}

// run formats a text. Fields may stand in the formats of fields, levels deep.
func (f *formatter) run(s string, levels int) string {
	if levels == 0 {
		f.m.fail("fields of a format are nested too deep")
	}
	f.m.work(len(s))
	var out []byte
	for s != "" {
		f.m.room(len(out) + len(s))
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
			f.m.fail("a } in a format stands alone")
		}
		end := fieldEnd(s)
		if end < 0 {
			f.m.fail("a { in a format is not closed")
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
	m.step(1)
	name, spec := s, ""
	conversion := ""
	if i := strings.IndexAny(s, "!:"); i >= 0 {
		name = s[:i]
		if strings.Contains(name, "[") && !strings.Contains(name, "]") {
			m.fail("this format is not supported")
		}
		rest := s[i:]
		if rest[0] == '!' {
			if len(rest) < 2 || len(rest) > 2 && rest[2] != ':' {
				m.fail("a conversion in a format is one letter")
			}
			conversion, rest = rest[1:2], rest[2:]
		}
		spec = strings.TrimPrefix(rest, ":")
	}
	if strings.ContainsAny(name, "{}") {
		m.fail("a { in the name of a field is not supported")
	}
	v := f.value(name)
	switch conversion {
	case "":
	case "s":
		v = m.str(v)
	case "r", "a":
		s := m.made(string(m.appendRepr(nil, v)))
		if conversion == "a" {
			s = m.ascii(s)
		}
		v = s
	default:
		m.fail("a format knows the conversions r, s and a")
	}
	if strings.ContainsAny(spec, "{}") {
		spec = f.run(spec, levels-1)
	}
	return m.formatValue(v, spec)
}

// value returns what a field names: an argument, and attributes and elements of it.
func (f *formatter) value(name string) value {
	m := f.m
	end := strings.IndexAny(name, ".[")
	if end < 0 {
		end = len(name)
	}
	v := f.argument(name[:end])
	for rest := name[end:]; rest != ""; {
		m.step(1)
		if rest[0] == '.' {
			end := strings.IndexAny(rest[1:], ".[") + 1
			if end == 0 {
				end = len(rest)
			}
			attribute := rest[1:end]
			if attribute == "" {
				m.fail("a field of a format has an empty attribute")
			}
			if hidden(attribute) {
				m.fail(unreachable)
			}
			v, rest = m.attribute(v, attribute, &undefined{name: attribute}), rest[end:]
			continue
		}
		end := strings.IndexByte(rest, ']')
		if rest[0] != '[' || end < 2 {
			m.fail("a field of a format is not closed")
		}
		var key value = rest[1:end]
		if every(rest[1:end], func(r rune) bool { return r >= '0' && r <= '9' }) {
			key, _ = parseInteger(strings.TrimLeft(rest[1:end-1], "0")+rest[end-1:end], 10)
		}
		v, rest = m.element(v, key, &undefined{}), rest[end+1:]
	}
	return v
}

func (f *formatter) argument(name string) value {
	m := f.m
	if name == "" {
		if f.manual {
			m.fail("fields of a format have numbers or none, not both")
		}
		f.next++
		return f.position(f.next - 1)
	}
	if every(name, func(r rune) bool { return r >= '0' && r <= '9' }) {
		if f.next > 0 {
			m.fail("fields of a format have numbers or none, not both")
		}
		f.manual = true
		n, _ := parseInteger(strings.TrimLeft(name[:len(name)-1], "0")+name[len(name)-1:], 10)
		return f.position(m.integer(n))
	}
	if f.named != nil {
		if v, ok := f.named.text(name); ok {
			return v
		}
	} else if v, ok := f.args.keyword(name); ok {
		return v
	}
	m.fail("a format uses a value that is not given")
	return nil
}

func (f *formatter) position(i int) value {
	if i >= len(f.args.pos) || f.named != nil {
		f.m.fail("a format uses more values than are given")
	}
	return f.args.pos[i]
}

// formatValue is Python's format() of a value.
func (m *caller) formatValue(v value, spec string) string {
	if spec == "" {
		return m.str(v)
	}
	d := m.spec(spec)
	s, isString := textOf(v)
	if isMarkup(v) {
		m.fail("a format of markup is not supported")
	}
	switch {
	case isString:
		return m.formatText(d, s)
	case isFloatValue(v):
		return m.formatNumber(d, v.(float64))
	case !isNumber(v):
		m.fail("a %s has no format", typeName(v))
	}
	if isBool(v) && d.kind == 0 {
		m.fail("a format of a bool is not supported")
	}
	return m.formatWhole(d, v)
}

// spec reads a format such as *^+10,.2f.
func (m *caller) spec(s string) directive {
	whole := s
	d := directive{precision: -1}
	_, n := utf8.DecodeRuneInString(s)
	switch {
	case len(s) > n && strings.IndexByte("<>=^", s[n]) >= 0:
		d.fill, d.align, s = s[:n], s[n], s[n+1:]
	case strings.IndexByte("<>=^", s[0]) >= 0:
		d.align, s = s[0], s[1:]
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
		d.sign = c
	}
	d.alternate = take("#") != 0
	if take("0") != 0 {
		d.zero = d.fill == ""
		if d.align == 0 {
			d.align = '='
		}
	}
	number := func() int {
		n := 0
		for s != "" && digit(s[0]) {
			if n = n*10 + int(s[0]-'0'); n > maxBytes {
				m.costly("the width of a format is too large")
			}
			s = s[1:]
		}
		return n
	}
	d.width = number()
	d.group = take(",_")
	if take(".") != 0 {
		if s == "" || !digit(s[0]) {
			m.fail("a precision is missing in a format")
		}
		d.precision = number()
	}
	if len(s) == 1 {
		d.kind = s[0]
		s = ""
	}
	if s != "" {
		m.fail("the format %s is not valid", quote(whole[:min(len(whole), 40)]))
	}
	return d
}

func (m *caller) formatText(d directive, s string) string {
	if d.kind != 0 && d.kind != 's' || d.sign != 0 || d.alternate || d.group != 0 || d.align == '=' && !d.zero {
		m.fail("this format is not one for text")
	}
	if d.precision >= 0 {
		s = s[:byteAt(s, d.precision)]
	}
	if d.align == 0 || d.align == '=' {
		d.align = '<'
	}
	return d.pad(m.counter, "", s)
}

func (d directive) alignedNumber() directive {
	if d.align == 0 {
		d.align = '>'
	}
	return d
}

func (m *caller) formatWhole(d directive, v value) string {
	d = d.alignedNumber()
	switch d.kind {
	case 'e', 'E', 'f', 'F', 'g', 'G', '%':
		return m.formatNumber(d, m.asFloat(v))
	case 0, 'n':
		d.kind = 'd'
	case 'd', 'x', 'X', 'o', 'b':
	default:
		m.fail("this format is not one for integers")
	}
	if d.precision >= 0 || d.group == ',' && d.kind != 'd' {
		m.fail("this format is not one for integers")
	}
	return m.formatInteger(d, v)
}

func (m *caller) formatNumber(d directive, f float64) string {
	d = d.alignedNumber()
	switch d.kind {
	case 'e', 'E', 'f', 'F', 'g', 'G', '%':
		if d.precision < 0 {
			d.precision = 6
		}
		return m.formatFloat(d, f)
	case 0:
		if d.alternate {
			m.fail("this format is not supported")
		}
		if d.precision >= 0 {
			return m.formatShort(d, f)
		}
		s := string(appendFloat(nil, f))
		sign := d.signOf(strings.HasPrefix(s, "-"))
		return d.padNumber(m.counter, sign, strings.TrimPrefix(s, "-"))
	}
	m.fail("this format is not one for floats")
	return ""
}

// formatShort is a format with a precision and without a kind: like g, but with a digit
// after the point.
func (m *caller) formatShort(d directive, f float64) string {
	if f-f != 0 {
		d.kind = 'g'
		return m.formatFloat(d, f)
	}
	s := string(appendFloat(nil, f))
	sign := d.signOf(strings.HasPrefix(s, "-"))
	if f < 0 {
		f = -f
	}
	if f == 0 {
		f = 0
	}
	digits := max(1, d.precision)
	m.times(digits, 2)
	s = general(f, digits, false)
	i := strings.IndexByte(s, 'e')
	if i < 0 && !strings.Contains(s, ".") {
		if len(s) >= digits {
			m.fail("this format is not supported")
		}
		s += ".0"
	}
	return d.padNumber(m.counter, sign, s)
}
