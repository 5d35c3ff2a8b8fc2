package pii

import (
	"unicode"
	"unicode/utf8"
)

// window is how many bytes a chunk can have before it is decided on them.
const window = 256

// Classes of bytes.
const (
	ends      = iota // ends a run
	letter           // of ASCII
	digit            // of ASCII
	at               // @
	point            // . and :, which belong to a run if something follows
	connector        // other punctuation within runs
	opening          // (, which can begin a phone number
	high             // a byte of a character that is not of ASCII
)

type classes [256]uint8

func newClasses() *classes {
	c := &classes{}
	for b := range 256 {
		switch {
		case b >= utf8.RuneSelf:
			c[b] = high
		case isLetter(byte(b)):
			c[b] = letter
		case isDigit(byte(b)):
			c[b] = digit
		}
	}
	for _, b := range []byte("-_+%'/") {
		c[b] = connector
	}
	c['@'], c['.'], c[':'], c['('] = at, point, point, opening
	return c
}

func isDigit(b byte) bool  { return b-'0' < 10 }
func isLetter(b byte) bool { return b|0x20-'a' < 26 }
func isUpper(b byte) bool  { return b-'A' < 26 }
func isAlnum(b byte) bool  { return isDigit(b) || isLetter(b) }

// small appends the first bytes of word to buf as small letters, so many that none is allocated.
func small(word, buf []byte) []byte {
	for _, b := range word[:min(len(word), cap(buf))] {
		if isUpper(b) {
			b |= 0x20
		}
		buf = append(buf, b)
	}
	return buf
}

// isWord reports the bytes that cannot stand next to a token: letters, digits, the underscore, and
// characters that are not of ASCII.
func isWord(b byte) bool { return isAlnum(b) || b == '_' || b >= utf8.RuneSelf }

// Kinds of characters that are not of ASCII.
const (
	foreign = iota // a letter, or a mark that belongs to one
	apart          // ends a run: punctuation, symbols, and letters of scripts without spaces
	special        // has another form in the normal form
)

// kindOf returns the kind of a character that is not of ASCII.
func kindOf(r rune) int {
	switch {
	case r < 0xC0: // Latin-1: NBSP, soft hyphen, superscripts, ordinals, fractions
		switch r {
		case 0xA0, 0xAD, 0xB2, 0xB3, 0xB9, 0xAA, 0xBA, 0xBC, 0xBD, 0xBE:
			return special
		case 0xB5:
			return foreign
		}
		return apart
	case r < 0x250:
		if r == 0xD7 || r == 0xF7 {
			return apart
		}
		return foreign
	case r >= 0x370 && r < 0x530: // Greek, Cyrillic
		return foreign
	case r >= 0x3041 && r < 0x3130, r >= 0x3400 && r < 0xA000, r >= 0x0E00 && r < 0x0E50, r >= 0x1000 && r < 0x1040,
		r >= 0x1780 && r < 0x17B4, r >= 0x0E80 && r < 0x0ED0: // kana, Han, Thai, Burmese, Khmer, Lao
		return apart
	case r >= 0xAC00 && r < 0xD7A4: // Hangul, whose particles follow a value without a space
		return apart
	case r == utf8.RuneError, r == 0x201C, r == 0x201D, r == 0x2018, r == 0x2019, r == 0x2026:
		return apart
	case r >= 0x2000 && r < 0x2070, r >= 0xFF00 && r < 0xFFF0, r >= 0xFE00 && r < 0xFE70, r >= 0xE0000 && r < 0xE01F0:
		return special
	case unicode.IsLetter(r) || unicode.Is(unicode.Mn, r) || unicode.Is(unicode.Mc, r):
		if r >= 0x1D400 && r < 0x1D800 || r >= 0x1E00 && r < 0x2000 || r >= 0x2100 && r < 0x2190 || unicode.Is(unicode.Mn, r) {
			return special // mathematical letters and letters with marks
		}
		return foreign
	case unicode.IsDigit(r), unicode.IsNumber(r), unicode.Is(unicode.Cf, r), unicode.Is(unicode.Zs, r), unicode.Is(unicode.Pd, r), r == 0x2212:
		return special
	}
	return apart
}
