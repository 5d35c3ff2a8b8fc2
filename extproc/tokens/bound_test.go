package tokens

import (
	"bytes"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// boundOf is the bound of a text that is quoted as JSON.
func boundOf(model, text string) int64 {
	b := NewBound(model)
	b.Add([]byte(text))
	return b.Tokens()
}

// TestBoundIsRarelyBelowTheCount holds the law of Bound for real text (the corpus in testdata)
// and for generated text, each on its own: the bound is not below the count in 99.9 % of
// the cases, and at most 1.6 times the count on average.
func TestBoundIsRarelyBelowTheCount(t *testing.T) {
	t.Parallel()
	c := NewCounter()
	for _, model := range []string{"gpt-4o", "gpt-4"} {
		t.Run(model, func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(20, 26))
			real, generated := realTexts(t, r, 8000), generatedTexts(r, 9000)
			for kind, texts := range map[string][]sample{"real": real, "generated": generated} {
				holdsBound(t, c, model, kind, texts)
			}
		})
	}
}

// holdsBound compares the bounds of texts of one kind with their counts.
func holdsBound(t *testing.T, c *Counter, model, kind string, texts []sample) {
	t.Helper()
	n, below, sum := 0, 0, 0.0
	worst, of := math.Inf(1), ""
	for _, s := range texts {
		count := c.Count(model, s.text)
		if len(s.text) < 64 || count == 0 {
			continue // of a short text nothing is average; Tokens adds what covers it
		}
		quoted, err := jsontext.AppendQuote(nil, strings.ToValidUTF8(s.text, "?"))
		if err != nil {
			t.Fatal(err)
		}
		ratio := float64(boundOf(model, string(quoted))) / float64(count)
		n++
		sum += ratio
		if ratio < 1 {
			below++
		}
		if ratio < worst {
			worst, of = ratio, s.kind+": "+s.text[:60]
		}
	}
	if n < 5000 || below*1000 > n {
		t.Errorf("%d of %d bounds of %s texts are below the count; the worst is %.3f of it (%q)", below, n, kind, worst, of)
	}
	if sum > 1.6*float64(n) {
		t.Errorf("the bound of %s texts is %.3f times the count", kind, sum/float64(n))
	}
	t.Logf("%d %s texts, %d below, the worst %.3f (%q); on average %.3f", n, kind, below, worst, of, sum/float64(n))
}

// TestBoundOfSpecialTexts are those that bytes by four were wrong about.
func TestBoundOfSpecialTexts(t *testing.T) {
	t.Parallel()
	c := NewCounter()
	for _, model := range []string{"gpt-4o", "gpt-4"} {
		for _, text := range []string{
			"", "x", "hello world", strings.Repeat("x ", 5000), strings.Repeat("1 ", 5000), strings.Repeat("é ", 500), strings.Repeat("\x7f", 50),
			strings.Repeat("a.b,", 500), strings.Repeat("\u65e5\u672c", 500), strings.Repeat("🙂", 200), strings.Repeat("\u0e01\u0e33", 200), strings.Repeat("\n\t", 500),
			strings.Repeat("Zq", 500), strings.Repeat("bjay ", 50), strings.Repeat("-hrr;", 50), strings.Repeat(`d-o`, 50), "\u200b\u200b\u200b\u200b\u200b\u200b\u200b\u200b",
		} {
			count := c.Count(model, text)
			quoted, err := jsontext.AppendQuote(nil, text)
			if err != nil {
				t.Fatal(err)
			}
			if got := boundOf(model, string(quoted)); got < count {
				t.Errorf("%s: the bound of %.20q is %d, and its count %d", model, text, got, count)
			}
		}
	}
}

// TestBoundReadsEscapes: an escaped character has the bound of the character itself.
func TestBoundReadsEscapes(t *testing.T) {
	t.Parallel()
	for plain, escaped := range map[string]string{
		"\u65e5\u672c\u8a9e": `\u65e5\u672c\u8a9e`, "é": `\u00E9`, "שלום": `\u05e9\u05dc\u05d5\u05dd`, "😀": `\ud83d\ude00`,
	} {
		if a, b := boundOf("gpt-4o", plain), boundOf("gpt-4o", escaped); a != b {
			t.Errorf("%s has the bound %d, and %s %d", plain, a, escaped, b)
		}
	}
	for _, broken := range []string{`\u`, `\u12`, `\uzzzz`, `\`, "\xff\xfe", "\x80"} {
		boundOf("gpt-4o", broken) // does not panic
	}
}

func TestClassesAreThoseOfTheRule(t *testing.T) {
	t.Parallel()
	for c := range 256 {
		if got, want := classes[c]-zero, classOf(byte(c)); got != want {
			t.Errorf("byte %#x has class %d, want %d", c, got, want)
		}
	}
}

func TestBoundAllocatesNothing(t *testing.T) {
	text := bytes.Repeat([]byte(`{"role":"user","content":"Größe \u00e9 ééé\n"},`), 100)
	if n := testing.AllocsPerRun(10, func() {
		b := NewBound("gpt-4o")
		b.Add(text)
		if b.Tokens() < 1000 {
			t.Error("it counts nothing")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// FuzzBound: a text in parts has the bound of the whole.
func FuzzBound(f *testing.F) {
	f.Add([]byte("hello"), []byte("world"))
	f.Fuzz(func(t *testing.T, one, two []byte) {
		b := NewBound("gpt-4o")
		b.Add(one)
		if got := b.Tokens(); got < margin || got > margin+2*int64(len(one)) {
			t.Errorf("%d bytes have the bound %d", len(one), got)
		}
		before := b.Tokens()
		b.Add(two)
		if b.Tokens() < before {
			t.Error("more text has a smaller bound")
		}
	})
}

func BenchmarkBound(b *testing.B) {
	text := bytes.Repeat([]byte("The gateway counts what each answer costs, and tries another provider when the first one fails. "), 256<<10/97)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		bound := NewBound("gpt-4o")
		bound.Add(text)
	}
}
