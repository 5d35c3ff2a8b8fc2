package openai_test

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/modelgateway/modelgateway/extproc/openai"
)

// However a provider cuts its text, the reasoning in it is found, and nothing is lost.
func TestReasoningInTextIsFoundWhereverItIsCut(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, thinking, rest string }{
		{"<think>hm</think>Hi", "hm", "Hi"},
		{"\n <think>\nhm <b>\n</think>\n\nHi </think> there", "\nhm <b>\n", "Hi </think> there"},
		{"<think></think>Hi", "", "Hi"},
		{"<think>never ends</thi", "never ends</thi", ""},
		{"<thin ice", "", "<thin ice"},
		{"Hi <think>no</think>", "", "Hi <think>no</think>"},
		{"<", "", "<"},
		{"", "", ""},
	} {
		d := openai.Driver{ThinksInText: true}
		whole, err := d.Decode([]byte(`{"choices":[{"message":{"content":` + quoted(t, c.text) + `},"finish_reason":"stop"}]}`))
		if err != nil {
			t.Fatal(err)
		}
		thinking := ""
		for _, block := range whole.Choices[0].Thinking {
			thinking += block.Text
		}
		if got := whole.Choices[0].Text; got != c.rest || thinking != c.thinking {
			t.Errorf("%q whole: text %q, reasoning %q", c.text, got, thinking)
		}
		for first := range len(c.text) + 1 {
			for second := first; second <= len(c.text); second++ {
				s := d.Stream()
				var text, thinking strings.Builder
				for i, piece := range []string{c.text[:first], c.text[first:second], c.text[second:], ""} {
					finish := `null`
					if i == 3 {
						finish = `"stop"`
					}
					chunks, err := s.Event(nil, "", []byte(`{"choices":[{"index":0,"delta":{"content":`+quoted(t, piece)+`},"finish_reason":`+finish+`}]}`))
					if err != nil {
						t.Fatal(err)
					}
					for _, chunk := range chunks {
						text.WriteString(chunk.Text)
						thinking.WriteString(chunk.Thinking)
					}
				}
				if text.String() != c.rest || thinking.String() != c.thinking {
					t.Errorf("%q cut at %d and %d: text %q, reasoning %q", c.text, first, second, text.String(), thinking.String())
				}
			}
		}
	}
}

func quoted(t *testing.T, text string) string {
	t.Helper()
	out, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}
