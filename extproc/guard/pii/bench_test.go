package pii_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/modelgateway/modelgateway/extproc/guard/engine"
	"github.com/modelgateway/modelgateway/extproc/guard/engine/enginetest"
	"github.com/modelgateway/modelgateway/extproc/guard/pii"
	"github.com/modelgateway/modelgateway/extproc/texts"
)

// prose is about a KB of what requests have, with a little of everything.
const prose = `Hi team, thanks for the call on Tuesday. I have looked at the contract that Maria sent over, and there are 3 points that we
should settle before the 15 June deadline: the price per unit (it went from 12.50 to 13.75), the term of 24 months, and who pays for shipping.
Could you summarise the attached minutes in 5 bullet points, and translate them into French and German? Use a friendly tone, and keep
it under 200 words. If anything is unclear, write to me at maria.lopez@example.com or ring +44 20 7946 0958 between 9:00 and 17:30.
The function parse_args(argv[1:]) in tools/main.py returns None if --verbose is missing; see https://docs.example.com/cli?page=2#args for
more. I think that the best approach is to read the file line by line, split each line at the comma, and collect the results in a
dictionary whose keys are the names of the columns. Don't worry about errors yet; we'll handle them in version 1.2.3 of the tool, which
is planned for next quarter. Order 48213-77 was shipped on Monday and should arrive by Thursday. `

// quiet is prose in which nothing could be an entity.
const quiet = `The best approach is to read the file line by line, split each line at the comma, and collect the results in a dictionary.
Whatever happens, keep the tone friendly; nobody likes a lecture. "Why not?" she asked - and left (without a word). Don't worry about errors yet: we'll handle them later. `

// BenchmarkWhole finds in whole texts.
func BenchmarkWhole(b *testing.B) {
	e := newEngine(b, pii.Settings{})
	for _, c := range []struct{ name, text string }{
		{"prose", prose},
		{"quiet", quiet},
		{"64KB", strings.Repeat(prose, 64<<10/len(prose)+1)[:64<<10]},
		{"8MiB", strings.Repeat(prose, 8<<20/len(prose)+1)[:8<<20]},
		{"numbers", strings.Repeat("4821 3377 129 20240115 555 0132 415-555-0199 ", 200)},
		{"hex", strings.Repeat("3f2504e04f8911d39a0c0305e82c3301 ", 200)},
		{"digits", strings.Repeat("1234567890", 800)},
		{"russian", strings.Repeat("Позвоните мне завтра по номеру, который я вам дал. ", 100)},
		{"urls", strings.Repeat("https://example.com/a/b?c=d ", 300)},
		{"emails", strings.Repeat("a.b@example.com, ", 500)},
	} {
		b.Run(c.name, func(b *testing.B) {
			s, text := e.Scanner(), []byte(c.text)
			var found []engine.Finding
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				s.Begin(texts.Content, texts.User)
				var err error
				if found, _, err = s.Scan(b.Context(), text, 0, true, found[:0]); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(len(text))*1024, "µs/KB")
		})
	}
}

// BenchmarkStream finds in a text that comes in pieces of 4 bytes, and shows how much is held back.
func BenchmarkStream(b *testing.B) {
	e := newEngine(b, pii.Settings{})
	var held []int
	b.SetBytes(int64(len(prose)))
	for b.Loop() {
		w := enginetest.NewStream(b, e.Scanner())
		for at := 0; at < len(prose); at += 4 {
			end := min(at+4, len(prose))
			held = append(held, w.Push(prose[at:end], end == len(prose)))
		}
	}
	slices.Sort(held)
	for _, p := range []int{50, 90, 99, 100} {
		b.ReportMetric(float64(held[min(len(held)*p/100, len(held)-1)]), fmt.Sprintf("p%d-held-bytes", p))
	}
}

// TestNothingFoundAllocatesNothing: a text without findings costs no memory.
func TestNothingFoundAllocatesNothing(t *testing.T) {
	s, text := newEngine(t, pii.Settings{}).Scanner(), []byte(strings.Repeat(quiet+"Step 3 of 10: write 2,500 words about main.go. ", 10))
	allocations := testing.AllocsPerRun(20, func() {
		s.Begin(texts.Content, texts.User)
		if found, _, err := s.Scan(t.Context(), text, 0, true, nil); err != nil || len(found) > 0 {
			t.Fatal(found, err)
		}
	})
	if allocations > 0 {
		t.Errorf("%v allocations", allocations)
	}
}

// TestHeldBack: of prose that comes in pieces of 4 bytes, half of the time no more than a word is held back.
func TestHeldBack(t *testing.T) {
	t.Parallel()
	w := enginetest.NewStream(t, newEngine(t, pii.Settings{}).Scanner())
	var held []int
	text := strings.Repeat(prose, 3)
	for at := 0; at < len(text); at += 4 {
		end := min(at+4, len(text))
		held = append(held, w.Push(text[at:end], end == len(text)))
	}
	slices.Sort(held)
	if p50, p99 := held[len(held)/2], held[len(held)*99/100]; p50 > 12 || p99 > 64 || held[len(held)-1] > engine.Ahead {
		t.Errorf("p50 %d, p99 %d, max %d bytes", p50, p99, held[len(held)-1])
	}
}
