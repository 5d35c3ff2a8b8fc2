package provider_test

import (
	"encoding/base64"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/dialect"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/openai"
	"github.com/modelgateway/modelgateway/extproc/openai/openaitest"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// object is a JSON object of the test's own.
type object = map[string]any

// block is a content block of an Anthropic response, whole and as events.
type block struct {
	whole  object
	events []event
}

// TestStreamEqualsWhole checks that an answer has the same content streamed and whole,
// however it is split into events.
func TestStreamEqualsWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		t.Helper()
		p, ok := byName(rapid.SampledFrom([]string{"anthropic", "openai", "gemini"}).Draw(t, "provider"))
		if !ok {
			t.Fatal("no such provider")
		}
		body, all := anthropicAnswer(t)
		switch p.Name {
		case "openai":
			body, all = openAIAnswer(t)
		case "gemini":
			body, all = geminiAnswer(t)
		}
		reply, err := codec(p).Decode(body)
		if err != nil {
			t.Fatalf("%v: %s", err, body)
		}
		got, in := wire.Choice{}, codec(p).Stream()
		for i, e := range all {
			chunks, err := in.Event(nil, e.name, []byte(e.data))
			if err != nil {
				t.Fatalf("event %d %s: %v", i, e.data, err)
			}
			for _, c := range chunks {
				join(&got, &c)
			}
		}
		if diff := cmp.Diff(plainChoice(reply.Choices[0]), plainChoice(got)); diff != "" {
			t.Fatalf("(-whole +streamed) %s", diff)
		}
		if diff := cmp.Diff(reply.Usage, in.Usage()); diff != "" {
			t.Fatalf("usage (-whole +streamed) %s", diff)
		}
		m := dialect.Meta{ID: "chatcmpl-1", Model: "alias", Created: 7, IncludeUsage: true}
		judge().CheckResponse(t, string(driver.Chat), openaitest.Reply{Status: 200, Media: "application/json", Body: openai.Dialect{}.EncodeResponse(nil, reply, m)}, nil)
		streamed, _, _ := translate(t, openai.Dialect{}, codec(p), all, m)
		judge().CheckResponse(t, string(driver.Chat), openaitest.Reply{Status: 200, Media: "text/event-stream", Body: streamed.all()}, nil)
		if !in.Complete() {
			t.Fatal("the stream is not complete")
		}
	})
}

// join adds a chunk to a choice, as a caller would.
func join(c *wire.Choice, d *wire.Chunk) {
	c.Text += d.Text
	c.Refusal += d.Refusal
	c.Annotations = append(c.Annotations, d.Annotations...)
	if d.Thinking != "" {
		c.Thinking = append(c.Thinking, wire.Thinking{Text: d.Thinking})
	}
	if d.Block != nil && d.Block.Redacted != "" {
		c.Thinking = append(c.Thinking, *d.Block)
	}
	if t := d.Tool; t != nil {
		for len(c.ToolCalls) <= t.Index {
			c.ToolCalls = append(c.ToolCalls, wire.ToolCall{})
		}
		call := &c.ToolCalls[t.Index]
		call.ID, call.Name, call.Arguments = call.ID+t.ID, call.Name+t.Name, call.Arguments+t.Arguments
	}
	if d.Finish != "" {
		c.Finish = d.Finish
	}
}

// plainChoice omits how the reasoning was split into pieces.
func plainChoice(c wire.Choice) wire.Choice {
	var all wire.Thinking
	for _, t := range c.Thinking {
		all.Text += t.Text
		all.Redacted += t.Redacted
	}
	c.Thinking = []wire.Thinking{all}
	return c
}

// pieces cuts a text at arbitrary places.
func pieces(t *rapid.T, s string) []string {
	var out []string
	runes := []rune(s)
	for len(runes) > 0 {
		n := rapid.IntRange(1, len(runes)).Draw(t, "piece")
		out, runes = append(out, string(runes[:n])), runes[n:]
	}
	return out
}

// data is an event without a name.
func data(v any) event { return event{data: string(marshal(v))} }

// anthropicAnswer draws an answer, whole and streamed.
func anthropicAnswer(t *rapid.T) (body []byte, all []event) {
	text := rapid.StringN(0, 20, -1)
	usage := object{"input_tokens": 3, "output_tokens": 1, "cache_read_input_tokens": rapid.IntRange(0, 9).Draw(t, "read")}
	all = append(all, data(object{"type": "message_start", "message": object{"id": "m", "content": []any{}, "usage": usage}}))
	content := []any{}
	for i := range rapid.IntRange(0, 5).Draw(t, "blocks") {
		b := anthropicBlock(t, text.Draw(t, "text"), text.Draw(t, "more"))
		content = append(content, b.whole)
		for _, e := range b.events {
			if rapid.IntRange(0, 5).Draw(t, "ping") == 0 {
				all = append(all, event{"ping", `{"type":"ping"}`})
			}
			all = append(all, event{data: strings.Replace(e.data, `"index":0`, `"index":`+string(rune('0'+i)), 1)})
		}
	}
	stop := rapid.SampledFrom([]string{"end_turn", "max_tokens", "tool_use", "refusal"}).Draw(t, "stop")
	last := object{"output_tokens": rapid.IntRange(1, 99).Draw(t, "output")}
	all = append(all, data(object{"type": "message_delta", "delta": object{"stop_reason": stop}, "usage": last}), data(object{"type": "message_stop"}))
	usage["output_tokens"] = last["output_tokens"]
	return marshal(object{"id": "m", "type": "message", "content": content, "stop_reason": stop, "usage": usage}), all
}

// anthropicBlock draws a content block.
func anthropicBlock(t *rapid.T, a, b string) block {
	out := block{}
	var start object
	var deltas []object
	switch rapid.IntRange(0, 4).Draw(t, "kind") {
	case 0:
		start = object{"type": "text", "text": ""}
		out.whole = object{"type": "text", "text": a, "citations": []any{object{"url": "https://x.test/" + b, "title": b}}}
		deltas = append(deltas, object{"type": "citations_delta", "citation": object{"url": "https://x.test/" + b, "title": b}})
		for _, p := range pieces(t, a) {
			deltas = append(deltas, object{"type": "text_delta", "text": p})
		}
	case 1:
		start = object{"type": "thinking", "thinking": ""}
		out.whole = object{"type": "thinking", "thinking": a, "signature": "s"}
		for _, p := range pieces(t, a) {
			deltas = append(deltas, object{"type": "thinking_delta", "thinking": p})
		}
		deltas = append(deltas, object{"type": "signature_delta", "signature": "s"})
	case 2:
		out.whole = object{"type": "redacted_thinking", "data": a}
		start = out.whole
	default:
		name := rapid.SampledFrom([]string{"weather", "gateway_structured_answer"}).Draw(t, "name")
		if rapid.IntRange(0, 2).Draw(t, "without input") == 0 {
			a = ""
		}
		input := object{"q": a}
		if a == "" {
			input = object{}
		}
		start = object{"type": "tool_use", "id": "c", "name": name, "input": object{}}
		out.whole = object{"type": "tool_use", "id": "c", "name": name, "input": input}
		if a != "" || rapid.Bool().Draw(t, "says so") { // an empty input may come as {} or not at all
			for _, p := range pieces(t, string(marshal(input))) {
				deltas = append(deltas, object{"type": "input_json_delta", "partial_json": p})
			}
		}
	}
	out.events = append(out.events, data(object{"type": "content_block_start", "index": 0, "content_block": start}))
	for _, d := range deltas {
		out.events = append(out.events, data(object{"type": "content_block_delta", "index": 0, "delta": d}))
	}
	out.events = append(out.events, data(object{"type": "content_block_stop", "index": 0}))
	return out
}

// openAIAnswer draws an answer, whole and streamed.
func openAIAnswer(t *rapid.T) (body []byte, all []event) {
	draw := func(label string) string { return rapid.StringN(0, 20, -1).Draw(t, label) }
	step := func(delta object, finish any) {
		all = append(all, data(object{"id": "c", "choices": []any{object{"index": 0, "delta": delta, "finish_reason": finish}}}))
	}
	said := object{"role": "assistant", "content": draw("content"), "reasoning_content": draw("reasoning"), "refusal": draw("refusal")}
	for _, name := range []string{"reasoning_content", "content", "refusal"} {
		for _, p := range pieces(t, said[name].(string)) {
			step(object{name: p}, nil)
		}
	}
	calls := []any{}
	for i := range rapid.IntRange(0, 3).Draw(t, "calls") {
		arguments := draw("arguments")
		id := "call_" + string(rune('a'+i))
		calls = append(calls, object{"id": id, "type": "function", "function": object{"name": "f", "arguments": arguments}})
		step(object{"tool_calls": []any{object{"index": i, "id": id, "function": object{"name": "f", "arguments": ""}}}}, nil)
		for _, p := range pieces(t, arguments) {
			step(object{"tool_calls": []any{object{"index": i, "function": object{"arguments": p}}}}, nil)
		}
	}
	said["tool_calls"] = calls
	finish := rapid.SampledFrom([]string{"stop", "length", "tool_calls", "content_filter"}).Draw(t, "finish")
	usage := object{"prompt_tokens": 4, "completion_tokens": rapid.IntRange(0, 9).Draw(t, "output")}
	step(object{}, finish)
	all = append(all, data(object{"choices": []any{}, "usage": usage}), event{data: "[DONE]"})
	return marshal(object{"id": "c", "choices": []any{object{"index": 0, "message": said, "finish_reason": finish}}, "usage": usage}), all
}

// TestEncodeYieldsJSON draws requests and checks that every driver either
// rejects them with a reason or writes valid JSON for them, and that what
// OpenAI's driver writes means the same when it is read again.
func TestEncodeYieldsJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		t.Helper()
		body := marshal(drawAsk(t))
		ask, err := openai.Dialect{}.DecodeRequest(body)
		if err != nil {
			t.Fatalf("%v: %s", err, body)
		}
		checkEncode(t, ask, rapid.Bool().Draw(t, "drop"))
		p, _ := byName("openai")
		out, err := codec(p).Encode(ask, driver.Target{Model: ask.Model})
		if err != nil {
			t.Fatalf("%v: %s", err, body)
		}
		judge().CheckRequest(t, string(driver.Chat), "application/json", out, func() []string {
			return judge().Request(string(driver.Chat), "application/json", body)
		})
		again, err := openai.Dialect{}.DecodeRequest(out)
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if diff := cmp.Diff(sent(ask), sent(again)); diff != "" {
			t.Fatalf("(-asked +sent) %s\n%s\n%s", diff, body, out)
		}
	})
}

// tester is what testing.T and rapid.T share.
type tester interface {
	openaitest.TB
	Fatalf(format string, args ...any)
}

// checkEncode runs every driver over a request.
func checkEncode(t tester, ask *wire.Request, drop bool) {
	t.Helper()
	for _, p := range chatting() {
		for _, native := range []bool{false, true} {
			out, err := codec(p).Encode(ask, driver.Target{
				Model: "m", DropParams: drop, Features: driver.Features{JSONSchema: native, AdaptiveThinking: native},
			})
			if err != nil {
				if e := fault.From(err); e.Kind != fault.Malformed || e.Param == "" || e.Detail == "" {
					t.Fatalf("%s: %v", p.Name, err)
				}
				continue
			}
			if v := jsontext.Value(out); !v.IsValid() || v.Kind() != '{' {
				t.Fatalf("%s: not valid JSON: %s", p.Name, out)
			}
		}
	}
}

// sent is the request without what OpenAI's driver leaves out or adds on purpose.
func sent(a *wire.Request) *wire.Request {
	c := *a
	c.IncludeUsage = false
	c.Metadata = nil // OpenAI rejects it without store
	c.Messages = slices.Clone(a.Messages)
	for i := range c.Messages {
		m := &c.Messages[i]
		var parts []wire.Part
		for _, p := range m.Parts {
			if p.Kind == wire.ThinkingPart || p.Kind == wire.RedactedPart {
				continue
			}
			p.Cache = nil
			if p.Result != nil {
				p.Result = &wire.ToolResult{CallID: p.Result.CallID, Parts: p.Result.Parts}
			}
			parts = append(parts, p)
		}
		if len(parts) == 0 {
			parts = []wire.Part{{}}
		}
		m.Parts = parts
	}
	c.Reasoning = wire.Reasoning{Effort: a.Reasoning.Effort}
	return &c
}

// drawAsk draws a request of OpenAI's dialect.
func drawAsk(t *rapid.T) object {
	text := func(label string) string { return rapid.StringN(0, 12, -1).Draw(t, label) }
	out := object{"model": "m", "stream": rapid.Bool().Draw(t, "stream")}
	var messages []any
	var called []string
	for range rapid.IntRange(1, 6).Draw(t, "messages") {
		m := drawMessage(t, text)
		if m["tool_calls"] != nil {
			id := "id" + text("id")
			called = append(called, id)
			m["tool_calls"].([]any)[0].(object)["id"] = id
		}
		if m["role"] == "tool" && called == nil {
			m = object{"role": "user", "content": "x"} // the result of no call is rejected
		} else if m["role"] == "tool" {
			m["tool_call_id"] = rapid.SampledFrom(called).Draw(t, "call")
		}
		messages = append(messages, m)
	}
	out["messages"] = messages
	for name, g := range map[string]*rapid.Generator[any]{
		"temperature":         rapid.Custom(func(t *rapid.T) any { return rapid.Float64Range(0, 2).Draw(t, "t") }),
		"top_p":               rapid.Custom(func(t *rapid.T) any { return rapid.Float64Range(0, 1).Draw(t, "p") }),
		"n":                   rapid.Custom(func(t *rapid.T) any { return rapid.IntRange(1, 3).Draw(t, "n") }),
		"max_tokens":          rapid.Custom(func(t *rapid.T) any { return rapid.IntRange(1, 9000).Draw(t, "m") }),
		"stop":                rapid.SampledFrom([]any{[]any{"a", " "}, []any{"END"}}),
		"reasoning_effort":    rapid.SampledFrom([]any{"none", "low", "max"}),
		"response_format":     rapid.SampledFrom([]any{object{"type": "json_object"}, object{"type": "json_schema", "json_schema": object{"name": "n", "schema": object{"type": "object", "properties": object{"a": object{"minimum": 1}}}}}}),
		"tools":               rapid.SampledFrom([]any{[]any{object{"type": "function", "function": object{"name": "f", "parameters": object{}}}}, []any{object{"type": "custom", "custom": object{"name": "x"}}}}),
		"tool_choice":         rapid.SampledFrom([]any{"auto", "none", "required", object{"type": "function", "function": object{"name": "f"}}}),
		"parallel_tool_calls": rapid.SampledFrom([]any{true, false}),
		"unheard_of":          rapid.SampledFrom([]any{1, "x", object{"a": []any{}}}),
		"metadata":            rapid.SampledFrom([]any{object{"a": "b"}}),
	} {
		if rapid.IntRange(0, 3).Draw(t, "has "+name) == 0 {
			out[name] = g.Draw(t, name)
		}
	}
	if out["tools"] == nil {
		delete(out, "parallel_tool_calls")
	}
	return out
}

// drawMessage draws one message.
func drawMessage(t *rapid.T, text func(string) string) object {
	switch rapid.IntRange(0, 5).Draw(t, "role") {
	case 0:
		return object{"role": "system", "content": text("system")}
	case 1:
		return object{"role": "tool", "content": text("result"), "is_error": rapid.Bool().Draw(t, "error")}
	case 2:
		return object{
			"role": "assistant", "content": text("said"), "reasoning_content": text("thought"),
			"tool_calls": []any{object{"type": "function", "function": object{"name": "f", "arguments": rapid.SampledFrom([]string{"", "{}", "{\"a\":1}", "[", "1"}).Draw(t, "arguments")}}},
		}
	case 3:
		return object{"role": "assistant", "content": text("said"), "thinking_blocks": []any{
			object{"type": "thinking", "thinking": text("thought"), "signature": "s"}, object{"type": "redacted_thinking", "data": "d"},
		}}
	}
	raw := base64.StdEncoding.EncodeToString([]byte(text("file") + "x"))
	return object{"role": "user", "content": []any{
		object{"type": "text", "text": text("text"), "cache_control": object{"type": "ephemeral"}},
		object{"type": "image_url", "image_url": object{"url": "data:image/png;base64," + raw}},
		object{"type": "file", "file": object{"file_data": "data:text/plain;base64," + raw, "filename": text("name")}},
	}}
}

// FuzzEncode checks drivers with every request that can be decoded.
func FuzzEncode(f *testing.F) {
	for _, s := range askSeeds(f) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, l := range languages() {
			if ask, err := l.dialect.DecodeRequest(body); err == nil {
				checkEncode(t, ask, len(body)%2 == 0)
			}
		}
	})
}

// FuzzDecode checks that no answer makes a decoder panic, that errors are
// failures, and that what comes out can be written.
func FuzzDecode(f *testing.F) {
	for _, s := range replySeeds(f) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		m := dialect.Meta{ID: "i", Model: "m"}
		for _, p := range chatting() {
			if p.Like != "" {
				continue
			}
			if reply, err := codec(p).Decode(body); err != nil {
				_ = failureOf(t, err)
			} else {
				for _, l := range languages() {
					if out := jsontext.Value(l.dialect.EncodeResponse(nil, reply, m)); !out.IsValid() {
						t.Errorf("%s writes %s", p.Name, out)
					}
				}
			}
			for _, l := range languages() {
				answer, _, _ := translate(t, l.dialect, codec(p), events(body), m)
				for _, e := range events(answer.all()) {
					if e.data != "" && e.data != "[DONE]" && !jsontext.Value(e.data).IsValid() {
						t.Errorf("%s streams %q", p.Name, e.data)
					}
				}
			}
			if f := p.Driver.Classify(len(body)%600, func(string) string { return string(body) }, body); f.Message == "" && f.Kind != fault.Timeout && f.Kind != fault.Upstream {
				t.Errorf("%s says nothing: %+v", p.Name, f)
			}
		}
	})
}

// TestImpossibleUsageIsIgnored checks that impossible numbers are not used.
func TestImpossibleUsageIsIgnored(t *testing.T) {
	for _, c := range []struct {
		report string
		known  bool
		bad    bool
	}{
		{`{"prompt_tokens":1,"completion_tokens":2}`, true, false},
		{`{"prompt_tokens":0,"completion_tokens":0}`, true, false},
		{`null`, false, false},
		{`{}`, false, false},
		{`{"prompt_tokens":1}`, false, false},
		{`{"prompt_tokens":null,"completion_tokens":2}`, false, false},
		{`"none"`, false, true},
		{`[]`, false, true},
		{`{"prompt_tokens":-1,"completion_tokens":2}`, false, true},
		{`{"prompt_tokens":1e3,"completion_tokens":2}`, false, true},
		{`{"prompt_tokens":1.5,"completion_tokens":2}`, false, true},
		{`{"prompt_tokens":"1","completion_tokens":2}`, false, true},
		{`{"prompt_tokens":1,"completion_tokens":99999999999999999999}`, false, true},
		{`{"prompt_tokens":2147483649,"completion_tokens":2}`, false, true},
		{`{"prompt_tokens":1,"completion_tokens":2,"completion_tokens_details":{"reasoning_tokens":3}}`, false, true},
		{`{"prompt_tokens":1,"completion_tokens":2,"completion_tokens_details":null}`, true, false},
		{`{"prompt_tokens":1,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":-1}}`, false, true},
	} {
		p, _ := byName("openai")
		reply, err := codec(p).Decode([]byte(`{"choices":[{"message":{"content":"x"}}],"usage":` + c.report + `}`))
		if err != nil {
			t.Errorf("%s costs the answer: %v", c.report, err)
			continue
		}
		if reply.Usage.Known() != c.known || reply.Usage.Bad != c.bad {
			t.Errorf("%s: known %v, bad %v", c.report, reply.Usage.Known(), reply.Usage.Bad)
		}
	}
}
