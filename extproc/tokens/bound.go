package tokens

import "unicode/utf8"

// Units of the weights, and constants added to them.
const (
	unit     = 40             // units of one token
	stride   = classCount + 1 // of a line of weights
	zero     = '!'            // the character of weight 0
	longWord = 8              // in a longer word, each further letter has an additional weight
	margin   = 3              // tokens added to each bound, because a short text may deviate from the average
)

// Bound is a cheap upper bound of the number of tokens that a model reads. It is about as fast
// as reading the bytes, and needs neither a vocabulary nor memory. The zero value is invalid;
// see NewBound. It grows linearly with the text.
//
// It uses pairs of byte classes, and detects blocks that repeat a few bytes. For real text and
// for generated text, each on its own, it is below the tokenizer's count in fewer than one of a
// thousand cases. On average it is at most 1.6 times as high. It is not a proof: a caller that
// knows the weights can construct a text with one and a half times as many tokens.
type Bound struct {
	weights string
	long    uint32
	prev    byte   // the class of the last byte
	word    uint32 // number of letters at the end so far
	sum     uint64
}

// NewBound returns the bound of an empty text for a model.
func NewBound(model string) Bound {
	if encodingOf(model) == cl100k {
		return Bound{weights: weightsCl100k, long: longCl100k, prev: classNewline}
	}
	return Bound{weights: weightsO200k, long: longO200k, prev: classNewline}
}

// SameBound reports whether two models have the same bounds.
func SameBound(a, b string) bool { return encodingOf(a) == encodingOf(b) }

// Tokens returns the bound of the added text.
func (b *Bound) Tokens() int64 { return int64((b.sum+unit-1)/unit) + margin }

// Add adds JSON. Escapes count as the characters that they encode.
func (b *Bound) Add(json []byte) {
	for len(json) > 0 {
		before := b.sum
		n := b.block(json)
		if least := leastOf(json[:n]); b.sum-before < least {
			b.sum = before + least
		}
		json = json[n:]
	}
}

// block adds the first bytes of JSON, and returns their number.
func (b *Bound) block(json []byte) int {
	weights, prev, word, sum, i := b.weights, uint32(b.prev), b.word, b.sum, 0
	for n := min(len(json), blockSize); i < n; i++ {
		cur := uint32(classes[json[i]] - zero)
		switch {
		case cur-classLower < classDigit-classLower:
			if word++; word > longWord {
				sum += uint64(b.long)
			}
		case cur == classBackslash && i+1 < len(json):
			var space [utf8.UTFMax]byte
			text, size := escaped(space[:0], json[i+1:])
			for _, c := range text {
				if cur = uint32(classes[c] - zero); cur == classContinued {
					cur = prev
				}
				sum += uint64(weights[prev*stride+cur] - zero)
				prev = cur
			}
			i, word = i+size, 0
			continue
		case cur == classContinued:
			cur = prev
		default:
			word = 0
		}
		sum += uint64(weights[prev*stride+cur] - zero)
		prev = cur
	}
	b.prev, b.word, b.sum = byte(prev), word, sum
	return min(i, len(json))
}

const (
	blockSize = 128 // bytes; a block that ends in an escape is slightly longer
	repeated  = 24  // length of the comparison that detects a repetitive block
)

// perByte is the lowest weight of each byte of a repetitive block, by the period of the
// repetition. A single repeated character is cheap, and the pairs of classes cover it.
const perByte = "\x00\x00\x16\x1e\x21\x20\x20"

// leastOf returns the lowest weight of a block. Text that repeats a few bytes has nearly one
// token for each byte, unlike the same pairs of bytes in usual text.
func leastOf(block []byte) uint64 {
	const longest = len(perByte) - 1
	if len(block) < repeated+longest {
		return 0
	}
	middle := block[(len(block)-repeated-longest)/2:] // a quote may begin or end the block
	for n := 1; n <= longest; n++ {
		if string(middle[:repeated]) != string(middle[n:n+repeated]) {
			continue
		}
		for i, c := range middle[:n] {
			if next := middle[i+1]; c == '\\' && next != '"' && next != '\\' && (i == 0 || middle[i-1] != '\\') {
				return uint64(len(block)) // white space and control characters, which are cheap
			}
		}
		return uint64(len(block)) * uint64(perByte[n])
	}
	return 0
}

// escaped appends the text of an escape, given without its backslash, and returns the size of
// the escape in bytes. Of a surrogate pair, the first half becomes a character of four bytes,
// and the second becomes nothing.
func escaped(dst, escape []byte) (text []byte, size int) {
	switch escape[0] {
	case 'n', 'r':
		return append(dst, '\n'), 1
	case 't':
		return append(dst, '\t'), 1
	case 'b', 'f':
		return append(dst, '\b'), 1
	case 'u':
	default:
		return append(dst, escape[0]), 1
	}
	if len(escape) < 5 {
		return dst, 1
	}
	var c rune
	for _, d := range escape[1:5] {
		switch {
		case '0' <= d && d <= '9':
			d -= '0'
		case 'a' <= d|0x20 && d|0x20 <= 'f':
			d = d | 0x20 - 'a' + 10
		default:
			return dst, 1
		}
		c = c<<4 | rune(d)
	}
	switch {
	case 0xd800 <= c && c < 0xdc00:
		c = 0x1f600
	case 0xdc00 <= c && c < 0xe000:
		return dst, 5
	}
	return utf8.AppendRune(dst, c), 5
}
