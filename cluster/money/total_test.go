package money

import (
	"math"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// ofTotal is a sum as an integer of any size.
func ofTotal(t Total) *big.Int {
	n := new(big.Int).Lsh(big.NewInt(t.High), 64)
	return n.Add(n, big.NewInt(int64(t.Low)))
}

// drawPico prefers the ends of the range.
func drawPico(t *rapid.T) Pico {
	return Pico(rapid.OneOf(
		rapid.Int64(),
		rapid.Int64Range(-3, 3),
		rapid.Int64Range(math.MaxInt64-3, math.MaxInt64),
		rapid.Int64Range(math.MinInt64, math.MinInt64+3),
	).Draw(t, "pico"))
}

// drawTotal is a sum that leaves room for another one.
func drawTotal(t *rapid.T) Total {
	high := rapid.OneOf(rapid.Int64Range(-2, 2), rapid.Int64Range(-1<<61, 1<<61)).Draw(t, "high")
	return Total{High: high, Low: drawPico(t)}
}

func TestTotalIsAnInteger(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawTotal(t), drawTotal(t)
		if got, want := ofTotal(a.Add(b)), new(big.Int).Add(ofTotal(a), ofTotal(b)); got.Cmp(want) != 0 {
			t.Fatalf("%+v + %+v is %s, want %s", a, b, got, want)
		}
		if got, want := ofTotal(a.Neg()), new(big.Int).Neg(ofTotal(a)); got.Cmp(want) != 0 {
			t.Fatalf("-%+v is %s, want %s", a, got, want)
		}
		if got, want := a.Compare(b), ofTotal(a).Cmp(ofTotal(b)); got != want {
			t.Fatalf("%+v to %+v is %d, want %d", a, b, got, want)
		}
		if got := a.Add(b).Add(b.Neg()); got != a {
			t.Fatalf("%+v + %+v - the same is %+v", a, b, got)
		}
	})
}

// TestTotalOfMany: amounts add up to what they are, in any order, and to nothing with
// their opposites.
func TestTotalOfMany(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		amounts := rapid.SliceOfN(rapid.Custom(drawPico), 0, 50).Draw(t, "amounts")
		want := new(big.Int)
		var there, back Total
		for i, p := range amounts {
			want.Add(want, big.NewInt(int64(p)))
			there = there.Add(p.Total())
			back = back.Add(amounts[len(amounts)-1-i].Total())
		}
		if ofTotal(there).Cmp(want) != 0 || there != back {
			t.Fatalf("%v add up to %s, and backwards to %s; want %s", amounts, ofTotal(there), ofTotal(back), want)
		}
		for _, p := range amounts {
			there = there.Add(p.Total().Neg())
		}
		if there != (Total{}) {
			t.Fatalf("%v and their opposites add up to %s", amounts, there)
		}
	})
}

// TestTotalPrints: the text is the exact decimal, in the one form that Pico has, too.
func TestTotalPrints(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sum := drawTotal(t)
		text := sum.String()
		got, ok := new(big.Rat).SetString(text)
		if want := new(big.Rat).SetFrac(ofTotal(sum), big.NewInt(int64(USD))); !ok || got.Cmp(want) != 0 {
			t.Fatalf("%+v prints as %s, which is not %s", sum, text, want.FloatString(decimals))
		}
		if _, fraction, point := strings.Cut(text, "."); point && (fraction == "" || strings.HasSuffix(fraction, "0")) {
			t.Fatalf("%s has zeros at its end", text)
		}
		if out, err := sum.MarshalJSON(); err != nil || string(out) != text {
			t.Fatalf("%s is %s in JSON, %v", text, out, err)
		}
		if p := drawPico(t); p.Total().String() != p.String() || p.Total().Pico() != p {
			t.Fatalf("%s is %s as a sum", p, p.Total())
		}
	})
}

func TestTotalBeyondPico(t *testing.T) {
	most, least := Pico(math.MaxInt64).Total(), Pico(math.MinInt64).Total()
	for _, c := range []struct {
		sum  Total
		want string
		pico Pico
	}{
		{most, "9223372.036854775807", math.MaxInt64},
		{most.Add(Pico(1).Total()), "9223372.036854775808", math.MaxInt64},
		{least, "-9223372.036854775808", math.MinInt64},
		{least.Neg(), "9223372.036854775808", math.MaxInt64},
		{least.Add(Pico(-1).Total()), "-9223372.036854775809", math.MinInt64},
		{most.Add(most), "18446744.073709551614", math.MaxInt64},
		{Total{High: 1}, "18446744.073709551616", math.MaxInt64},
		{Total{High: -1}, "-18446744.073709551616", math.MinInt64},
		{Total{High: math.MaxInt64, Low: math.MaxInt64}, "170141183460469231722463931.679029329919", math.MaxInt64},
		{most.Add(least), "-0.000000000001", -1},
	} {
		if got := c.sum.String(); got != c.want || c.sum.Pico() != c.pico {
			t.Errorf("%+v is %s, held to %d; want %s, %d", c.sum, got, c.sum.Pico(), c.want, c.pico)
		}
	}
}
