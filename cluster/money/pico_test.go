package money

import (
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		in   string
		want Pico
		err  error
	}{
		{"0", 0, nil},
		{"0.0000025", 2_500_000, nil},
		{"2.5e-06", 2_500_000, nil},
		{"1.3e-10", 130, nil},
		{"1", USD, nil},
		{"-3.25", -3_250_000_000_000, nil},
		{"9223372.036854775807", math.MaxInt64, nil},
		{"9223372.036854775808", 0, ErrRange},
		{"1e9", 0, ErrRange},
		{"0.0000000000001", 0, ErrFine},
		{"1.5e-12", 0, ErrFine},
		{"1.0e-12", 1, nil},
		{"", 0, ErrSyntax},
		{"-", 0, ErrSyntax},
		{"1.", 0, ErrSyntax},
		{"1e", 0, ErrSyntax},
		{"NaN", 0, ErrSyntax},
		{"1,5", 0, ErrSyntax},
		{"0x1", 0, ErrSyntax},
		{"1-2", 0, ErrSyntax},
	} {
		got, err := Parse(c.in)
		if got != c.want || !errors.Is(err, c.err) {
			t.Errorf("Parse(%q) = %d, %v; want %d, %v", c.in, got, err, c.want, c.err)
		}
	}
}

func TestStringAndParseAreInverse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := Pico(rapid.Int64Range(-math.MaxInt64, math.MaxInt64).Draw(t, "p"))
		got, err := Parse(p.String())
		if err != nil || got != p {
			t.Fatalf("%d prints as %s, which is read as %d, %v", p, p, got, err)
		}
	})
}

func TestSumsSaturate(t *testing.T) {
	if got := Add(math.MaxInt64, 1); got != math.MaxInt64 {
		t.Errorf("max+1 = %d", got)
	}
	if got := Add(math.MinInt64, -1); got != math.MinInt64 {
		t.Errorf("min-1 = %d", got)
	}
	if got := Times(USD, math.MaxInt64); got != math.MaxInt64 {
		t.Errorf("USD x max = %d", got)
	}
	if got := Times(130, 7); got != 910 {
		t.Errorf("130 x 7 = %d", got)
	}
	if got := Times(-5, 2); got != -10 {
		t.Errorf("-5 x 2 = %d", got)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"1.5e-6", "-0.1", "1e999", "..", "1e-13"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p, err := Parse(s)
		if err != nil {
			return
		}
		if q, err := Parse(p.String()); err != nil || q != p {
			t.Fatalf("%q is %d, prints %s, reads back %d %v", s, p, p, q, err)
		}
	})
}
