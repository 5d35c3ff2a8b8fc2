package anthropic_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/usage"
	"github.com/modelgateway/modelgateway/extproc/anthropic"
	"github.com/modelgateway/modelgateway/extproc/dialect"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// TestStreamLaws draws responses, cuts them into steps as providers do, and checks that the
// stream keeps the laws of Anthropic's streams and says the same as the whole response.
func TestStreamLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		t.Helper()
		meta := dialect.Meta{ID: "msg_1", Model: "alias"}
		r := drawResponse(t)
		chunks := drawChunks(t, &r.Choices[0])
		enc := anthropic.Dialect{}.Stream(meta)
		var stream []byte
		for i := range chunks {
			stream = enc.Chunk(stream, &chunks[i])
		}
		cut := len(stream)
		stream = enc.End(stream, &r.Usage)
		got := readStream(t, stream)

		var want answer
		raw := anthropic.Dialect{}.EncodeResponse(nil, r, meta)
		if err := json.Unmarshal(raw, &want); err != nil {
			t.Fatalf("%v: %s", err, raw)
		}
		if diff := cmp.Diff(joined(&want), joined(got)); diff != "" {
			t.Fatalf("(-whole +streamed) %s\n%s", diff, stream)
		}

		failed := enc.Fail(stream[:cut:cut], &fault.Error{Kind: fault.Upstream, Detail: "broken"})
		if end := string(failed[cut:]); end != "event: error\ndata: "+`{"type":"error","error":{"type":"api_error","message":"broken"}}`+"\n\n" {
			t.Fatalf("the end of a failed stream is %q", end)
		}
	})
}

// answer is a message, as a client has it.
type answer struct {
	ID         string        `json:"id"`
	Model      string        `json:"model"`
	Content    []answerBlock `json:"content"`
	StopReason string        `json:"stop_reason"`
	Sequence   *string       `json:"stop_sequence"`
	Usage      answerUsage   `json:"usage"`
}

type answerBlock struct {
	Type      string           `json:"type"`
	Text      string           `json:"text"`
	Citations []jsontext.Value `json:"citations"`
	Thinking  string           `json:"thinking"`
	Signature string           `json:"signature"`
	Data      string           `json:"data"`
	ID        string           `json:"id"`
	Name      string           `json:"name"`
	Input     jsontext.Value   `json:"input"`
}

type answerUsage struct {
	Input    int64 `json:"input_tokens"`
	Output   int64 `json:"output_tokens"`
	Creation int64 `json:"cache_creation_input_tokens"`
	Read     int64 `json:"cache_read_input_tokens"`
	Details  struct {
		Thinking int64 `json:"thinking_tokens"`
	} `json:"output_tokens_details"`
}

// joined joins neighboring blocks of text: a stream cannot cut a text where its sources begin.
func joined(a *answer) *answer {
	out := *a
	out.Content = nil
	for _, b := range a.Content {
		if last := len(out.Content) - 1; b.Type == "text" && last >= 0 && out.Content[last].Type == "text" {
			out.Content[last].Text += b.Text
			out.Content[last].Citations = append(out.Content[last].Citations, b.Citations...)
			continue
		}
		out.Content = append(out.Content, b)
	}
	return &out
}

// looseEvent is an event of any type.
type looseEvent struct {
	Type    string       `json:"type"`
	Index   int          `json:"index"`
	Message *answer      `json:"message"`
	Block   *answerBlock `json:"content_block"`
	Delta   struct {
		Type      string         `json:"type"`
		Text      *string        `json:"text"`
		Thinking  *string        `json:"thinking"`
		Signature *string        `json:"signature"`
		Partial   *string        `json:"partial_json"`
		Citation  jsontext.Value `json:"citation"`

		StopReason string  `json:"stop_reason"`
		Sequence   *string `json:"stop_sequence"`
	} `json:"delta"`
	Usage *answerUsage `json:"usage"`
}

// client reads a stream as a strict client does.
type client struct {
	message *answer
	open    bool
	signed  bool
	input   string
	stopped bool // message_delta was seen
}

// readStream returns the message of a stream, and rejects one that breaks a law.
func readStream(t *rapid.T, stream []byte) *answer {
	t.Helper()
	var c client
	all := strings.SplitAfter(string(stream), "\n\n")
	for i, raw := range all[:len(all)-1] {
		head, data, found := strings.Cut(strings.TrimSuffix(raw, "\n\n"), "\ndata: ")
		var e looseEvent
		if err := json.Unmarshal([]byte(data), &e); !found || err != nil || head != "event: "+e.Type {
			t.Fatalf("event %d is %q (%v)", i, raw, err)
		}
		if err := c.event(&e); err != "" {
			t.Fatalf("event %d: %s: %s\n%s", i, err, raw, stream)
		}
		if (e.Type == "message_start") != (i == 0) || (e.Type == "message_stop") != (i == len(all)-2) {
			t.Fatalf("event %d of %d is %s", i, len(all)-1, e.Type)
		}
	}
	if rest := all[len(all)-1]; rest != "" || c.message == nil {
		t.Fatalf("the stream ends with %q", rest)
	}
	return c.message
}

// event takes an event. It returns the law that the event breaks, or nothing.
func (c *client) event(e *looseEvent) string {
	switch e.Type {
	case "message_start":
		c.message = e.Message
		if c.message.Content == nil || len(c.message.Content) != 0 || c.message.StopReason != "" {
			return "a message starts without content"
		}
	case "content_block_start":
		if c.open || c.stopped || e.Index != len(c.message.Content) {
			return "blocks are opened in order, one at a time"
		}
		c.open, c.signed, c.input = true, false, ""
		if b := e.Block; b.Text != "" || b.Thinking != "" || b.Signature != "" || b.Type == "tool_use" && string(b.Input) != "{}" {
			return "a block begins empty"
		}
		c.message.Content = append(c.message.Content, *e.Block)
	case "content_block_delta":
		if !c.open || e.Index != len(c.message.Content)-1 {
			return "deltas belong to the open block"
		}
		return c.delta(&c.message.Content[e.Index], e)
	case "content_block_stop":
		if !c.open || e.Index != len(c.message.Content)-1 {
			return "only the open block ends"
		}
		c.open = false
		b := &c.message.Content[e.Index]
		switch {
		case b.Type == "text" && b.Text == "", b.Type == "thinking" && b.Thinking+b.Signature == "":
			return "no block is empty"
		case b.Type == "tool_use" && c.input != "":
			b.Input = jsontext.Value(c.input)
		}
		if !b.Input.IsValid() && b.Type == "tool_use" {
			return "the arguments are whole"
		}
	case "message_delta":
		if c.open || c.stopped || e.Usage == nil {
			return "one message_delta with usage comes after the blocks"
		}
		c.stopped = true
		if c.message.Usage.Input > e.Usage.Input {
			return "usage is cumulative"
		}
		c.message.StopReason, c.message.Sequence, c.message.Usage = e.Delta.StopReason, e.Delta.Sequence, *e.Usage
	case "message_stop":
		if !c.stopped {
			return "message_delta comes before message_stop"
		}
	default:
		return "no such event"
	}
	return ""
}

// delta adds to a block. It returns the law that the delta breaks, or nothing.
func (c *client) delta(b *answerBlock, e *looseEvent) string {
	d := &e.Delta
	if c.signed {
		return "the signature is the last delta"
	}
	switch {
	case d.Type == "text_delta" && b.Type == "text" && d.Text != nil:
		b.Text += *d.Text
	case d.Type == "citations_delta" && b.Type == "text" && d.Citation != nil:
		b.Citations = append(b.Citations, d.Citation)
	case d.Type == "thinking_delta" && b.Type == "thinking" && d.Thinking != nil:
		b.Thinking += *d.Thinking
	case d.Type == "signature_delta" && b.Type == "thinking" && d.Signature != nil:
		b.Signature, c.signed = *d.Signature, true
	case d.Type == "input_json_delta" && b.Type == "tool_use" && d.Partial != nil:
		c.input += *d.Partial
	default:
		return "a delta is of its block's type"
	}
	return ""
}

// drawResponse draws a response of any provider.
func drawResponse(t *rapid.T) *wire.Response {
	text := rapid.StringN(0, 12, -1)
	c := wire.Choice{
		Text:   text.Draw(t, "text"),
		Finish: rapid.SampledFrom([]wire.Finish{wire.FinishStop, wire.FinishLength, wire.FinishToolCalls, wire.FinishFilter}).Draw(t, "finish"),
		Ending: wire.Ending{
			Sequence: rapid.SampledFrom([]string{"", "END"}).Draw(t, "sequence"), Window: rapid.Bool().Draw(t, "window"), Paused: rapid.Bool().Draw(t, "paused"),
		},
	}
	if rapid.Bool().Draw(t, "signs") {
		for i := range rapid.IntRange(0, 3).Draw(t, "thinking") {
			c.Thinking = append(c.Thinking, rapid.SampledFrom([]wire.Thinking{
				{Text: text.Draw(t, "thought"), Signature: fmt.Sprint("sig", i)}, {Redacted: fmt.Sprint("opaque", i)},
			}).Draw(t, "block"))
		}
	} else if thought := text.Draw(t, "thought"); thought != "" {
		c.Thinking = []wire.Thinking{{Text: thought}}
	}
	if n := len([]rune(c.Text)); n > 0 && rapid.Bool().Draw(t, "cited") {
		end := rapid.IntRange(1, n).Draw(t, "end")
		c.Annotations = []wire.Annotation{{URL: "https://x.test", Start: end - 1, End: end}, {Citation: jsontext.Value(`{"type":"char_location"}`), Start: end - 1, End: end}}
	}
	if rapid.IntRange(0, 4).Draw(t, "refuses") == 0 {
		c.Refusal = text.Draw(t, "refusal")
	}
	for i := range rapid.IntRange(0, 3).Draw(t, "calls") {
		arguments := rapid.SampledFrom([]string{"", "{}", string(encode(object{"a": text.Draw(t, "argument"), "b": []any{object{"c": "}]\"\\"}}}))}).Draw(t, "arguments")
		c.ToolCalls = append(c.ToolCalls, wire.ToolCall{ID: fmt.Sprint("call_", i), Name: "f", Arguments: arguments})
	}
	n := func(label string) int64 { return int64(rapid.IntRange(0, 99).Draw(t, label)) }
	tokens := usage.Tokens{CacheRead: n("read"), CacheWrite: n("written"), CacheWrite1h: n("written for an hour"), Reasoning: n("reasoning")}
	tokens.Input = tokens.CacheRead + tokens.CacheWrite + tokens.CacheWrite1h + n("input")
	tokens.Output = tokens.Reasoning + n("output")
	return &wire.Response{ID: "msg_1", Choices: []wire.Choice{c}, Usage: wire.Usage{Tokens: tokens, Source: usage.Provider}}
}

// encode writes a value of the test's own.
func encode(v any) []byte {
	b, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		return []byte(err.Error())
	}
	return b
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

// drawChunks cuts a choice into steps. The steps of tool calls may be mixed.
func drawChunks(t *rapid.T, c *wire.Choice) []wire.Chunk {
	out := make([]wire.Chunk, rapid.IntRange(0, 2).Draw(t, "empty"))
	for _, b := range c.Thinking {
		for _, p := range pieces(t, b.Text) {
			out = append(out, wire.Chunk{Thinking: p})
		}
		if b.Signature != "" || b.Redacted != "" {
			out = append(out, wire.Chunk{Block: &b})
		}
	}
	for _, p := range pieces(t, c.Text) {
		out = append(out, wire.Chunk{Text: p})
	}
	if c.Annotations != nil {
		out = append(out, wire.Chunk{Annotations: c.Annotations})
	}
	for _, p := range pieces(t, c.Refusal) {
		out = append(out, wire.Chunk{Refusal: p})
	}
	out = append(out, drawCalls(t, c.ToolCalls)...)
	if last := len(out) - 1; last >= 0 && rapid.Bool().Draw(t, "finish with the last step") {
		out[last].Finish, out[last].Ending = c.Finish, c.Ending
		return out
	}
	return append(out, wire.Chunk{Finish: c.Finish, Ending: c.Ending})
}

// drawCalls cuts tool calls into steps. Each call begins after the one before it has begun.
func drawCalls(t *rapid.T, calls []wire.ToolCall) []wire.Chunk {
	mixed := rapid.Bool().Draw(t, "mixed")
	steps := make([][]wire.Chunk, len(calls))
	for i, call := range calls {
		first := &wire.ToolDelta{Index: i, ID: call.ID, Name: call.Name}
		all := pieces(t, call.Arguments)
		if len(all) > 0 && rapid.Bool().Draw(t, "arguments at once") {
			first.Arguments, all = all[0], all[1:]
		}
		steps[i] = []wire.Chunk{{Tool: first}}
		for _, p := range all {
			steps[i] = append(steps[i], wire.Chunk{Tool: &wire.ToolDelta{Index: i, Arguments: p}})
		}
	}
	if !mixed {
		return slices.Concat(steps...)
	}
	var out []wire.Chunk
	for begun := 0; ; {
		var ready []int
		for i := range min(begun+1, len(steps)) {
			if len(steps[i]) > 0 {
				ready = append(ready, i)
			}
		}
		if ready == nil {
			return out
		}
		i := rapid.SampledFrom(ready).Draw(t, "next")
		out, steps[i], begun = append(out, steps[i][0]), steps[i][1:], max(begun, i+1)
	}
}

// The steps of one call go out as they come, and those of a second one wait only while the first
// one's arguments are not complete.
func TestCallsAreStreamed(t *testing.T) {
	enc := anthropic.Dialect{}.Stream(dialect.Meta{ID: "msg_1"})
	step := func(index int, id, arguments string) string {
		return string(enc.Chunk(nil, &wire.Chunk{Tool: &wire.ToolDelta{Index: index, ID: id, Name: "f", Arguments: arguments}}))
	}
	for i, c := range []struct {
		index         int
		id, arguments string
		want          []string
	}{
		{0, "a", `{"x":`, []string{`"id":"a"`, `{\"x\":`}},
		{0, "", `"}`, []string{`\"}`}},
		{1, "b", `{`, nil},
		{0, "", `"}`, []string{`\"}`, `"id":"b"`, `"partial_json":"{"`}},
		{1, "", `}`, []string{`"partial_json":"}"`}},
		{2, "c", ``, []string{`"id":"c"`}},
	} {
		got := step(c.index, c.id, c.arguments)
		for _, want := range c.want {
			if !strings.Contains(got, want) {
				t.Errorf("step %d lacks %s: %s", i, want, got)
			}
		}
		if c.want == nil && got != "" {
			t.Errorf("step %d goes out: %s", i, got)
		}
	}
}

// Text after the sources of a text is not theirs.
func TestTextAfterSourcesIsAnotherBlock(t *testing.T) {
	enc := anthropic.Dialect{}.Stream(dialect.Meta{ID: "msg_1"})
	var got []byte
	for _, c := range []wire.Chunk{
		{Text: "rain"}, {Annotations: []wire.Annotation{{URL: "https://x.test"}}}, {Annotations: []wire.Annotation{{URL: "https://y.test"}}}, {Text: " or snow"},
	} {
		got = enc.Chunk(got, &c)
	}
	order := []string{`"index":0,"content_block"`, `"rain"`, "x.test", "y.test", `"content_block_stop","index":0`, `"index":1,"content_block"`, `" or snow"`}
	at := 0
	for _, want := range order {
		next := strings.Index(string(got[at:]), want)
		if next < 0 {
			t.Fatalf("%s is missing or out of order: %s", want, got)
		}
		at += next
	}
}

// What a provider reports before its response begins is in the first event.
func TestMessageStartHasTheInput(t *testing.T) {
	enc := anthropic.Dialect{}.Stream(dialect.Meta{ID: "chatcmpl-1", Model: "alias"})
	got := string(enc.Chunk(nil, &wire.Chunk{Usage: &wire.Usage{Partial: true, Tokens: usage.Tokens{Input: 9, CacheRead: 2, CacheWrite1h: 3}}}))
	want := "event: message_start\ndata: " + `{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"alias","content":[],` +
		`"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":4,"cache_creation_input_tokens":3,"cache_read_input_tokens":2,` +
		`"cache_creation":{"ephemeral_5m_input_tokens":0,"ephemeral_1h_input_tokens":3},"output_tokens":0}}}` + "\n\n"
	if got != want {
		t.Errorf("got %s", got)
	}
}
