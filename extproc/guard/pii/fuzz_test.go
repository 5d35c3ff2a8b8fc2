package pii_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/modelgateway/modelgateway/extproc/guard/engine"
	"github.com/modelgateway/modelgateway/extproc/guard/engine/enginetest"
	"github.com/modelgateway/modelgateway/extproc/guard/pii"
)

// pieces are what entities, and what looks like them, are made of.
func pieces() []string {
	return []string{
		"4111", "1111", "4111111111111111", "378282246310005", "+1", "+44", "415", "555", "0132", "020 7946 0958", "(", ")", "-", ".", "/", " ", "  ", "\n", ",", ":", "::",
		"@", "alice", "example.com", "example", ".com", "https://", "www.", "://", "?q=", "192", "168", "10.0.0.1", "2001:db8", "fe80", "00:1A:2B", "DE89", "3704 0044", "GB29 NWBK",
		"536-90-4399", "536", "90", "4399", "AB", "12", "34", "56", "C", "12345678Z", "March", "Mar", "5th", "of", "2024", "am", "10:30", "T", "Z", "ssn", "phone", "passport",
		"123e4567-e89b-12d3-a456-426614174000", "123e4567", "e89b", "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq", "EMP-", "EMP-123456", "123456", "_", "'", "\"", "#", "$", "%", "+", "x",
		"é", "я", "\u00a0", "\u200b", "\u2011", "\uff11", "\u0661", "\U000E0041", "\u00bd", "\u4e2d", "\uff20", "\U0001D7CF", "e\u0301", "\u2026", "\ufb01", "\xff", "\xe2\x80",
		"zqj", "the ", "and ", strings.Repeat("9", 40), strings.Repeat("a", 200), strings.Repeat("b.", 100), strings.Repeat("\u200b", 90), strings.Repeat("1 ", 100),
	}
}

// settings are engines that differ in what they look for.
func engines(tb testing.TB) []*pii.Engine {
	tb.Helper()
	own := []pii.Recognizer{
		{Entity: "EMPLOYEE", Pattern: `\bEMP-[0-9]{6}\b`},
		{Entity: "LONG", Pattern: `zqj.*[0-9]`, Context: []string{"phone"}, Score: new(uint32(300))},
		{Entity: "WORDS", Pattern: `(?:the|and) [a-z]+$`},
	}
	return []*pii.Engine{
		newEngine(tb, pii.Settings{}),
		newEngine(tb, pii.Settings{Recognizers: own, Threshold: new(uint32(100)), AllowList: []string{"10.0.0.1", "Alice@example.com"}}),
		newEngine(tb, pii.Settings{Entities: []string{"EMAIL_ADDRESS", "PHONE_NUMBER", "EMPLOYEE"}, Recognizers: own, Regions: []string{"DE", "FR", "IT", "ES"}}),
	}
}

// same tests that a text that comes in pieces has the findings of the whole, and that no more is held back than
// may be.
func same(t *testing.T, e engine.Engine, text string, cuts []int) {
	t.Helper()
	want := enginetest.Whole(t, e, text)
	w, last := enginetest.NewStream(t, e.Scanner()), 0
	for _, cut := range append(cuts, len(text)) {
		if held := w.Push(text[last:cut], cut == len(text)); held > engine.Ahead {
			t.Fatalf("%q cut at %v: %d bytes are held back", text, cuts, held)
		}
		last = cut
	}
	if !slices.Equal(w.Found(), want) {
		t.Fatalf("%q\ncut at %v\nfound %s\nwhole %s", text, cuts, enginetest.Marked(text, w.Found()), enginetest.Marked(text, want))
	}
}

// FuzzCutAnywhere finds the same in texts of pieces of entities, however they are cut.
func FuzzCutAnywhere(f *testing.F) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 60 {
		seed := make([]byte, 4+random.IntN(60))
		for i := range seed {
			seed[i] = byte(random.Uint32())
		}
		f.Add(seed, "", random.Uint64())
	}
	for _, text := range corpus() {
		f.Add([]byte(nil), text, uint64(7))
	}
	all, parts := engines(f), pieces()
	f.Fuzz(func(t *testing.T, choices []byte, more string, cuts uint64) {
		var text strings.Builder
		for i, c := range choices {
			text.WriteString(parts[(int(c)+i*7)%len(parts)])
			if c&1 == 0 {
				text.WriteByte(' ')
			}
		}
		text.WriteString(more)
		whole := strings.ToValidUTF8(text.String(), "\ufffd")
		if len(whole) > 8<<10 || !utf8.ValidString(whole) {
			return
		}
		random := rand.New(rand.NewPCG(cuts, 1))
		for _, e := range all {
			var random4, single []int
			for at := 1 + random.IntN(9); at < len(whole); at += 1 + random.IntN(9) {
				random4 = append(random4, at)
			}
			for at := 1; at < min(len(whole), 1000); at++ {
				single = append(single, at)
			}
			same(t, e, whole, random4)
			same(t, e, whole, single)
		}
	})
}
