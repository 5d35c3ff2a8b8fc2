package tokens

import (
	"encoding/base64"
	"encoding/hex"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// sample is a text of a kind.
type sample struct{ kind, text string }

// realTexts are windows of the texts in testdata/corpus: source code, documents and data of
// this repository as they were once, and prose in many languages. The corpus is fixed, so
// an edit anywhere else does not change what the bound is measured against.
func realTexts(tb testing.TB, r *rand.Rand, n int) []sample {
	tb.Helper()
	paths, err := filepath.Glob("testdata/corpus/*.txt")
	if err != nil {
		tb.Fatal(err)
	}
	kinds := map[string][]string{}
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			tb.Fatal(err)
		}
		kind, between := strings.TrimSuffix(filepath.Base(path), ".txt"), "\f\n"
		if kind == "languages" {
			between = "\n\n"
		}
		kinds[kind] = strings.Split(string(b), between)
	}
	names := []string{"go", "md", "md", "py", "proto", "yaml", "json", "txtar", "sh", "languages", "languages", "languages", "languages"}
	out := make([]sample, 0, n)
	for range n {
		kind := names[r.IntN(len(names))]
		if len(kinds[kind]) == 0 {
			tb.Fatalf("testdata/corpus has no text of the kind %s", kind)
		}
		text := kinds[kind][r.IntN(len(kinds[kind]))]
		out = append(out, sample{kind, window(r, text)})
	}
	return out
}

// window is a part of a text: some characters, or some thousand.
func window(r *rand.Rand, text string) string {
	size := 1 << (3 + r.IntN(10))
	from := 0
	if len(text) > size {
		from = r.IntN(len(text) - size)
	}
	to := min(from+size, len(text))
	for from > 0 && from < len(text) && !utf8.RuneStart(text[from]) {
		from++
	}
	for to < len(text) && !utf8.RuneStart(text[to]) {
		to++
	}
	return text[from:to]
}

// generatedTexts are what people send who write nothing.
func generatedTexts(r *rand.Rand, n int) []sample {
	out := make([]sample, 0, n)
	for range n {
		size := 1 << (2 + r.IntN(11))
		kind := r.IntN(19)
		out = append(out, sample{"generated " + strconv.Itoa(kind), generated(r, kind, size)})
	}
	return out
}

func generated(r *rand.Rand, kind, size int) string {
	const lower, upper, digits = "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789"
	const punctuation = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
	raw := make([]byte, size)
	for i := range raw {
		raw[i] = byte(r.Uint32())
	}
	switch kind {
	case 0: // a word again and again, or a letter
		unit := from(r, lower+upper+digits+punctuation, 1+r.IntN(4)) + " "
		return strings.Repeat(unit, size/len(unit)+1)
	case 1:
		return base64.StdEncoding.EncodeToString(raw)
	case 2:
		return hex.EncodeToString(raw)
	case 3:
		return from(r, lower+upper+digits+punctuation+" \n", size)
	case 4:
		return words(r, lower, size)
	case 5:
		return words(r, lower+upper, size)
	case 6:
		return words(r, digits, size)
	case 7:
		return words(r, upper, size)
	case 8:
		return words(r, lower+digits+"_-", size)
	case 9:
		return runes(r, size, 0x20, 0x2fff)
	case 10:
		return runes(r, size, 0x20, 0x10ffff)
	case 11:
		return runes(r, size, 0x4e00, 0x9fff)
	case 12:
		return runes(r, size, 0x1f300, 0x1faff)
	case 13:
		return from(r, punctuation, size)
	case 14:
		return from(r, " \n\t\r", 1+size/8) + from(r, lower+" ", size)
	case 15:
		return strings.Repeat(from(r, lower+digits+punctuation, 1+r.IntN(6)), 1+size/8)
	case 16:
		return strings.Repeat(runes(r, 1+r.IntN(6), 0xc0, 0x24f)+strings.Repeat(" ", r.IntN(2)), 1+size/8)
	case 17:
		return strings.Repeat(from(r, " \n\t\r", 1+r.IntN(5)), 1+size/8)
	}
	return strings.Repeat(from(r, "\x00\x01\x1b\x7f\x7f"+lower+" ", 1+r.IntN(3)), 1+size/8)
}

func from(r *rand.Rand, alphabet string, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = alphabet[r.IntN(len(alphabet))]
	}
	return string(b)
}

func words(r *rand.Rand, alphabet string, size int) string {
	var b strings.Builder
	for b.Len() < size {
		b.WriteString(from(r, alphabet, 1+r.IntN(10)))
		b.WriteByte(' ')
	}
	return b.String()
}

func runes(r *rand.Rand, size int, low, high rune) string {
	var b strings.Builder
	for b.Len() < size {
		if c := low + rune(r.IntN(int(high-low))); utf8.ValidRune(c) {
			b.WriteRune(c)
		}
	}
	return b.String()
}
