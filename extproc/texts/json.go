package texts

import (
	"encoding/binary"
	"math/bits"

	"github.com/modelgateway/modelgateway/extproc/splice"
)

// The functions of this file read JSON that a scanner has accepted, so they check nothing. Of other
// bytes they return some index, without a panic.

// space skips white space.
func space(b []byte, i int) int {
	for i < len(b) && b[i] <= ' ' {
		i++
	}
	return i
}

// Constants for tests on eight bytes at a time.
const (
	lanes   = 0x0101010101010101
	highs   = 0x80 * lanes
	quotes  = '"' * lanes
	slashes = '\\' * lanes
)

// str returns the index after the string whose opening quote is at i, and whether the string has escapes.
func str(b []byte, i int) (end int, escapes bool) {
	for i++; i+8 <= len(b); {
		x := binary.LittleEndian.Uint64(b[i:])
		quote, slash := x^quotes, x^slashes
		// A borrow can only spoil lanes above the first hit, so the first is exact.
		m := ((quote-lanes)&^quote | (slash-lanes)&^slash) & highs
		if m == 0 {
			i += 8
			continue
		}
		if i += bits.TrailingZeros64(m) >> 3; b[i] == '"' {
			return i + 1, escapes
		}
		i, escapes = i+2, true // a backslash and what it escapes
	}
	for ; i < len(b); i++ {
		switch b[i] {
		case '"':
			return i + 1, escapes
		case '\\':
			i, escapes = i+1, true
		}
	}
	return len(b), escapes
}

// skip returns the index after the value at i.
func skip(b []byte, i int) int {
	if i >= len(b) {
		return len(b)
	}
	switch b[i] {
	case '"':
		i, _ = str(b, i)
		return i
	case '{', '[':
		return nested(b, i)
	}
	for i++; i < len(b) && b[i] > ' ' && b[i] != ',' && b[i] != '}' && b[i] != ']'; {
		i++
	}
	return i
}

// nested returns the index after the object or array at i.
func nested(b []byte, i int) int {
	for depth := 0; i < len(b); {
		switch b[i] {
		case '"':
			i, _ = str(b, i)
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
		i++
	}
	return len(b)
}

// name reads the name of the member at i. It returns the name, without escapes, and the index of the
// value; ok is false at the end of the object, and at is then the index after it.
func name(b []byte, i int) (text []byte, at int, ok bool) {
	i = space(b, i)
	if i < len(b) && b[i] == ',' {
		i = space(b, i+1)
	}
	if i >= len(b) || b[i] != '"' {
		return nil, min(i+1, len(b)), false
	}
	text, end := stringAt(b, i)
	return text, space(b, space(b, end)+1), true
}

// element returns the index of the element at i; ok is false at the end of the array, and at is then
// the index after it.
func element(b []byte, i int) (at int, ok bool) {
	i = space(b, i)
	if i < len(b) && b[i] == ',' {
		i = space(b, i+1)
	}
	if i >= len(b) || b[i] == ']' {
		return min(i+1, len(b)), false
	}
	return i, true
}

// emptyObject reports whether the value at i is an object without members.
func emptyObject(b []byte, i int) bool {
	if i >= len(b) || b[i] != '{' {
		return false
	}
	i = space(b, i+1)
	return i < len(b) && b[i] == '}'
}

// find returns the text of a string member of the object at i, without escapes; nil if there is none.
// If the name occurs twice the first counts.
func find(b []byte, i int, want string) []byte {
	if at := member(b, i, want); at > 0 {
		text, _ := stringAt(b, at)
		return text
	}
	return nil
}

// stringAt returns the text of the string at i, without escapes, and the index after it; nil for another value.
func stringAt(b []byte, i int) (text []byte, end int) {
	if i >= len(b) || b[i] != '"' {
		return nil, i
	}
	end, escapes := str(b, i)
	if text = b[i+1 : max(end-1, i+1)]; escapes {
		text = splice.Plain(text)
	}
	return text, end
}

// isAny reports whether a member of the object at i is a text. Of two of that name either counts: readers
// differ in which one they take.
func isAny(b []byte, i int, want, value string) bool {
	for {
		at := member(b, i, want)
		if at == 0 {
			return false
		}
		if text, _ := stringAt(b, at); string(text) == value {
			return true
		}
		i = skip(b, at)
	}
}

// index returns the value of a member that is a small number; or, if there is none.
func index(b []byte, i int, want string, or int) int {
	const most = 1 << 20
	at := member(b, i, want)
	if at == 0 || b[at]-'0' > 9 {
		return or
	}
	n := 0
	for ; at < len(b) && b[at]-'0' <= 9 && n < most; at++ {
		n = 10*n + int(b[at]-'0')
	}
	return n
}

// member returns the index of the value of a member of the object at i, or of one after the member that ends
// at i; 0 if there is none.
func member(b []byte, i int, want string) int {
	if i < len(b) && b[i] == '{' {
		i++
	}
	for {
		text, at, ok := name(b, i)
		if !ok || at >= len(b) {
			return 0
		}
		if string(text) == want {
			return at
		}
		i = skip(b, at)
	}
}
