package template

import (
	"math"
	"math/big"
	"strconv"
	"strings"
)

// directive is one % of a format, or one pair of braces of str.format.
type directive struct {
	fill      string // for padding; empty for spaces, or for zeros
	align     byte   // < > = ^, or 0 for the kind's own
	sign      byte   // + or space, or 0
	alternate bool   // #
	zero      bool   // pads with zeros
	group     byte   // , or _ between thousands, or 0
	width     int
	precision int // -1 for none
	kind      byte
}

// percent is the operator % of a text: printf in Python's form.
func (m *counter) percent(format string, of, with value) string {
	p := &percenter{m: m, format: format, markup: isMarkup(of), with: with}
	if t, ok := with.(*tuple); ok {
		p.items = t.items
	} else {
		p.items = []value{with}
	}
	switch with := with.(type) {
	case *dict:
		p.named = with
	case *list, *view, *rangeOf, *undefined:
		p.ignore = true // these have elements, so Python takes them for a mapping
	}
	return p.run()
}

func isMarkup(v value) bool {
	_, ok := v.(markup)
	return ok
}

type percenter struct {
	m      *counter
	format string
	pos    int
	markup bool
	with   value
	items  []value // that are not used yet
	named  *dict
	ignore bool // what is not used is no error
	out    []byte
}

func (p *percenter) run() string {
	p.m.work(len(p.format))
	for p.pos < len(p.format) {
		i := strings.IndexByte(p.format[p.pos:], '%')
		if i < 0 {
			p.add(p.format[p.pos:])
			break
		}
		p.add(p.format[p.pos : p.pos+i])
		p.pos += i + 1
		p.directive()
	}
	if len(p.items) > 0 && p.named == nil && !p.ignore {
		p.m.fail("there are more values than the format uses")
	}
	return p.m.made(string(p.out))
}

func (p *percenter) add(s string) {
	p.m.room(len(p.out) + len(s))
	p.out = append(p.out, s...)
}

func (p *percenter) take() value {
	if len(p.items) == 0 {
		p.m.fail("there are fewer values than the format uses")
	}
	v := p.items[0]
	p.items = p.items[1:]
	return v
}

func (p *percenter) char() byte {
	if p.pos >= len(p.format) {
		p.m.fail("the format ends within a directive")
	}
	c := p.format[p.pos]
	p.pos++
	return c
}

func (p *percenter) directive() {
	m := p.m
	m.step(1)
	d := directive{precision: -1}
	c := p.char()
	var v value = unset{}
	if c == '(' {
		v = p.lookup()
		c = p.char()
	}
	left := false
	for ; strings.IndexByte("-+ #0", c) >= 0; c = p.char() {
		switch c {
		case '-':
			left = true
		case '+':
			d.sign = '+'
		case ' ':
			if d.sign == 0 {
				d.sign = ' '
			}
		case '#':
			d.alternate = true
		case '0':
			d.zero = true
		}
	}
	c, d.width = p.size(c)
	if d.width < 0 {
		left, d.width = true, -d.width
	}
	if c == '.' {
		c, d.precision = p.size(p.char())
		d.precision = max(0, d.precision)
	}
	for strings.IndexByte("hlL", c) >= 0 {
		c = p.char()
	}
	d.kind = c
	if c == '%' {
		p.add("%")
		return
	}
	if v == any(unset{}) {
		v = p.take()
	}
	switch {
	case left:
		d.align, d.zero = '<', false
	case d.zero:
		d.align = '='
	default:
		d.align = '>'
	}
	p.add(p.value(d, v))
}

// lookup reads the name of a directive like %(name)s and returns its value.
func (p *percenter) lookup() value {
	depth, start := 1, p.pos
	for depth > 0 {
		switch p.char() {
		case '(':
			depth++
		case ')':
			depth--
		}
	}
	key := p.format[start : p.pos-1]
	if p.named == nil {
		p.m.fail("a format with names needs a dict")
	}
	v, ok := p.named.text(key)
	if !ok {
		p.m.fail("the format uses a name that the dict does not have")
	}
	return v
}

// size reads a width or a precision, which may be a star for a value.
func (p *percenter) size(c byte) (next byte, n int) {
	if c == '*' {
		return p.charAfter(p.m.integer(p.take()))
	}
	for digit(c) {
		if n = n*10 + int(c-'0'); n > maxBytes {
			p.m.costly("the width of a format is too large")
		}
		c = p.char()
	}
	return c, n
}

func (p *percenter) charAfter(n int) (byte, int) {
	if n > maxBytes || n < -maxBytes {
		p.m.costly("the width of a format is too large")
	}
	return p.char(), n
}

func (p *percenter) value(d directive, v value) string {
	m := p.m
	switch d.kind {
	case 's', 'r', 'a':
		s := ""
		switch {
		case d.kind == 's' && p.markup:
			s = string(m.escaped(v))
		case d.kind == 's':
			s = m.str(v)
		default:
			s = m.made(string(m.appendRepr(nil, v)))
			if d.kind == 'a' {
				s = m.ascii(s)
			}
			if p.markup {
				s = string(m.escapedText(s))
			}
		}
		if d.precision >= 0 {
			s = s[:byteAt(s, d.precision)]
		}
		d.zero = false
		if d.align == '=' {
			d.align = '>'
		}
		return d.pad(m, "", s)
	case 'c':
		return p.character(d, v)
	case 'd', 'i', 'u':
		d.kind = 'd'
		if f, ok := v.(float64); ok {
			v = m.toInteger(f, 0, 10)
		}
		return m.formatInteger(d, p.number(v))
	case 'x', 'X', 'o':
		if isFloatValue(v) {
			m.fail("%%%c needs an integer", d.kind)
		}
		return m.formatInteger(d, p.number(v))
	case 'e', 'E', 'f', 'F', 'g', 'G':
		p.number(v)
		if d.precision < 0 {
			d.precision = 6
		}
		return m.formatFloat(d, m.asFloat(v))
	}
	m.fail("%%%c is no directive of a format", d.kind)
	return ""
}

func (p *percenter) number(v value) value {
	if u, ok := v.(*undefined); ok {
		p.m.missing(u)
	}
	if !isNumber(v) {
		p.m.fail("a format needs a number, not a %s", typeName(v))
	}
	return v
}

func (p *percenter) character(d directive, v value) string {
	s, ok := textOf(v)
	if !ok {
		if isFloatValue(v) {
			p.m.fail("%%c needs an integer or a character")
		}
		n := p.m.integer(v)
		if n < 0 || n > 0x10ffff || n >= 0xd800 && n < 0xe000 {
			p.m.fail("%%c needs the number of a character")
		}
		s = string(rune(n))
	}
	if runes(s) != 1 || p.markup {
		p.m.fail("%%c needs one character")
	}
	d.zero = false
	if d.align == '=' {
		d.align = '>'
	}
	return d.pad(p.m, "", s)
}

// ascii escapes what is not ASCII.
func (m *counter) ascii(s string) string {
	m.times(len(s), 5)
	var out []byte
	for _, r := range s {
		if r < 0x80 {
			out = append(out, byte(r))
			continue
		}
		out = appendEscape(out, r)
	}
	return string(out)
}

// pad brings a number, after its sign, or a text to its width.
func (d directive) pad(m *counter, sign, s string) string {
	missing := d.width - runes(sign) - runes(s)
	if missing <= 0 {
		return sign + s
	}
	fill := d.fill
	if fill == "" {
		fill = " "
		if d.zero {
			fill = "0"
		}
	}
	m.times(missing, len(fill))
	m.grow(len(s))
	m.work(d.width)
	switch d.align {
	case '<':
		return sign + s + strings.Repeat(fill, missing)
	case '^':
		return strings.Repeat(fill, missing/2) + sign + s + strings.Repeat(fill, missing-missing/2)
	case '=':
		return sign + strings.Repeat(fill, missing) + s
	}
	return strings.Repeat(fill, missing) + sign + s
}

func (d directive) signOf(negative bool) string {
	switch {
	case negative:
		return "-"
	case d.sign != 0:
		return string(d.sign)
	}
	return ""
}

func (m *counter) formatInteger(d directive, v value) string {
	b, _ := asBig(v)
	base := map[byte]int{'d': 10, 'x': 16, 'X': 16, 'o': 8, 'b': 2}[d.kind]
	m.step(b.BitLen() / 8)
	m.grow(b.BitLen())
	if d.kind == 'd' {
		m.digits(b)
	}
	s := new(big.Int).Abs(b).Text(base)
	if d.kind == 'X' {
		s = strings.ToUpper(s)
	}
	if missing := d.precision - len(s); missing > 0 {
		s = m.repeat("0", missing) + s
	}
	sign := d.signOf(b.Sign() < 0)
	if d.alternate && d.kind != 'd' {
		sign += "0" + string(d.kind)
	}
	return d.padNumber(m, sign, s)
}

// padNumber pads a number and puts signs between its thousands, in the padding too.
func (d directive) padNumber(m *counter, sign, s string) string {
	if d.group == 0 {
		return d.pad(m, sign, s)
	}
	end := len(s)
	for i := range len(s) {
		if digitValue(s[i]) < 0 || d.kind != 'x' && d.kind != 'X' && !digit(s[i]) {
			end = i
			break
		}
	}
	size := 3
	if strings.IndexByte("xXob", d.kind) >= 0 && d.kind != 0 {
		size = 4
	}
	whole, rest := s[:end], s[end:]
	if d.align == '=' && d.zero {
		m.times(d.width, 1)
		for len(whole)+(len(whole)-1)/size+len(rest)+len(sign) < d.width {
			whole = "0" + whole
			m.step(1 + len(whole)/bytesPerStep)
			m.grow(len(whole))
		}
	}
	var out []byte
	for i := range len(whole) {
		if i > 0 && (len(whole)-i)%size == 0 {
			out = append(out, d.group)
		}
		out = append(out, whole[i])
	}
	return d.pad(m, sign, string(out)+rest)
}

// formatFloat formats a float with the kinds e, f, g and %.
func (m *counter) formatFloat(d directive, f float64) string {
	sign := d.signOf(math.Signbit(f) && !math.IsNaN(f))
	f = math.Abs(f)
	upperCase := d.kind == 'E' || d.kind == 'F' || d.kind == 'G'
	var s string
	if math.IsInf(f, 0) || math.IsNaN(f) {
		s = "inf"
		if math.IsNaN(f) {
			s = "nan"
		}
		if d.kind == '%' {
			s += "%"
		}
		if upperCase {
			s = strings.ToUpper(s)
		}
		return d.pad(m, sign, s)
	}
	m.times(d.precision+320, 2)
	m.step(d.precision / 4)
	switch d.kind {
	case 'e', 'E':
		s = strconv.FormatFloat(f, 'e', d.precision, 64)
	case 'f', 'F':
		s = strconv.FormatFloat(f, 'f', d.precision, 64)
	case '%':
		s = strconv.FormatFloat(100*f, 'f', d.precision, 64) + "%"
	default:
		s = general(f, d.precision, d.alternate)
	}
	if d.alternate && !strings.Contains(s, ".") {
		i := strings.IndexAny(s, "e%")
		if i < 0 {
			i = len(s)
		}
		s = s[:i] + "." + s[i:]
	}
	if upperCase {
		s = strings.ToUpper(s)
	}
	return d.padNumber(m, sign, s)
}

// general is the kind g: significant digits, without zeros at the end unless they are
// asked for.
func general(f float64, digits int, zeros bool) string { //nolint:revive // printf's flag
	digits = max(1, digits)
	e := strconv.FormatFloat(f, 'e', digits-1, 64)
	i := strings.IndexByte(e, 'e')
	exponent, _ := strconv.Atoi(e[i+1:]) // as FormatFloat writes it
	if exponent < -4 || exponent >= digits {
		if zeros {
			return e
		}
		return trimZeros(e[:i]) + e[i:]
	}
	s := strconv.FormatFloat(f, 'f', max(0, digits-1-exponent), 64)
	if zeros {
		return s
	}
	return trimZeros(s)
}

func trimZeros(s string) string {
	if !strings.Contains(s, ".") {
		return s
	}
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}
