package guard_test

import (
	"strings"
	"testing"

	"github.com/modelgateway/modelgateway/cluster/guardrails"
	"github.com/modelgateway/modelgateway/extproc/guard"
	"github.com/modelgateway/modelgateway/extproc/splice"
	"github.com/modelgateway/modelgateway/extproc/texts"
)

// streamed examines a stream of any language. Events are separated by empty lines.
func streamed(t *testing.T, s *guard.Screen, reader texts.Reader, structured bool, stream string) string {
	t.Helper()
	st := s.NewStream(reader, structured)
	defer st.Release()
	var out []byte
	var split splice.Splitter
	var e splice.Event
	var err error
	split.Push([]byte(stream))
	for split.Next(&e) {
		if out, err = st.Event(t.Context(), out, &e); err != nil {
			t.Fatal(err)
		}
	}
	if out, err = st.End(t.Context(), out); err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func TestStreamsOfEachLanguage(t *testing.T) {
	for _, c := range []struct {
		name       string
		reader     texts.Reader
		structured bool
		in, want   string
	}{
		{"messages", texts.Messages(), false, `event: message_start
data: {"type":"message_start","message":{"content":[]}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}

event: ping
data: {"type":"ping"}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Ask a@"}}

event: ping
data: {"type":"ping"}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"b"}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: content_block_start
data: {"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"1","name":"f","input":{}}}

event: content_block_delta
data: {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"to\":\"c"}}

event: content_block_delta
data: {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"@d\"}"}}

event: content_block_stop
data: {"type":"content_block_stop","index":1}

event: message_stop
data: {"type":"message_stop"}

`, `event: message_start
data: {"type":"message_start","message":{"content":[]}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}

event: ping
data: {"type":"ping"}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Ask "}}

event: ping
data: {"type":"ping"}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"[EMAIL_ADDRESS]"}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: content_block_start
data: {"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"1","name":"f","input":{}}}

event: content_block_delta
data: {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"to\":\""}}

event: content_block_delta
data: {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"[EMAIL_ADDRESS]\"}"}}

event: content_block_stop
data: {"type":"content_block_stop","index":1}

event: message_stop
data: {"type":"message_stop"}

`},
		{"responses", texts.Responses(), false, `event: response.created
data: {"type":"response.created","response":{"output":[]}}

event: response.output_text.delta
data: {"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"Ask a@b"}

event: response.output_text.done
data: {"type":"response.output_text.done","output_index":0,"content_index":0,"text":"Ask a@b"}

event: response.output_item.done
data: {"type":"response.output_item.done","output_index":0,"item":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Ask a@b"}]}}

event: response.completed
data: {"type":"response.completed","response":{"output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Ask a@b"}]}]}}

`, `event: response.created
data: {"type":"response.created","response":{"output":[]}}

event: response.output_text.delta
data: {"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"Ask "}

event: response.output_text.delta
data: {"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"[EMAIL_ADDRESS]"}

event: response.output_text.done
data: {"type":"response.output_text.done","output_index":0,"content_index":0,"text":"Ask [EMAIL_ADDRESS]"}

event: response.output_item.done
data: {"type":"response.output_item.done","output_index":0,"item":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Ask [EMAIL_ADDRESS]"}]}}

event: response.completed
data: {"type":"response.completed","response":{"output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Ask [EMAIL_ADDRESS]"}]}]}}

`},
		{"structured content", texts.Chat(), true, `data: {"id":"c","choices":[{"index":0,"delta":{"role":"assistant","content":"{\"to\": \"a@b, "},"logprobs":{"content":[{"token":"a@b"}]},"finish_reason":null}]}

data: {"id":"c","choices":[{"index":0,"delta":{"content":"c@d\"}"},"finish_reason":null}]}

data: {"id":"c","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}

data: [DONE]

`, `data: {"id":"c","choices":[{"index":0,"delta":{"role":"assistant","content":"{\"to\": \"[EMAIL_ADDRESS] "},"logprobs":null,"finish_reason":null}]}

data: {"id":"c","choices":[{"index":0,"delta":{"content":"[EMAIL_ADDRESS]\"}"},"finish_reason":null}]}

data: {"id":"c","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}

data: [DONE]

`},
		{"a call in one event, and text with the finish", texts.Chat(), false, `data: {"id":"c","choices":[{"index":0,"delta":{"role":"assistant","content":"see x@y"},"finish_reason":null}]}

data: {"id":"c","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"1","function":{"name":"f","arguments":"to x@y"}}]},"finish_reason":null}]}

data: {"id":"c","choices":[{"index":1,"delta":{"content":"or z@z"},"finish_reason":"stop"}]}

data: {"id":"c","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":1}}

`, `data: {"id":"c","choices":[{"index":0,"delta":{"role":"assistant","content":"see "},"finish_reason":null}]}

data: {"id":"c","choices":[{"index":0,"delta":{"content":"[EMAIL_ADDRESS]"},"finish_reason":null}]}

data: {"id":"c","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"1","function":{"name":"f","arguments":"to "}}]},"finish_reason":null}]}

data: {"id":"c","choices":[{"index":1,"delta":{"content":"or [EMAIL_ADDRESS]"},"finish_reason":"stop"}]}

data: {"id":"c","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"[EMAIL_ADDRESS]"}}]},"finish_reason":null}]}

data: {"id":"c","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":1}}

`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := streamed(t, screen(presidio("", guardrails.PostCall)), c.reader, c.structured, c.in); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

// A value that was replaced in the request is put back into a stream, wherever its mark is cut.
func TestReversibleStream(t *testing.T) {
	for cut := 1; cut < len("To [EMAIL_ADDRESS_1] [no] [EMAIL_"); cut++ {
		e := presidio("anonymize", guardrails.PreCall)
		e.Reversible = true
		s := screen(e)
		if _, err := s.Request(t.Context(), texts.Chat(), []byte(`{"messages":[{"role":"user","content":"a@b"}]}`)); err != nil {
			t.Fatal(err)
		}
		const text = "To [EMAIL_ADDRESS_1] [no] [EMAIL_"
		var c chat
		c.delta(0, `{"content":"`+text[:cut]+`"}`, "")
		c.delta(0, `{"content":"`+text[cut:]+`"}`, "")
		c.delta(0, `{}`, `"stop"`)
		out := streamed(t, s, texts.Chat(), false, strings.Join(c.events, ""))
		if got := collect(t, out).content[0]; got != "To a@b [no] [EMAIL_" {
			t.Errorf("cut at %d: %q", cut, got)
		}
	}
}
