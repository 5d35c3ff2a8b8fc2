package price

import (
	"errors"
	"math"
	"math/bits"
	"strings"

	"github.com/modelgateway/modelgateway/cluster/money"
)

// rate is a price per unit in yocto-dollars (1e-24 USD) with 128 bits. Some published prices are
// finer than a pico-dollar (about a hundred of the list's fourteen thousand, with up to 24
// decimals). Rounding such a price would multiply its error by a million tokens, so only the
// total of a request is rounded. The same type holds those totals.
type rate struct{ hi, lo uint64 }

const (
	rateDecimals = 24   // how many places after the point a rate has, in dollars
	yoctoPerPico = 1e12 // 1e-12 / 1e-24
)

// maxRateDollars is the highest plausible price per unit. Times the largest plausible count
// (2^31) it is far below 128 bits.
const maxRateDollars = 1000

// ErrSyntax is the error of a price that is not a number.
var ErrSyntax = errors.New("not a decimal number")

// The other errors of parseRate.
var (
	errRateNegative = errors.New("negative")
	errRateFine     = errors.New("finer than 24 decimals")
	errRateRange    = errors.New("above 1000 dollars a unit")
)

// Check returns the error of the value of a price: ErrSyntax if it is not a number.
func Check(value string) error {
	_, err := parseRate(value)
	return err
}

// parseRate reads an exact decimal amount of dollars, with or without exponent.
func parseRate(s string) (rate, error) {
	if strings.HasPrefix(s, "-") {
		return rate{}, errRateNegative
	}
	digits, exponent, ok := decimal(s)
	if !ok {
		return rate{}, ErrSyntax
	}
	digits = strings.TrimLeft(digits, "0")
	for strings.HasSuffix(digits, "0") {
		digits, exponent = digits[:len(digits)-1], exponent+1
	}
	exponent += rateDecimals
	switch {
	case digits == "":
		return rate{}, nil
	case exponent < 0:
		return rate{}, errRateFine
	case len(digits)+exponent > rateDecimals+4: // 1000.000… has 4 digits before the point
		return rate{}, errRateRange
	}
	var r rate
	for i := range len(digits) {
		r = r.times(10).plus(rate{lo: uint64(digits[i] - '0')})
	}
	for range exponent {
		r = r.times(10)
	}
	most := rate{lo: maxRateDollars}.times(yoctoPerPico).times(yoctoPerPico)
	if r.above(most) {
		return rate{}, errRateRange
	}
	return r, nil
}

// decimal splits a number into its digits without a point and its power of ten.
func decimal(s string) (digits string, exponent int, ok bool) {
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		exponent, ok = smallInt(s[i+1:])
		if !ok {
			return "", 0, false
		}
		s = s[:i]
	}
	whole, fraction, point := strings.Cut(s, ".")
	digits = whole + fraction
	if digits == "" || len(digits) > 64 || point && fraction == "" {
		return "", 0, false
	}
	for i := range len(digits) {
		if digits[i] < '0' || digits[i] > '9' {
			return "", 0, false
		}
	}
	return digits, exponent - len(fraction), true
}

// smallInt reads an exponent of at most three digits.
func smallInt(s string) (n int, ok bool) {
	sign := 1
	if rest, negative := strings.CutPrefix(s, "-"); negative {
		sign, s = -1, rest
	} else {
		s = strings.TrimPrefix(s, "+")
	}
	if s == "" || len(s) > 3 {
		return 0, false
	}
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
		n = n*10 + int(s[i]-'0')
	}
	return sign * n, true
}

// times returns r x n, clamped to 128 bits. A count below 1 counts as 0.
func (r rate) times(n int64) rate {
	if n <= 0 {
		return rate{}
	}
	hi, lo := bits.Mul64(r.lo, uint64(n))
	over, mid := bits.Mul64(r.hi, uint64(n))
	hi, carry := bits.Add64(hi, mid, 0)
	if over != 0 || carry != 0 {
		return rate{math.MaxUint64, math.MaxUint64}
	}
	return rate{hi, lo}
}

// plus returns r + o, clamped to 128 bits.
func (r rate) plus(o rate) rate {
	lo, carry := bits.Add64(r.lo, o.lo, 0)
	hi, carry := bits.Add64(r.hi, o.hi, carry)
	if carry != 0 {
		return rate{math.MaxUint64, math.MaxUint64}
	}
	return rate{hi, lo}
}

func (r rate) above(o rate) bool { return r.hi > o.hi || r.hi == o.hi && r.lo > o.lo }

// pico returns the amount in pico-dollars, rounded to the nearest (a half up), clamped to the
// range of Pico. It is exact unless the sum contains a price finer than a pico-dollar. Rounding
// up always would charge for the rounding errors of binary floats in such prices
// (0.000015000020000000002).
func (r rate) pico() money.Pico { return r.over(yoctoPerPico) }

// over is pico for an amount in units of which perPico make a pico-dollar.
func (r rate) over(perPico uint64) money.Pico {
	if r.hi >= perPico {
		return math.MaxInt64
	}
	q, rest := bits.Div64(r.hi, r.lo, perPico)
	if rest >= perPico/2 && q < math.MaxUint64 {
		q++
	}
	return money.Pico(min(q, math.MaxInt64))
}
