package names_test

import (
	"strings"
	"testing"

	"github.com/modelgateway/modelgateway/extproc/guard/engine"
	"github.com/modelgateway/modelgateway/extproc/guard/names"
	"github.com/modelgateway/modelgateway/extproc/texts"
)

// BenchmarkScan reads texts with many names, texts with usual ones, and none.
func BenchmarkScan(b *testing.B) {
	set := labelled(b, "dev.jsonl")
	var err error
	var many strings.Builder
	for _, e := range set {
		many.WriteString(e.Text + "\n\n")
	}
	plain := "the model reads the request, and the answer comes in small pieces. We measure how long each of them takes, and write it down.\n"
	for _, c := range []struct{ name, text string }{
		{"names", many.String()},
		{"usual", strings.Repeat(plain+plain+plain+"Then Maria Lopez from Lisbon called about the Invoice. ", 50)},
		{"none", strings.Repeat(plain, 100)},
	} {
		b.Run(c.name, func(b *testing.B) {
			s, text := names.New().Scanner(), []byte(c.text)
			var found []engine.Finding
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				s.Reset()
				s.Begin(texts.Content, texts.User)
				found, _, err = s.Scan(b.Context(), text, 0, true, found[:0])
				if err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(len(text))*1024, "µs/KB")
		})
	}
}
