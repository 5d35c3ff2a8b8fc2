package template

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/language"
)

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// upper is str.upper, which may make a text longer: ß becomes SS.
func upper(s string) string {
	if isASCII(s) {
		return strings.ToUpper(s)
	}
	return cases.Upper(language.Und).String(s)
}

// lower is str.lower, which knows the sigma at a word's end.
func lower(s string) string {
	if isASCII(s) {
		return strings.ToLower(s)
	}
	return cases.Lower(language.Und).String(s)
}

// titleRune is a character as the first of a word.
func titleRune(r rune) string {
	if r < utf8.RuneSelf {
		return string(unicode.ToUpper(r))
	}
	return cases.Title(language.Und, cases.NoLower).String(string(r))
}

// capitalized is str.capitalize.
func capitalized(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	if n == 0 {
		return s
	}
	return titleRune(r) + lower(s)[len(lower(s[:n])):]
}

// isCased reports whether a character has a case.
func isCased(r rune) bool {
	return unicode.In(r, unicode.Lu, unicode.Ll, unicode.Lt, unicode.Other_Lowercase, unicode.Other_Uppercase)
}

// titled is str.title: every run of letters begins with a capital.
func titled(s string) string {
	low := lower(s)
	var out strings.Builder
	inWord := false
	for i, r := range s {
		cased := isCased(r)
		switch {
		case cased && !inWord:
			out.WriteString(titleRune(r))
		case cased && len(low) == len(s):
			n := utf8.RuneLen(r)
			out.WriteString(low[i : i+n])
		case cased:
			out.WriteString(lower(string(r)))
		default:
			out.WriteRune(r)
		}
		inWord = cased
	}
	return out.String()
}

// folded is str.casefold.
func folded(s string) string {
	if isASCII(s) {
		return strings.ToLower(s)
	}
	return cases.Fold().String(s)
}

func swapped(s string) string {
	var out strings.Builder
	for _, r := range s {
		switch {
		case isUpperRune(r):
			out.WriteString(lower(string(r)))
		case isLowerRune(r):
			out.WriteString(upper(string(r)))
		default:
			out.WriteRune(r)
		}
	}
	return out.String()
}

// inCase is str.isupper or str.islower: there is a letter, and none of the other case.
func inCase(s string, other func(rune) bool) bool {
	some := false
	for _, r := range s {
		if other(r) || unicode.IsTitle(r) {
			return false
		}
		some = some || isCased(r)
	}
	return some
}

func isLowerRune(r rune) bool {
	return unicode.IsLower(r) || unicode.Is(unicode.Other_Lowercase, r)
}

func isUpperRune(r rune) bool {
	return unicode.IsUpper(r) || unicode.Is(unicode.Other_Uppercase, r)
}

// isTitled is str.istitle.
func isTitled(s string) bool {
	inWord, some := false, false
	for _, r := range s {
		switch {
		case isUpperRune(r) || unicode.IsTitle(r):
			if inWord {
				return false
			}
			inWord, some = true, true
		case isLowerRune(r):
			if !inWord {
				return false
			}
			some = true
		default:
			inWord = false
		}
	}
	return some
}

// every reports whether a text has characters and all are of a kind.
func every(s string, kind func(rune) bool) bool {
	for _, r := range s {
		if !kind(r) {
			return false
		}
	}
	return s != ""
}

func isWordRune(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsNumber(r) }

func firstRune(s string) string {
	_, n := utf8.DecodeRuneInString(s)
	return s[:n]
}
