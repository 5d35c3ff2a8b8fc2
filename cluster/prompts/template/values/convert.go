package template

import (
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// integer returns a value that has to be an integer that fits.
func (m *counter) integer(v value) int {
	switch v := v.(type) {
	case int:
		return v
	case bool:
		if v {
			return 1
		}
		return 0
	case *big.Int:
		m.costly("the number is too large")
	case *undefined:
		m.missing(v)
	}
	m.fail("an integer is needed, not a %s", typeName(v))
	return 0
}

// toInteger is the filter int.
func (m *counter) toInteger(v, other value, base int) value {
	if u, ok := v.(*undefined); ok {
		m.missing(u)
	}
	if s, ok := textOf(v); ok {
		m.work(len(s))
		if n, ok := parseInteger(s, base); ok {
			return n
		}
		if f, ok := parseFloat(s); ok && !math.IsInf(f, 0) && !math.IsNaN(f) {
			return truncated(f)
		}
		return other
	}
	switch v := v.(type) {
	case float64:
		if math.IsInf(v, 0) {
			m.fail("infinity is no integer")
		}
		if math.IsNaN(v) {
			return other
		}
		return truncated(v)
	case bool, int, *big.Int:
		b, _ := asBig(v)
		return normal(b)
	}
	return other
}

func truncated(f float64) value {
	b, _ := wholeBig(math.Trunc(f))
	return normal(b)
}

// toFloat is Python's float; false where that is an error of a kind that the filter
// float catches.
func (m *counter) toFloat(v value) (float64, bool) {
	if u, ok := v.(*undefined); ok {
		m.missing(u)
	}
	if s, ok := textOf(v); ok {
		m.work(len(s))
		return parseFloat(s)
	}
	if !isNumber(v) {
		return 0, false
	}
	return m.asFloat(v), true
}

// parseInteger reads an integer as Python's int does.
func parseInteger(s string, base int) (value, bool) {
	s = trimSpace(asciiDigits(s))
	digitsOf, sign := s, ""
	if s != "" && (s[0] == '-' || s[0] == '+') {
		digitsOf = s[1:]
		if s[0] == '-' {
			sign = "-"
		}
	}
	if len(digitsOf) > 1 && digitsOf[0] == '0' {
		of := map[byte]int{'x': 16, 'o': 8, 'b': 2}[digitsOf[1]|0x20]
		switch {
		case of != 0 && (base == of || base == 0):
			digitsOf, base = digitsOf[2:], of
			digitsOf = strings.TrimPrefix(digitsOf, "_")
		case base == 0 && strings.Trim(digitsOf, "0_") != "":
			return nil, false
		}
	}
	if base == 0 {
		base = 10
	}
	const most = 4300
	if base < 2 || base > 36 || digitsOf == "" || len(digitsOf) > most || digits(digitsOf, base, false) != len(digitsOf) {
		return nil, false
	}
	b, ok := new(big.Int).SetString(sign+strings.ReplaceAll(digitsOf, "_", ""), base)
	if !ok {
		return nil, false
	}
	return normal(b), true
}

// parseFloat reads a float as Python's float does.
func parseFloat(s string) (float64, bool) {
	s = trimSpace(asciiDigits(s))
	rest := s
	if rest != "" && (rest[0] == '-' || rest[0] == '+') {
		rest = rest[1:]
	}
	switch strings.ToLower(rest) {
	case "inf", "infinity", "nan":
		f, err := strconv.ParseFloat(s, 64)
		return f, err == nil
	}
	whole := digits(rest, 10, false)
	end := whole
	if end < len(rest) && rest[end] == '.' {
		end++
		fraction := digits(rest[end:], 10, false)
		if whole+fraction == 0 {
			return 0, false
		}
		end += fraction
	} else if whole == 0 {
		return 0, false
	}
	if end < len(rest) && rest[end]|0x20 == 'e' {
		i := end + 1 + signLength(rest[end+1:])
		if n := digits(rest[i:], 10, false); n > 0 {
			end = i + n
		}
	}
	if end != len(rest) {
		return 0, false
	}
	f, _ := strconv.ParseFloat(strings.ReplaceAll(s, "_", ""), 64) // too large a number is infinite
	return f, true
}

func digitValue(c byte) int {
	switch {
	case digit(c):
		return int(c - '0')
	case c >= 'a' && c <= 'z':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'Z':
		return int(c-'A') + 10
	}
	return -1
}

// digits returns the length of the digits of a base at the start of s. Between two, and
// if after is true before the first, an underscore may stand.
func digits(s string, base int, after bool) int { //nolint:revive // prefixed numbers may begin with an underscore
	n := 0
	for n < len(s) {
		i := n
		if s[i] == '_' && (n > 0 || after) && i+1 < len(s) {
			i++
		}
		if v := digitValue(s[i]); v < 0 || v >= base {
			break
		}
		n = i + 1
	}
	return n
}

func signLength(s string) int {
	if s != "" && (s[0] == '-' || s[0] == '+') {
		return 1
	}
	return 0
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

// asciiDigits replaces the digits of other scripts.
func asciiDigits(s string) string {
	if isASCII(s) {
		return s
	}
	return strings.Map(func(r rune) rune {
		if r < utf8.RuneSelf || !unicode.Is(unicode.Nd, r) {
			return r
		}
		return '0' + digitOf(r)
	}, s)
}

// digitOf returns the value of a decimal digit of any script. Unicode keeps the ten of a
// script in a row.
func digitOf(r rune) rune {
	for _, row := range unicode.Nd.R16 {
		if rune(row.Lo) <= r && r <= rune(row.Hi) {
			return (r - rune(row.Lo)) % 10
		}
	}
	for _, row := range unicode.Nd.R32 {
		if rune(row.Lo) <= r && r <= rune(row.Hi) {
			return (r - rune(row.Lo)) % 10
		}
	}
	return 0
}
