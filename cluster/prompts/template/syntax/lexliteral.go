package syntax

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/modelgateway/modelgateway/cluster/prompts/template/values"
)

// number adds an integer or a float. Digits may be parted by single underscores.
func (l *lexer) number() {
	s := l.source[l.pos:]
	if l.pos == 0 || l.source[l.pos-1] != '.' {
		if n := floatLength(s); n > 0 {
			l.add(aFloat, l.pos, strings.ReplaceAll(s[:n], "_", ""))
			l.pos += n
			return
		}
	}
	n := integerLength(s)
	l.add(anInteger, l.pos, strings.ReplaceAll(s[:n], "_", ""))
	l.pos += n
}

// floatLength returns the length of a number with a fraction or an exponent; 0 for others.
func floatLength(s string) int {
	n := values.Digits(s, 10, false)
	if n == 0 {
		return 0
	}
	float := false
	if n < len(s) && s[n] == '.' {
		if f := values.Digits(s[n+1:], 10, false); f > 0 {
			n, float = n+1+f, true
		}
	}
	if n < len(s) && (s[n] == 'e' || s[n] == 'E') {
		i := n + 1
		if i < len(s) {
			i += values.SignLength(s[i:])
		}
		if e := values.Digits(s[i:], 10, false); e > 0 {
			return i + e
		}
	}
	if !float {
		return 0
	}
	return n
}

// integerLength returns the length of an integer. Zeros before other digits end it.
func integerLength(s string) int {
	if s[0] != '0' {
		return values.Digits(s, 10, false)
	}
	if len(s) > 2 {
		base := 0
		switch s[1] | 0x20 {
		case 'b':
			base = 2
		case 'o':
			base = 8
		case 'x':
			base = 16
		}
		if base > 0 {
			if n := values.Digits(s[2:], base, true); n > 0 {
				return n + 2
			}
		}
	}
	return values.Digits(s, 1, false)
}

// quoted adds a string in quotes.
func (l *lexer) quoted(quote byte) error {
	start := l.pos
	for i := start + 1; i < len(l.source); i++ {
		switch l.source[i] {
		case '\\':
			i++
		case quote:
			text, err := l.unescaped(start+1, i)
			if err != nil {
				return err
			}
			l.add(aString, start, text)
			l.pos = i + 1
			return nil
		}
	}
	return wrongAt(l.source, start, "the text has no closing quote")
}

// unescaped reads the escapes of source[from:to] as Python does.
func (l *lexer) unescaped(from, to int) (string, error) {
	s := l.source[from:to]
	if strings.IndexByte(s, '\\') < 0 {
		return s, nil
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); {
		if s[i] != '\\' {
			out, i = append(out, s[i]), i+1
			continue
		}
		at := from + i
		i++
		c := s[i]
		i++
		switch c {
		case '\n':
		case '\\', '\'', '"':
			out = append(out, c)
		case 'a', 'b', 'f', 'n', 'r', 't', 'v':
			out = append(out, "\a\b\f\n\r\t\v"[strings.IndexByte("abfnrtv", c)])
		case 'x', 'u', 'U':
			length := map[byte]int{'x': 2, 'u': 4, 'U': 8}[c]
			v, err := strconv.ParseUint(s[i:min(i+length, len(s))], 16, 32)
			if err != nil || i+length > len(s) || !utf8.ValidRune(rune(v)) {
				return "", wrongAt(l.source, at, "the escape \\%c needs %d hexadecimal digits of a character", c, length)
			}
			out, i = utf8.AppendRune(out, rune(v)), i+length
		case '0', '1', '2', '3', '4', '5', '6', '7':
			n := 1
			for n < 3 && i-1+n < len(s) && s[i-1+n] >= '0' && s[i-1+n] <= '7' {
				n++
			}
			v, _ := strconv.ParseUint(s[i-1:i-1+n], 8, 32) // digits of base 8, as the loop found
			out, i = utf8.AppendRune(out, rune(v)), i-1+n
		default:
			if c == 'N' || c >= utf8.RuneSelf {
				return "", wrongAt(l.source, at, "the escape \\%s is not supported", values.FirstRune(s[i-1:]))
			}
			out = append(out, '\\', c)
		}
	}
	return string(out), nil
}
