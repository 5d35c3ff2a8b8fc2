package template

import (
	"math"
	"math/big"
	"strconv"
)

// numberFilter returns the filters about numbers.
func numberFilter(name string) (*native, bool) {
	n := &native{name: name}
	switch name {
	case "abs":
		n.call = func(m *caller, v value, _ *arguments) value {
			if u, ok := v.(*undefined); ok {
				m.missing(u)
			}
			if !isNumber(v) {
				m.fail("abs needs a number, not a %s", typeName(v))
			}
			if f, ok := v.(float64); ok {
				return math.Abs(f)
			}
			b, _ := asBig(v)
			return normal(new(big.Int).Abs(b))
		}
	case "int":
		n.params, n.most = "default base", 2
		n.call = func(m *caller, v value, a *arguments) value {
			return m.toInteger(v, a.or(0, 0), m.integer(a.or(1, 10)))
		}
	case "float":
		n.params, n.most = "default", 1
		n.call = func(m *caller, v value, a *arguments) value {
			if f, ok := m.toFloat(v); ok {
				return f
			}
			return a.or(0, 0.0)
		}
	case "round":
		n.params, n.most = "precision method", 2
		n.call = func(m *caller, v value, a *arguments) value { return m.round(v, a) }
	case "filesizeformat":
		n.params, n.most = "binary", 1
		n.call = func(m *caller, v value, a *arguments) value { return m.fileSize(v, truth(a.or(0, false))) }
	default:
		return nil, false
	}
	return n, true
}

// round is the filter round.
func (m *caller) round(v value, a *arguments) value {
	method, ok := textOf(a.or(1, "common"))
	if !ok || method != "common" && method != "ceil" && method != "floor" {
		m.fail("round knows the methods common, ceil and floor")
	}
	if u, ok := v.(*undefined); ok {
		m.missing(u)
	}
	if !isNumber(v) {
		m.fail("round needs a number, not a %s", typeName(v))
	}
	if method != "common" {
		scale := m.binary("**", 10, a.or(0, 0))
		scaled := m.asFloat(m.binary("*", v, scale))
		if math.IsInf(scaled, 0) || math.IsNaN(scaled) {
			m.fail("round needs a finite number")
		}
		f := math.Floor(scaled)
		if method == "ceil" {
			f = math.Ceil(scaled)
		}
		return m.binary("/", truncated(f), scale)
	}
	places := a.or(0, 0)
	if places == nil {
		if f, ok := v.(float64); ok {
			return truncated(math.RoundToEven(f))
		}
		places = 0
	}
	n := m.integer(places)
	if f, ok := v.(float64); ok {
		return m.roundFloat(f, n)
	}
	b, _ := asBig(v)
	if n >= 0 {
		return normal(b)
	}
	return normal(m.roundAt(new(big.Rat).SetInt(b), n))
}

// roundFloat rounds to n places after the point, a half to the even digit.
func (m *caller) roundFloat(f float64, n int) value {
	const most = 400 // places that a float can have
	switch {
	case math.IsInf(f, 0), math.IsNaN(f), n > most, f == 0:
		return f
	case n < -most:
		return math.Copysign(0, f)
	case n >= 0:
		m.step(n / 8)
		m.grow(2*n + bigBytes)
		out, err := strconv.ParseFloat(strconv.FormatFloat(f, 'f', n, 64), 64)
		if err != nil {
			m.fail("the rounded number is too large")
		}
		return out
	}
	out, _ := new(big.Float).SetInt(m.roundAt(exact(f), n)).Float64()
	if math.IsInf(out, 0) {
		m.fail("the rounded number is too large")
	}
	return math.Copysign(out, f)
}

// roundAt rounds to a multiple of 10 to the power -n, which is above 1.
func (m *caller) roundAt(x *big.Rat, n int) *big.Int {
	if -n > maxBits/4 {
		return new(big.Int)
	}
	m.step(-n / 4)
	m.grow(8*bigBytes - n)
	unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(-n)), nil)
	x = new(big.Rat).Quo(x, new(big.Rat).SetInt(unit))
	q, rest := new(big.Int).QuoRem(x.Num(), x.Denom(), new(big.Int))
	switch half := new(big.Int).Lsh(rest, 1).CmpAbs(x.Denom()); {
	case half > 0, half == 0 && q.Bit(0) == 1:
		q.Add(q, big.NewInt(int64(x.Sign())))
	}
	return q.Mul(q, unit)
}

// fileSize is the filter filesizeformat.
func (m *caller) fileSize(v value, binary bool) value { //nolint:revive // Jinja's flag
	size, ok := m.toFloat(v)
	if !ok {
		m.fail("filesizeformat needs a number, not a %s", typeName(v))
	}
	base, suffix := 1000.0, "B"
	if binary {
		base, suffix = 1024, "iB"
	}
	switch {
	case size == 1:
		return "1 Byte"
	case math.IsNaN(size), math.IsInf(size, 0):
		m.fail("filesizeformat needs a finite number")
	case size < base:
		return string(m.appendText(nil, truncated(size))) + " Bytes"
	}
	prefixes := "kMGTPEZY"
	if binary {
		prefixes = "KMGTPEZY"
	}
	unit := base
	for i := range len(prefixes) {
		unit *= base
		if size < unit || i == len(prefixes)-1 {
			return strconv.FormatFloat(base*size/unit, 'f', 1, 64) + " " + prefixes[i:i+1] + suffix
		}
	}
	return ""
}
