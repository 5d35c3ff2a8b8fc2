package values

import (
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Integer returns a value that has to be an integer that fits.
func (m *Counter) Integer(v Value) int {
	switch v := v.(type) {
	case int:
		return v
	case bool:
		if v {
			return 1
		}
		return 0
	case *big.Int:
		m.Costly("the number is too large")
	case *Undefined:
		m.Missing(v)
	}
	m.Fail("an integer is needed, not a %s", TypeName(v))
	return 0
}

// ToInteger is the filter int.
func (m *Counter) ToInteger(v, other Value, base int) Value {
	if u, ok := v.(*Undefined); ok {
		m.Missing(u)
	}
	if s, ok := TextOf(v); ok {
		m.Work(len(s))
		if n, ok := ParseInteger(s, base); ok {
			return n
		}
		if f, ok := parseFloat(s); ok && !math.IsInf(f, 0) && !math.IsNaN(f) {
			return Truncated(f)
		}
		return other
	}
	switch v := v.(type) {
	case float64:
		if math.IsInf(v, 0) {
			m.Fail("infinity is no integer")
		}
		if math.IsNaN(v) {
			return other
		}
		return Truncated(v)
	case bool, int, *big.Int:
		b, _ := AsBig(v)
		return Normal(b)
	}
	return other
}

// Truncated returns a finite float without its fraction, as an integer.
func Truncated(f float64) Value {
	b, _ := wholeBig(math.Trunc(f))
	return Normal(b)
}

// ToFloat is Python's float; false where that is an error of a kind that the filter
// float catches.
func (m *Counter) ToFloat(v Value) (float64, bool) {
	if u, ok := v.(*Undefined); ok {
		m.Missing(u)
	}
	if s, ok := TextOf(v); ok {
		m.Work(len(s))
		return parseFloat(s)
	}
	if !IsNumber(v) {
		return 0, false
	}
	return m.AsFloat(v), true
}

// ParseInteger reads an integer as Python's int does.
func ParseInteger(s string, base int) (Value, bool) {
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
	if base < 2 || base > 36 || digitsOf == "" || len(digitsOf) > most || Digits(digitsOf, base, false) != len(digitsOf) {
		return nil, false
	}
	b, ok := new(big.Int).SetString(sign+strings.ReplaceAll(digitsOf, "_", ""), base)
	if !ok {
		return nil, false
	}
	return Normal(b), true
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
	whole := Digits(rest, 10, false)
	end := whole
	if end < len(rest) && rest[end] == '.' {
		end++
		fraction := Digits(rest[end:], 10, false)
		if whole+fraction == 0 {
			return 0, false
		}
		end += fraction
	} else if whole == 0 {
		return 0, false
	}
	if end < len(rest) && rest[end]|0x20 == 'e' {
		i := end + 1 + SignLength(rest[end+1:])
		if n := Digits(rest[i:], 10, false); n > 0 {
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
	case Digit(c):
		return int(c - '0')
	case c >= 'a' && c <= 'z':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'Z':
		return int(c-'A') + 10
	}
	return -1
}

// Digits returns the length of the digits of a base at the start of s. Between two, and
// if after is true before the first, an underscore may stand.
func Digits(s string, base int, after bool) int { //nolint:revive // prefixed numbers may begin with an underscore
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

// SignLength returns 1 for a text that begins with a sign, else 0.
func SignLength(s string) int {
	if s != "" && (s[0] == '-' || s[0] == '+') {
		return 1
	}
	return 0
}

// Digit reports whether a byte is a digit from 0 to 9.
func Digit(c byte) bool { return c >= '0' && c <= '9' }

// asciiDigits replaces the digits of other scripts.
func asciiDigits(s string) string {
	if IsASCII(s) {
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
