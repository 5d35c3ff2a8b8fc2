package remote

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/modelgateway/modelgateway/extproc/guard/engine"
)

// size bounds the parts of a text, in bytes.
type size struct {
	least int // a sentence that ends earlier goes on with the next one
	most  int // a longer sentence is cut
}

// The sizes of parts. A stream holds back what is shorter than a part, and a service needs some text to understand.
func ofResponse() size { return size{48, engine.Ahead} }
func ofRequest() size  { return size{4096, 8192} }

// next returns the length of the first part of text, and whether it is cut within a sentence. It is 0 if what may follow
// decides; that is never so if text has s.most bytes. end says that nothing follows.
func (s size) next(text []byte, end bool) (n int, cut bool) {
	limit := min(len(text), s.most)
	over := false // a sentence ends with the next space
	word := 0     // where the word began that is being read
	space := 0    // behind the last space
	for i := 0; i < limit; {
		r, width := utf8.DecodeRune(text[i:limit])
		if r == utf8.RuneError && width == 1 && !utf8.FullRune(text[i:limit]) {
			break
		}
		i += width
		switch {
		case r == '\n', wideEnds(r):
			if i >= s.least {
				return i, false
			}
			over, word, space = false, i, i
		case unicode.IsSpace(r):
			if over && i >= s.least {
				return i, false
			}
			over, word, space = false, i, i
		case r == '.':
			over = !abbreviated(text[word : i-width])
		case r == '!', r == '?', r == '…':
			over = true
		case over && closes(r):
		default:
			over = false
		}
	}
	switch {
	case len(text) >= s.most && space > 0:
		return space, true
	case len(text) >= s.most:
		return whole(text[:s.most]), true
	case end:
		return len(text), false
	}
	return 0, false
}

// wideEnds reports whether a sentence ends with a character, also without a space behind it.
func wideEnds(r rune) bool { return r == '。' || r == '！' || r == '？' }

// closes reports whether a character may stand between the end of a sentence and the space behind it.
func closes(r rune) bool { return strings.ContainsRune(`"')]}»”’.!?`, r) }

// abbreviated reports whether a full stop behind a word is most likely not the end of a sentence: initials, titles.
func abbreviated(word []byte) bool {
	word = word[lastBreak(word):]
	if utf8.RuneCount(word) == 1 {
		r, _ := utf8.DecodeRune(word)
		return unicode.IsLetter(r)
	}
	if len(word) > 5 {
		return false
	}
	return slices.Contains([]string{
		"mr", "mrs", "ms", "dr", "prof", "st", "jr", "sr", "hon", "rev", "gen", "col", "lt", "sgt", "capt", "no", "nr", "vs", "etc", "inc", "ltd", "co", "corp",
		"ave", "rd", "blvd", "apt", "fig", "vol", "ca", "cf", "al", "bzw", "usw", "str", "tel", "hr", "fr", "ing", "dipl", "mme", "mlle", "sra", "dra",
	}, strings.ToLower(string(word)))
}

// lastBreak returns where the last run of letters begins in a word, as in "(Dr" or "U.S".
func lastBreak(word []byte) int {
	for i := len(word); i > 0; {
		r, width := utf8.DecodeLastRune(word[:i])
		if !unicode.IsLetter(r) {
			return i
		}
		i -= width
	}
	return 0
}

// whole returns the length of text without the character at its end that is not complete.
func whole(text []byte) int {
	for n := len(text) - 1; n >= 0 && n >= len(text)-utf8.UTFMax; n-- {
		if utf8.RuneStart(text[n]) {
			if utf8.FullRune(text[n:]) {
				return len(text)
			}
			return max(n, 1)
		}
	}
	return len(text)
}
