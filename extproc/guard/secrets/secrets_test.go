package secrets_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/modelgateway/modelgateway/extproc/guard/engine"
	"github.com/modelgateway/modelgateway/extproc/guard/engine/enginetest"
	"github.com/modelgateway/modelgateway/extproc/guard/secrets"
)

func newEngine(tb testing.TB, names ...string) engine.Engine {
	tb.Helper()
	e, err := secrets.New(secrets.Settings{Detectors: names})
	if err != nil {
		tb.Fatal(err)
	}
	return e
}

func TestSecretsAreFound(t *testing.T) {
	e, tried := newEngine(t), map[string]int{}
	for _, x := range positives() {
		tried[x.detector]++
		text := x.before + x.secret + x.after
		want := x.before + "[" + x.detector + ":" + x.secret + "]" + x.after
		if got := enginetest.Marked(text, enginetest.Whole(t, e, text)); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", x.detector, got, want)
		}
		alone := enginetest.Whole(t, newEngine(t, x.detector), text)
		if !slices.ContainsFunc(alone, func(f engine.Finding) bool { return f.Entity == x.detector && text[f.Start:f.End] == x.secret }) {
			t.Errorf("%s alone: %s", x.detector, enginetest.Marked(text, alone))
		}
	}
	for _, name := range secrets.Detectors() {
		if tried[name] < 3 {
			t.Errorf("%s is tried %d times", name, tried[name])
		}
	}
}

func TestWhatIsNoSecretIsLeft(t *testing.T) {
	e := newEngine(t)
	for _, text := range negatives() {
		if found := enginetest.Whole(t, e, text); len(found) > 0 {
			t.Error(enginetest.Marked(text, found))
		}
	}
}

func TestOnlyWantedDetectorsFind(t *testing.T) {
	for _, x := range positives() {
		for _, name := range []string{"mailchimp", "jwt"} {
			text := x.before + x.secret + x.after
			for _, f := range enginetest.Whole(t, newEngine(t, name), text) {
				if f.Entity != name {
					t.Errorf("only %s is wanted: %s", name, enginetest.Marked(text, []engine.Finding{f}))
				}
			}
		}
	}
}

func TestUnknownDetector(t *testing.T) {
	if _, err := secrets.New(secrets.Settings{Detectors: []string{"aws", "gcp"}}); err == nil || !strings.Contains(err.Error(), "detectors[1]") {
		t.Errorf("%v, want an error about detectors[1]", err)
	}
}

// TestChecksumsAreRead: a token whose checksum is right is certain.
func TestChecksumsAreRead(t *testing.T) {
	g := newGenerator()
	for _, prefix := range []string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_", "npm_"} {
		right := g.sealed(prefix)
		wrong := right[:len(right)-1] + map[bool]string{true: "b", false: "a"}[right[len(right)-1] == 'a']
		for text, score := range map[string]float32{right: 1, wrong: 0.75} {
			if found := enginetest.Whole(t, newEngine(t), text); len(found) != 1 || found[0].Score != score {
				t.Errorf("%s: %+v, want one finding of score %v", text, found, score)
			}
		}
	}
}

// TestCutKeys tests private keys without a last line: they end where what is no key begins.
func TestCutKeys(t *testing.T) {
	g, e := newGenerator(), newEngine(t)
	key := g.pem("EC PRIVATE KEY", 3, "\n")
	body := key[:strings.Index(key, "\n-----END")]
	encrypted := strings.Replace(key, "-----\n", "-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0A1B\n\n", 1)
	for _, c := range []struct{ secret, after string }{
		{body, "\n<end of the key>"},
		{body, "\n(it was cut here)"},
		{body, ""},
		{encrypted, "\nHello"},
		{key, "\n" + strings.Repeat("More prose follows. ", 20)},
	} {
		text := "See " + c.secret + c.after
		found := enginetest.Whole(t, e, text)
		if len(found) != 1 || found[0].Start != 4 || strings.TrimSpace(text[found[0].End:]) != strings.TrimSpace(c.after) {
			t.Errorf("%s", enginetest.Marked(text, found))
		}
	}
	quoted := `{"k": "` + strings.ReplaceAll(body, "\n", `\n`) + `", "other": "value"}`
	if found := enginetest.Whole(t, e, quoted); len(found) != 1 || quoted[found[0].End:] != `, "other": "value"}` {
		t.Errorf("%s", enginetest.Marked(quoted, found))
	}
}

func corpus() []string {
	out := negatives()
	for _, x := range positives()[:49] {
		out = append(out, x.before+x.secret+x.after)
	}
	g := newGenerator()
	return append(out,
		"https://u:"+g.of(alnum, 100)+"@host.example "+strings.Repeat("a-", 70)+g.sealed("ghp_")+strings.Repeat("-b", 200),
		`"`+g.of(base64s, 900)+`" and `+g.of(hexes, 700)+` key=`+g.of(hexes, 700)+".",
		strings.Repeat("x", 120)+"://u:"+g.of(alnum, 20)+"@h "+strings.Repeat("x", 300)+"-----BEGIN PRIVATE KEY-----",
		"-----BEGIN -----BEGIN RSA PRIVATE KEY----- "+g.of(base64s, 64)+" ä "+g.of(base64s, 64), "-----BEGIN "+strings.Repeat("A ", 100), "äöü€"+strings.Repeat("€", 100),
		strings.Repeat("Q", 255)+"€")
}

func TestCutAnywhere(t *testing.T) {
	enginetest.CutAnywhere(t, newEngine(t), corpus())
	enginetest.CutAnywhere(t, newEngine(t), mixtures(60))
}

// mixtures returns texts of pieces of secrets and of what is around them.
func mixtures(n int) []string {
	g, whole := newGenerator(), positives()
	around := []string{" ", "\n", `"`, "=", ": ", "/", "-", ".", "://u:", "@h", "ä", "-----BEGIN ", "-----END ", "PRIVATE KEY-----", "aws key ", `\n`, "x"}
	out := make([]string, n)
	for i := range out {
		for range 2 + g.IntN(8) {
			secret := whole[g.IntN(len(whole))].secret
			secret = secret[:min(len(secret), 200)]
			out[i] += secret[g.IntN(len(secret)/2):] + around[g.IntN(len(around))] + around[g.IntN(len(around))]
		}
	}
	return out
}

// TestLongSecretsAreNotHeld tests that nothing is held back of a secret that has begun, however long it is.
func TestLongSecretsAreNotHeld(t *testing.T) {
	g := newGenerator()
	for _, text := range []string{g.pem("RSA PRIVATE KEY", 200, "\n"), `"` + g.of(base64s, 9000) + `"`} {
		w := enginetest.NewStream(t, newEngine(t).Scanner())
		for i := 0; i < len(text); i += 5 {
			if held := w.Push(text[i:min(i+5, len(text))], i+5 >= len(text)); i > 300 && held > 0 {
				t.Fatalf("%d bytes are held back at %d", held, i)
			}
		}
		if len(w.Found()) != 1 {
			t.Errorf("%d findings", len(w.Found()))
		}
	}
}

func TestNothingFoundAllocatesNothing(t *testing.T) {
	s, text := newEngine(t).Scanner(), []byte(prose(64<<10))
	scan := func() {
		if found, _, err := s.Scan(t.Context(), text, 0, true, nil); err != nil || len(found) > 0 {
			t.Fatal(enginetest.Marked(string(text), found), err)
		}
	}
	if n := testing.AllocsPerRun(10, scan); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestProseIsHardlyHeldBack(t *testing.T) {
	w := enginetest.NewStream(t, newEngine(t).Scanner())
	var held []int
	text := prose(8 << 10)
	for i := 0; i < len(text); i += 4 {
		held = append(held, w.Push(text[i:min(i+4, len(text))], i+4 >= len(text)))
	}
	slices.Sort(held)
	if p50, p99 := held[len(held)/2], held[len(held)*99/100]; p50 > 12 || p99 > 64 {
		t.Errorf("p50 %d, p99 %d bytes are held back", p50, p99)
	}
}

// prose returns text without secrets.
func prose(size int) string {
	const text = `The gateway keeps a table of the models that it may call, and of the prices that were agreed. When a request comes, ` +
		`it looks for the cheapest deployment that is healthy, and forwards it. In 2024 about 12,500 requests a second were served (see chapter 3.2), ` +
		"most of them within 40 ms.\n\nNothing here is confidential: mail info@example.org or read https://example.org/docs/operation/restore.md for more about it. "
	return strings.Repeat(text, size/len(text)+1)[:size]
}

func BenchmarkScan(b *testing.B) {
	source := strings.Repeat(strings.Join(negatives(), "\n"), 30)
	for name, text := range map[string]string{
		"1KiB": prose(1 << 10), "64KiB": prose(64 << 10), "8MiB": prose(8 << 20), "look-alikes": source,
		"hard": strings.Repeat("a-", 64<<9), "hard_keys": strings.Repeat("aws key "+strings.Repeat("aB3", 13)+"x ", 1000),
	} {
		b.Run(name, func(b *testing.B) {
			s := newEngine(b).Scanner()
			data := []byte(text)
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				s.Reset()
				if _, _, err := s.Scan(b.Context(), data, 0, true, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func FuzzCutAnywhere(f *testing.F) {
	for _, text := range corpus() {
		f.Add(text)
	}
	e := newEngine(f)
	f.Fuzz(func(t *testing.T, text string) {
		if utf8.ValidString(text) && len(text) < 2000 {
			enginetest.CutAnywhere(t, e, []string{text})
		}
	})
}
