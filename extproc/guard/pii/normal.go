package pii

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// The normal form is what detection reads: without characters that show nothing (zero-width characters, tags,
// selectors of variants, marks on letters), with the digits of all scripts and the look-alikes of Unicode's
// compatibility forms as ASCII, spaces as a space, hyphens and dashes as a hyphen. Each character has its form
// whatever is next to it, so that the form of a text does not depend on where it is cut. That is why letters
// lose their marks: composing them would depend on what follows.

// gone is the form of a character that ends a run.
const gone = 0x01

// normalForm appends the normal form of raw to v, and to m the place in raw of each of its bytes, then the
// length of raw.
func normalForm(raw, v []byte, m []int32) ([]byte, []int32) {
	for i := 0; i < len(raw); {
		if raw[i] < utf8.RuneSelf {
			v, m = append(v, raw[i]), append(m, int32(i))
			i++
			continue
		}
		r, size := utf8.DecodeRune(raw[i:])
		before := len(v)
		switch kindOf(r) {
		case foreign:
			v = append(v, raw[i:i+size]...)
		case apart:
			v = append(v, gone)
		default:
			v = appendForm(v, r)
		}
		for range len(v) - before {
			m = append(m, int32(i))
		}
		i += size
	}
	return v, append(m, int32(len(raw)))
}

// appendForm appends the form of a special character.
func appendForm(v []byte, r rune) []byte {
	switch {
	case unicode.Is(unicode.Mn, r), unicode.Is(unicode.Cf, r), unicode.Is(unicode.Me, r), r >= 0xFE00 && r < 0xFE10:
		return v
	case unicode.Is(unicode.Zs, r), r == 0x2028, r == 0x2029:
		return append(v, ' ')
	case unicode.Is(unicode.Pd, r), r == 0x2212:
		return append(v, '-')
	case unicode.IsDigit(r):
		return append(v, digitOf(r))
	}
	var text [utf8.UTFMax]byte
	n := utf8.EncodeRune(text[:], r)
	form := norm.NFKD.Properties(text[:n]).Decomposition()
	if form == nil {
		form = text[:n]
	}
	before := len(v)
	for i := 0; i < len(form); {
		d, size := utf8.DecodeRune(form[i:])
		i += size
		switch {
		case unicode.Is(unicode.Mn, d):
		case d < utf8.RuneSelf:
			v = append(v, byte(d))
		case unicode.IsDigit(d):
			v = append(v, digitOf(d))
		case unicode.IsLetter(d):
			v = utf8.AppendRune(v, d)
		default:
			v = append(v, gone)
		}
	}
	if len(v) == before {
		return append(v, gone)
	}
	return v
}

// digitOf returns the value of a decimal digit of any script as a digit of ASCII. Unicode has the digits of
// each script in a row, from zero to nine.
func digitOf(r rune) byte {
	if r >= 0x1D7CE && r <= 0x1D7FF { // five rows of mathematical digits without a gap
		return '0' + byte((r-0x1D7CE)%10)
	}
	zero := r
	for n := 0; n < 9 && unicode.IsDigit(zero-1); n++ {
		zero--
	}
	return '0' + byte(r-zero)
}
