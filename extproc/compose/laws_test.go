package compose_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/modelgateway/modelgateway/extproc/compose"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// TestCompositionKeepsTheCallersBytes: without what the prompt has put in, a composed request is what the caller sent, byte for byte, but
// for the members that name the prompt.
func TestCompositionKeepsTheCallersBytes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		gap := func() string { return rapid.SampledFrom([]string{"", "", " ", "\n\t", "  \r\n"}).Draw(rt, "gap") }
		value := func() string {
			return rapid.SampledFrom([]string{`1`, `-0.50`, `1e2`, `null`, `true`, `"a\u00e9\"\/"`, `"[{"`, `{"a": [1,{"b" :"]}"}]}`, `[ ]`, `{"prompt_id":"inner"}`}).Draw(rt, "value")
		}
		list, sent, want := "messages", strings.Builder{}, strings.Builder{}
		language := rapid.SampledFrom([]wire.Dialect{wire.OpenAI, wire.Anthropic, wire.Responses}).Draw(rt, "language")
		if language == wire.Responses {
			list = "input"
		}
		// Members before the list, the list, members after it. One that names the prompt goes with its comma.
		members := func(n int, tail string) {
			for i := range n {
				m := gap() + `"x_` + tail + string(rune('a'+i)) + `"` + gap() + ":" + gap() + value() + ","
				sent.WriteString(m)
				want.WriteString(m)
				if rapid.IntRange(0, 3).Draw(rt, "named") == 0 {
					sent.WriteString(`"prompt_variables":{"v":` + value() + `},`)
				}
			}
		}
		both := func(text string) {
			sent.WriteString(text)
			want.WriteString(text)
		}
		both("{")
		sent.WriteString(`"prompt_id":"p",`)
		members(rapid.IntRange(0, 3).Draw(rt, "before"), "b")
		inside := gap() + `{"role":"user",` + gap() + `"content":"hi \u00e9"}` + gap()
		both(`"` + list + `"` + gap() + ":" + gap() + "[")
		mark := want.Len()
		both(inside + "],")
		members(rapid.IntRange(0, 3).Draw(rt, "after"), "a")
		both(`"model":"m"` + gap() + "}")

		p := compose.Prompt{Before: []byte(`{"role":"user","content":"before"}`)}
		if rapid.Bool().Draw(rt, "shots") {
			p.After = []byte(`{"role":"user","content":"after"}`)
		}
		got, err := compose.Languages()[language].Compose([]byte(sent.String()), &p, driver.Target{})
		if err != nil {
			rt.Fatal(err)
		}
		text := string(got)
		if !strings.HasPrefix(text, want.String()[:mark]) {
			rt.Fatalf("%s\nbegins otherwise than\n%s", text, sent.String())
		}
		rest, theirs := text[mark:], want.String()[mark:]
		at := strings.Index(rest, theirs[:len(inside)])
		if at < 0 || !strings.Contains(rest[:at], "before") || !strings.HasSuffix(rest[:at], ",") {
			rt.Fatalf("%s\nhas other messages than\n%s", text, sent.String())
		}
		rest = rest[at+len(inside):]
		if p.After != nil {
			end := strings.Index(rest, `]`+theirs[len(inside)+1:])
			if end < 0 || !strings.Contains(rest[:end], "after") || !strings.HasPrefix(rest, ",") {
				rt.Fatalf("%s\nlacks the messages behind those of\n%s", text, sent.String())
			}
			rest = rest[end:]
		}
		if rest != theirs[len(inside):] {
			rt.Fatalf("%s\nends otherwise than\n%s", text, sent.String())
		}
	})
}
