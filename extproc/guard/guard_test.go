package guard_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/guardrails"
	"github.com/modelgateway/modelgateway/cluster/resource"
	"github.com/modelgateway/modelgateway/extproc/guard"
	"github.com/modelgateway/modelgateway/extproc/guard/engine"
	"github.com/modelgateway/modelgateway/extproc/splice"
	"github.com/modelgateway/modelgateway/extproc/texts"
)

// mail finds words with an @ and, as a run that goes on, words that begin with http.
type mail struct{}

func (mail) Scanner() engine.Scanner { return &mailScanner{} }

type mailScanner struct{ running bool }

func (s *mailScanner) Begin(texts.Kind, texts.Role) { s.running = false }
func (s *mailScanner) Fork() engine.Scanner         { return &mailScanner{} }
func (s *mailScanner) Reset()                       { s.running = false }

var errDown = errors.New("the engine is down")

func (s *mailScanner) Scan(_ context.Context, text []byte, at int, end bool, found []engine.Finding) ([]engine.Finding, int, error) {
	for at < len(text) {
		n := 0
		for at+n < len(text) && text[at+n] > ' ' {
			n++
		}
		word := text[at : at+n]
		complete := end || at+n < len(text)
		long := bytes.HasPrefix(word, []byte("http")) && len(word) > 20
		switch {
		case bytes.Contains(word, []byte("outage")):
			return nil, at, errDown
		case s.running && n > 0, long:
			found = append(found, engine.Finding{Start: at, End: at + n, Entity: "URL", Score: 1, Continues: s.running})
			if s.running = true; !complete {
				return found, len(text), nil
			}
		case n > 0 && !complete:
			return found, at, nil
		case bytes.IndexByte(word, '@') > 0:
			found = append(found, engine.Finding{Start: at, End: at + n, Entity: "EMAIL_ADDRESS", Score: 1})
		}
		at += n
		for at < len(text) && text[at] <= ' ' {
			at, s.running = at+1, false
		}
	}
	return found, at, nil
}

func library() *guard.Library {
	return guard.NewLibrary(map[string]guard.Maker{
		"presidio": func(*guardrails.Engine) (engine.Engine, error) { return mail{}, nil },
	})
}

func screen(engines ...guardrails.Engine) *guard.Screen {
	g := &guardrails.Guardrail{Head: resource.Head{ID: "1", Name: "pii"}, Engines: engines}
	return guard.New([]*guard.Guardrail{library().Get(g)}, nil)
}

func presidio(action string, hooks ...string) guardrails.Engine {
	return guardrails.Engine{Name: "presidio", Action: action, Hooks: hooks}
}

func ExampleScreen_Request() {
	s := screen(presidio("anonymize", guardrails.PreCall))
	body, err := s.Request(context.Background(), texts.Chat(), []byte(`{"messages":[{"role":"user","content":"Write to ada@example.com now"}]}`))
	fmt.Println(string(body), err)
	fmt.Printf("%+v\n", s.Violations())
	// Output:
	// {"messages":[{"role":"user","content":"Write to [EMAIL_ADDRESS] now"}]} <nil>
	// [{Guardrail:pii Engine:presidio Hook:pre_call Entity:EMAIL_ADDRESS Action:anonymize Place:messages[0].content Offset:9 Count:1}]
}

func TestRequests(t *testing.T) {
	for _, c := range []struct{ name, action, body, want, blocked string }{
		{name: "nothing is found", body: `{"messages":[{"role":"user","content":"caf\u00e9  \/ "}]}`, want: "same"},
		{name: "escapes", body: `{"messages":[{"role":"user","content":"a\"b\" \u0061@b.c\nx"}]}`, want: `{"messages":[{"role":"user","content":"a\"b\" [EMAIL_ADDRESS]\nx"}]}`},
		{
			name: "parts, and a picture", body: `{"messages":[{"role":"user","content":[{"type":"text","text":"a@b"},{"type":"image_url","image_url":{"url":"data:a@b"}}]}]}`,
			want: `{"messages":[{"role":"user","content":[{"type":"text","text":"[EMAIL_ADDRESS]"},{"type":"image_url","image_url":{"url":"data:a@b"}}]}]}`,
		},
		{
			name: "arguments stay JSON", body: `{"messages":[{"role":"assistant","tool_calls":[{"id":"a@b","function":{"name":"f","arguments":"{\"to\": \"x@y \\\"q\\\"\", \"n\": 1}"}}]}]}`,
			want: `{"messages":[{"role":"assistant","tool_calls":[{"id":"a@b","function":{"name":"f","arguments":"{\"to\": \"[EMAIL_ADDRESS] \\\"q\\\"\", \"n\": 1}"}}]}]}`,
		},
		{
			name: "arguments that are no JSON", body: `{"messages":[{"role":"assistant","tool_calls":[{"id":"1","function":{"name":"f","arguments":"{ask x@y } "}}]}]}`,
			want: `{"messages":[{"role":"assistant","tool_calls":[{"id":"1","function":{"name":"f","arguments":"{ask [EMAIL_ADDRESS] } "}}]}]}`,
		},
		{
			name: "a schema", body: `{"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{"a":{"description":"as x@y"}}}}}]}`,
			want: `{"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{"a":{"description":"as [EMAIL_ADDRESS]"}}}}}]}`,
		},
		{name: "the name of a member", body: `{"tools":[{"type":"function","function":{"name":"f","parameters":{"properties":{"x@y":{}}}}}]}`, blocked: "cannot be replaced"},
		{name: "the name of a tool", body: `{"tools":[{"type":"function","function":{"name":"x@y"}}]}`, blocked: "cannot be replaced"},
		{name: "block", action: "block", body: `{"messages":[{"role":"user","content":"x@y"}]}`, blocked: "EMAIL_ADDRESS"},
		{name: "flag", action: "flag", body: `{"messages":[{"role":"user","content":"x@y"}]}`, want: "same"},
		{name: "an engine that is down", body: `{"messages":[{"role":"user","content":"outage"}]}`, blocked: "cannot examine"},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, err := screen(presidio(c.action, guardrails.PreCall)).Request(t.Context(), texts.Chat(), []byte(c.body))
			if c.blocked != "" {
				if err == nil || !strings.Contains(fault.From(err).Detail, c.blocked) {
					t.Errorf("the error is %v", err)
				}
				return
			}
			if c.want == "same" {
				c.want = c.body
			}
			if err != nil || string(out) != c.want {
				t.Errorf("%v\n%s\nwant\n%s", err, out, c.want)
			}
		})
	}
}

func TestReversible(t *testing.T) {
	e := presidio("anonymize", guardrails.PreCall)
	e.Reversible = true
	s := screen(e)
	body, err := s.Request(t.Context(), texts.Chat(), []byte(`{"messages":[{"role":"user","content":"a@b c@d a@b"}]}`))
	if err != nil || !strings.Contains(string(body), "[EMAIL_ADDRESS_1] [EMAIL_ADDRESS_2] [EMAIL_ADDRESS_1]") {
		t.Fatal(string(body), err)
	}
	const answer = `{"choices":[{"index":0,"message":{"role":"assistant","content":"To [EMAIL_ADDRESS_2], [EMAIL_ADDRESS_3] [EMAIL_ADDRESS_1"},"finish_reason":"stop"}]}`
	out, err := s.Answer(t.Context(), texts.Chat(), []byte(answer), false)
	if want := strings.Replace(answer, "[EMAIL_ADDRESS_2]", "c@d", 1); err != nil || string(out) != want {
		t.Errorf("%s %v", out, err)
	}
}

// chat is a stream of OpenAI's chats: each text is cut into pieces.
type chat struct{ events []string }

func (c *chat) delta(choice int, delta, finish string) {
	if finish == "" {
		finish = "null"
	}
	c.events = append(c.events, fmt.Sprintf("data: {\"id\":\"c\",\"choices\":[{\"index\":%d,\"delta\":%s,\"finish_reason\":%s}]}\n\n", choice, delta, finish))
}

func (c *chat) text(choice int, delta, text string, random *rand.Rand) {
	for len(text) > 0 {
		n := min(len(text), 1+random.IntN(9))
		for n < len(text) && text[n]&0xC0 == 0x80 {
			n++
		}
		c.delta(choice, strings.Replace(delta, "%", inside(text[:n]), 1), "")
		text = text[n:]
	}
}

func inside(s string) string { q := splice.Quote(nil, s); return string(q[1 : len(q)-1]) }

// collected is what a caller gets of a stream.
type collected struct {
	content, reasoning, arguments map[int]string
	order                         []string
}

func collect(t *testing.T, out string) collected {
	t.Helper()
	c := collected{map[int]string{}, map[int]string{}, map[int]string{}, nil}
	var split splice.Splitter
	var e splice.Event
	split.Push([]byte(out))
	for split.Next(&e) {
		if splice.IsDone(e.Data) {
			c.order = append(c.order, "done")
			continue
		}
		for x := range texts.Chat().Event(e.Data) {
			text := string(splice.Plain(x.Of(e.Data)))
			switch x.Kind { //nolint:exhaustive // the test has no others
			case texts.Content:
				c.content[x.Choice] += text
			case texts.Reasoning:
				c.reasoning[x.Choice] += text
			case texts.Arguments:
				c.arguments[x.Choice*10+x.Item] += text
			}
		}
		if bytes.Contains(e.Data, []byte(`"stop"`)) {
			c.order = append(c.order, "stop")
		}
	}
	return c
}

func stream(t *testing.T, s *guard.Screen, events []string) (string, error) {
	t.Helper()
	st := s.NewStream(texts.Chat(), false)
	defer st.Release()
	var out []byte
	var split splice.Splitter
	var e splice.Event
	var err error
	for _, event := range events {
		split.Push([]byte(event))
		for split.Next(&e) {
			if out, err = st.Event(t.Context(), out, &e); err != nil {
				return string(out), err
			}
			if bytes.Contains(out, []byte("@")) {
				t.Fatalf("an address has left:\n%s", out)
			}
		}
	}
	out, err = st.End(t.Context(), out)
	return string(out), err
}

func TestStreamsEqualWholeAnswers(t *testing.T) {
	const content = "Ask ada@example.com or bob@example.org; see http://example.com/a/very/long/path?to=somewhere and é€😀 x@y"
	const arguments = `{"to": ["ada@example.com", "b\"c@d\n", "\u0061@b \ud83d\ude00"], "n": -1.5e3, "nested": {"empty": {}, "list": [], "t": true}} `
	whole := fmt.Sprintf(`{"choices":[{"index":0,"message":{"role":"assistant","reasoning_content":"%s","content":"%s","tool_calls":[{"id":"1","function":{"name":"f","arguments":"%s"}},{"id":"2","function":{"name":"f","arguments":"%s"}}]}},`+
		`{"index":1,"message":{"role":"assistant","content":"%s"}}]}`, inside(content), inside(content), inside(arguments), "x@y", inside(content+content))
	body, err := screen(presidio("", guardrails.PostCall)).Answer(t.Context(), texts.Chat(), []byte(whole), false)
	if err != nil {
		t.Fatal(err)
	}
	want := collect(t, "data: "+string(body)+"\n\n")
	if want.content[0] != "Ask [EMAIL_ADDRESS] or [EMAIL_ADDRESS] see [URL] and é€😀 [EMAIL_ADDRESS]" {
		t.Fatalf("the whole answer is %q", want.content[0])
	}
	for seed := range uint64(1000) {
		random := rand.New(rand.NewPCG(seed, 1))
		var c chat
		c.delta(0, `{"role":"assistant","content":""}`, "")
		c.text(0, `{"reasoning_content":"%"}`, content, random)
		c.text(0, `{"content":"%"}`, content, random)
		c.delta(0, `{"tool_calls":[{"index":0,"id":"1","function":{"name":"f","arguments":""}}]}`, "")
		c.text(0, `{"tool_calls":[{"index":0,"function":{"arguments":"%"}}]}`, arguments, random)
		c.delta(0, `{"tool_calls":[{"index":1,"id":"2","function":{"name":"f","arguments":"x@"}}]}`, "")
		c.delta(0, `{"tool_calls":[{"index":1,"function":{"arguments":"y"}}]}`, "")
		first := c.events
		c.events = nil
		c.text(1, `{"content":"%"}`, content+content, random)
		second := c.events
		c.events = nil
		for len(first)+len(second) > 0 {
			if len(second) == 0 || len(first) > 0 && random.IntN(2) == 0 {
				c.events, first = append(c.events, first[0]), first[1:]
			} else {
				c.events, second = append(c.events, second[0]), second[1:]
			}
		}
		c.delta(1, `{}`, `"stop"`)
		c.delta(0, `{}`, `"stop"`)
		c.events = append(c.events, "data: [DONE]\n\n")
		out, err := stream(t, screen(presidio("", guardrails.PostCall)), c.events)
		if err != nil {
			t.Fatal(err)
		}
		got := collect(t, out)
		if fmt.Sprint(got.content, got.reasoning, got.arguments) != fmt.Sprint(want.content, want.reasoning, want.arguments) {
			t.Fatalf("seed %d:\n%v\n%v\n%v\nwant\n%v\n%v\n%v", seed, got.content, got.reasoning, got.arguments, want.content, want.reasoning, want.arguments)
		}
		if fmt.Sprint(got.order) != "[stop stop done]" {
			t.Fatalf("seed %d: the order is %v", seed, got.order)
		}
	}
}
