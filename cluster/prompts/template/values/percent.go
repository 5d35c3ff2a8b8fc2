package values

import (
	"math"
	"math/big"
	"strconv"
	"strings"
)

// Directive is one % of a format, or one pair of braces of str.format.
type Directive struct {
	Fill      string // for padding; empty for spaces, or for zeros
	Align     byte   // < > = ^, or 0 for the kind's own
	Sign      byte   // + or space, or 0
	Alternate bool   // #
	Zero      bool   // pads with zeros
	Group     byte   // , or _ between thousands, or 0
	Width     int
	Precision int // -1 for none
	Kind      byte
}

// Percent is the operator % of a text: printf in Python's form.
func (m *Counter) Percent(format string, of, with Value) string {
	p := &percenter{m: m, format: format, markup: IsMarkup(of), with: with}
	if t, ok := with.(*Tuple); ok {
		p.items = t.Items
	} else {
		p.items = []Value{with}
	}
	switch with := with.(type) {
	case *Dict:
		p.named = with
	case *List, *View, *RangeOf, *Undefined:
		p.ignore = true // these have elements, so Python takes them for a mapping
	}
	return p.run()
}

// IsMarkup reports whether a value is Markup.
func IsMarkup(v Value) bool {
	_, ok := v.(Markup)
	return ok
}

type percenter struct {
	m      *Counter
	format string
	pos    int
	markup bool
	with   Value
	items  []Value // that are not used yet
	named  *Dict
	ignore bool // what is not used is no error
	out    []byte
}

func (p *percenter) run() string {
	p.m.Work(len(p.format))
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
		p.m.Fail("there are more values than the format uses")
	}
	return p.m.Made(string(p.out))
}

func (p *percenter) add(s string) {
	p.m.Room(len(p.out) + len(s))
	p.out = append(p.out, s...)
}

func (p *percenter) take() Value {
	if len(p.items) == 0 {
		p.m.Fail("there are fewer values than the format uses")
	}
	v := p.items[0]
	p.items = p.items[1:]
	return v
}

func (p *percenter) char() byte {
	if p.pos >= len(p.format) {
		p.m.Fail("the format ends within a directive")
	}
	c := p.format[p.pos]
	p.pos++
	return c
}

func (p *percenter) directive() {
	m := p.m
	m.Step(1)
	d := Directive{Precision: -1}
	c := p.char()
	var v Value = Unset{}
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
			d.Sign = '+'
		case ' ':
			if d.Sign == 0 {
				d.Sign = ' '
			}
		case '#':
			d.Alternate = true
		case '0':
			d.Zero = true
		}
	}
	c, d.Width = p.size(c)
	if d.Width < 0 {
		left, d.Width = true, -d.Width
	}
	if c == '.' {
		c, d.Precision = p.size(p.char())
		d.Precision = max(0, d.Precision)
	}
	for strings.IndexByte("hlL", c) >= 0 {
		c = p.char()
	}
	d.Kind = c
	if c == '%' {
		p.add("%")
		return
	}
	if v == any(Unset{}) {
		v = p.take()
	}
	switch {
	case left:
		d.Align, d.Zero = '<', false
	case d.Zero:
		d.Align = '='
	default:
		d.Align = '>'
	}
	p.add(p.value(d, v))
}

// lookup reads the name of a directive like %(name)s and returns its value.
func (p *percenter) lookup() Value {
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
		p.m.Fail("a format with names needs a dict")
	}
	v, ok := p.named.Text(key)
	if !ok {
		p.m.Fail("the format uses a name that the dict does not have")
	}
	return v
}

// size reads a width or a precision, which may be a star for a value.
func (p *percenter) size(c byte) (next byte, n int) {
	if c == '*' {
		return p.charAfter(p.m.Integer(p.take()))
	}
	for Digit(c) {
		if n = n*10 + int(c-'0'); n > MaxBytes {
			p.m.Costly("the width of a format is too large")
		}
		c = p.char()
	}
	return c, n
}

func (p *percenter) charAfter(n int) (byte, int) {
	if n > MaxBytes || n < -MaxBytes {
		p.m.Costly("the width of a format is too large")
	}
	return p.char(), n
}

func (p *percenter) value(d Directive, v Value) string {
	m := p.m
	switch d.Kind {
	case 's', 'r', 'a':
		s := ""
		switch {
		case d.Kind == 's' && p.markup:
			s = string(m.Escaped(v))
		case d.Kind == 's':
			s = m.Str(v)
		default:
			s = m.Made(string(m.AppendRepr(nil, v)))
			if d.Kind == 'a' {
				s = m.ASCII(s)
			}
			if p.markup {
				s = string(m.EscapedText(s))
			}
		}
		if d.Precision >= 0 {
			s = s[:ByteAt(s, d.Precision)]
		}
		d.Zero = false
		if d.Align == '=' {
			d.Align = '>'
		}
		return d.Pad(m, "", s)
	case 'c':
		return p.character(d, v)
	case 'd', 'i', 'u':
		d.Kind = 'd'
		if f, ok := v.(float64); ok {
			v = m.ToInteger(f, 0, 10)
		}
		return m.FormatInteger(d, p.number(v))
	case 'x', 'X', 'o':
		if IsFloatValue(v) {
			m.Fail("%%%c needs an integer", d.Kind)
		}
		return m.FormatInteger(d, p.number(v))
	case 'e', 'E', 'f', 'F', 'g', 'G':
		p.number(v)
		if d.Precision < 0 {
			d.Precision = 6
		}
		return m.FormatFloat(d, m.AsFloat(v))
	}
	m.Fail("%%%c is no directive of a format", d.Kind)
	return ""
}

func (p *percenter) number(v Value) Value {
	if u, ok := v.(*Undefined); ok {
		p.m.Missing(u)
	}
	if !IsNumber(v) {
		p.m.Fail("a format needs a number, not a %s", TypeName(v))
	}
	return v
}

func (p *percenter) character(d Directive, v Value) string {
	s, ok := TextOf(v)
	if !ok {
		if IsFloatValue(v) {
			p.m.Fail("%%c needs an integer or a character")
		}
		n := p.m.Integer(v)
		if n < 0 || n > 0x10ffff || n >= 0xd800 && n < 0xe000 {
			p.m.Fail("%%c needs the number of a character")
		}
		s = string(rune(n))
	}
	if Runes(s) != 1 || p.markup {
		p.m.Fail("%%c needs one character")
	}
	d.Zero = false
	if d.Align == '=' {
		d.Align = '>'
	}
	return d.Pad(p.m, "", s)
}

// ASCII escapes what is not ASCII.
func (m *Counter) ASCII(s string) string {
	m.Times(len(s), 5)
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

// Pad brings a number, after its sign, or a text to its width.
func (d Directive) Pad(m *Counter, sign, s string) string {
	missing := d.Width - Runes(sign) - Runes(s)
	if missing <= 0 {
		return sign + s
	}
	fill := d.Fill
	if fill == "" {
		fill = " "
		if d.Zero {
			fill = "0"
		}
	}
	m.Times(missing, len(fill))
	m.Grow(len(s))
	m.Work(d.Width)
	switch d.Align {
	case '<':
		return sign + s + strings.Repeat(fill, missing)
	case '^':
		return strings.Repeat(fill, missing/2) + sign + s + strings.Repeat(fill, missing-missing/2)
	case '=':
		return sign + strings.Repeat(fill, missing) + s
	}
	return strings.Repeat(fill, missing) + sign + s
}

// SignOf returns the sign to write before a number.
func (d Directive) SignOf(negative bool) string {
	switch {
	case negative:
		return "-"
	case d.Sign != 0:
		return string(d.Sign)
	}
	return ""
}

// FormatInteger returns the digits of an integer, without its sign, as the directive wants them.
func (m *Counter) FormatInteger(d Directive, v Value) string {
	b, _ := AsBig(v)
	base := map[byte]int{'d': 10, 'x': 16, 'X': 16, 'o': 8, 'b': 2}[d.Kind]
	m.Step(b.BitLen() / 8)
	m.Grow(b.BitLen())
	if d.Kind == 'd' {
		m.digits(b)
	}
	s := new(big.Int).Abs(b).Text(base)
	if d.Kind == 'X' {
		s = strings.ToUpper(s)
	}
	if missing := d.Precision - len(s); missing > 0 {
		s = m.Repeat("0", missing) + s
	}
	sign := d.SignOf(b.Sign() < 0)
	if d.Alternate && d.Kind != 'd' {
		sign += "0" + string(d.Kind)
	}
	return d.PadNumber(m, sign, s)
}

// PadNumber pads a number and puts signs between its thousands, in the padding too.
func (d Directive) PadNumber(m *Counter, sign, s string) string {
	if d.Group == 0 {
		return d.Pad(m, sign, s)
	}
	end := len(s)
	for i := range len(s) {
		if digitValue(s[i]) < 0 || d.Kind != 'x' && d.Kind != 'X' && !Digit(s[i]) {
			end = i
			break
		}
	}
	size := 3
	if strings.IndexByte("xXob", d.Kind) >= 0 && d.Kind != 0 {
		size = 4
	}
	whole, rest := s[:end], s[end:]
	if d.Align == '=' && d.Zero {
		m.Times(d.Width, 1)
		for len(whole)+(len(whole)-1)/size+len(rest)+len(sign) < d.Width {
			whole = "0" + whole
			m.Step(1 + len(whole)/BytesPerStep)
			m.Grow(len(whole))
		}
	}
	var out []byte
	for i := range len(whole) {
		if i > 0 && (len(whole)-i)%size == 0 {
			out = append(out, d.Group)
		}
		out = append(out, whole[i])
	}
	return d.Pad(m, sign, string(out)+rest)
}

// FormatFloat formats a float with the kinds e, f, g and %.
func (m *Counter) FormatFloat(d Directive, f float64) string {
	sign := d.SignOf(math.Signbit(f) && !math.IsNaN(f))
	f = math.Abs(f)
	upperCase := d.Kind == 'E' || d.Kind == 'F' || d.Kind == 'G'
	var s string
	if math.IsInf(f, 0) || math.IsNaN(f) {
		s = "inf"
		if math.IsNaN(f) {
			s = "nan"
		}
		if d.Kind == '%' {
			s += "%"
		}
		if upperCase {
			s = strings.ToUpper(s)
		}
		return d.Pad(m, sign, s)
	}
	m.Times(d.Precision+320, 2)
	m.Step(d.Precision / 4)
	switch d.Kind {
	case 'e', 'E':
		s = strconv.FormatFloat(f, 'e', d.Precision, 64)
	case 'f', 'F':
		s = strconv.FormatFloat(f, 'f', d.Precision, 64)
	case '%':
		s = strconv.FormatFloat(100*f, 'f', d.Precision, 64) + "%"
	default:
		s = General(f, d.Precision, d.Alternate)
	}
	if d.Alternate && !strings.Contains(s, ".") {
		i := strings.IndexAny(s, "e%")
		if i < 0 {
			i = len(s)
		}
		s = s[:i] + "." + s[i:]
	}
	if upperCase {
		s = strings.ToUpper(s)
	}
	return d.PadNumber(m, sign, s)
}

// General is the kind g: significant digits, without zeros at the end unless they are
// asked for.
func General(f float64, digits int, zeros bool) string { //nolint:revive // printf's flag
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
