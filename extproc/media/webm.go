package media

import (
	"encoding/binary"
	"math"
	"math/bits"
	"time"
)

// Identifiers of the elements that matter, with their length marks.
const (
	segment        = 0x18538067
	info           = 0x1549a966
	timestampScale = 0x2ad7b1
	duration       = 0x4489
	cluster        = 0x1f43b675
	timestamp      = 0xe7
	simpleBlock    = 0xa3
	blockGroup     = 0xa0
	block          = 0xa1
)

// unknownSize is the size of an element that ends where something begins that cannot be in it.
const unknownSize = math.MaxUint64

// webm returns the time that the file states. Browsers state none in recordings: then it is the
// time of the last block. It reads the elements in order and enters those with children, so it
// need not know where these end.
func webm(b []byte) (time.Duration, bool) {
	scale := uint64(time.Millisecond) // nanoseconds per unit
	var base, last uint64
	for {
		id, size, n := element(b)
		if n == 0 {
			break
		}
		b = b[n:]
		switch id {
		case segment, info, cluster, blockGroup:
			continue
		}
		if size > uint64(len(b)) {
			break
		}
		value := b[:size]
		b = b[size:]
		switch id {
		case timestampScale:
			scale = number(value)
		case duration:
			if d, ok := stated(value, scale); ok {
				return d, true
			}
		case timestamp:
			base = number(value)
			last = max(last, base)
		case simpleBlock, block:
			if _, track := vint(value); track > 0 && len(value) >= track+2 {
				after := int16(binary.BigEndian.Uint16(value[track:]))
				last = max(last, base+uint64(max(after, 0)))
			}
		}
	}
	high, nanoseconds := bits.Mul64(last, scale)
	if high > 0 {
		return 0, false
	}
	return seconds(nanoseconds, uint64(time.Second))
}

// stated returns the time of the element Duration, which counts in units of the scale.
func stated(value []byte, scale uint64) (time.Duration, bool) {
	var d float64
	switch len(value) {
	case 4:
		d = float64(math.Float32frombits(binary.BigEndian.Uint32(value)))
	case 8:
		d = math.Float64frombits(binary.BigEndian.Uint64(value))
	}
	d *= float64(scale)
	if !(d >= 1 && d <= float64(Longest)) { // the negation also rejects NaN
		return 0, false
	}
	return time.Duration(d), true
}

// element reads the header of an element: its identifier, its size, and the length of the header;
// 0 if there is none.
func element(b []byte) (id, size uint64, n int) {
	if len(b) == 0 || b[0] == 0 || bits.LeadingZeros8(b[0]) > 3 {
		return 0, 0, 0
	}
	length := bits.LeadingZeros8(b[0]) + 1
	if length > len(b) {
		return 0, 0, 0
	}
	size, m := vint(b[length:])
	if m == 0 {
		return 0, 0, 0
	}
	return number(b[:length]), size, length + m
}

// vint reads an integer of variable length and returns it with its length; 0 if there is none.
func vint(b []byte) (v uint64, n int) {
	if len(b) == 0 || b[0] == 0 {
		return 0, 0
	}
	n = bits.LeadingZeros8(b[0]) + 1
	if n > len(b) {
		return 0, 0
	}
	v = number(b[:n]) &^ (1 << (7 * n))
	if v == 1<<(7*n)-1 {
		v = unknownSize
	}
	return v, n
}

// number reads a big-endian integer of at most eight bytes.
func number(b []byte) uint64 {
	var v uint64
	for _, c := range b[:min(len(b), 8)] {
		v = v<<8 | uint64(c)
	}
	return v
}
