package pii_test

import (
	"flag"
	"fmt"
	"math/big"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/modelgateway/modelgateway/extproc/guard/engine"
	"github.com/modelgateway/modelgateway/extproc/guard/engine/enginetest"
	"github.com/modelgateway/modelgateway/extproc/guard/pii"
)

var update = flag.Bool("update", false, "write testdata/labelled/generated.txt again")

// counts are how often an entity was found, missed and found where it was not.
type counts struct{ found, missed, wrong int }

func (c counts) f1() float64 {
	return 2 * float64(c.found) / float64(2*c.found+c.missed+c.wrong)
}

// TestLabelled: of the labelled sentences, the five most usual entities are found with an F1 of at least 0.98. A
// finding counts if it overlaps a label of its entity.
func TestLabelled(t *testing.T) {
	t.Parallel()
	if *update {
		if err := os.WriteFile("testdata/labelled/generated.txt", []byte(generated()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	files, err := filepath.Glob("testdata/labelled/*.txt")
	if err != nil || len(files) < 2 {
		t.Fatal(files, err)
	}
	want := []string{"CREDIT_CARD", "EMAIL_ADDRESS", "IBAN_CODE", "PHONE_NUMBER", "US_SSN"}
	e := newEngine(t, pii.Settings{})
	all, sentences := map[string]*counts{}, 0
	for _, name := range want {
		all[name] = &counts{}
	}
	for _, file := range files {
		lines, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(lines)) {
			if line = strings.TrimSuffix(line, "\n"); line == "" || line[0] == '#' {
				continue
			}
			sentences++
			text, labels := unmark(line)
			if found := enginetest.Whole(t, e, text); !count(all, labels, found) {
				t.Logf("%s\n\tfound %s", line, enginetest.Marked(text, found))
			}
		}
	}
	if sentences < 200 {
		t.Errorf("%d sentences", sentences)
	}
	for _, name := range want {
		c := all[name]
		t.Logf("%-14s F1 %.3f: %d found, %d missed, %d wrong", name, c.f1(), c.found, c.missed, c.wrong)
		if c.f1() < 0.98 || c.found < 30 {
			t.Errorf("%s: F1 is %.3f of %d", name, c.f1(), c.found+c.missed)
		}
	}
}

// count adds the findings of a sentence to the counts. It returns false if something is missed or wrong.
func count(all map[string]*counts, labels, found []engine.Finding) bool {
	good := true
	overlaps := func(f engine.Finding, in []engine.Finding) bool {
		for _, g := range in {
			if f.Entity == g.Entity && f.Start < g.End && g.Start < f.End {
				return true
			}
		}
		return false
	}
	for _, l := range labels {
		switch c := all[l.Entity]; {
		case c == nil:
		case overlaps(l, found):
			c.found++
		default:
			c.missed++
			good = false
		}
	}
	for _, f := range found {
		if c := all[f.Entity]; c != nil && !overlaps(f, labels) {
			c.wrong++
			good = false
		}
	}
	return good
}

// unmark returns a text and what is marked in it.
func unmark(line string) (string, []engine.Finding) {
	var text strings.Builder
	var labels []engine.Finding
	last := 0
	for _, m := range regexp.MustCompile(`\[([A-Z_]+):([^\]]*)\]`).FindAllStringSubmatchIndex(line, -1) {
		text.WriteString(line[last:m[0]])
		start := text.Len()
		text.WriteString(line[m[4]:m[5]])
		labels = append(labels, engine.Finding{Start: start, End: text.Len(), Entity: line[m[2]:m[3]]})
		last = m[1]
	}
	text.WriteString(line[last:])
	return text.String(), labels
}

// grammar makes sentences.
type grammar struct{ *rand.Rand }

func (g grammar) of(choices ...string) string { return choices[g.IntN(len(choices))] }

func (g grammar) digits(n int) string {
	var b strings.Builder
	for range n {
		b.WriteByte('0' + byte(g.IntN(10)))
	}
	return b.String()
}

// generated returns labelled sentences of a grammar; its seed is fixed.
func generated() string {
	g := grammar{rand.New(rand.NewPCG(17, 4))}
	var b strings.Builder
	b.WriteString("# Made by the grammar in labelled_test.go: go test ./extproc/guard/pii -run TestLabelled -update\n")
	for range 45 {
		fmt.Fprintf(&b, g.of("Write to %s if it fails.", "My address is %s, thanks.", "From: %s", "Please add %s and remove the old one.", "cc %s; subject: invoice", "<%s> wrote:", `{"user":"%s"}`)+"\n", "[EMAIL_ADDRESS:"+g.email()+"]")
		fmt.Fprintf(&b, g.of("Call me on %s after lunch.", "Tel. %s", "You can reach the office at %s.", "phone: %s", "My new number is %s.", "Text %s when you are there.", `{"mobile": "%s"}`)+"\n", "[PHONE_NUMBER:"+g.phone()+"]")
		fmt.Fprintf(&b, g.of("Charge it to %s, please.", "card %s exp 04/29", "The number on the front is %s and the name is mine.", "Payment was made with %s.", `"pan": "%s"`, "Refund %s in full.")+"\n", "[CREDIT_CARD:"+g.card()+"]")
		fmt.Fprintf(&b, g.of("Transfer it to %s by Friday.", "IBAN: %s", "Our account is %s (no fees).", "pay %s", "The invoice names %s as the account.")+"\n", "[IBAN_CODE:"+g.iban()+"]")
		fmt.Fprintf(&b, g.of("My SSN is %s.", "social security number %s", "ssn=%s", "The form asks for the SSN: %s", "His social is %s, born 1980.")+"\n", "[US_SSN:"+g.ssn()+"]")
		fmt.Fprintf(&b, "%s\n", g.negative())
	}
	return b.String()
}

func (g grammar) email() string {
	local := g.of("alice", "bob.jones", "c_diaz", "d-e", "info+news", "x"+g.digits(3), "first.last", "o'neill", "Team")
	return local + "@" + g.of("example.com", "mail.example.org", "example.co.uk", "sub-domain.example.net", "firma.example.de", "Example.COM", "b\u00fccher.example")
}

func (g grammar) phone() string {
	line := g.digits(2)
	us := g.of("415", "212", "312", "646", "206", "512")
	return g.of(
		fmt.Sprintf("(%s) 555-01%s", us, line), fmt.Sprintf("%s-555-01%s", us, line), fmt.Sprintf("%s.555.01%s", us, line), fmt.Sprintf("+1 %s 555 01%s", us, line),
		fmt.Sprintf("1-%s-555-01%s", us, line), fmt.Sprintf("%s\u00a0555\u00a001%s", us, line), fmt.Sprintf("+1%s55501%s", us, line), fmt.Sprintf("%s 555 01%s", us, line),
		"020 7946 0"+g.digits(3), "+44 20 7946 0"+g.digits(3), "07700 900"+g.digits(3), "+44 7700 900"+g.digits(3), "0161 496 0"+g.digits(3), "+44 (0)20 7946 0"+g.digits(3),
		"+49 30 9018"+g.digits(4), "+33 1 70 18 0"+g.digits(1)+" "+line, "+91 98765 4"+g.digits(4), "+61 2 5550 "+g.digits(4), "+34 612 345 "+g.digits(3), "0044 20 7946 0"+g.digits(3),
	)
}

func (g grammar) card() string {
	kind := [][2]string{{"4", "16"}, {"5" + g.of("1", "2", "3", "4", "5"), "16"}, {"34", "15"}, {"37", "15"}, {"6011", "16"}, {"3530", "16"}, {"2221", "16"}}[g.IntN(7)]
	n := 16
	if kind[1] == "15" {
		n = 15
	}
	body := kind[0] + g.digits(n-1-len(kind[0]))
	sum := 0
	for i := range body {
		d := int(body[len(body)-1-i] - '0')
		if i%2 == 0 {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
	}
	number := body + string(rune('0'+(10-sum%10)%10))
	separator := g.of("", " ", "-", "\u00a0", ".")
	if n == 15 {
		return number[:4] + separator + number[4:10] + separator + number[10:]
	}
	return number[:4] + separator + number[4:8] + separator + number[8:12] + separator + number[12:]
}

func (g grammar) iban() string {
	country := [][2]string{{"DE", "18"}, {"FR", "23"}, {"ES", "20"}, {"AT", "16"}, {"NL", "AAAA10"}, {"GB", "AAAA14"}, {"PL", "24"}, {"IT", "L22"}}[g.IntN(8)]
	var body string
	switch country[1] {
	case "AAAA10":
		body = g.of("ABNA", "INGB") + g.digits(10)
	case "AAAA14":
		body = g.of("NWBK", "BARC") + g.digits(14)
	case "L22":
		body = "X" + g.digits(22)
	default:
		n := 0
		if _, err := fmt.Sscan(country[1], &n); err != nil {
			panic(err)
		}
		body = g.digits(n)
	}
	var numeric strings.Builder
	for _, r := range body + country[0] + "00" {
		if r >= 'A' {
			fmt.Fprint(&numeric, r-'A'+10)
		} else {
			numeric.WriteRune(r)
		}
	}
	value, _ := new(big.Int).SetString(numeric.String(), 10)
	check := 98 - new(big.Int).Mod(value, big.NewInt(97)).Int64()
	iban := fmt.Sprintf("%s%02d%s", country[0], check, body)
	if separator := g.of("", " ", "\u00a0"); separator != "" {
		var groups []string
		for ; len(iban) > 4; iban = iban[4:] {
			groups = append(groups, iban[:4])
		}
		return strings.Join(append(groups, iban), separator)
	}
	return iban
}

func (g grammar) ssn() string {
	separator := g.of("-", " ", "-", "", "\u2011")
	return fmt.Sprintf("%03d%s%02d%s%04d", 1+g.IntN(665), separator, 1+g.IntN(99), separator, 1+g.IntN(9999))
}

// negative returns a sentence without any of the entities that are counted.
func (g grammar) negative() string {
	return fmt.Sprintf(g.of("Order %s was shipped.", "The run took %s ms.", "Invoice no. INV-%s is due.", "build %s passed", "Ticket #%s is closed.", "see commit %s"), g.of(
		g.digits(6), g.digits(8), "2024-"+g.digits(4), "1"+g.digits(9), "170"+g.digits(7), "1.2."+g.digits(2), "9f"+g.digits(4)+"ab"+g.digits(4)+"cd"+g.digits(3), "12,345.67", "000-00-0000",
		"20240115103000", "10:30:15", "192.168.0."+g.digits(1), g.digits(4)+"-"+g.digits(4), "0x"+g.digits(8),
	))
}
