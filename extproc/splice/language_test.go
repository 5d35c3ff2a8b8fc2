package splice_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/modelgateway/modelgateway/cluster/usage"
	"github.com/modelgateway/modelgateway/extproc/splice"
)

// readers are the functions that read whole responses, or the events of streams.
func readers() map[string]func(data []byte, f *splice.ChunkFacts) error {
	return map[string]func(data []byte, f *splice.ChunkFacts) error{
		"List":          func(data []byte, f *splice.ChunkFacts) error { return splice.List(data, &f.ReplyFacts) },
		"Message":       func(data []byte, f *splice.ChunkFacts) error { return splice.Message(data, &f.ReplyFacts) },
		"Response":      func(data []byte, f *splice.ChunkFacts) error { return splice.Response(data, &f.ReplyFacts) },
		"MessageEvent":  splice.MessageEvent,
		"ResponseEvent": splice.ResponseEvent,
		"ImageEvent":    splice.ImageEvent,
	}
}

// FuzzReaders compares what the readers accept with jsontext, and requires that they find no usage
// that cannot be.
func FuzzReaders(f *testing.F) {
	for _, seed := range []string{
		`{"data":[{"index":0,"embedding":"AAAA"}],"usage":{"prompt_tokens":1,"total_tokens":1},"model":"m"}`,
		`{"results":[],"meta":{"billed_units":{"search_units":2},"tokens":{"input_tokens":3}}}`,
		`{"type":"message_start","message":{"model":"m","content":[],"usage":{"input_tokens":3,"cache_read_input_tokens":1,"output_tokens":1}}}`,
		`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":5,"cache_creation":{"ephemeral_1h_input_tokens":2}}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}}`,
		`{"type":"response.completed","response":{"status":"incomplete","incomplete_details":{"reason":"content_filter"},"output":[{"content":[{"text":"x"}]}],"usage":{"input_tokens":1,"output_tokens":2}}}`,
		`{"type":"response.output_text.delta","delta":"a"}`,
		`{"type":"image_generation.completed","b64_json":"aaaa","usage":{"input_tokens":1,"output_tokens":2,"total_tokens":3}}`,
		`{"error":{"message":"x"}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		ok, depth := object(data)
		for name, read := range readers() {
			c := splice.ChunkFacts{ReplyFacts: splice.ReplyFacts{Collect: true}}
			err := read(data, &c)
			if depth <= 512 && (err == nil) != ok {
				t.Fatalf("%s: %v, but valid is %v: %q", name, err, ok, data)
			}
			if err != nil {
				continue
			}
			if known := c.HasUsage || c.Partial; !known && c.Tokens != (usage.Tokens{}) || known && (c.BadUsage || !c.Tokens.Sane()) {
				t.Fatalf("%s: %+v of %q", name, c, data)
			}
		}
		if splice.List(data, new(splice.ReplyFacts)) != nil {
			return
		}
		for _, text := range []bool{true, false} {
			if out := splice.Vectors(data, text); splice.List(out, new(splice.ReplyFacts)) != nil {
				t.Fatalf("%q became %q", data, out)
			}
		}
	})
}

// TestResponses reads the language of responses.
func TestResponses(t *testing.T) {
	tokens := usage.Tokens{Input: 9, CacheRead: 4, Output: 5, Reasoning: 2}
	const report = `"usage":{"input_tokens":9,"input_tokens_details":{"cached_tokens":4},"output_tokens":5,"output_tokens_details":{"reasoning_tokens":2},"total_tokens":14}`
	type facts struct {
		Finish, Text string
		Tokens       usage.Tokens
		Done, Error  bool
	}
	for _, c := range []struct {
		data string
		want facts
	}{
		{
			`{"object":"response","status":"completed","model":"m","output":[{"type":"reasoning","summary":[{"text":"hm "}]},{"type":"message","content":[{"type":"output_text","text":"hi"}]},` +
				`{"type":"function_call","name":"f","arguments":"{}"}],` + report + `,"error":null}`,
			facts{Finish: "stop", Text: "hm hif{}", Tokens: tokens},
		},
		{`{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"output":[]}`, facts{Finish: "length"}},
		{`{"status":"incomplete","incomplete_details":{"reason":"content_filter"},"output":[]}`, facts{Finish: "content_filter"}},
		{`{"type":"response.output_text.delta","delta":"hi","item_id":"i"}`, facts{Text: "hi"}},
		{`{"type":"response.function_call_arguments.delta","delta":"{}"}`, facts{Text: "{}"}},
		{`{"type":"response.output_text.done","text":"hi"}`, facts{}},
		{`{"type":"response.completed","response":{"status":"completed","output":[{"content":[{"text":"hi"}]}],` + report + `}}`, facts{Finish: "stop", Tokens: tokens, Done: true}},
		{`{"type":"response.incomplete","response":{"status":"incomplete","output":[],` + report + `}}`, facts{Finish: "length", Tokens: tokens, Done: true}},
		{`{"type":"error","message":"x","code":"server_error"}`, facts{Error: true}},
		{`{"type":"response.failed","response":{"status":"failed","error":{"message":"x"}}}`, facts{Error: true}},
	} {
		read, event := splice.ResponseEvent, splice.ChunkFacts{ReplyFacts: splice.ReplyFacts{Collect: true}}
		if c.data[2] != 't' {
			read = readers()["Response"]
		}
		if err := read([]byte(c.data), &event); err != nil {
			t.Errorf("%s: %v", c.data, err)
			continue
		}
		if diff := cmp.Diff(c.want, facts{event.FinishReason, string(event.Text), event.Tokens, event.Done, event.HasError()}); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.data, diff)
		}
	}
}

// TestEventsAllocateNothing: each event of a stream is read without an allocation.
func TestEventsAllocateNothing(t *testing.T) {
	for name, data := range map[string]string{
		"MessageEvent":  `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}}`,
		"ResponseEvent": `{"type":"response.output_text.delta","item_id":"i","output_index":0,"content_index":0,"delta":"a","sequence_number":7}`,
	} {
		f := splice.ChunkFacts{ReplyFacts: splice.ReplyFacts{Collect: true, Text: make([]byte, 0, 100)}}
		read, raw := readers()[name], []byte(data)
		if n := testing.AllocsPerRun(100, func() {
			f.Text = f.Text[:0]
			if err := read(raw, &f); err != nil {
				t.Fatal(err)
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}
