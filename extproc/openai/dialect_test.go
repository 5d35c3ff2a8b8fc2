package openai_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/cluster/usage"
	"github.com/modelgateway/modelgateway/extproc/dialect"
	"github.com/modelgateway/modelgateway/extproc/openai"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// with is a valid request with more members.
func with(members string) string {
	return `{"model":"m","messages":[{"role":"user","content":"secret text"}],` + members + `}`
}

// message is a valid request with another second message.
func message(m string) string {
	return `{"model":"m","messages":[{"role":"user","content":"secret text"},` + m + `]}`
}

func TestDecodeRequestRejects(t *testing.T) {
	for _, c := range []struct{ body, param, code string }{
		{``, "", "invalid_json"},
		{`[]`, "", "invalid_json"},
		{`"x"`, "", "invalid_json"},
		{`null`, "model", "missing_required_parameter"},
		{`{"model":"m"`, "", "invalid_json"},
		{`{"model":"m"} x`, "", "invalid_json"},
		{"\xef\xbb\xbf{}", "", "invalid_json"},
		{"{\"model\":\"\xff\"}", "", "invalid_json"},
		{`{"model":"\ud800"}`, "", "invalid_json"},
		{`{"messages":[{"role":"user","content":"x"}]}`, "model", "missing_required_parameter"},
		{`{"model":"","messages":[{"role":"user","content":"x"}]}`, "model", "missing_required_parameter"},
		{`{"model":null,"messages":[{"role":"user","content":"x"}]}`, "model", "missing_required_parameter"},
		{`{"model":"` + strings.Repeat("m", 10000) + `","messages":[{"role":"user","content":"x"}]}`, "model", "invalid_value"},
		{`{"model":"a\nb","messages":[{"role":"user","content":"x"}]}`, "model", "invalid_value"},
		{`{"model":7,"messages":[]}`, "model", "invalid_type"},
		{`{"model":"m"}`, "messages", "missing_required_parameter"},
		{`{"model":"m","messages":[]}`, "messages", "missing_required_parameter"},
		{`{"model":"m","messages":{}}`, "messages", "invalid_type"},
		{`{"model":"m","messages":["x"]}`, "messages[0]", "invalid_type"},
		{`{"model":"m","messages":[null]}`, "messages[0].role", "missing_required_parameter"},
		{with(`"model":"other"`), "model", "duplicate_parameter"},
		{with(`"mod\u0065l":"other"`), "model", "duplicate_parameter"},
		{with(`"Model":"other"`), "model", "duplicate_parameter"},
		{with(`"STREAM":true`), "stream", "duplicate_parameter"},
		{with(`"future":{"a":1,"a":2}`), "future.a", "duplicate_parameter"},
		{with(`"max_tokens":-1`), "max_tokens", "invalid_value"},
		{with(`"max_tokens":0`), "max_tokens", "invalid_value"},
		{with(`"max_tokens":1.5`), "max_tokens", "invalid_type"},
		{with(`"max_tokens":"10"`), "max_tokens", "invalid_type"},
		{with(`"max_tokens":NaN`), "", "invalid_json"},
		{with(`"max_completion_tokens":0`), "max_completion_tokens", "invalid_value"},
		{with(`"temperature":"hot"`), "temperature", "invalid_type"},
		{with(`"temperature":2.1`), "temperature", "invalid_value"},
		{with(`"top_p":-0.1`), "top_p", "invalid_value"},
		{with(`"n":0`), "n", "invalid_value"},
		{with(`"n":1000000`), "n", "invalid_value"},
		{with(`"top_logprobs":21`), "top_logprobs", "invalid_value"},
		{with(`"stream":"yes"`), "stream", "invalid_type"},
		{with(`"stream_options":{"include_usage":1}`), "stream_options.include_usage", "invalid_type"},
		{with(`"stop":7`), "stop", "invalid_type"},
		{with(`"stop":["a",7]`), "stop[1]", "invalid_type"},
		{with(`"logit_bias":[]`), "logit_bias", "invalid_type"},
		{with(`"metadata":"x"`), "metadata", "invalid_type"},
		{with(`"reasoning_effort":"huge"`), "reasoning_effort", "invalid_value"},
		{with(`"thinking":{"type":"sometimes"}`), "thinking.type", "invalid_value"},
		{with(`"thinking":{"type":"enabled","budget_tokens":-5}`), "thinking.budget_tokens", "invalid_value"},
		{with(`"thinking":{"type":"enabled","budget_tokens":1.5}`), "thinking.budget_tokens", "invalid_type"},
		{with(`"response_format":{"type":"xml"}`), "response_format.type", "invalid_value"},
		{with(`"response_format":{"type":"json_schema"}`), "response_format.json_schema", "missing_required_parameter"},
		{with(`"response_format":{"type":"json_schema","json_schema":{"name":"n","schema":true}}`), "response_format.json_schema.schema", "invalid_type"},
		{with(`"tools":[{"function":{"name":"f"}}]`), "tools[0].type", "missing_required_parameter"},
		{with(`"tools":[{"type":"function","function":{}}]`), "tools[0].function.name", "missing_required_parameter"},
		{with(`"tools":[{"type":"function","function":{"name":7}}]`), "tools[0].function.name", "invalid_type"},
		{with(`"tools":[{"type":"function","function":{"name":"f","parameters":[]}}]`), "tools[0].function.parameters", "invalid_type"},
		{with(`"functions":[{}]`), "functions[0].name", "missing_required_parameter"},
		{with(`"tool_choice":"maybe"`), "tool_choice", "invalid_value"},
		{with(`"tool_choice":{"type":"function"}`), "tool_choice", "missing_required_parameter"},
		{with(`"tool_choice":{"type":"function","function":"f"}`), "tool_choice.function", "invalid_type"},
		{with(`"tool_choice":{"type":"any"}`), "tool_choice.type", "invalid_value"},
		{with(`"tool_choice":{"type":"allowed_tools","allowed_tools":{}}`), "tool_choice.allowed_tools.mode", "invalid_value"},
		{message(`{"role":"root","content":"x"}`), "messages[1].role", "invalid_value"},
		{message(`{"role":"user"}`), "messages[1].content", "missing_required_parameter"},
		{message(`{"role":"user","content":7}`), "messages[1].content", "invalid_type"},
		{message(`{"role":"user","content":{}}`), "messages[1].content", "invalid_type"},
		{message(`{"role":"user","content":[7]}`), "messages[1].content[0]", "invalid_type"},
		{message(`{"role":"user","content":[{"type":"text","text":7}]}`), "messages[1].content[0].text", "invalid_type"},
		{message(`{"role":"user","content":[{"type":"video"}]}`), "messages[1].content[0].type", "invalid_value"},
		{message(`{"role":"user","content":[{"type":"image_url"}]}`), "messages[1].content[0].image_url", "missing_required_parameter"},
		{message(`{"role":"user","content":[{"type":"image_url","image_url":{"url":"file:///etc/passwd"}}]}`), "messages[1].content[0].image_url.url", "invalid_value"},
		{message(`{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png,x"}}]}`), "messages[1].content[0].image_url.url", "invalid_value"},
		{message(`{"role":"user","content":[{"type":"file","file":{}}]}`), "messages[1].content[0].file", "missing_required_parameter"},
		{message(`{"role":"user","content":[{"type":"file","file":{"file_data":"http://x"}}]}`), "messages[1].content[0].file.file_data", "invalid_value"},
		{message(`{"role":"user","content":[{"type":"text","text":"x","cache_control":7}]}`), "messages[1].content[0].cache_control", "invalid_type"},
		{message(`{"role":"user","content":"x","cache_control":7}`), "messages[1].cache_control", "invalid_type"},
		{message(`{"role":"tool","content":"x"}`), "messages[1].tool_call_id", "missing_required_parameter"},
		{message(`{"role":"function","name":"f","content":"x"}`), "messages[1].tool_call_id", "missing_required_parameter"},
		{message(`{"role":"assistant","tool_calls":[{"type":"function","function":{"name":"f"}}]}`), "messages[1].tool_calls[0].id", "missing_required_parameter"},
		{message(`{"role":"assistant","tool_calls":[{"id":"c","type":"function"}]}`), "messages[1].tool_calls[0].function.name", "missing_required_parameter"},
		{message(`{"role":"assistant","thinking_blocks":[{"type":"x"}]}`), "messages[1].thinking_blocks[0].type", "invalid_value"},
	} {
		name := c.body[:min(len(c.body), 150)]
		_, err := openai.Dialect{}.DecodeRequest([]byte(c.body))
		var e *fault.Error
		if !errors.As(err, &e) {
			t.Errorf("%s: accepted (%v)", name, err)
			continue
		}
		if e.Kind != fault.Malformed || e.Param != c.param || e.Code != c.code || e.Detail == "" {
			t.Errorf("%s: %v, param %q, code %q; want param %q, code %q", name, e, e.Param, e.Code, c.param, c.code)
		}
		if strings.Contains(e.Error(), "secret text") {
			t.Errorf("%s: the error quotes the request: %v", name, e)
		}
	}
}

func TestDecodeRequestIsCheapForHostileBodies(t *testing.T) {
	deep := strings.Repeat("[", 20000) + strings.Repeat("]", 20000)
	var keys, messages strings.Builder
	for i := range 300_000 {
		fmt.Fprintf(&keys, `"k%d":0,`, i)
		messages.WriteString(`{},`)
	}
	for name, body := range map[string]string{
		"deep":     with(`"x":` + deep),
		"keys":     with(keys.String() + `"z":0`),
		"messages": `{"model":"m","messages":[` + messages.String() + `{}]}`,
	} {
		began := time.Now()
		if _, err := (openai.Dialect{}).DecodeRequest([]byte(body)); err == nil {
			t.Errorf("%s: accepted", name)
		}
		if took := time.Since(began); took > 30*time.Second { // a linear pass takes far less, a quadratic one far more
			t.Errorf("%s: took %v for %d bytes", name, took, len(body))
		}
	}
}

func TestDecodeRequestReads(t *testing.T) {
	body := `{"model":"m","max_tokens":5,"max_completion_tokens":1e18,"stop":"END","stream":true,"stream_options":{"include_usage":true},
		"n":2e0,"seed":null,"verbosity":"low","future":{"a":[1.50]},
		"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"required","tools":[{"type":"function","function":{"name":"f"}}]}},
		"messages":[
			{"role":"assistant","content":"said","reasoning_content":"ignored","thinking_blocks":[{"type":"thinking","thinking":"hm","signature":"s"}],"unheard_of":1,
			 "tool_calls":[{"id":"c1","type":"custom","custom":{"name":"free","input":"text"}}]},
			{"role":"tool","tool_call_id":"c1","content":[{"type":"text","text":"r"}],"is_error":true,"cache_control":{"type":"ephemeral"}}]}`
	got, err := openai.Dialect{}.DecodeRequest([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	limit, n := int64(usage.Limit), int64(2)
	want := &wire.Request{
		Model: "m", MaxTokens: &limit, Stop: []string{"END"}, Stream: true, IncludeUsage: true,
		Sampling:   wire.Sampling{N: &n},
		ToolChoice: wire.ToolChoice{Mode: wire.ChoiceRequired, Allowed: []string{"f"}},
		Messages: []wire.Message{
			{Role: wire.Assistant, Parts: []wire.Part{
				{Kind: wire.ThinkingPart, Text: "hm", Signature: "s"},
				{Kind: wire.TextPart, Text: "said"},
				{Kind: wire.ToolCallPart, Call: &wire.ToolCall{ID: "c1", Name: "free", Arguments: "text", Custom: true}},
			}},
			{Role: wire.ToolRole, Parts: []wire.Part{{
				Kind: wire.ToolResultPart, Cache: jsontext.Value(`{"type":"ephemeral"}`),
				Result: &wire.ToolResult{CallID: "c1", Error: true, Parts: []wire.Part{{Text: "r"}}},
			}}},
		},
		Extra: []wire.Field{{Name: "verbosity", Value: jsontext.Value(`"low"`)}, {Name: "future", Value: jsontext.Value(`{"a":[1.50]}`)}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got) %s", diff)
	}
}

func TestEncodeResponseShowsTheAliasAndTheCost(t *testing.T) {
	cost := money.Pico(1_500_000)
	r := &wire.Response{
		ID: "provider-id", Model: "provider-model",
		Choices: []wire.Choice{{Text: "hi", Thinking: []wire.Thinking{{Text: "a"}, {Text: "b", Signature: "s"}}}},
		Usage:   wire.Usage{Tokens: usage.Tokens{Input: 3, Output: 2}, Source: usage.Estimated, Cost: &cost},
	}
	got := string(openai.Dialect{}.EncodeResponse([]byte("kept"), r, dialect.Meta{Model: "alias", Created: 9}))
	want := `kept{"id":"provider-id","object":"chat.completion","created":9,"model":"alias","choices":[{"index":0,"message":` +
		`{"role":"assistant","content":"hi","refusal":null,"reasoning_content":"ab","thinking_blocks":[{"type":"thinking","thinking":"b","signature":"s"}]},` +
		`"logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5,` +
		`"prompt_tokens_details":{"cached_tokens":0,"audio_tokens":0},"completion_tokens_details":{"reasoning_tokens":0,"audio_tokens":0},"cost":0.0000015}}`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got) %s", diff)
	}
}

func TestStreamedFunctionsAndMissingIDs(t *testing.T) {
	steps := []wire.Chunk{
		{Tool: &wire.ToolDelta{Name: "f"}},
		{Tool: &wire.ToolDelta{Arguments: "{}", ID: "late", Name: "f"}},
		{Tool: &wire.ToolDelta{Index: 1, Name: "g", Arguments: "x", Custom: true}},
		{Finish: wire.FinishToolCalls},
	}
	write := func(m dialect.Meta) string {
		e := openai.Dialect{}.Stream(m)
		var out []byte
		for i := range steps {
			out = e.Chunk(out, &steps[i])
		}
		out = e.End(out, &wire.Usage{})
		var lines []string
		for line := range strings.SplitSeq(string(out), "\n\n") {
			if _, delta, ok := strings.Cut(line, `"delta":`); ok {
				delta, _, _ = strings.Cut(delta, `,"logprobs"`)
				lines = append(lines, delta)
			}
		}
		return strings.Join(lines, "\n")
	}
	want := `{"role":"assistant","content":""}
{"tool_calls":[{"index":0,"id":"call_x_0_0","type":"function","function":{"name":"f","arguments":""}}]}
{"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]}
{"tool_calls":[{"index":1,"id":"call_x_0_1","type":"custom","custom":{"name":"g","input":"x"}}]}
{}`
	if diff := cmp.Diff(want, write(dialect.Meta{ID: "x"})); diff != "" {
		t.Errorf("(-want +got) %s", diff)
	}
	want = `{"role":"assistant","content":""}
{"function_call":{"name":"f","arguments":""}}
{"function_call":{"arguments":"{}"}}
{}
{}`
	if diff := cmp.Diff(want, write(dialect.Meta{ID: "x", Functions: true})); diff != "" {
		t.Errorf("(-want +got) %s", diff)
	}
}

func TestFailHasNoTerminator(t *testing.T) {
	e := openai.Dialect{}.Stream(dialect.Meta{})
	got := e.Fail(nil, &fault.Error{Kind: fault.Upstream, Detail: "gone"})
	want := "data: " + `{"error":{"message":"gone","type":"upstream_error","param":null,"code":"upstream_error"}}` + "\n\n"
	if string(got) != want {
		t.Errorf("got %s", got)
	}
}

func TestUnencodableValuesAreErrors(t *testing.T) {
	r := &wire.Response{Choices: []wire.Choice{{Text: "half", Logprobs: jsontext.Value(`{"broken"`)}}}
	got := openai.Dialect{}.EncodeResponse(nil, r, dialect.Meta{})
	if !jsontext.Value(got).IsValid() || !bytes.Contains(got, []byte(`"internal_error"`)) || bytes.Contains(got, []byte("half")) {
		t.Errorf("got %s", got)
	}
}

func FuzzDecodeRequest(f *testing.F) {
	for _, s := range []string{
		with(`"n":1`),
		with(`"tools":[{"type":"function","function":{"name":"f","parameters":{}}}],"tool_choice":{"type":"function","function":{"name":"f"}}`),
		with(`"response_format":{"type":"json_schema","json_schema":{"name":"n","schema":{}}},"thinking":{"type":"enabled","budget_tokens":1024}`),
		message(`{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c","content":[]}`),
		message(`{"role":"user","content":[{"type":"image_url","image_url":"https://x"},{"type":"input_audio","input_audio":{}},{"type":"file","file":{"file_id":"f"}}]}`),
		with(`"functions":[{"name":"f"}],"function_call":"auto","Future":1,"stop":["a"],"max_tokens":1e3`),
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		ask, err := openai.Dialect{}.DecodeRequest(body)
		if err != nil {
			var e *fault.Error
			if !errors.As(err, &e) || e.Kind != fault.Malformed || e.Detail == "" {
				t.Fatalf("%s: %v", body, err)
			}
			if !jsontext.Value(e.OpenAI()).IsValid() {
				t.Fatalf("%s: the error is not JSON: %s", body, e.OpenAI())
			}
			return
		}
		if !jsontext.Value(body).IsValid() || ask.Model == "" || len(ask.Messages) == 0 {
			t.Fatalf("%s: accepted as %+v", body, ask)
		}
		for _, x := range ask.Extra {
			if !x.Value.IsValid() {
				t.Fatalf("%s: extra member %q is %s", body, x.Name, x.Value)
			}
		}
	})
}
