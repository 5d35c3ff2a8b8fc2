package tokens

import (
	"strings"
	"unicode/utf8"

	"github.com/tiktoken-go/tokenizer/codec"
)

// ExactBytes is the size up to which texts are counted completely: the sum of all texts of one
// call.
const ExactBytes = 64 << 10

const (
	windows    = 16                   // samples of a larger text
	windowSize = ExactBytes / windows // bytes of each
	pieceSize  = 4 << 10              // longest input of the tokenizer
	maxBlank   = 128                  // longest run of white space in the input; no token is longer
)

// count counts the texts, by samples if they are too long in total.
func count(c *codec.Codec, texts []string) int64 {
	var size int64
	for _, t := range texts {
		size += int64(len(t))
	}
	if size <= ExactBytes {
		return countAll(c, texts)
	}
	tokens, seen := int64(0), int64(0)
	at, start := 0, int64(0) // the text that contains the next window, and its start
	for i := range int64(windows) {
		// The spread includes both ends: the first window starts the text, the last ends it.
		from := (size - windowSize) * i / (windows - 1)
		for start+int64(len(texts[at])) <= from {
			start += int64(len(texts[at]))
			at++
		}
		n, bytes := countWindow(c, texts[at:], int(from-start))
		tokens, seen = tokens+n, seen+bytes
	}
	return (tokens*size + seen/2) / max(seen, 1)
}

// countWindow counts windowSize bytes from an offset in the first text, which may continue into
// the next texts. It returns the actual number of bytes.
func countWindow(c *codec.Codec, texts []string, from int) (tokens, bytes int64) {
	left := windowSize
	for _, t := range texts {
		for from < len(t) && !utf8.RuneStart(t[from]) {
			from++
		}
		t = t[from:]
		from = 0
		t = t[:boundary(t, left)]
		tokens += countText(c, t)
		bytes += int64(len(t))
		if left -= len(t); left < utf8.UTFMax {
			break
		}
	}
	return tokens, bytes
}

func countAll(c *codec.Codec, texts []string) int64 {
	var n int64
	for _, t := range texts {
		n += countText(c, t)
	}
	return n
}

// countText counts one text piece by piece.
func countText(c *codec.Codec, text string) int64 {
	// The tokenizer's expression matches every character except U+007F, which it skips; a
	// prompt of only those would be free.
	n := int64(strings.Count(text, "\x7f"))
	for text != "" {
		size := piece(text)
		k, err := c.Count(text[:size])
		if err != nil { // the regular expression engine gave up: four bytes per token is the usual rule
			k = (size + 3) / 4
		}
		n += int64(k)
		text = text[size:]
	}
	return n
}

// piece returns how much of the text to count at once: up to pieceSize, but ending where a run
// of white space becomes too long. It prefers to cut before a nearby blank, where tokens begin
// anyway.
func piece(text string) int {
	limit := boundary(text, pieceSize)
	blanks := 0
	for i := range limit {
		if !blank(text[i]) {
			blanks = 0
			continue
		}
		if blanks++; blanks == maxBlank {
			return i + 1
		}
	}
	if limit == len(text) {
		return limit
	}
	for i := limit; i > limit-64 && i > 0; i-- {
		if text[i] == ' ' && !blank(text[i-1]) {
			return i
		}
	}
	return limit
}

// boundary returns at most n, moved down to the beginning of a character. Invalid UTF-8 is cut
// anywhere.
func boundary(text string, n int) int {
	if n >= len(text) {
		return len(text)
	}
	for i := n; i > n-utf8.UTFMax && i > 0; i-- {
		if utf8.RuneStart(text[i]) {
			return i
		}
	}
	return n
}

func blank(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }
