package values

import (
	"math"
	"math/big"
)

// MaxBits bounds integers.
const MaxBits = 16_384

func AsInt(b bool) int { //nolint:revive // a conversion
	if b {
		return 1
	}
	return 0
}

// IsNumber reports whether a value is a number; True and False are.
func IsNumber(v Value) bool {
	switch v.(type) {
	case bool, int, *big.Int, float64:
		return true
	}
	return false
}

// Normal returns an integer in its usual form.
func Normal(b *big.Int) Value {
	if b.IsInt64() {
		return int(b.Int64())
	}
	return b
}

// AsBig returns an integer, or a bool as one.
func AsBig(v Value) (*big.Int, bool) {
	switch v := v.(type) {
	case bool:
		return big.NewInt(int64(AsInt(v))), true
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

// AsFloat returns a number as a float.
func (m *Counter) AsFloat(v Value) float64 {
	switch v := v.(type) {
	case bool:
		return float64(AsInt(v))
	case int:
		return float64(v)
	case float64:
		return v
	case *big.Int:
		f, _ := new(big.Float).SetInt(v).Float64()
		if math.IsInf(f, 0) {
			m.Fail("the integer is too large for a float")
		}
		return f
	}
	m.Fail("a number is needed, not a %s", TypeName(v))
	return 0
}

// compareNumbers returns -1, 0 or 1, or unordered. Integers and floats are compared
// exactly.
func compareNumbers(a, b Value) int {
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
	return Exact(a).Cmp(Exact(b))
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

// Exact returns a finite number as a fraction.
func Exact(v Value) *big.Rat {
	if f, ok := v.(float64); ok {
		return new(big.Rat).SetFloat64(f)
	}
	b, _ := AsBig(v)
	return new(big.Rat).SetInt(b)
}

// Signed is +v or -v.
func (m *Counter) Signed(v Value, minus bool) Value { //nolint:revive // the flag is the sign
	switch v := v.(type) {
	case float64:
		if minus {
			return -v
		}
		return v
	case *Undefined:
		m.Missing(v)
	}
	b, ok := AsBig(v)
	if !ok {
		m.Fail("a %s has no sign", TypeName(v))
	}
	if minus {
		return Normal(new(big.Int).Neg(b))
	}
	return Normal(b)
}

// Binary is an operator between two values.
func (m *Counter) Binary(sign string, a, b Value) Value {
	if a, ok := a.(int); ok {
		if b, ok := b.(int); ok {
			if v, ok := small(sign, a, b); ok {
				return v
			}
		}
	}
	if IsNumber(a) && IsNumber(b) {
		return m.arithmetic(sign, a, b)
	}
	for _, v := range []Value{a, b} {
		if u, ok := v.(*Undefined); ok {
			if s, isText := TextOf(a); isText && sign == "%" {
				return Like(a, m.Percent(s, a, b))
			}
			m.Missing(u)
		}
	}
	switch sign {
	case "+":
		if v, ok := m.Joined(a, b); ok {
			return v
		}
	case "*":
		if IsNumber(a) {
			a, b = b, a
		}
		if v, ok := m.repeated(a, b); ok {
			return v
		}
	case "%":
		if s, ok := TextOf(a); ok {
			return Like(a, m.Percent(s, a, b))
		}
	}
	m.Fail("a %s and a %s cannot be combined with %s", TypeName(a), TypeName(b), sign)
	return nil
}

// small is an operator between integers whose outcome is small, too.
func small(sign string, a, b int) (Value, bool) {
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
func smallPower(a, b int) (Value, bool) {
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

func (m *Counter) arithmetic(sign string, a, b Value) Value {
	x, ok1 := AsBig(a)
	y, ok2 := AsBig(b)
	if ok1 && ok2 {
		return m.integers(sign, x, y)
	}
	return m.floats(sign, m.AsFloat(a), m.AsFloat(b))
}

// BigBytes is what an operator between large integers takes besides its outcome.
const BigBytes = 192

func (m *Counter) integers(sign string, x, y *big.Int) Value {
	m.Step(1 + (x.BitLen()+y.BitLen())/64)
	m.Grow(BigBytes)
	if y.Sign() == 0 && (sign == "/" || sign == "//" || sign == "%") {
		m.Fail("division by zero")
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
			m.Fail("the quotient is too large for a float")
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
	if out.BitLen() > MaxBits {
		m.Costly("the number is too large")
	}
	m.Grow(out.BitLen()/8 + 32)
	return Normal(out)
}

func (m *Counter) power(x, y *big.Int) Value {
	if y.Sign() < 0 {
		return m.floatPower(m.AsFloat(Normal(x)), m.AsFloat(Normal(y)))
	}
	if x.BitLen() <= 1 { // -1, 0 or 1
		switch {
		case y.Sign() == 0 || x.Sign() < 0 && y.Bit(0) == 0:
			return 1
		default:
			return Normal(x)
		}
	}
	if !y.IsInt64() || y.Int64() > MaxBits || int64(x.BitLen()-1)*y.Int64() > MaxBits {
		m.Costly("the number is too large")
	}
	out := new(big.Int).Exp(x, y, nil)
	m.Step(out.BitLen() / 16)
	m.Grow(out.BitLen()/8 + 32)
	return Normal(out)
}

// floatPower is exact to the last bit for whole powers and square roots. The outcome of
// others depends on the machine, so they are an error.
func (m *Counter) floatPower(x, y float64) Value {
	const most = 1 << 12
	switch {
	case x == 0 && y < 0:
		m.Fail("0 has no negative power")
	case y == 0 || x == 1:
		return 1.0
	case math.IsNaN(x), math.IsNaN(y), math.IsInf(x, 0), math.IsInf(y, 0), x == 0:
		return math.Pow(x, y)
	case y == 0.5 && x > 0:
		return math.Sqrt(x)
	case y != math.Trunc(y) || math.Abs(y) > most:
		m.Fail("only whole powers up to %d and 0.5 are supported for floats", most)
	}
	const precision = 256
	m.Step(most / 16)
	m.Grow(8 * BigBytes)
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
		m.Fail("the power is too large")
	}
	return f
}

func (m *Counter) floats(sign string, x, y float64) Value {
	if y == 0 && (sign == "/" || sign == "//" || sign == "%") {
		m.Fail("division by zero")
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

// Joined is the sum of two texts, lists or tuples.
func (m *Counter) Joined(a, b Value) (Value, bool) {
	switch a := a.(type) {
	case *List:
		if b, ok := b.(*List); ok {
			m.Times(len(a.Items)+len(b.Items), WordBytes)
			return m.NewList(append(append(make([]Value, 0, len(a.Items)+len(b.Items)), a.Items...), b.Items...)), true
		}
	case *Tuple:
		if b, ok := b.(*Tuple); ok {
			m.Times(len(a.Items)+len(b.Items), WordBytes)
			return m.NewTuple(append(append(make([]Value, 0, len(a.Items)+len(b.Items)), a.Items...), b.Items...)...), true
		}
	}
	s, ok1 := TextOf(a)
	t, ok2 := TextOf(b)
	if !ok1 || !ok2 {
		return nil, false
	}
	_, safe1 := a.(Markup)
	_, safe2 := b.(Markup)
	if safe1 || safe2 {
		s, t = string(m.Escaped(a)), string(m.Escaped(b))
		m.Grow(len(s) + len(t))
		return Markup(m.Made(s + t)), true
	}
	m.Grow(len(s) + len(t))
	m.Work(len(s) + len(t))
	return s + t, true
}

// repeated is a text, a list or a tuple n times.
func (m *Counter) repeated(a, n Value) (Value, bool) {
	_, isFloat := n.(float64)
	if !IsNumber(n) || isFloat {
		return nil, false
	}
	if b, ok := n.(*big.Int); ok && b.Sign() < 0 {
		n = 0
	}
	times := max(0, m.Integer(n))
	switch a := a.(type) {
	case *List:
		return m.NewList(m.repeatItems(a.Items, times)), true
	case *Tuple:
		return m.NewTuple(m.repeatItems(a.Items, times)...), true
	}
	s, ok := TextOf(a)
	if !ok {
		return nil, false
	}
	return Like(a, m.Repeat(s, times)), true
}

func (m *Counter) repeatItems(items []Value, times int) []Value {
	if len(items) == 0 {
		return nil
	}
	m.Times(times, WordBytes*len(items))
	m.Step(times * len(items) / 8)
	out := make([]Value, 0, times*len(items))
	for range times {
		out = append(out, items...)
	}
	return out
}
