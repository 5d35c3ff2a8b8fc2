package splice

import (
	"encoding/binary"
	"math/bits"
)

// maxDepth limits the number of open objects and arrays. Real requests stay under 50; a JSON
// schema may reach 100.
const maxDepth = 512

// Constants for tests on eight bytes at a time.
const (
	lanes   = 0x0101010101010101
	highs   = 0x80 * lanes
	flipped = 0x02 * lanes // turns '"' (0x22) into 0x20, and keeps 0x00-0x1f below that
	limit   = 0x21 * lanes
	slashes = '\\' * lanes
)

// scanner validates JSON from left to right. Its methods take the index of the next byte. They
// return the index after the value, or a negative number from fail, so that the result fits one
// register. It never allocates.
type scanner struct {
	b     []byte
	seen  uint64 // OR of all string bytes: a high bit means that some are not ASCII
	depth int    // containers that the callers of value have entered
	esc   bool   // the last string had an escape
	deep  bool   // the failure is about depth
}

// fail encodes the index of the first invalid byte as a failure.
func fail(i int) int { return -1 - i }

// space skips white space.
func (s *scanner) space(i int) int {
	if i < len(s.b) && s.b[i] <= ' ' {
		return s.spaces(i)
	}
	return i
}

func (s *scanner) spaces(i int) int {
	for i < len(s.b) {
		switch s.b[i] {
		case ' ', '\n', '\r', '\t':
			i++
		default:
			return i
		}
	}
	return i
}

// str reads the rest of a string whose opening quote is before i. It tests eight bytes at once
// for a quote, a backslash or a control character. bytes.IndexByte would find the quote faster,
// but the control characters must be checked as well.
func (s *scanner) str(i int) int {
	b, seen := s.b, s.seen
	s.esc = false
	for {
		hit := false
		for i+8 <= len(b) {
			x := binary.LittleEndian.Uint64(b[i:])
			seen |= x
			// A borrow can only spoil lanes above the first hit, so the first is exact.
			if m := (((x ^ flipped) - limit) | ((x ^ slashes) - lanes)) &^ x & highs; m != 0 {
				i += bits.TrailingZeros64(m) >> 3
				hit = true
				break
			}
			i += 8
		}
		if !hit {
			for i < len(b) && b[i] >= ' ' && b[i] != '"' && b[i] != '\\' {
				seen |= uint64(b[i])
				i++
			}
			if i == len(b) {
				return fail(i)
			}
		}
		switch b[i] {
		case '"':
			s.seen = seen
			return i + 1
		case '\\':
			if i = s.escape(i); i < 0 {
				return i
			}
		default:
			return fail(i)
		}
	}
}

// escape reads the escape at i. It rejects a lone surrogate, because UTF-8 cannot encode it: a
// later decoder would have to substitute another character.
func (s *scanner) escape(i int) int {
	s.esc = true
	b := s.b
	if i+1 >= len(b) {
		return fail(len(b))
	}
	switch b[i+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return i + 2
	case 'u':
	default:
		return fail(i + 1)
	}
	high := hex4(b, i+2)
	switch {
	case high < 0 || high&0xfc00 == 0xdc00:
		return fail(i)
	case high&0xfc00 != 0xd800:
		return i + 6
	}
	if i+8 > len(b) || b[i+6] != '\\' || b[i+7] != 'u' || hex4(b, i+8)&^0x3ff != 0xdc00 {
		return fail(i)
	}
	return i + 12
}

func hex4(b []byte, i int) int {
	if i+4 > len(b) {
		return -1
	}
	v := 0
	for _, c := range b[i : i+4] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return -1
		}
		v = v<<4 | int(c)
	}
	return v
}

// value reads a value of any kind that begins at i.
func (s *scanner) value(i int) int {
	if i >= len(s.b) {
		return fail(i)
	}
	switch c := s.b[i]; c {
	case '"':
		return s.str(i + 1)
	case '{', '[':
		return s.nest(i)
	default:
		return s.scalar(i)
	}
}

// scalar reads the number or literal at i.
func (s *scanner) scalar(i int) int {
	switch s.b[i] {
	case 't':
		return s.literal(i, "true")
	case 'f':
		return s.literal(i, "false")
	case 'n':
		return s.literal(i, "null")
	default:
		return s.number(i)
	}
}

func (s *scanner) literal(i int, want string) int {
	for k := range len(want) {
		if i+k >= len(s.b) || s.b[i+k] != want[k] {
			return fail(i + k)
		}
	}
	return i + len(want)
}

// digits skips decimal digits.
func (s *scanner) digits(i int) int {
	for i < len(s.b) && s.b[i]-'0' <= 9 {
		i++
	}
	return i
}

func (s *scanner) number(i int) int {
	b := s.b
	if b[i] == '-' {
		i++
	}
	from := i
	i = s.digits(i)
	if i == from || i > from+1 && b[from] == '0' {
		return fail(from)
	}
	if i < len(b) && b[i] == '.' {
		from = i + 1
		if i = s.digits(from); i == from {
			return fail(i)
		}
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		i++
		if i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		from = i
		if i = s.digits(from); i == from {
			return fail(i)
		}
	}
	return i
}

// nest reads the object or array at i with its content. It keeps one bit per open container
// instead of recursing, so that deeply nested input uses no stack.
func (s *scanner) nest(i int) int {
	var objects [maxDepth / 64]uint64
	depth := s.depth
	for {
		// i is at the opening bracket of a container.
		if depth == maxDepth {
			s.deep = true
			return fail(i)
		}
		object := s.b[i] == '{'
		mark(&objects, depth, object)
		depth++
		i = s.space(i + 1)
		if i >= len(s.b) {
			return fail(i)
		}
		done := s.b[i] == closer(object)
		for {
			if done {
				i++
				if depth--; depth == s.depth {
					return i
				}
				object = objects[(depth-1)>>6]>>((depth-1)&63)&1 != 0
				if i = s.space(i); i >= len(s.b) {
					return fail(i)
				}
				if done = s.b[i] == closer(object); done {
					continue
				}
				if s.b[i] != ',' {
					return fail(i)
				}
				i = s.space(i + 1)
			}
			if i, done = s.run(i, object); i < 0 {
				return i
			}
			if !done {
				break
			}
		}
	}
}

// run reads members or elements from i until the container ends or another one opens, and
// returns the index of that bracket. done means that it is the closing one.
func (s *scanner) run(i int, object bool) (at int, done bool) { //nolint:revive // the kind of container, not a mode
	closing := closer(object)
	for {
		if object {
			if i = s.name(i); i < 0 {
				return i, false
			}
		}
		if i >= len(s.b) {
			return fail(i), false
		}
		switch s.b[i] {
		case '{', '[':
			return i, false
		case '"':
			i = s.str(i + 1)
		default:
			i = s.scalar(i)
		}
		if i < 0 {
			return i, false
		}
		if i = s.space(i); i >= len(s.b) {
			return fail(i), false
		}
		switch s.b[i] {
		case ',':
			i = s.space(i + 1)
		case closing:
			return i, true
		default:
			return fail(i), false
		}
	}
}

// name reads a member's name, the colon, and the white space after it.
func (s *scanner) name(i int) int {
	if i >= len(s.b) || s.b[i] != '"' {
		return fail(i)
	}
	if i = s.str(i + 1); i < 0 {
		return i
	}
	if i = s.space(i); i >= len(s.b) || s.b[i] != ':' {
		return fail(i)
	}
	return s.space(i + 1)
}

func mark(objects *[maxDepth / 64]uint64, depth int, object bool) { //nolint:revive // the bit to store, not a mode
	bit := uint64(1) << (depth & 63)
	if object {
		objects[depth>>6] |= bit
	} else {
		objects[depth>>6] &^= bit
	}
}

func closer(object bool) byte { //nolint:revive // the kind of container, not a mode
	if object {
		return '}'
	}
	return ']'
}
