package tokens_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tiktoken-go/tokenizer"
	"pgregory.net/rapid"

	"github.com/modelgateway/modelgateway/extproc/tokens"
)

func TestCountKnownTexts(t *testing.T) {
	t.Parallel()
	c := tokens.NewCounter()
	for _, test := range []struct {
		model, text string
		want        int64
	}{
		{"gpt-4o", "", 0},
		{"gpt-4o", "hello world", 2},
		{"gpt-4", "hello world", 2},
		{"openai/gpt-4o-mini", "antidisestablishmentarianism", 6},
		{"gpt-3.5-turbo", "antidisestablishmentarianism", 6},
		{"azure/gpt-4o", "\u304a\u8a95\u751f\u65e5\u304a\u3081\u3067\u3068\u3046", 8},
		{"gpt-4", "\u304a\u8a95\u751f\u65e5\u304a\u3081\u3067\u3068\u3046", 9},
		{"claude-sonnet-4-5", "hello world", 2},
		{"gpt-4o", strings.Repeat(" ", 300), 3},
		{"gpt-4o", "a\x7f\x7fb", 4},
	} {
		if got := c.Count(test.model, test.text); got != test.want {
			t.Errorf("Count(%q, %.20q) = %d, want %d", test.model, test.text, got, test.want)
		}
	}
}

// TestMessages follows OpenAI's recipe: 3 for each message and one for its role,
// one more before a name, 3 for the start of the answer.
func TestMessages(t *testing.T) {
	t.Parallel()
	c := tokens.NewCounter()
	for _, test := range []struct {
		name     string
		messages []tokens.Message
		want     int64
	}{
		{"none", nil, 3},
		{"one", []tokens.Message{{Role: "user", Content: "hello world"}}, 3 + 4 + 2},
		{"two", []tokens.Message{{Role: "system", Content: "hello"}, {Role: "user", Content: "hello world"}}, 3 + 4 + 1 + 4 + 2},
		{"named", []tokens.Message{{Role: "user", Name: "hello", Content: "hello world"}}, 3 + 4 + 2 + 1 + 1},
	} {
		if got := c.CountMessages("gpt-4o", test.messages); got != test.want {
			t.Errorf("%s: %d tokens, want %d", test.name, got, test.want)
		}
	}
}

// TestPiecesChangeLittle: cutting for safety must not change what is counted by
// more than a token or two at each cut.
func TestPiecesChangeLittle(t *testing.T) {
	t.Parallel()
	whole, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		t.Fatal(err)
	}
	c := tokens.NewCounter()
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.SampledFrom([]string{"the ", "fox", " jumps\n", "über ", "\u65e5\u672c\u8a9e", "x = y[1];\n", "    ", "12345 ", "AAAA", "…"}), 0, 3000).Draw(t, "words")
		text := strings.Join(words, "")
		want, err := whole.Count(text)
		if err != nil {
			t.Fatal(err)
		}
		slack := int64(2 * (len(text)/1000 + 1))
		if len(text) < 4096 && !strings.Contains(text, strings.Repeat(" ", 100)) {
			slack = 0
		}
		if got := c.Count("gpt-5", text); got < int64(want)-slack || got > int64(want)+slack {
			t.Fatalf("%d bytes: %d tokens, the whole text has %d", len(text), got, want)
		}
	})
}

// TestLongTextsAreEstimated: samples of even text give its count within one percent,
// however it is divided into messages.
func TestLongTextsAreEstimated(t *testing.T) {
	t.Parallel()
	const sentence = "The quick brown fox jumps over the lazy dog, and other things happened. "
	c := tokens.NewCounter()
	const n = 20_000
	alone := n * c.Count("gpt-4o", sentence)
	joined := n / 500 * c.Count("gpt-4o", strings.Repeat(sentence, 500)) // a space between words is no token
	for _, test := range []struct {
		name      string
		got, want int64
	}{
		{"one text", c.Count("gpt-4o", strings.Repeat(sentence, n)), joined},
		{"two texts", c.CountMessages("gpt-4o", messages(strings.Repeat(sentence, n/2), 2)) - 3 - 4*2, joined},
		{"a text a sentence", c.CountMessages("gpt-4o", messages(sentence, n)) - 3 - 4*n, alone},
	} {
		if test.got < test.want*99/100 || test.got > test.want*101/100 {
			t.Errorf("%s: about %d tokens, want %d", test.name, test.got, test.want)
		}
	}
}

func messages(content string, n int) []tokens.Message {
	list := make([]tokens.Message, n)
	for i := range list {
		list[i] = tokens.Message{Role: "user", Content: content}
	}
	return list
}

// TestNothingIsExpensive counts what is hard for the tokenizer. Uncut, the mixed white
// space alone would take minutes; the bound is wide so that a busy machine passes.
func TestNothingIsExpensive(t *testing.T) {
	t.Parallel()
	c := tokens.NewCounter()
	c.Count("gpt-4o", "unpack the vocabulary first")
	for _, unit := range []string{"a", " ", " \n\t", "\r\n", "!", "\xff", "é", "\u65e5", "A", "1", "\u0301", "a ", "\x00", "\xe2\x80"} {
		for _, size := range []int{tokens.ExactBytes, 1 << 20} {
			begin := time.Now()
			n := c.Count("gpt-4o", strings.Repeat(unit, size/len(unit)))
			if spent := time.Since(begin); spent > 30*time.Second {
				t.Errorf("%d bytes of %q took %v", size, unit, spent)
			}
			if n < 1 || n > int64(size) {
				t.Errorf("%d bytes of %q are %d tokens", size, unit, n)
			}
		}
	}
	if n := c.CountMessages("gpt-4o", messages("", 1_000_000)); n != 3+4*1_000_000 {
		t.Errorf("a million empty messages are %d tokens", n)
	}
	if n := c.CountMessages("gpt-4o", messages("x", 1_000_000)); n != 3+5*1_000_000 {
		t.Errorf("a million one-letter messages are %d tokens", n)
	}
}

func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	c := tokens.NewCounter()
	var wg sync.WaitGroup
	for _, model := range []string{"gpt-4o", "gpt-4", "gpt-4o", "gpt-4"} {
		wg.Go(func() {
			if got := c.Count(model, "hello world"); got != 2 {
				t.Errorf("%s: %d tokens, want 2", model, got)
			}
		})
	}
	wg.Wait()
}

func FuzzCount(f *testing.F) {
	for _, seed := range []string{"", "hello", " \n\t", "\xff\xfe", "\u65e5\u672c\u8a9e", strings.Repeat("a ", 3000)} {
		f.Add(seed)
	}
	c := tokens.NewCounter()
	f.Fuzz(func(t *testing.T, text string) {
		if n := c.Count("gpt-4o", text); n < 0 || n > int64(len(text)) || (n == 0) != (text == "") {
			t.Errorf("%d bytes are %d tokens", len(text), n)
		}
	})
}
