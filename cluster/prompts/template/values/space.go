package values

import (
	"strings"
	"unicode/utf8"
)

// IsSpace reports whether Python counts a character as white space.
func IsSpace(r rune) bool {
	switch {
	case r >= 9 && r <= 13, r >= 28 && r <= 32, r == 0x85, r == 0xa0, r == 0x1680,
		r >= 0x2000 && r <= 0x200a, r == 0x2028, r == 0x2029, r == 0x202f, r == 0x205f, r == 0x3000:
		return true
	}
	return false
}

func trimSpace(s string) string { return strings.TrimFunc(s, IsSpace) }

// TrimLeftSpace is str.lstrip.
func TrimLeftSpace(s string) string { return strings.TrimLeftFunc(s, IsSpace) }

// TrimRightSpace is str.rstrip.
func TrimRightSpace(s string) string { return strings.TrimRightFunc(s, IsSpace) }

// lineEnd returns the length of the line end at the start of s, as str.splitlines knows
// them; 0 if there is none.
func lineEnd(s string) int {
	switch c := s[0]; {
	case c == '\r':
		if len(s) > 1 && s[1] == '\n' {
			return 2
		}
		return 1
	case c >= '\n' && c <= '\f', c >= 0x1c && c <= 0x1e:
		return 1
	case c < utf8.RuneSelf:
		return 0
	}
	if r, n := utf8.DecodeRuneInString(s); r == 0x85 || r == 0x2028 || r == 0x2029 {
		return n
	}
	return 0
}

// SplitLines is str.splitlines.
func SplitLines(s string, keepEnds bool) []string { //nolint:revive // Python's flag
	var out []string
	start := 0
	for i := 0; i < len(s); {
		n := lineEnd(s[i:])
		if n == 0 {
			i++
			continue
		}
		end := i
		if keepEnds {
			end += n
		}
		out = append(out, s[start:end])
		i += n
		start = i
	}
	if start < len(s) {
		out = append(out, s[start:])
	}
	return out
}
