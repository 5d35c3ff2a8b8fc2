package tokens

import "unicode/utf8"

// Units of the weights, and what is added to them.
const (
	unit     = 40             // units of one token
	stride   = classCount + 1 // of a line of weights
	zero     = '!'            // the character of weight 0
	longWord = 8              // letters beyond so many in one word have an additional weight
	margin   = 3              // tokens that are added to each bound: a short text has no average
)

// Bound is a cheap upper bound of how many tokens a model reads: about as fast as the
// bytes can be read, without a vocabulary and without memory. The zero value is of no
// use; see NewBound. It grows linearly with the text.
//
// It looks at pairs of classes of bytes, and for blocks that repeat a few bytes. For real
// text and for generated text, each on its own, it is below the tokenizer's count in fewer
// than one of a thousand cases, and on average at most 1.6 times as high. It is no proof:
// a caller that knows the weights can make a text that has half as many tokens again.
type Bound struct {
	weights string
	long    uint32
	prev    byte   // the class of the last byte
	word    uint32 // how many letters there were since the last byte that is none
	sum     uint64
}

// NewBound returns the bound of an empty text, for a model.
func NewBound(model string) Bound {
	if encodingOf(model) == cl100k {
		return Bound{weights: weightsCl100k, long: longCl100k, prev: classNewline}
	}
	return Bound{weights: weightsO200k, long: longO200k, prev: classNewline}
}

// SameBound reports whether the bounds of two models are the same for every text.
func SameBound(a, b string) bool { return encodingOf(a) == encodingOf(b) }

// Tokens returns the bound of what was added.
func (b *Bound) Tokens() int64 { return int64((b.sum+unit-1)/unit) + margin }

// Add adds JSON. Escapes count as the characters that they stand for.
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

// block adds the first bytes of some JSON, and returns how many.
func (b *Bound) block(json []byte) int {
	weights, prev, word, sum, i := b.weights, uint32(b.prev), b.word, b.sum, 0
	for ; i < min(len(json), blockSize); i++ {
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
	blockSize = 128 // bytes; a block has some more if it ends in an escape
	repeated  = 24  // bytes that must come again for a block to be repetitive
)

// perByte is the least weight of each byte of a repetitive block, by how many bytes are
// repeated. One character again and again is cheap, and the pairs of classes cover it.
const perByte = "\x00\x00\x16\x1e\x21\x20\x20"

// leastOf is the least weight of a block. Text that repeats a few bytes has tokens that the
// same pairs of bytes have not in usual text: nearly one for each byte.
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

// escaped appends the text of an escape, which is given without its backslash, and
// returns the size of the escape in bytes. Of a surrogate pair the first half becomes a
// character of four bytes, and the second nothing.
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
