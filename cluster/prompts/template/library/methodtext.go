package template

import (
	"strings"
	"unicode"
)

// trimMethod returns the methods of texts that cut or pad them.
func trimMethod(name string) (*native, bool) {
	n := &native{name: name, params: "chars", most: 1, positional: true}
	switch name {
	case "strip", "lstrip", "rstrip":
		n.call = func(m *caller, self value, a *arguments) value {
			s, _ := textOf(self)
			return like(self, m.stripped(name, s, a.or(0, nil)))
		}
	case "removeprefix", "removesuffix":
		n.least = 1
		n.call = func(m *caller, self value, a *arguments) value {
			s, _ := textOf(self)
			m.work(len(s))
			if name == "removeprefix" {
				return like(self, strings.TrimPrefix(s, m.text(a.pos[0])))
			}
			return like(self, strings.TrimSuffix(s, m.text(a.pos[0])))
		}
	case "center", "ljust", "rjust":
		n.params, n.least, n.most = "width fillchar", 1, 2
		n.call = func(m *caller, self value, a *arguments) value {
			s, _ := textOf(self)
			fill := m.text(a.or(1, " "))
			if runes(fill) != 1 {
				m.fail("%s fills with one character", name)
			}
			if _, ok := self.(markup); ok && len(m.escapedText(fill)) != len(fill) {
				m.fail("%s fills markup with a character that needs no escape", name)
			}
			return like(self, m.padded(name, s, m.integer(a.pos[0]), fill))
		}
	case "zfill":
		n.params, n.least = "width", 1
		n.call = func(m *caller, self value, a *arguments) value {
			s, _ := textOf(self)
			sign := ""
			if s != "" && (s[0] == '-' || s[0] == '+') {
				sign = s[:1]
			}
			return like(self, sign+m.padded("rjust", s[len(sign):], m.integer(a.pos[0])-len(sign), "0"))
		}
	case "expandtabs":
		n.params, n.positional = "tabsize", false
		n.call = func(m *caller, self value, a *arguments) value {
			s, _ := textOf(self)
			return like(self, m.expanded(s, m.integer(a.or(0, 8))))
		}
	default:
		return nil, false
	}
	return n, true
}

// stripped is str.strip, lstrip or rstrip.
func (m *caller) stripped(name, s string, chars value) string {
	m.work(len(s))
	cut := isSpace
	if chars != nil {
		set := m.text(chars)
		m.step(len(s) * len(set) / bytesPerStep)
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
func (m *caller) padded(name, s string, width int, fill string) string {
	m.work(len(s))
	missing := width - runes(s)
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
	m.times(missing, len(fill))
	m.grow(len(s))
	return strings.Repeat(fill, left) + s + strings.Repeat(fill, missing-left)
}

func (m *caller) expanded(s string, size int) string {
	m.times(strings.Count(s, "\t"), max(0, size))
	m.work(len(s))
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
	return m.made(out.String())
}

// caseMethod returns the methods of texts that change letters.
func caseMethod(name string) (*native, bool) {
	var change func(string) string
	cost := caseCost
	switch name {
	case "upper":
		change = upper
	case "lower":
		change = lower
	case "capitalize":
		change = capitalized
	case "title":
		change, cost = titled, titleCost
	case "swapcase":
		change, cost = swapped, titleCost
	case "casefold":
		change = folded
	default:
		return nil, false
	}
	return &native{name: name, call: func(m *caller, self value, _ *arguments) value {
		s, _ := textOf(self)
		if name == "casefold" && strings.IndexFunc(s, func(r rune) bool { return unicode.Is(unicode.Cherokee, r) }) >= 0 {
			m.fail("casefold is not supported for these letters")
		}
		return like(self, m.changed(s, change, cost))
	}}, true
}

// What changing the case of a character outside of ASCII takes, in bytes. It may triple.
const (
	caseCost  = 4
	titleCost = 16 // one character at a time
)

// changed counts and applies a change of a text's letters.
func (m *caller) changed(s string, change func(string) string, cost int) string {
	m.work(len(s))
	m.grow(2*len(s) + wordBytes)
	if !isASCII(s) {
		m.step(len(s) * cost / 16)
		m.grow(512)
		m.times(len(s), cost)
	}
	return change(s)
}

// kindMethod returns the methods that say what a text consists of.
func kindMethod(name string) (*native, bool) {
	var is func(s string) bool
	all := func(kind func(rune) bool) func(string) bool {
		return func(s string) bool { return every(s, kind) }
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
		is = all(isSpace)
	case "isascii":
		is = isASCII
	case "isprintable":
		is = func(s string) bool { return s == "" || every(s, isPrintable) }
	case "isidentifier":
		is = func(s string) bool {
			return s != "" && !unicode.IsNumber([]rune(s[:min(len(s), 4)])[0]) && every(s, func(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) })
		}
	case "isupper":
		is = func(s string) bool { return inCase(s, isLowerRune) }
	case "islower":
		is = func(s string) bool { return inCase(s, isUpperRune) }
	case "istitle":
		is = isTitled
	default:
		return nil, false
	}
	return &native{name: name, call: func(m *caller, self value, _ *arguments) value {
		s, _ := textOf(self)
		m.step(len(s) / 8)
		if strings.IndexFunc(s, func(r rune) bool { return unclear(name, r) }) >= 0 {
			m.fail("%s is not supported for these characters", name)
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
