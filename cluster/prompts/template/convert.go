package template

import (
	"math"
	"math/big"
)

// integer returns a value that has to be an integer that fits.
func (m *counter) integer(v value) int {
	switch v := v.(type) {
	case int:
		return v
	case bool:
		if v {
			return 1
		}
		return 0
	case *big.Int:
		m.costly("the number is too large")
	case *undefined:
		m.missing(v)
	}
	m.fail("an integer is needed, not a %s", typeName(v))
	return 0
}

// toInteger is the filter int.
func (m *counter) toInteger(v, other value, base int) value {
	if u, ok := v.(*undefined); ok {
		m.missing(u)
	}
	if s, ok := textOf(v); ok {
		m.work(len(s))
		if n, ok := parseInteger(s, base); ok {
			return n
		}
		if f, ok := parseFloat(s); ok && !math.IsInf(f, 0) && !math.IsNaN(f) {
			return truncated(f)
		}
		return other
	}
	switch v := v.(type) {
	case float64:
		if math.IsInf(v, 0) {
			m.fail("infinity is no integer")
		}
		if math.IsNaN(v) {
			return other
		}
		return truncated(v)
	case bool, int, *big.Int:
		b, _ := asBig(v)
		return normal(b)
	}
	return other
}

func truncated(f float64) value {
	b, _ := wholeBig(math.Trunc(f))
	return normal(b)
}

// toFloat is Python's float; false where that is an error of a kind that the filter
// float catches.
func (m *counter) toFloat(v value) (float64, bool) {
	if u, ok := v.(*undefined); ok {
		m.missing(u)
	}
	if s, ok := textOf(v); ok {
		m.work(len(s))
		return parseFloat(s)
	}
	if !isNumber(v) {
		return 0, false
	}
	return m.asFloat(v), true
}
