package money

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"strings"
)

// Total is a sum of amounts, in pico-dollars: High x 2^64 + Low. An amount is one
// Total only, whose High is 0 as long as a Pico holds it. It takes 2^64 of the largest
// amounts to leave the range, so its sums are exact, in any order.
type Total struct {
	High int64
	Low  Pico
}

// Total is the amount as a sum.
func (p Pico) Total() Total { return Total{Low: p} }

// Add returns t+o.
func (t Total) Add(o Total) Total {
	sum := Total{High: t.High + o.High, Low: t.Low + o.Low}
	switch {
	case t.Low >= 0 && o.Low >= 0 && sum.Low < 0:
		sum.High++
	case t.Low < 0 && o.Low < 0 && sum.Low >= 0:
		sum.High--
	}
	return sum
}

// Neg returns -t.
func (t Total) Neg() Total {
	if t.Low == math.MinInt64 { // whose opposite is 2^64 above it
		return Total{High: 1 - t.High, Low: t.Low}
	}
	return Total{High: -t.High, Low: -t.Low}
}

// Compare returns -1, 0 or +1 as t is less than, equal to or more than o.
func (t Total) Compare(o Total) int {
	return cmp.Or(cmp.Compare(t.High, o.High), cmp.Compare(t.Low, o.Low))
}

// Pico returns the sum, held within the range of Pico.
func (t Total) Pico() Pico {
	switch {
	case t.High > 0:
		return math.MaxInt64
	case t.High < 0:
		return math.MinInt64
	}
	return t.Low
}

// chunk is what String takes off a sum at a time: so many digits.
const (
	chunk       = 1e18
	chunkDigits = 18
)

// String returns the sum in dollars as Pico's does.
func (t Total) String() string {
	if t.Compare(Total{}) < 0 {
		return "-" + t.Neg().String()
	}
	if t.High == 0 {
		return t.Low.String()
	}
	high, low := uint64(t.High), uint64(t.Low)
	if t.Low < 0 {
		high--
	}
	digits := ""
	for high != 0 {
		var rest uint64
		high, rest = high/chunk, high%chunk
		low, rest = bits.Div64(rest, low, chunk)
		digits = fmt.Sprintf("%0*d", chunkDigits, rest) + digits
	}
	digits = fmt.Sprint(low) + digits
	point := len(digits) - decimals
	return strings.TrimRight(strings.TrimRight(digits[:point]+"."+digits[point:], "0"), ".")
}

// MarshalJSON writes the sum as a JSON number in dollars.
func (t Total) MarshalJSON() ([]byte, error) { return []byte(t.String()), nil }
