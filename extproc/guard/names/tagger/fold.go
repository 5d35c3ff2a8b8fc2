package tagger

import (
	"unicode"
	"unicode/utf8"
)

// latin has the base letters of U+00C0 to U+017F. A space says that a character has none.
const latin = "aaaaaaaceeeeiiiidnooooo ouuuuytsaaaaaaaceeeeiiiidnooooo ouuuuyty" +
	"aaaaaaccccccccddddeeeeeeeeeegggggggghhhhiiiiiiiiiiiijjkkklllllll" +
	"lllnnnnnnnnnoooooooorrrrrrssssssssttttttuuuuuuuuuuuuwwyyyzzzzzzs"

// fold returns the form in which words are compared: lower case, and Latin letters without diacritics.
func fold(r rune) rune {
	switch {
	case r < utf8.RuneSelf:
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
	case 0xC0 <= r && r < 0x180:
		if base := rune(latin[r-0xC0]); base != ' ' {
			return base
		}
	case 0x1E00 <= r && r < 0x1F00: // Vietnamese, mostly
		return foldVietnamese(r)
	case 0x300 <= r && r < 0x370:
		return -1 // a combining mark
	default:
		return unicode.ToLower(r)
	}
	return r
}

// foldVietnamese returns the base letter of a character with two diacritics.
func foldVietnamese(r rune) rune {
	switch {
	case 0x1EA0 <= r && r <= 0x1EB7:
		return 'a'
	case 0x1EB8 <= r && r <= 0x1EC7:
		return 'e'
	case 0x1EC8 <= r && r <= 0x1ECB:
		return 'i'
	case 0x1ECC <= r && r <= 0x1EE3:
		return 'o'
	case 0x1EE4 <= r && r <= 0x1EF1:
		return 'u'
	case 0x1EF2 <= r && r <= 0x1EF9:
		return 'y'
	}
	return unicode.ToLower(r)
}

const (
	hashStart = 2166136261
	hashPrime = 16777619
)

func hashRune(h uint32, r rune) uint32 {
	for ; r > 0xFF; r >>= 8 {
		h = (h ^ uint32(r&0xFF)) * hashPrime
	}
	return (h ^ uint32(r)) * hashPrime
}

// mix spreads the bits of a hash.
func mix(h uint32) uint32 {
	h ^= h >> 16
	h *= 0x85ebca6b
	h ^= h >> 13
	h *= 0xc2b2ae35
	return h ^ h>>16
}

// HashWord returns the hash of a word in the form in which words are compared.
func HashWord(word string) uint32 {
	h := uint32(hashStart)
	for _, r := range word {
		if r == '\'' || r == '’' {
			continue
		}
		if f := fold(r); f > 0 {
			h = hashRune(h, f)
		}
	}
	return mix(h)
}

// HashPair returns the hash of two words of a place that has several.
func HashPair(first, second uint32) uint32 { return mix(first*31 + second ^ 0x5bd1e995) }
