package splice

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// badUTF8 returns the index of the first invalid byte, or -1. If str has seen only ASCII, it
// does not search.
func (s *scanner) badUTF8() int {
	if s.seen&highs == 0 {
		return -1
	}
	return badUTF8(s.b)
}

// The bits that identify two characters of three bytes, read as a little-endian number, and the
// bits in which each of them can still be invalid.
const (
	pairMask  = 0xc0c0f0_c0c0f0
	pairForm  = 0x8080e0_8080e0
	threeRest = 0x00200f
	overlong  = 0x000000 // e0 80-9f: a shorter form exists
	surrogate = 0x00200d // ed a0-bf: lone surrogate
)

// badUTF8 is utf8.Valid with an index. It is twice as fast on Chinese, Japanese and Korean
// text, where nearly all characters have three bytes: it tests two of them in one load. Other
// non-ASCII characters go to the standard library.
func badUTF8(b []byte) int {
	i := 0
	for i+8 <= len(b) {
		x := binary.LittleEndian.Uint64(b[i:])
		if x&pairMask == pairForm && three(x) && three(x>>24) {
			i += 6
			continue
		}
		if n := bits.TrailingZeros64(x&highs) >> 3; n > 0 { // 8 if there is no high bit
			i += n
			continue
		}
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n <= 1 {
			return i
		}
		i += n
	}
	for i < len(b) {
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n <= 1 {
			return i
		}
		i += n
	}
	return -1
}

// three reports whether x, which has the form of a three-byte character, is valid.
func three(x uint64) bool {
	rest := x & threeRest
	return rest != overlong && rest != surrogate
}
