package names_test

import (
	"strings"
	"testing"

	"github.com/modelgateway/modelgateway/extproc/guard/engine"
	"github.com/modelgateway/modelgateway/extproc/guard/engine/enginetest"
	"github.com/modelgateway/modelgateway/extproc/guard/names"
)

// corpus returns texts of many kinds.
func corpus() []string {
	return []string{
		"",
		"J",
		"Hi, I am John Smith from Berlin. My colleague Mary-Jane O'Neill will call Dr. A. B. Patel tomorrow.",
		"Name: José María García-López\nCity: São Paulo\nCountry: Brazil\n\nRegards,\nMaria da Silva Santos\n-- \nACME Inc.",
		"please email sarah about the trip to paris, she's in london with ahmed van der berg until monday",
		`{"user": {"first_name": "Anna", "last_name": "Müller"}, "city": "Zürich", "id": 1234567890, "note": "call O’Brien’s office"}`,
		"func (s *Server) HandleRequest(ctx context.Context, req *Request) (*Response, error) { return s.Backend.Do(ctx, req) }",
		"JOHN SMITH\nSENIOR ENGINEER\n\nEXPERIENCE\n  Google   (2019 – 2023), Mountain View, CA\n  IBM      (2015 – 2019), New York City",
		"Владимир Петров приехал в Москву. " + "\u7530\u4e2d\u3055\u3093" + " محمد في القاهرة 👩‍👩‍👧 Zoë\u0301 met Nguyễn Văn An in Hà Nội.",
		"Mr. and Mrs. van den Berg, Prof. Dr. Hans-Peter Müller, St. John's Hospital, Washington, D.C., the United States of America",
		"The Netherlands and the United Kingdom of Great Britain and Northern Ireland, Rio de Janeiro, Trinidad and Tobago.",
		"J. R. Q. Tolkien. A. I. M. X. Y. Z. of de la von J. of de la J. de",
		strings.Repeat("Anna Maria Luisa ", 40) + strings.Repeat("de la ", 60) + "Vega",
		"x" + strings.Repeat("QWxhZGRpbjpvcGVuIHNlc2FtZQ", 30) + "== John Smith " + strings.Repeat("é", 200) + " Mary" + strings.Repeat(" ", 400) + "Jones",
		"John" + strings.Repeat(" ", 300) + "Smith\n" + strings.Repeat("\n", 300) + "Mary\t\tJones\u00a0Lee\u200bKim",
		"John Smith said hello. Smith was late. john was not. Ask Smith! SMITH? Smith's, Smith’s; (Smith) \"Smith\" 'Smith' Smith-Jones smith@example.com John.Smith@example.com https://example.com/John/Smith",
		"Thanks,\nJane\n\nOn Tue, 3 Sep 2024 at 10:14, Rajesh Kumar <rajesh.kumar@example.in> wrote:\n> Dear Ms. Okonkwo,\n> can Fatima bint Abdullah al-Rashid come to Kuala Lumpur?\n",
		"don't can't it's I'm I'll 'tis 'S ’s s' 's John's' d'Angelo D'Angelo rock'n'roll Mc' O' -Smith- --John-- A-B-C a-B X-",
	}
}

func TestCutAnywhere(t *testing.T) {
	enginetest.CutAnywhere(t, names.New(), corpus())
}

// FuzzCuts cuts texts in two places.
func FuzzCuts(f *testing.F) {
	for _, text := range corpus() {
		f.Add(text, uint16(7), uint16(30))
	}
	e := names.New()
	f.Fuzz(func(t *testing.T, text string, a, b uint16) {
		text = strings.ToValidUTF8(text, "?")
		want := enginetest.Marked(text, enginetest.Whole(t, e, text))
		first := min(int(a), len(text))
		second := min(first+int(b), len(text))
		w := enginetest.NewStream(t, e.Scanner())
		for _, piece := range []string{text[:first], text[first:second]} {
			if held := w.Push(piece, false); held > engine.Ahead {
				t.Fatalf("%q cut at %d and %d: %d bytes are held back", text, first, second, held)
			}
		}
		w.Push(text[second:], true)
		if got := enginetest.Marked(text, w.Found()); got != want {
			t.Fatalf("cut at %d and %d\nfound %s\nwhole %s", first, second, got, want)
		}
	})
}
