package library

import (
	"math"
	"math/big"
	"strconv"

	"github.com/modelgateway/modelgateway/cluster/prompts/template/values"
)

// numberFilter returns the filters about numbers.
func numberFilter(name string) (*Native, bool) {
	n := &Native{Name: name}
	switch name {
	case "abs":
		n.Call = func(m *Caller, v values.Value, _ *Arguments) values.Value {
			if u, ok := v.(*values.Undefined); ok {
				m.Missing(u)
			}
			if !values.IsNumber(v) {
				m.Fail("abs needs a number, not a %s", values.TypeName(v))
			}
			if f, ok := v.(float64); ok {
				return math.Abs(f)
			}
			b, _ := values.AsBig(v)
			return values.Normal(new(big.Int).Abs(b))
		}
	case "int":
		n.params, n.Most = "default base", 2
		n.Call = func(m *Caller, v values.Value, a *Arguments) values.Value {
			return m.ToInteger(v, a.or(0, 0), m.Integer(a.or(1, 10)))
		}
	case "float":
		n.params, n.Most = "default", 1
		n.Call = func(m *Caller, v values.Value, a *Arguments) values.Value {
			if f, ok := m.ToFloat(v); ok {
				return f
			}
			return a.or(0, 0.0)
		}
	case "round":
		n.params, n.Most = "precision method", 2
		n.Call = func(m *Caller, v values.Value, a *Arguments) values.Value { return m.round(v, a) }
	case "filesizeformat":
		n.params, n.Most = "binary", 1
		n.Call = func(m *Caller, v values.Value, a *Arguments) values.Value {
			return m.fileSize(v, values.Truth(a.or(0, false)))
		}
	default:
		return nil, false
	}
	return n, true
}

// round is the filter round.
func (m *Caller) round(v values.Value, a *Arguments) values.Value {
	method, ok := values.TextOf(a.or(1, "common"))
	if !ok || method != "common" && method != "ceil" && method != "floor" {
		m.Fail("round knows the methods common, ceil and floor")
	}
	if u, ok := v.(*values.Undefined); ok {
		m.Missing(u)
	}
	if !values.IsNumber(v) {
		m.Fail("round needs a number, not a %s", values.TypeName(v))
	}
	if method != "common" {
		scale := m.Binary("**", 10, a.or(0, 0))
		scaled := m.AsFloat(m.Binary("*", v, scale))
		if math.IsInf(scaled, 0) || math.IsNaN(scaled) {
			m.Fail("round needs a finite number")
		}
		f := math.Floor(scaled)
		if method == "ceil" {
			f = math.Ceil(scaled)
		}
		return m.Binary("/", values.Truncated(f), scale)
	}
	places := a.or(0, 0)
	if places == nil {
		if f, ok := v.(float64); ok {
			return values.Truncated(math.RoundToEven(f))
		}
		places = 0
	}
	n := m.Integer(places)
	if f, ok := v.(float64); ok {
		return m.roundFloat(f, n)
	}
	b, _ := values.AsBig(v)
	if n >= 0 {
		return values.Normal(b)
	}
	return values.Normal(m.roundAt(new(big.Rat).SetInt(b), n))
}

// roundFloat rounds to n places after the point, a half to the even digit.
func (m *Caller) roundFloat(f float64, n int) values.Value {
	const most = 400 // places that a float can have
	switch {
	case math.IsInf(f, 0), math.IsNaN(f), n > most, f == 0:
		return f
	case n < -most:
		return math.Copysign(0, f)
	case n >= 0:
		m.Step(n / 8)
		m.Grow(2*n + values.BigBytes)
		out, err := strconv.ParseFloat(strconv.FormatFloat(f, 'f', n, 64), 64)
		if err != nil {
			m.Fail("the rounded number is too large")
		}
		return out
	}
	out, _ := new(big.Float).SetInt(m.roundAt(values.Exact(f), n)).Float64()
	if math.IsInf(out, 0) {
		m.Fail("the rounded number is too large")
	}
	return math.Copysign(out, f)
}

// roundAt rounds to a multiple of 10 to the power -n, which is above 1.
func (m *Caller) roundAt(x *big.Rat, n int) *big.Int {
	if -n > values.MaxBits/4 {
		return new(big.Int)
	}
	m.Step(-n / 4)
	m.Grow(8*values.BigBytes - n)
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
func (m *Caller) fileSize(v values.Value, binary bool) values.Value { //nolint:revive // Jinja's flag
	size, ok := m.ToFloat(v)
	if !ok {
		m.Fail("filesizeformat needs a number, not a %s", values.TypeName(v))
	}
	base, suffix := 1000.0, "B"
	if binary {
		base, suffix = 1024, "iB"
	}
	switch {
	case size == 1:
		return "1 Byte"
	case math.IsNaN(size), math.IsInf(size, 0):
		m.Fail("filesizeformat needs a finite number")
	case size < base:
		return string(m.AppendText(nil, values.Truncated(size))) + " Bytes"
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
