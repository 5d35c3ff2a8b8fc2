package responses_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/usage"
	"github.com/modelgateway/modelgateway/extproc/dialect"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/openai/openaitest"
	"github.com/modelgateway/modelgateway/extproc/responses"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// tester is what testing.T and rapid.T share.
type tester interface {
	openaitest.TB
	Fatalf(format string, args ...any)
}

// object is a JSON object.
type object = map[string]any

// event is one server-sent event.
type event struct {
	name, data string
	body       object
}

// events splits a stream that the gateway wrote, and checks the law of its numbers.
func events(t tester, raw []byte) []event {
	t.Helper()
	var out []event
	for i, block := range strings.Split(strings.TrimSuffix(string(raw), "\n\n"), "\n\n") {
		name, data, ok := strings.Cut(strings.TrimPrefix(block, "event: "), "\ndata: ")
		e := event{name: name, data: data}
		if !ok || strings.Contains(data, "\n") {
			t.Fatalf("not an event: %q", block)
		}
		if err := json.Unmarshal([]byte(data), &e.body); err != nil {
			t.Fatalf("%v: %s", err, data)
		}
		if e.body["type"] != name || e.body["sequence_number"] != float64(i) {
			t.Fatalf("event %d of type %s is %s", i, name, data)
		}
		out = append(out, e)
	}
	return out
}

// reader reads a stream like a client that believes the laws of streams, and fails if one is broken.
type reader struct {
	t     tester
	items []*readItem
}

// readItem is an item of a stream.
type readItem struct {
	id, kind string
	done     object // nil until it has ended
	parts    []*readPart
	joined   string // arguments or input
	ended    bool   // its arguments or input have ended
}

// readPart is a part of an item.
type readPart struct {
	joined      string
	annotations []any
	ended       bool // its text has ended
	done        bool
}

// item returns the open item that an event is about.
func (r *reader) item(e event) *readItem {
	r.t.Helper()
	n := int(e.body["output_index"].(float64))
	if n >= len(r.items) || r.items[n].done != nil || r.items[n].id != e.body["item_id"] {
		r.t.Fatalf("no open item for %s", e.data)
	}
	return r.items[n]
}

// part returns the open part that an event is about.
func (r *reader) part(e event) *readPart {
	r.t.Helper()
	index := "content_index"
	if strings.Contains(e.name, "summary") {
		index = "summary_index"
	}
	i, n := r.item(e), int(e.body[index].(float64))
	if n != len(i.parts)-1 || i.parts[n].done {
		r.t.Fatalf("no open part for %s", e.data)
	}
	return i.parts[n]
}

// read takes an event about an item.
func (r *reader) read(e event) {
	r.t.Helper()
	same := func(got, want any) {
		r.t.Helper()
		if diff := cmp.Diff(want, got); diff != "" {
			r.t.Fatalf("%s repeats something else (-before +now): %s", e.name, diff)
		}
	}
	switch e.name {
	case "response.output_item.added":
		item := e.body["item"].(object)
		if int(e.body["output_index"].(float64)) != len(r.items) {
			r.t.Fatalf("out of order: %s", e.data)
		}
		r.items = append(r.items, &readItem{id: item["id"].(string), kind: item["type"].(string)})
	case "response.output_item.done":
		item := e.body["item"].(object)
		i := r.items[int(e.body["output_index"].(float64))]
		if i.done != nil || i.id != item["id"] || i.kind != item["type"] || slices.ContainsFunc(i.parts, func(p *readPart) bool { return !p.done }) {
			r.t.Fatalf("not the end of an open item: %s", e.data)
		}
		i.done = item
		if strings.HasSuffix(i.kind, "_call") {
			if same(textOf(item), i.joined); !i.ended {
				r.t.Fatalf("the call ends before its arguments: %s", e.data)
			}
		}
	case "response.content_part.added", "response.reasoning_summary_part.added":
		i := r.item(e)
		if n := len(i.parts); n > 0 && !i.parts[n-1].done {
			r.t.Fatalf("two open parts: %s", e.data)
		}
		i.parts = append(i.parts, &readPart{})
		r.part(e)
	case "response.output_text.delta", "response.refusal.delta", "response.reasoning_summary_text.delta":
		r.part(e).joined += e.body["delta"].(string)
	case "response.output_text.annotation.added":
		p := r.part(e)
		same(e.body["annotation_index"], float64(len(p.annotations)))
		p.annotations = append(p.annotations, e.body["annotation"])
	case "response.output_text.done", "response.reasoning_summary_text.done", "response.refusal.done":
		p := r.part(e)
		p.ended = true
		same(textOf(e.body), p.joined)
	case "response.content_part.done", "response.reasoning_summary_part.done":
		p, part := r.part(e), e.body["part"].(object)
		same(textOf(part), p.joined)
		if list, ok := part["annotations"].([]any); ok && len(list)+len(p.annotations) > 0 {
			same(list, p.annotations)
		}
		if p.done = true; !p.ended {
			r.t.Fatalf("the part ends before its text: %s", e.data)
		}
	case "response.function_call_arguments.delta", "response.custom_tool_call_input.delta":
		r.item(e).joined += e.body["delta"].(string)
	case "response.function_call_arguments.done", "response.custom_tool_call_input.done":
		i := r.item(e)
		i.ended = true
		same(textOf(e.body), i.joined)
	default:
		r.t.Fatalf("unexpected %s", e.name)
	}
}

// textOf returns the text of an object, whatever its name.
func textOf(o object) string {
	for _, name := range []string{"text", "refusal", "arguments", "input"} {
		if s, ok := o[name].(string); ok {
			return s
		}
	}
	return ""
}

// readAll reads a stream, and returns its last response.
func readAll(t tester, raw []byte) (*reader, object) {
	t.Helper()
	judge().CheckResponse(t, string(driver.Responses), openaitest.Reply{Status: 200, Media: "text/event-stream", Body: raw}, nil)
	all := events(t, raw)
	if len(all) < 3 || all[0].name != "response.created" || all[1].name != "response.in_progress" {
		t.Fatalf("the stream does not begin as it must: %s", raw)
	}
	r := &reader{t: t}
	for _, e := range all[2 : len(all)-1] {
		if e.name != "error" {
			r.read(e)
		}
	}
	last := all[len(all)-1].body["response"].(object)
	if all[len(all)-1].name != "response."+last["status"].(string) {
		t.Fatalf("%s ends a response that is %s", all[len(all)-1].name, last["status"])
	}
	tokens := last["usage"].(object)
	for _, detail := range []any{tokens["input_tokens_details"].(object)["cached_tokens"], tokens["output_tokens_details"].(object)["reasoning_tokens"]} {
		if _, ok := detail.(float64); !ok {
			t.Fatalf("the usage lacks its details: %v", tokens)
		}
	}
	return r, last
}

// drawChunks draws a response step by step, and as a choice.
func drawChunks(t *rapid.T) (chunks []wire.Chunk, whole wire.Choice) {
	word := func(label string) string { return rapid.StringN(1, 8, -1).Draw(t, label) }
	for range rapid.IntRange(0, 12).Draw(t, "steps") {
		c := wire.Chunk{}
		switch rapid.IntRange(0, 8).Draw(t, "kind") {
		case 0:
			c.Refusal = word("refusal")
		case 1:
			block := wire.Thinking{Signature: "s"}
			for range rapid.IntRange(0, 3).Draw(t, "thoughts") {
				more := word("thought")
				chunks, block.Text = append(chunks, wire.Chunk{Thinking: more}), block.Text+more
			}
			c.Block = &block
		case 2:
			c.Block = &wire.Thinking{Redacted: word("redacted")}
		case 3, 4:
			c.Tool = drawTool(t, &whole, word)
		case 5:
			c.Text = word("text")
			c.Logprobs = jsontext.Value(`{"content":[{"token":"a","bytes":[97],"logprob":-1,"top_logprobs":[{"token":"a","bytes":null,"logprob":-1}]}]}`)
		case 6:
			c.Annotations = []wire.Annotation{{URL: "https://x.test/", Start: 0, End: 1}, {Title: "a document"}}
		case 7: // a step without content
		default:
			c.Text = word("text")
		}
		chunks = append(chunks, c)
		whole.Text += c.Text
		whole.Refusal += c.Refusal
		if c.Block != nil {
			whole.Thinking = append(whole.Thinking, *c.Block)
		}
	}
	whole.Finish = rapid.SampledFrom([]wire.Finish{wire.FinishStop, wire.FinishLength, wire.FinishToolCalls, wire.FinishFilter}).Draw(t, "finish")
	return append(chunks, wire.Chunk{Finish: whole.Finish}), whole
}

// drawTool draws a step of a call, one that has begun or the next.
func drawTool(t *rapid.T, whole *wire.Choice, word func(string) string) *wire.ToolDelta {
	n := rapid.IntRange(0, len(whole.ToolCalls)).Draw(t, "call")
	d := &wire.ToolDelta{Index: n}
	if n == len(whole.ToolCalls) {
		d.ID, d.Name, d.Custom = "call_"+string(rune('a'+n)), "f", rapid.Bool().Draw(t, "custom")
		whole.ToolCalls = append(whole.ToolCalls, wire.ToolCall{ID: d.ID, Name: d.Name, Custom: d.Custom})
	}
	if rapid.Bool().Draw(t, "has arguments") {
		d.Arguments = word("arguments")
	}
	whole.ToolCalls[n].Arguments += d.Arguments
	return d
}

// summed is what a response says, however it is divided into items.
type summed struct {
	Status, Text, Refusal string
	Reasoning             []any
	Calls                 []object
	Usage                 any
}

// sum reads a response.
func sum(response object) summed {
	out := summed{Status: response["status"].(string), Usage: response["usage"]}
	for _, raw := range response["output"].([]any) {
		item := raw.(object)
		switch item["type"] {
		case "reasoning":
			out.Reasoning = append(out.Reasoning, item["summary"], item["encrypted_content"])
		case "message":
			for _, p := range item["content"].([]any) {
				if part := p.(object); part["type"] == "refusal" {
					out.Refusal += part["refusal"].(string)
				} else {
					out.Text += part["text"].(string)
				}
			}
		default:
			delete(item, "id")
			delete(item, "status")
			out.Calls = append(out.Calls, item)
		}
	}
	return out
}

// A stream obeys the laws of streams, and says what the whole response says.
func TestStreamLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		chunks, whole := drawChunks(t)
		tokens := wire.Usage{Source: usage.Provider, Tokens: usage.Tokens{Input: 5, CacheRead: 2, Output: 4, Reasoning: 1}}
		m := dialect.Meta{ID: "resp_x", Model: "alias", Created: 7}
		enc := responses.Dialect{}.Stream(m)
		var raw []byte
		for i := range chunks {
			raw = enc.Chunk(raw, &chunks[i])
		}
		r, last := readAll(t, enc.End(raw, &tokens))
		var done []any
		for _, i := range r.items {
			if i.done == nil {
				t.Fatalf("item %s has no end", i.id)
			}
			done = append(done, i.done)
		}
		if diff := cmp.Diff(done, last["output"]); diff != "" {
			t.Fatalf("the last event has other items (-done +last): %s", diff)
		}
		var other object
		if err := json.Unmarshal(responses.Dialect{}.EncodeResponse(nil, &wire.Response{Choices: []wire.Choice{whole}, Usage: tokens}, m), &other); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(sum(other), sum(last)); diff != "" {
			t.Fatalf("(-whole +streamed) %s", diff)
		}
		delete(last, "output")
		delete(other, "output")
		if diff := cmp.Diff(other, last); diff != "" {
			t.Fatalf("(-whole +streamed) %s", diff)
		}
	})
}

// A failed stream says so after any step, and ends no item that is not complete.
func TestFailedStreamLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		chunks, _ := drawChunks(t)
		chunks = chunks[:rapid.IntRange(0, len(chunks)).Draw(t, "steps before the failure")]
		known := wire.Usage{Partial: true, Tokens: usage.Tokens{Input: 5}}
		enc := responses.Dialect{}.Stream(dialect.Meta{ID: "resp_x", Usage: &known})
		var raw []byte
		for i := range chunks {
			raw = enc.Chunk(raw, &chunks[i])
		}
		raw = enc.Fail(raw, &fault.Error{Kind: fault.Upstream, Detail: "gone"})
		r, last := readAll(t, raw)
		all := events(t, raw)
		want := object{"type": "error", "code": "server_error", "message": "gone", "param": nil, "sequence_number": float64(len(all) - 2)}
		if diff := cmp.Diff(want, all[len(all)-2].body); diff != "" {
			t.Fatalf("(-want +got) %s", diff)
		}
		if diff := cmp.Diff(object{"code": "server_error", "message": "gone"}, last["error"]); last["status"] != "failed" || diff != "" {
			t.Fatalf("(-want +got) %s", diff)
		}
		if got := last["usage"].(object)["input_tokens"]; got != float64(5) {
			t.Fatalf("the usage is %v", last["usage"])
		}
		output := last["output"].([]any)
		for n, i := range r.items {
			item := output[n].(object)
			if i.done == nil && item["status"] == "completed" || i.done != nil && cmp.Diff(i.done, item) != "" {
				t.Fatalf("item %d: %v", n, item)
			}
		}
		if strings.Contains(string(raw), "[DONE]") {
			t.Fatalf("a terminator of another language")
		}
	})
}

func TestStreamNamesWhatHasNoName(t *testing.T) {
	enc := responses.Dialect{}.Stream(dialect.Meta{ID: "chatcmpl-1", Model: "alias", Created: 7})
	raw := enc.Chunk(nil, &wire.Chunk{Tool: &wire.ToolDelta{Name: "f"}})
	raw = enc.Chunk(raw, &wire.Chunk{Tool: &wire.ToolDelta{ID: "late", Name: "f", Arguments: "{}"}})
	raw = enc.Chunk(raw, &wire.Chunk{Index: 1, Text: "another choice"})
	_, last := readAll(t, enc.End(raw, nil))
	want := []any{object{"id": "fc_1_0", "type": "function_call", "status": "completed", "call_id": "call_1_0", "name": "f", "arguments": "{}"}}
	if diff := cmp.Diff(want, last["output"]); diff != "" {
		t.Errorf("(-want +got) %s", diff)
	}
}

func TestFailureCodesAreOpenAIs(t *testing.T) {
	for kind, want := range map[fault.Kind]string{
		fault.RateLimited: "rate_limit_exceeded", fault.Malformed: "invalid_prompt", fault.Upstream: "server_error", fault.Internal: "server_error",
	} {
		enc := responses.Dialect{}.Stream(dialect.Meta{})
		raw := enc.Fail(enc.Chunk(nil, &wire.Chunk{Usage: &wire.Usage{Partial: true, Tokens: usage.Tokens{Input: 3}}}), &fault.Error{Kind: kind, Code: "special", Param: "input"})
		_, last := readAll(t, raw)
		if got := last["error"].(object)["code"]; got != want {
			t.Errorf("%v: got %v", kind, got)
		}
		if got := last["usage"].(object)["input_tokens"]; got != float64(3) {
			t.Errorf("%v: the usage is %v", kind, last["usage"])
		}
		if !strings.Contains(string(raw), `"code":"special"`) || !strings.Contains(string(raw), `"param":"input"`) {
			t.Errorf("%v: got %s", kind, raw)
		}
	}
}
