package money

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"
)

// Pico is an amount of money in pico-dollars.
type Pico int64

// USD is one dollar.
const USD Pico = 1e12

// decimals is how many places after the point a Pico has, in dollars.
const decimals = 12

// Errors of Parse.
var (
	ErrSyntax = errors.New("not a decimal number")
	ErrRange  = errors.New("out of range")
	ErrFine   = errors.New("finer than a pico-dollar (12 decimals)")
)

// Parse reads an exact decimal amount of dollars: "0.0000025", "2.5e-06", "-3".
// What is finer than a pico-dollar is refused, not rounded.
func Parse(s string) (Pico, error) {
	mantissa, exponent, err := split(s)
	if err != nil {
		return 0, fmt.Errorf("%q: %w", s, err)
	}
	negative := strings.HasPrefix(mantissa, "-")
	mantissa = strings.TrimLeft(strings.TrimPrefix(mantissa, "-"), "0")
	for strings.HasSuffix(mantissa, "0") {
		mantissa, exponent = mantissa[:len(mantissa)-1], exponent+1
	}
	if mantissa == "" {
		return 0, nil
	}
	exponent += decimals
	switch {
	case exponent < 0:
		return 0, fmt.Errorf("%q: %w", s, ErrFine)
	case len(mantissa)+exponent > 19:
		return 0, fmt.Errorf("%q: %w", s, ErrRange)
	}
	var v uint64
	for _, c := range mantissa {
		v = v*10 + uint64(c-'0')
	}
	for range exponent {
		v *= 10
	}
	if v > math.MaxInt64 {
		return 0, fmt.Errorf("%q: %w", s, ErrRange)
	}
	if negative {
		return -Pico(v), nil
	}
	return Pico(v), nil
}

// split returns the digits (with sign) without a point, and the power of ten.
func split(s string) (digits string, exponent int, err error) {
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		sign, rest := 1, s[i+1:]
		if strings.HasPrefix(rest, "-") {
			sign, rest = -1, rest[1:]
		} else {
			rest = strings.TrimPrefix(rest, "+")
		}
		if rest == "" || len(rest) > 3 {
			return "", 0, ErrSyntax
		}
		for _, c := range rest {
			if c < '0' || c > '9' {
				return "", 0, ErrSyntax
			}
			exponent = exponent*10 + int(c-'0')
		}
		exponent *= sign
		s = s[:i]
	}
	whole, fraction, point := strings.Cut(s, ".")
	digits = whole + fraction
	if point && fraction == "" || strings.TrimPrefix(digits, "-") == "" || len(digits) > 64 {
		return "", 0, ErrSyntax
	}
	for i, c := range digits {
		if (c < '0' || c > '9') && (c != '-' || i != 0) {
			return "", 0, ErrSyntax
		}
	}
	return digits, exponent - len(fraction), nil
}

// Add returns a+b, held within the range of Pico.
func Add(a, b Pico) Pico {
	c := a + b
	switch {
	case a > 0 && b > 0 && c < 0:
		return math.MaxInt64
	case a < 0 && b < 0 && c >= 0:
		return math.MinInt64
	}
	return c
}

// Times returns price x count for a count that is at least 0, held within the range of Pico.
func Times(price Pico, count int64) Pico {
	if count <= 0 || price == 0 {
		return 0
	}
	p := uint64(price)
	if price < 0 {
		p = uint64(-price)
	}
	hi, lo := bits.Mul64(p, uint64(count))
	if hi != 0 || lo > math.MaxInt64 {
		lo = math.MaxInt64
	}
	if price < 0 {
		return -Pico(lo)
	}
	return Pico(lo)
}

// String returns the amount in dollars as an exact decimal without trailing
// zeros and without an exponent: it is valid JSON.
func (p Pico) String() string { return string(p.Append(make([]byte, 0, len("-9223372.036854775808")))) }

// Append appends String to b.
func (p Pico) Append(b []byte) []byte {
	v := uint64(p)
	if p < 0 {
		b, v = append(b, '-'), -v
	}
	b = strconv.AppendUint(b, v/uint64(USD), 10)
	rest, unit := v%uint64(USD), uint64(USD)
	if rest > 0 {
		b = append(b, '.')
	}
	for rest > 0 {
		unit /= 10
		b = append(b, byte('0'+rest/unit))
		rest %= unit
	}
	return b
}

// MarshalJSON writes the amount as a JSON number in dollars.
func (p Pico) MarshalJSON() ([]byte, error) { return p.Append(nil), nil }
