package words_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/modelgateway/modelgateway/extproc/guard/engine"
	"github.com/modelgateway/modelgateway/extproc/guard/engine/enginetest"
	"github.com/modelgateway/modelgateway/extproc/guard/words"
)

func newEngine(tb testing.TB, s words.Settings) engine.Engine {
	tb.Helper()
	e, err := words.New(s)
	if err != nil {
		tb.Fatal(err)
	}
	return e
}

func TestKeywords(t *testing.T) {
	for _, c := range []struct {
		words []string
		whole bool
		text  string
		want  string
	}{
		{[]string{"acme"}, false, "ACME, acme and Acmeister", "[KEYWORD_0:ACME], [KEYWORD_0:acme] and [KEYWORD_0:Acme]ister"},
		{[]string{"acme"}, true, "ACME, acme_1 and Acmeister; Pacme. acme", "[KEYWORD_0:ACME], acme_1 and Acmeister; Pacme. [KEYWORD_0:acme]"},
		{[]string{"kelvin"}, false, "\u212aELVIN", "[KEYWORD_0:\u212aELVIN]"},
		{[]string{"GROSSES"}, false, "großes groſſes", "großes [KEYWORD_0:groſſes]"},
		{[]string{"слово"}, true, "СЛОВО, слова, предслово", "[KEYWORD_0:СЛОВО], слова, предслово"},
		{[]string{"σίσυφος"}, true, "ΣΊΣΥΦΟΣ σίσυφοσ", "[KEYWORD_0:ΣΊΣΥΦΟΣ] [KEYWORD_0:σίσυφοσ]"},
		{[]string{"\u6771\u4eac"}, false, "\u79c1\u306f\u6771\u4eac\u306b\u4f4f\u3080", "\u79c1\u306f[KEYWORD_0:\u6771\u4eac]\u306b\u4f4f\u3080"},
		{[]string{"he", "she", "hers", "ushers"}, false, "usher ushers she", "u[KEYWORD_1:she]r [KEYWORD_3:ushers] [KEYWORD_1:she]"},
		{[]string{"project", "project x"}, false, "project xylophone, project", "[KEYWORD_1:project x]ylophone, [KEYWORD_0:project]"},
		{[]string{"project", "project x"}, true, "project xylophone, project x", "[KEYWORD_0:project] xylophone, [KEYWORD_1:project x]"},
		{[]string{"cafe"}, true, "cafe\u0301 café cafe", "cafe\u0301 café [KEYWORD_0:cafe]"},
		{[]string{"c++"}, true, "C++ or c++11", "[KEYWORD_0:C++] or c++11"},
		{[]string{"x", "X"}, false, "x", "[KEYWORD_0:x]"},
	} {
		e := newEngine(t, words.Settings{Keywords: c.words, WholeWords: c.whole})
		if got := enginetest.Marked(c.text, enginetest.Whole(t, e, c.text)); got != c.want {
			t.Errorf("%q (whole words: %v) in %q:\n%s\nwant\n%s", c.words, c.whole, c.text, got, c.want)
		}
	}
}

func TestPatterns(t *testing.T) {
	for _, c := range []struct {
		patterns []string
		text     string
		want     string
	}{
		{[]string{`proj-\d+`}, "PROJ-12 and proj-x", "[PATTERN_0:PROJ-12] and proj-x"},
		{[]string{`\b\d{3}-\d{4}\b`}, "555-1234, 5555-12345, 555-12345", "[PATTERN_0:555-1234], 5555-12345, 555-12345"},
		{[]string{`\w+@corp\.example`}, "to ann@corp.example or bob@else.example", "to [PATTERN_0:ann@corp.example] or bob@else.example"},
		{[]string{`^secret`, `end$`}, "secret or secret, end to end", "[PATTERN_0:secret] or secret, end to [PATTERN_1:end]"},
		{[]string{`(?m)^b.*$`}, "a\nbcd\nb", "a\n[PATTERN_0:bcd]\n[PATTERN_0:b]"},
		{[]string{`foo|foobar`}, "foobar", "[PATTERN_0:foobar]"},
		{[]string{`a+?`}, "aaa", "[PATTERN_0:aaa]"},
		{[]string{`(?-i:Exact)`}, "exact EXACT Exact", "exact EXACT [PATTERN_0:Exact]"},
		{[]string{`b`, `abc`, `ab`}, "abc b", "[PATTERN_1:abc] [PATTERN_0:b]"},
		{[]string{`[\p{Cyrillic}]{3}`}, "он дом", "он [PATTERN_0:дом]"},
		{[]string{`\x{212a}elvin`}, "kelvin", "[PATTERN_0:kelvin]"},
	} {
		e := newEngine(t, words.Settings{Patterns: c.patterns})
		if got := enginetest.Marked(c.text, enginetest.Whole(t, e, c.text)); got != c.want {
			t.Errorf("%q in %q:\n%s\nwant\n%s", c.patterns, c.text, got, c.want)
		}
	}
}

func TestOfOneStartKeywordsComeFirst(t *testing.T) {
	e := newEngine(t, words.Settings{Keywords: []string{"bar", "foo"}, Patterns: []string{"f.o"}})
	if got, want := enginetest.Marked("foo fxo", enginetest.Whole(t, e, "foo fxo")), "[KEYWORD_1:foo] [PATTERN_0:fxo]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestNewNamesWhatIsWrong(t *testing.T) {
	for want, s := range map[string]words.Settings{
		"banned_keywords[1]": {Keywords: []string{"a", ""}},
		"banned_patterns[1]": {Patterns: []string{"a", "(?=a)"}},
	} {
		if _, err := words.New(s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("New(%v): %v, want an error about %s", s, err, want)
		}
	}
}

// TestLongMatches tests that a match has a bounded length, and that one that begins later is not lost because
// an earlier one became too long.
func TestLongMatches(t *testing.T) {
	e := newEngine(t, words.Settings{Patterns: []string{`foo.*bar`, `[0-9]+x`, `_+`}})
	for _, c := range []struct{ text, want string }{
		{"foo" + strings.Repeat(" ", 246) + "bar", "[PATTERN_0:foo" + strings.Repeat(" ", 246) + "bar]"},
		{"foo" + strings.Repeat(" ", 247) + "bar", "foo" + strings.Repeat(" ", 247) + "bar"},
		{"foo" + strings.Repeat(" ", 200) + "foo" + strings.Repeat(" ", 100) + "bar", "foo" + strings.Repeat(" ", 200) + "[PATTERN_0:foo" + strings.Repeat(" ", 100) + "bar]"},
		{"foo" + strings.Repeat("ä", 123) + "bar", "[PATTERN_0:foo" + strings.Repeat("ä", 123) + "bar]"},
		{"foo" + strings.Repeat("ä", 124) + "bar", "foo" + strings.Repeat("ä", 124) + "bar"},
		{strings.Repeat("7", 5000) + "x", strings.Repeat("7", 5000-251) + "[PATTERN_1:" + strings.Repeat("7", 251) + "x]"},
		{strings.Repeat("_", 600), "[PATTERN_2:" + strings.Repeat("_", 252) + "][PATTERN_2:" + strings.Repeat("_", 252) + "][PATTERN_2:" + strings.Repeat("_", 96) + "]"},
	} {
		if got := enginetest.Marked(c.text, enginetest.Whole(t, e, c.text)); got != c.want {
			t.Errorf("%q\n%s\nwant\n%s", c.text, got, c.want)
		}
		enginetest.CutAnywhere(t, e, []string{c.text})
	}
}

func settings() []words.Settings {
	return []words.Settings{
		{Keywords: []string{"he", "she", "hers", "ushers", "ſhe", "K", "a b", "\u5317\u4eac"}},
		{Keywords: []string{"he", "she", "hers", "ushers", "a b", "b a b", "ä"}, WholeWords: true},
		{Patterns: []string{`foo.*bar`, `\bab+\b`, `[0-9]{2,}x?`, `(?m)^a.c$`, `\Bb\B`, `(a|b|ab)(c|bcd)+`, `\w+@a\.b`, `.ö`, `s.?e`}},
		{Keywords: []string{"abc", "foo bar"}, Patterns: []string{`ab`, `fo+\s?b`, `(?:he|she)\d`, `x*y`}, WholeWords: true},
	}
}

func corpus() []string {
	return []string{
		"ushers he SHE hers", "she he a b a b, b a b", "\u212a ſhe ſHE u\u0308 \u5317\u4eac\u5317 \u5317", "foo x bar foo\nbar", "ab abb abc b aabb",
		"12 123x 1 99x", "abc\na.c\nc axc", "ababcdbcd abc abcd", "ann@a.b @a.b ö aö\u00f6", "foo bar foobar fooo b he1 she2", "xxxy xx y", "", "a",
		"Prose of the usual kind, with hardly anything in it that would begin what is banned.",
	}
}

func TestCutAnywhere(t *testing.T) {
	for _, s := range settings() {
		enginetest.CutAnywhere(t, newEngine(t, s), corpus())
	}
}

// TestFindingsAreThoseOfRegexp compares with what package regexp and a plain search find from each place.
func TestFindingsAreThoseOfRegexp(t *testing.T) {
	for _, s := range settings() {
		e := newEngine(t, s)
		for _, text := range append(corpus(), pieces(400)...) {
			if got, want := enginetest.Marked(text, enginetest.Whole(t, e, text)), plainly(s, text); got != want {
				t.Fatalf("%+v in %q:\n%s\nwant\n%s", s, text, got, want)
			}
		}
	}
}

// pieces returns texts that are made of what the settings look for.
func pieces(n int) []string {
	parts := []string{"he", "s", "ſ", "h", "ush", "ers", "k", "\u212a", "a", "b", " ", "ab", "cd", "foo", "bar", "\n", "1", "23", "x", "y", "@a.b", "ö", "\u4eac", "\u5317", ".", "_"}
	out := make([]string, n)
	state := uint32(7)
	for i := range out {
		for range 1 + i%14 {
			state = state*1664525 + 1013904223
			out[i] += parts[state>>16%uint32(len(parts))]
		}
	}
	return out
}

// plainly marks what is found from each place, by a slow way for short texts.
func plainly(s words.Settings, text string) string {
	inWord := func(r rune) bool {
		return r != utf8.RuneError && (r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r))
	}
	var found []engine.Finding
	for at := 0; at < len(text); {
		best := engine.Finding{Start: at, End: at}
		offer := func(end int, name string) {
			if end > best.End {
				best.End, best.Entity, best.Score = end, name, 1
			}
		}
		for i, word := range s.Keywords {
			for end := at; end <= len(text); end++ {
				before, _ := utf8.DecodeLastRuneInString(text[:at])
				after, _ := utf8.DecodeRuneInString(text[end:])
				if strings.EqualFold(text[at:end], word) && (!s.WholeWords || !inWord(before) && !inWord(after)) {
					offer(end, fmt.Sprintf("KEYWORD_%d", i))
				}
			}
		}
		for i, p := range s.Patterns {
			re := regexp.MustCompile(fmt.Sprintf(`\A(?s:.{%d})((?i)%s)`, utf8.RuneCountInString(text[:at]), p))
			re.Longest()
			if m := re.FindStringSubmatchIndex(text); m != nil {
				offer(m[3], fmt.Sprintf("PATTERN_%d", i))
			}
		}
		if best.End > at {
			found = append(found, best)
			at = best.End
			continue
		}
		_, size := utf8.DecodeRuneInString(text[at:])
		at += size
	}
	return enginetest.Marked(text, found)
}

// TestProseIsHardlyHeldBack tests what a stream of prose holds back: beginnings of words, not whole lines.
func TestProseIsHardlyHeldBack(t *testing.T) {
	for _, whole := range []bool{false, true} {
		s := figureSettings()
		s.WholeWords = whole
		w := enginetest.NewStream(t, newEngine(t, s).Scanner())
		var held []int
		text := prose(8 << 10)
		for i := 0; i < len(text); i += 4 {
			held = append(held, w.Push(text[i:min(i+4, len(text))], i+4 >= len(text)))
		}
		slices.Sort(held)
		if p50, p99 := held[len(held)/2], held[len(held)*99/100]; p50 > 12 || p99 > 64 {
			t.Errorf("whole words %v: p50 %d, p99 %d bytes are held back", whole, p50, p99)
		}
	}
}

func TestNothingFoundAllocatesNothing(t *testing.T) {
	e := newEngine(t, figureSettings())
	s, text := e.Scanner(), []byte(prose(64<<10))
	found := make([]engine.Finding, 0, 8)
	scan := func() {
		if out, _, err := s.Scan(t.Context(), text, 0, true, found); err != nil || len(out) > 0 {
			t.Fatalf("found %v, %v", out, err)
		}
	}
	scan()
	if n := testing.AllocsPerRun(10, scan); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// figureSettings are 200 words and 20 patterns.
func figureSettings() words.Settings {
	var s words.Settings
	syllables := strings.Fields("bra cor dun fel gri hax jol kem lor mub nix orp pla qui rus sto tra ulm vex wob")
	for i := range 200 {
		s.Keywords = append(s.Keywords, syllables[i%20]+syllables[i/20%20]+syllables[(i*7+3)%20])
	}
	for i := range 10 {
		s.Patterns = append(s.Patterns, fmt.Sprintf(`proj%s-\d{3,6}`, syllables[i]))
	}
	s.Patterns = append(s.Patterns,
		`\b\d{3}-\d{2}-\d{4}\b`, `\w+@corp\.example`, `(?:internal|confidential)\s+only`, `https?://intra\.[a-z.]+`, `\bcodename\s+\w+`,
		`[A-Z]{2}\d{6}[A-Z]`, `employee\s*(?:id|number)\W+\d+`, `do not (?:share|forward)`, `\$\d+(?:\.\d+)?\s*(?:million|billion) deal`, `(?:sql|shell)\s*injection`)
	return s
}

// prose returns text without anything banned.
func prose(size int) string {
	const text = `The gateway keeps a table of the models that it may call, and of the prices that were agreed. When a request comes, ` +
		`it looks for the cheapest deployment that is healthy, and forwards it. In 2024 about 12,500 requests a second were served (see chapter 3.2), ` +
		"most of them within 40 ms.\n\nNothing here is confidential: mail info@example.org or read https://example.org/docs for more about it. "
	return strings.Repeat(text, size/len(text)+1)[:size]
}

func BenchmarkScan(b *testing.B) {
	e := newEngine(b, figureSettings())
	for _, size := range []int{1 << 10, 64 << 10, 8 << 20} {
		b.Run(fmt.Sprintf("%dKiB", size>>10), func(b *testing.B) {
			s, text := e.Scanner(), []byte(prose(size))
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				if found, _, err := s.Scan(b.Context(), text, 0, true, nil); err != nil || len(found) > 0 {
					b.Fatal(found, err)
				}
			}
		})
	}
}

func BenchmarkStream(b *testing.B) {
	e := newEngine(b, figureSettings())
	s, text := e.Scanner(), []byte(prose(4<<10))
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		at := 0
		for n := 4; n <= len(text); n += 4 {
			_, at, _ = s.Scan(b.Context(), text[:n], at, n == len(text), nil)
		}
	}
}

// BenchmarkHard is a text that keeps a pattern busy: each place begins a match that never comes.
func BenchmarkHard(b *testing.B) {
	e := newEngine(b, words.Settings{Patterns: []string{`foo.*bar`, `[a-z ]+!!`, `(?:a|b|\w)+-x`}})
	text := []byte(strings.Repeat("foo food baz b !! -x ", 50<<10))
	s := e.Scanner()
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, _, err := s.Scan(b.Context(), text, 0, true, nil); err != nil {
			b.Fatal(err)
		}
	}
}

func FuzzCutAnywhere(f *testing.F) {
	for _, text := range corpus() {
		f.Add(text, uint8(3))
	}
	engines := make([]engine.Engine, 0, 4)
	for _, s := range settings() {
		engines = append(engines, newEngine(f, s))
	}
	f.Fuzz(func(t *testing.T, text string, which uint8) {
		if utf8.ValidString(text) && len(text) < 2000 {
			enginetest.CutAnywhere(t, engines[int(which)%len(engines)], []string{text})
		}
	})
}
