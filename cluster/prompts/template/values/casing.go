package values

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/language"
)

// IsASCII reports whether all bytes of a text are characters of ASCII.
func IsASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// Upper is str.upper, which may make a text longer: ß becomes SS.
func Upper(s string) string {
	if IsASCII(s) {
		return strings.ToUpper(s)
	}
	return cases.Upper(language.Und).String(s)
}

// Lower is str.lower, which knows the sigma at a word's end.
func Lower(s string) string {
	if IsASCII(s) {
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

// Capitalized is str.capitalize.
func Capitalized(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	if n == 0 {
		return s
	}
	return titleRune(r) + Lower(s)[len(Lower(s[:n])):]
}

// isCased reports whether a character has a case.
func isCased(r rune) bool {
	return unicode.In(r, unicode.Lu, unicode.Ll, unicode.Lt, unicode.Other_Lowercase, unicode.Other_Uppercase)
}

// Titled is str.title: every run of letters begins with a capital.
func Titled(s string) string {
	low := Lower(s)
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
			out.WriteString(Lower(string(r)))
		default:
			out.WriteRune(r)
		}
		inWord = cased
	}
	return out.String()
}

// Folded is str.casefold.
func Folded(s string) string {
	if IsASCII(s) {
		return strings.ToLower(s)
	}
	var out strings.Builder
	for {
		i := strings.IndexFunc(s, foldsToItself)
		if i < 0 {
			out.WriteString(cases.Fold().String(s))
			return out.String()
		}
		letter := FirstRune(s[i:])
		out.WriteString(cases.Fold().String(s[:i]))
		out.WriteString(letter)
		s = s[i+len(letter):]
	}
}

// foldsToItself reports whether a character is a capital letter of Cherokee. CaseFolding.txt of
// the Unicode Character Database folds the small letters of that script to the capitals, and
// golang.org/x/text the capitals to small letters as well.
func foldsToItself(r rune) bool { return r >= 0x13a0 && r <= 0x13f5 }

// Swapped is str.swapcase.
func Swapped(s string) string {
	var out strings.Builder
	for _, r := range s {
		switch {
		case IsUpperRune(r):
			out.WriteString(Lower(string(r)))
		case IsLowerRune(r):
			out.WriteString(Upper(string(r)))
		default:
			out.WriteRune(r)
		}
	}
	return out.String()
}

// InCase is str.isupper or str.islower: there is a letter, and none of the other case.
func InCase(s string, other func(rune) bool) bool {
	some := false
	for _, r := range s {
		if other(r) || unicode.IsTitle(r) {
			return false
		}
		some = some || isCased(r)
	}
	return some
}

// IsLowerRune reports whether a character is a small letter.
func IsLowerRune(r rune) bool {
	return unicode.IsLower(r) || unicode.Is(unicode.Other_Lowercase, r)
}

// IsUpperRune reports whether a character is a capital letter.
func IsUpperRune(r rune) bool {
	return unicode.IsUpper(r) || unicode.Is(unicode.Other_Uppercase, r)
}

// IsTitled is str.istitle.
func IsTitled(s string) bool {
	inWord, some := false, false
	for _, r := range s {
		switch {
		case IsUpperRune(r) || unicode.IsTitle(r):
			if inWord {
				return false
			}
			inWord, some = true, true
		case IsLowerRune(r):
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

// Every reports whether a text has characters and all are of a kind.
func Every(s string, kind func(rune) bool) bool {
	for _, r := range s {
		if !kind(r) {
			return false
		}
	}
	return s != ""
}

// IsWordRune reports whether \w of a regular expression matches a character.
func IsWordRune(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsNumber(r) }

// FirstRune returns the first character of a text.
func FirstRune(s string) string {
	_, n := utf8.DecodeRuneInString(s)
	return s[:n]
}
