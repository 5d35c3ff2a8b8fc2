package template

import (
	"math"
	"math/big"
)

// maxBits bounds integers.
const maxBits = 16_384

func asInt(b bool) int { //nolint:revive // a conversion
	if b {
		return 1
	}
	return 0
}

func isNumber(v value) bool {
	switch v.(type) {
	case bool, int, *big.Int, float64:
		return true
	}
	return false
}

// normal returns an integer in its usual form.
func normal(b *big.Int) value {
	if b.IsInt64() {
		return int(b.Int64())
	}
	return b
}

// asBig returns an integer, or a bool as one.
func asBig(v value) (*big.Int, bool) {
	switch v := v.(type) {
	case bool:
		return big.NewInt(int64(asInt(v))), true
	case int:
		return big.NewInt(int64(v)), true
	case *big.Int:
		return v, true
	}
	return nil, false
}

func wholeInt(f float64) (int, bool) {
	if f == math.Trunc(f) && math.Abs(f) < 1<<62 {
		return int(f), true
	}
	return 0, false
}

func wholeBig(f float64) (*big.Int, bool) {
	if math.IsInf(f, 0) || f != math.Trunc(f) {
		return nil, false
	}
	b, _ := big.NewFloat(f).Int(nil)
	return b, true
}

// asFloat returns a number as a float.
func (m *counter) asFloat(v value) float64 {
	switch v := v.(type) {
	case bool:
		return float64(asInt(v))
	case int:
		return float64(v)
	case float64:
		return v
	case *big.Int:
		f, _ := new(big.Float).SetInt(v).Float64()
		if math.IsInf(f, 0) {
			m.fail("the integer is too large for a float")
		}
		return f
	}
	m.fail("a number is needed, not a %s", typeName(v))
	return 0
}

// compareNumbers returns -1, 0 or 1, or unordered. Integers and floats are compared
// exactly.
func compareNumbers(a, b value) int {
	x, xFloat := a.(float64)
	y, yFloat := b.(float64)
	switch {
	case xFloat && math.IsNaN(x), yFloat && math.IsNaN(y):
		return unordered
	case xFloat && yFloat:
		return compareFloats(x, y)
	case xFloat && math.IsInf(x, 0):
		return compareFloats(x, 0)
	case yFloat && math.IsInf(y, 0):
		return compareFloats(0, y)
	}
	return exact(a).Cmp(exact(b))
}

func compareFloats(x, y float64) int {
	switch {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}

// exact returns a finite number as a fraction.
func exact(v value) *big.Rat {
	if f, ok := v.(float64); ok {
		return new(big.Rat).SetFloat64(f)
	}
	b, _ := asBig(v)
	return new(big.Rat).SetInt(b)
}

// signed is +v or -v.
func (m *counter) signed(v value, minus bool) value { //nolint:revive // the flag is the sign
	switch v := v.(type) {
	case float64:
		if minus {
			return -v
		}
		return v
	case *undefined:
		m.missing(v)
	}
	b, ok := asBig(v)
	if !ok {
		m.fail("a %s has no sign", typeName(v))
	}
	if minus {
		return normal(new(big.Int).Neg(b))
	}
	return normal(b)
}

// binary is an operator between two values.
func (m *counter) binary(sign string, a, b value) value {
	if a, ok := a.(int); ok {
		if b, ok := b.(int); ok {
			if v, ok := small(sign, a, b); ok {
				return v
			}
		}
	}
	if isNumber(a) && isNumber(b) {
		return m.arithmetic(sign, a, b)
	}
	for _, v := range []value{a, b} {
		if u, ok := v.(*undefined); ok {
			if s, isText := textOf(a); isText && sign == "%" {
				return like(a, m.percent(s, a, b))
			}
			m.missing(u)
		}
	}
	switch sign {
	case "+":
		if v, ok := m.joined(a, b); ok {
			return v
		}
	case "*":
		if isNumber(a) {
			a, b = b, a
		}
		if v, ok := m.repeated(a, b); ok {
			return v
		}
	case "%":
		if s, ok := textOf(a); ok {
			return like(a, m.percent(s, a, b))
		}
	}
	m.fail("a %s and a %s cannot be combined with %s", typeName(a), typeName(b), sign)
	return nil
}

// small is an operator between integers whose outcome is small, too.
func small(sign string, a, b int) (value, bool) {
	const most = 1 << 31
	if a > most || a < -most || b > most || b < -most {
		return nil, false
	}
	switch sign {
	case "+":
		return a + b, true
	case "-":
		return a - b, true
	case "*":
		return a * b, true
	case "/":
		if b == 0 {
			return nil, false
		}
		return float64(a) / float64(b), true
	case "**":
		return smallPower(a, b)
	case "//", "%":
		if b == 0 {
			return nil, false
		}
		q, r := a/b, a%b
		if r != 0 && (r < 0) != (b < 0) {
			q, r = q-1, r+b
		}
		if sign == "%" {
			return r, true
		}
		return q, true
	}
	return nil, false
}

// smallPower is a power that stays small.
func smallPower(a, b int) (value, bool) {
	const most = 1 << 31
	if b < 0 || b > 32 {
		return nil, false
	}
	out := 1
	for range b {
		if out *= a; out > most || out < -most {
			return nil, false
		}
	}
	return out, true
}

func (m *counter) arithmetic(sign string, a, b value) value {
	x, ok1 := asBig(a)
	y, ok2 := asBig(b)
	if ok1 && ok2 {
		return m.integers(sign, x, y)
	}
	return m.floats(sign, m.asFloat(a), m.asFloat(b))
}

// bigBytes is what an operator between large integers takes besides its outcome.
const bigBytes = 192

func (m *counter) integers(sign string, x, y *big.Int) value {
	m.step(1 + (x.BitLen()+y.BitLen())/64)
	m.grow(bigBytes)
	if y.Sign() == 0 && (sign == "/" || sign == "//" || sign == "%") {
		m.fail("division by zero")
	}
	out := new(big.Int)
	switch sign {
	case "+":
		out.Add(x, y)
	case "-":
		out.Sub(x, y)
	case "*":
		out.Mul(x, y)
	case "/":
		f, _ := new(big.Rat).SetFrac(x, y).Float64()
		if math.IsInf(f, 0) {
			m.fail("the quotient is too large for a float")
		}
		return f
	case "//", "%":
		r := new(big.Int)
		out.QuoRem(x, y, r)
		if r.Sign() != 0 && r.Sign() != y.Sign() {
			out.Sub(out, big.NewInt(1))
			r.Add(r, y)
		}
		if sign == "%" {
			out = r
		}
	case "**":
		return m.power(x, y)
	}
	if out.BitLen() > maxBits {
		m.costly("the number is too large")
	}
	m.grow(out.BitLen()/8 + 32)
	return normal(out)
}

func (m *counter) power(x, y *big.Int) value {
	if y.Sign() < 0 {
		return m.floatPower(m.asFloat(normal(x)), m.asFloat(normal(y)))
	}
	if x.BitLen() <= 1 { // -1, 0 or 1
		switch {
		case y.Sign() == 0 || x.Sign() < 0 && y.Bit(0) == 0:
			return 1
		default:
			return normal(x)
		}
	}
	if !y.IsInt64() || y.Int64() > maxBits || int64(x.BitLen()-1)*y.Int64() > maxBits {
		m.costly("the number is too large")
	}
	out := new(big.Int).Exp(x, y, nil)
	m.step(out.BitLen() / 16)
	m.grow(out.BitLen()/8 + 32)
	return normal(out)
}

// floatPower is exact to the last bit for whole powers and square roots. The outcome of
// others depends on the machine, so they are an error.
func (m *counter) floatPower(x, y float64) value {
	const most = 1 << 12
	switch {
	case x == 0 && y < 0:
		m.fail("0 has no negative power")
	case y == 0 || x == 1:
		return 1.0
	case math.IsNaN(x), math.IsNaN(y), math.IsInf(x, 0), math.IsInf(y, 0), x == 0:
		return math.Pow(x, y)
	case y == 0.5 && x > 0:
		return math.Sqrt(x)
	case y != math.Trunc(y) || math.Abs(y) > most:
		m.fail("only whole powers up to %d and 0.5 are supported for floats", most)
	}
	const precision = 256
	m.step(most / 16)
	m.grow(8 * bigBytes)
	out, base := big.NewFloat(1).SetPrec(precision), big.NewFloat(x).SetPrec(precision)
	for n := int(math.Abs(y)); n > 0; n >>= 1 {
		if n&1 == 1 {
			out.Mul(out, base)
		}
		base.Mul(base, base)
	}
	if y < 0 {
		out.Quo(big.NewFloat(1).SetPrec(precision), out)
	}
	f, _ := out.Float64()
	if math.IsInf(f, 0) {
		m.fail("the power is too large")
	}
	return f
}

func (m *counter) floats(sign string, x, y float64) value {
	if y == 0 && (sign == "/" || sign == "//" || sign == "%") {
		m.fail("division by zero")
	}
	switch sign {
	case "+":
		return x + y
	case "-":
		return x - y
	case "*":
		return x * y
	case "/":
		return x / y
	case "//":
		q, _ := floorDivide(x, y)
		return q
	case "%":
		_, r := floorDivide(x, y)
		return r
	}
	return m.floatPower(x, y)
}

// floorDivide is Python's divmod of floats.
func floorDivide(x, y float64) (quotient, rest float64) {
	rest = math.Mod(x, y)
	quotient = (x - rest) / y
	if rest != 0 {
		if (y < 0) != (rest < 0) {
			rest += y
			quotient--
		}
	} else {
		rest = math.Copysign(0, y)
	}
	if quotient == 0 {
		return math.Copysign(0, x/y), rest
	}
	floor := math.Floor(quotient)
	if quotient-floor > 0.5 {
		floor++
	}
	return floor, rest
}

// joined is the sum of two texts, lists or tuples.
func (m *counter) joined(a, b value) (value, bool) {
	switch a := a.(type) {
	case *list:
		if b, ok := b.(*list); ok {
			m.times(len(a.items)+len(b.items), wordBytes)
			return m.newList(append(append(make([]value, 0, len(a.items)+len(b.items)), a.items...), b.items...)), true
		}
	case *tuple:
		if b, ok := b.(*tuple); ok {
			m.times(len(a.items)+len(b.items), wordBytes)
			return m.newTuple(append(append(make([]value, 0, len(a.items)+len(b.items)), a.items...), b.items...)...), true
		}
	}
	s, ok1 := textOf(a)
	t, ok2 := textOf(b)
	if !ok1 || !ok2 {
		return nil, false
	}
	_, safe1 := a.(markup)
	_, safe2 := b.(markup)
	if safe1 || safe2 {
		s, t = string(m.escaped(a)), string(m.escaped(b))
		m.grow(len(s) + len(t))
		return markup(m.made(s + t)), true
	}
	m.grow(len(s) + len(t))
	m.work(len(s) + len(t))
	return s + t, true
}

// repeated is a text, a list or a tuple n times.
func (m *counter) repeated(a, n value) (value, bool) {
	_, isFloat := n.(float64)
	if !isNumber(n) || isFloat {
		return nil, false
	}
	if b, ok := n.(*big.Int); ok && b.Sign() < 0 {
		n = 0
	}
	times := max(0, m.integer(n))
	switch a := a.(type) {
	case *list:
		return m.newList(m.repeatItems(a.items, times)), true
	case *tuple:
		return m.newTuple(m.repeatItems(a.items, times)...), true
	}
	s, ok := textOf(a)
	if !ok {
		return nil, false
	}
	return like(a, m.repeat(s, times)), true
}

func (m *counter) repeatItems(items []value, times int) []value {
	if len(items) == 0 {
		return nil
	}
	m.times(times, wordBytes*len(items))
	m.step(times * len(items) / 8)
	out := make([]value, 0, times*len(items))
	for range times {
		out = append(out, items...)
	}
	return out
}
