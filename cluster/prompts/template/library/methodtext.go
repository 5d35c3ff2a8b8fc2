package library

import (
	"strings"
	"unicode"

	"github.com/modelgateway/modelgateway/cluster/prompts/template/values"
)

// trimMethod returns the methods of texts that cut or pad them.
func trimMethod(name string) (*Native, bool) {
	n := &Native{Name: name, params: "chars", Most: 1, positional: true}
	switch name {
	case "strip", "lstrip", "rstrip":
		n.Call = func(m *Caller, self values.Value, a *Arguments) values.Value {
			s, _ := values.TextOf(self)
			return values.Like(self, m.stripped(name, s, a.or(0, nil)))
		}
	case "removeprefix", "removesuffix":
		n.least = 1
		n.Call = func(m *Caller, self values.Value, a *Arguments) values.Value {
			s, _ := values.TextOf(self)
			m.Work(len(s))
			if name == "removeprefix" {
				return values.Like(self, strings.TrimPrefix(s, m.Text(a.Pos[0])))
			}
			return values.Like(self, strings.TrimSuffix(s, m.Text(a.Pos[0])))
		}
	case "center", "ljust", "rjust":
		n.params, n.least, n.Most = "width fillchar", 1, 2
		n.Call = func(m *Caller, self values.Value, a *Arguments) values.Value {
			s, _ := values.TextOf(self)
			fill := m.Text(a.or(1, " "))
			if values.Runes(fill) != 1 {
				m.Fail("%s fills with one character", name)
			}
			if _, ok := self.(values.Markup); ok && len(m.EscapedText(fill)) != len(fill) {
				m.Fail("%s fills markup with a character that needs no escape", name)
			}
			return values.Like(self, m.padded(name, s, m.Integer(a.Pos[0]), fill))
		}
	case "zfill":
		n.params, n.least = "width", 1
		n.Call = func(m *Caller, self values.Value, a *Arguments) values.Value {
			s, _ := values.TextOf(self)
			sign := ""
			if s != "" && (s[0] == '-' || s[0] == '+') {
				sign = s[:1]
			}
			return values.Like(self, sign+m.padded("rjust", s[len(sign):], m.Integer(a.Pos[0])-len(sign), "0"))
		}
	case "expandtabs":
		n.params, n.positional = "tabsize", false
		n.Call = func(m *Caller, self values.Value, a *Arguments) values.Value {
			s, _ := values.TextOf(self)
			return values.Like(self, m.expanded(s, m.Integer(a.or(0, 8))))
		}
	default:
		return nil, false
	}
	return n, true
}

// stripped is str.strip, lstrip or rstrip.
func (m *Caller) stripped(name, s string, chars values.Value) string {
	m.Work(len(s))
	cut := values.IsSpace
	if chars != nil {
		set := m.Text(chars)
		m.Step(len(s) * len(set) / values.BytesPerStep)
		cut = func(r rune) bool { return strings.ContainsRune(set, r) }
	}
	if name != "rstrip" {
		s = strings.TrimLeftFunc(s, cut)
	}
	if name != "lstrip" {
		s = strings.TrimRightFunc(s, cut)
	}
	return s
}

// padded is str.center, ljust or rjust.
func (m *Caller) padded(name, s string, width int, fill string) string {
	m.Work(len(s))
	missing := width - values.Runes(s)
	if missing <= 0 {
		return s
	}
	left := 0
	switch name {
	case "rjust":
		left = missing
	case "center":
		left = missing/2 + missing&width&1
	}
	m.Times(missing, len(fill))
	m.Grow(len(s))
	return strings.Repeat(fill, left) + s + strings.Repeat(fill, missing-left)
}

func (m *Caller) expanded(s string, size int) string {
	m.Times(strings.Count(s, "\t"), max(0, size))
	m.Work(len(s))
	var out strings.Builder
	column := 0
	for _, r := range s {
		if r != '\t' {
			out.WriteRune(r)
			if column++; r == '\n' || r == '\r' {
				column = 0
			}
			continue
		}
		if size > 0 {
			n := size - column%size
			out.WriteString(strings.Repeat(" ", n))
			column += n
		}
	}
	return m.Made(out.String())
}

// caseMethod returns the methods of texts that change letters.
func caseMethod(name string) (*Native, bool) {
	var change func(string) string
	cost := caseCost
	switch name {
	case "upper":
		change = values.Upper
	case "lower":
		change = values.Lower
	case "capitalize":
		change = values.Capitalized
	case "title":
		change, cost = values.Titled, titleCost
	case "swapcase":
		change, cost = values.Swapped, titleCost
	case "casefold":
		change = values.Folded
	default:
		return nil, false
	}
	return &Native{Name: name, Call: func(m *Caller, self values.Value, _ *Arguments) values.Value {
		s, _ := values.TextOf(self)
		return values.Like(self, m.changed(s, change, cost))
	}}, true
}

// What changing the case of a character outside of ASCII takes, in bytes. It may triple.
const (
	caseCost  = 4
	titleCost = 16 // one character at a time
)

// changed counts and applies a change of a text's letters.
func (m *Caller) changed(s string, change func(string) string, cost int) string {
	m.Work(len(s))
	m.Grow(2*len(s) + values.WordBytes)
	if !values.IsASCII(s) {
		m.Step(len(s) * cost / 16)
		m.Grow(512)
		m.Times(len(s), cost)
	}
	return change(s)
}

// kindMethod returns the methods that say what a text consists of.
func kindMethod(name string) (*Native, bool) {
	var is func(s string) bool
	all := func(kind func(rune) bool) func(string) bool {
		return func(s string) bool { return values.Every(s, kind) }
	}
	switch name {
	case "isalpha":
		is = all(unicode.IsLetter)
	case "isdigit":
		is = all(isDigitRune)
	case "isdecimal":
		is = all(func(r rune) bool { return unicode.Is(unicode.Nd, r) })
	case "isnumeric":
		is = all(unicode.IsNumber)
	case "isalnum":
		is = all(func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) })
	case "isspace":
		is = all(values.IsSpace)
	case "isascii":
		is = values.IsASCII
	case "isprintable":
		is = func(s string) bool { return s == "" || values.Every(s, values.IsPrintable) }
	case "isidentifier":
		is = func(s string) bool {
			return s != "" && !unicode.IsNumber([]rune(s[:min(len(s), 4)])[0]) && values.Every(s, func(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) })
		}
	case "isupper":
		is = func(s string) bool { return values.InCase(s, values.IsLowerRune) }
	case "islower":
		is = func(s string) bool { return values.InCase(s, values.IsUpperRune) }
	case "istitle":
		is = values.IsTitled
	default:
		return nil, false
	}
	return &Native{Name: name, Call: func(m *Caller, self values.Value, _ *Arguments) values.Value {
		s, _ := values.TextOf(self)
		m.Step(len(s) / 8)
		if strings.IndexFunc(s, func(r rune) bool { return unclear(name, r) }) >= 0 {
			m.Fail("%s is not supported for these characters", name)
		}
		return is(s)
	}}, true
}

// unclear reports whether the tables of Go and Python say different things of a
// character, or none.
func unclear(method string, r rune) bool {
	switch method {
	case "isdigit":
		return r > 0xbe && unicode.Is(unicode.No, r) && !isDigitRune(r)
	case "isnumeric":
		return unicode.Is(unicode.Lo, r)
	case "isidentifier":
		return r >= 0x370 || r > 0x7f && !unicode.IsLetter(r)
	}
	return false
}

// isDigitRune is str.isdigit: decimal digits, and others such as superscripts.
func isDigitRune(r rune) bool {
	switch {
	case unicode.Is(unicode.Nd, r), r == 0xb2, r == 0xb3, r == 0xb9, r == 0x2070, r >= 0x2074 && r <= 0x2079, r >= 0x2080 && r <= 0x2089:
		return true
	}
	return false
}
