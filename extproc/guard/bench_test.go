package guard_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/modelgateway/modelgateway/cluster/guardrails"
	"github.com/modelgateway/modelgateway/extproc/guard"
	"github.com/modelgateway/modelgateway/extproc/splice"
	"github.com/modelgateway/modelgateway/extproc/texts"
)

// prose is about a KB of a request, with some personal data.
const prose = `Hi team, thanks for the call on Tuesday. I have looked at the contract that Maria Lopez sent over, and there are 3 points that we should settle before the 15 June deadline: the price per unit (it went from 12.50 to 13.75), the term of 24 months, and who pays for shipping. Could you summarise the attached minutes in 5 bullet points, and translate them into French and German? Use a friendly tone, and keep it under 200 words. If anything is unclear, write to me at maria.lopez@example.com or ring +44 20 7946 0958 between 9:00 and 17:30. The function parse_args(argv[1:]) in tools/main.py returns None if --verbose is missing; see https://docs.example.com/cli?page=2#args for more. I think that the best approach is to read the file line by line, split each line at the comma, and collect the results in a dictionary whose keys are the names of the columns. Do not worry about errors yet; we will handle them in version 1.2.3 of the tool, which is planned for next quarter. Order 48213-77 was shipped on Monday. `

// filter is a guardrail with 200 words and 20 patterns.
func filter() guardrails.Engine {
	e := guardrails.Engine{Name: "content_filter", Action: "flag"}
	for i := range 200 {
		e.BannedKeywords = append(e.BannedKeywords, fmt.Sprintf("project %c%c%d", 'a'+i%26, 'a'+i/26, i))
	}
	for i := range 20 {
		e.BannedPatterns = append(e.BannedPatterns, fmt.Sprintf(`ref%d-[0-9]{4,8}\b`, i))
	}
	return e
}

// BenchmarkEngines examines texts of requests, whole, and reports the time for a KB.
func BenchmarkEngines(b *testing.B) {
	for name, e := range map[string]guardrails.Engine{
		"presidio":               {Name: "presidio", Action: "flag"},
		"presidio-without-names": {Name: "presidio", Action: "flag", Entities: []string{"EMAIL_ADDRESS", "PHONE_NUMBER", "CREDIT_CARD", "IBAN_CODE", "US_SSN", "IP_ADDRESS", "URL"}},
		"content_filter":         filter(),
		"detect_secret":          {Name: "detect_secret", Action: "flag"},
	} {
		for _, size := range []int{1 << 10, 64 << 10, guard.MaxText} {
			b.Run(fmt.Sprintf("%s/%dKB", name, size>>10), func(b *testing.B) {
				e.Hooks = []string{guardrails.PreCall}
				text := strings.Repeat(prose, size/len(prose)+1)[:size]
				list := []guard.Text{{Role: texts.User, Text: text}}
				g := ready(e)
				b.ReportAllocs()
				for b.Loop() {
					if _, _, err := g.Apply(b.Context(), guardrails.PreCall, list); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/1e3/float64(b.N)/float64(size)*1024, "µs/KB")
			})
		}
	}
}

// BenchmarkHeldBack examines a stream of pieces of 4 bytes, and reports how many bytes are held back after a piece.
func BenchmarkHeldBack(b *testing.B) {
	var c chat
	for at := 0; at < len(prose); at += 4 {
		c.delta(0, `{"content":"`+inside(prose[at:min(at+4, len(prose))])+`"}`, "")
	}
	stream := []byte(strings.Join(c.events, ""))
	var held []int
	for b.Loop() {
		s := withEngine(guardrails.Engine{Name: "presidio", Action: "flag", Hooks: []string{guardrails.PostCall}}).NewStream(texts.Chat(), false)
		var split splice.Splitter
		var e splice.Event
		split.Push(stream)
		in, out := 0, 0
		for split.Next(&e) {
			in += contentOf(e.Data)
			event, err := s.Event(b.Context(), nil, &e)
			if err != nil {
				b.Fatal(err)
			}
			if i := strings.Index(string(event), "data: "); i >= 0 {
				out += contentOf(event[i+len("data: "):])
			}
			held = append(held, in-out)
		}
		s.Release()
	}
	slices.Sort(held)
	for _, p := range []int{50, 99, 100} {
		b.ReportMetric(float64(held[min(len(held)*p/100, len(held)-1)]), fmt.Sprintf("p%d-held-bytes", p))
	}
}

// contentOf returns the length of the content in an event's data.
func contentOf(data []byte) (n int) {
	for x := range texts.Chat().Event(data) {
		n += x.End - x.Off
	}
	return n
}
