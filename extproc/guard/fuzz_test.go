package guard_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/modelgateway/modelgateway/cluster/guardrails"
	"github.com/modelgateway/modelgateway/extproc/guard"
	"github.com/modelgateway/modelgateway/extproc/splice"
	"github.com/modelgateway/modelgateway/extproc/texts"
)

// everyEngine looks for all that a text can have.
func everyEngine() []guardrails.Engine {
	post := []string{guardrails.PostCall}
	return []guardrails.Engine{
		{Name: "detect_secret", Hooks: post},
		{Name: "presidio", Hooks: post},
		{Name: "content_filter", Action: "anonymize", Hooks: post, BannedKeywords: []string{"secret project", "ſtrange"}, BannedPatterns: []string{`project-[0-9]+`}},
	}
}

// rawInside returns a piece of a text as the inside of a JSON string. Halves of characters stay what they are.
func rawInside(piece string) string {
	var b strings.Builder
	for i := range len(piece) {
		switch c := piece[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < ' ' || c == 0x7f:
			fmt.Fprintf(&b, `\u00%02x`, c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// FuzzStreams cuts a text, or the arguments of a call, anywhere, also within characters and escapes. The caller gets what
// it would get of the whole response, and at no time more than the beginning of that.
func FuzzStreams(f *testing.F) {
	for _, text := range []string{
		"Ask Ada Lovelace (ada@example.com, +1 202-555-0143) about 4111 1111 1111 1111.", "in Londo", "-----BEGIN RSA PRIVATE KEY-----\nMIIE",
		"DE89 3704 0044 0532 0130 00 and GB82WEST12345698765432", "see https://example.com/a?b=c#d and 192.168.10.1", "a secret\u00a0project, project-12, 😀é€",
		"\uff14\uff11\uff11\uff11 1111 1111 1111", "ada\u200b@exam\u00adple.com", "[PERSON] [PER [EMAIL_ADDRESS_1", "AKIAIOSFODNN7EXAMPLE aws_secret_access_key=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
	} {
		f.Add(text, []byte{1, 7, 2}, false)
	}
	for _, arguments := range []string{
		`{"to":"ada@example.com","n":[4111111111111111,-1.5e3,true]}`, `{"t":"\u0061da\u0040example.com \ud83d\ude00 \u00"}`, `{"card":4111-1111-1111-1111}`,
		`{"a\"da@example.com":1}`, `[ "\\u00`, `{"x": "Ada Love`, ` {"to":"\ud83d@\u00e9`, "{\"x\":\"\xc3",
	} {
		f.Add(arguments, []byte{3, 1}, true)
	}
	f.Fuzz(func(t *testing.T, text string, cuts []byte, isArguments bool) {
		if len(text) > 4<<10 || len(cuts) > 1<<10 {
			return
		}
		text = strings.ToValidUTF8(text, "\ufffd")
		delta, whole := `{"content":"%s"}`, `{"choices":[{"index":0,"message":{"role":"assistant","content":"%s"}}]}`
		if isArguments {
			delta = `{"tool_calls":[{"index":0,"function":{"arguments":"%s"}}]}`
			whole = `{"choices":[{"index":0,"message":{"role":"assistant","tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"%s"}}]}}]}`
		}
		body, err := gatewayScreen(everyEngine()...).Answer(t.Context(), texts.Chat(), fmt.Appendf(nil, whole, rawInside(text)), false)
		if err != nil {
			oneBlocks(t, err, delta, text, cuts)
			return
		}
		want := ""
		for x := range texts.Chat().Answer(body) {
			if x.Kind == texts.Content || x.Kind == texts.Arguments {
				want = string(splice.Plain(x.Of(body)))
			}
		}
		st := gatewayScreen(everyEngine()...).NewStream(texts.Chat(), false)
		defer st.Release()
		got := ""
		for _, event := range append(eventsOf(delta, text, cuts), "") {
			out, err := pass(t, st, event)
			if err != nil {
				t.Fatalf("%q is blocked in pieces only: %v", text, err)
			}
			if got += textOf(out); !strings.HasPrefix(want, got) {
				t.Fatalf("%q in pieces %v becomes\n%q\nand as a whole\n%q", text, cuts, got, want)
			}
		}
		if got != want {
			t.Fatalf("%q in pieces %v becomes\n%q\nand as a whole\n%q", text, cuts, got, want)
		}
	})
}

// eventsOf returns the events of a text that is cut into pieces of these lengths, again and again.
func eventsOf(delta, text string, cuts []byte) (events []string) {
	for i := 0; len(text) > 0; i++ {
		n := len(text)
		if len(cuts) > 0 {
			n = min(n, 1+int(cuts[i%len(cuts)])%64)
		}
		events = append(events, fmt.Sprintf(`data: {"id":"c","choices":[{"index":0,"delta":`+delta+`,"finish_reason":null}]}`+"\n\n", rawInside(text[:n])))
		text = text[n:]
	}
	return events
}

// pass passes an event through a stream; an empty one ends it.
func pass(t *testing.T, st *guard.Stream, event string) ([]byte, error) {
	t.Helper()
	if event == "" {
		return st.End(t.Context(), nil)
	}
	var split splice.Splitter
	var e splice.Event
	split.Push([]byte(event))
	if !split.Next(&e) {
		t.Fatalf("%q is no event", event)
	}
	return st.Event(t.Context(), nil, &e)
}

// textOf returns the texts of events, one after the other.
func textOf(events []byte) string {
	var split splice.Splitter
	var e splice.Event
	text := ""
	split.Push(events)
	for split.Next(&e) {
		for x := range texts.Chat().Event(e.Data) {
			text += string(splice.Plain(x.Of(e.Data)))
		}
	}
	return text
}

// oneBlocks requires that a text which is blocked as a whole is blocked in pieces as well.
func oneBlocks(t *testing.T, want error, delta, text string, cuts []byte) {
	t.Helper()
	st := gatewayScreen(everyEngine()...).NewStream(texts.Chat(), false)
	defer st.Release()
	for _, event := range append(eventsOf(delta, text, cuts), "") {
		if _, err := pass(t, st, event); err != nil {
			if err.Error() != want.Error() {
				t.Fatalf("%v, and as a whole %v", err, want)
			}
			return
		}
	}
	t.Fatalf("%q is blocked as a whole only: %v", text, want)
}
