package pii

import (
	"unicode"
	"unicode/utf8"
)

// Context is the words before a candidate: so many, in so many bytes.
const (
	contextWords = 6
	contextBytes = 128
)

// contextAt is the context of a place, so that it is read once.
type contextAt struct {
	place int // in the view; -1 for none
	bits  uint64
}

// contextBefore returns the entities, as bits, whose context has one of the words before the byte n of the view.
func (s *coreScanner) contextBefore(n int) uint64 {
	if s.ctx.place != n {
		s.ctx = contextAt{n, s.c.table.context.before(s.text[:s.base+s.from(n)])}
	}
	return s.ctx.bits
}

// contexts are the words of contexts in small letters, each with the entities that it speaks for, as bits.
type contexts map[string]uint64

// before returns the bits of the last words of text. A word is of letters; one that is written like
// accountNumber is two.
func (c contexts) before(text []byte) (bits uint64) {
	from := max(0, len(text)-contextBytes)
	end := len(text)
	for range contextWords {
		for end > from && !isWordLetter(text[end-1]) {
			end--
		}
		start := end
		for start > from && isWordLetter(text[start-1]) {
			start--
			if isUpper(text[start]) && start > from && isLower(text[start-1]) {
				break
			}
		}
		if start == end {
			return bits
		}
		bits |= c.of(text[start:end])
		end = start
	}
	return bits
}

func isWordLetter(b byte) bool { return isLetter(b) || b >= utf8.RuneSelf }

func isLower(b byte) bool { return b-'a' < 26 }

// of returns the bits of a word, also for a plural with s.
func (c contexts) of(word []byte) uint64 {
	var buf [40]byte
	small := buf[:0]
	for i := 0; i < len(word); {
		if len(small) > len(buf)-utf8.UTFMax {
			return 0
		}
		if word[i] < utf8.RuneSelf {
			small = append(small, word[i]|0x20)
			i++
			continue
		}
		r, size := utf8.DecodeRune(word[i:])
		small = utf8.AppendRune(small, unicode.ToLower(r))
		i += size
	}
	bits, ok := c[string(small)]
	if n := len(small) - 1; !ok && n > 1 && small[n] == 's' {
		bits = c[string(small[:n])]
	}
	return bits
}
