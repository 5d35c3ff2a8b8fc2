package id

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// MaxName is how long a name may be, in characters.
const MaxName = 128

// CleanName returns a name that people choose in its one form (NFC, so that what
// looks the same is the same), or what is wrong with it. Names are told from
// UUIDs, for either may stand where the other does, and can be part of a path.
// Their case counts.
func CleanName(s string) (name, problem string) {
	name = norm.NFC.String(s)
	switch {
	case name == "":
		return "", "is empty"
	case !utf8.ValidString(name):
		return "", "is not UTF-8"
	case utf8.RuneCountInString(name) > MaxName:
		return "", "is longer than 128 characters"
	case strings.TrimSpace(name) != name:
		return "", "begins or ends with a space"
	case name == "." || name == "..", strings.Contains(name, "/"), strings.Contains(name, `\`):
		return "", "has a slash, or is a dot segment"
	case strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }):
		return "", "holds a character that cannot be printed"
	case IsUUID(name):
		return "", "has the form of a UUID"
	}
	return name, ""
}

// IsUUID reports whether s has the form of a UUID, in any case.
func IsUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i := range len(s) {
		c := s[i] | 0x20 // lower case
		switch {
		case i == 8 || i == 13 || i == 18 || i == 23:
			if s[i] != '-' {
				return false
			}
		case s[i] >= '0' && s[i] <= '9', c >= 'a' && c <= 'f':
		default:
			return false
		}
	}
	return true
}
