package responses_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/cluster/usage"
	"github.com/modelgateway/modelgateway/extproc/dialect"
	"github.com/modelgateway/modelgateway/extproc/responses"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// with is a valid request with more members.
func with(members string) string {
	return `{"model":"m","input":"secret text",` + members + `}`
}

// items is a valid request with more items.
func items(list string) string {
	return `{"model":"m","input":[{"role":"user","content":"secret text"},` + list + `]}`
}

func TestDecodeRequestRejects(t *testing.T) {
	for _, c := range []struct{ body, param, code string }{
		{``, "", "invalid_json"},
		{`[]`, "", "invalid_json"},
		{`{"model":"m"`, "", "invalid_json"},
		{"{\"model\":\"\xff\"}", "", "invalid_json"},
		{`{"input":"x"}`, "model", "missing_required_parameter"},
		{`{"model":"m"}`, "input", "missing_required_parameter"},
		{`{"model":"m","input":null}`, "input", "missing_required_parameter"},
		{`{"model":"m","input":[]}`, "input", "missing_required_parameter"},
		{`{"model":"m","input":{}}`, "input", "invalid_type"},
		{`{"model":"m","input":["x"]}`, "input[0]", "invalid_type"},
		{`{"model":7,"input":"x"}`, "model", "invalid_type"},
		{with(`"model":"other"`), "model", "duplicate_parameter"},
		{with(`"Model":"other"`), "model", "duplicate_parameter"},
		{with(`"future":{"a":1,"a":2}`), "future.a", "duplicate_parameter"},
		{with(`"previous_response_id":"resp_1"`), "previous_response_id", "unsupported_parameter"},
		{with(`"conversation":{"id":"conv_1"}`), "conversation", "unsupported_parameter"},
		{with(`"prompt":{"id":"pmpt_1"}`), "prompt", "unsupported_parameter"},
		{with(`"background":true`), "background", "unsupported_parameter"},
		{with(`"messages":[]`), "messages", "unknown_parameter"},
		{with(`"n":2`), "n", "unknown_parameter"},
		{with(`"max_tokens":2`), "max_tokens", "unknown_parameter"},
		{with(`"instructions":7`), "instructions", "invalid_type"},
		{with(`"max_output_tokens":0`), "max_output_tokens", "invalid_value"},
		{with(`"max_output_tokens":1.5`), "max_output_tokens", "invalid_type"},
		{with(`"max_tool_calls":0`), "max_tool_calls", "invalid_value"},
		{`{"model":"m","input":[{"type":"reasoning","summary":[]}]}`, "input", "missing_required_parameter"},
		{with(`"temperature":2.1`), "temperature", "invalid_value"},
		{with(`"top_p":-1`), "top_p", "invalid_value"},
		{with(`"top_logprobs":21`), "top_logprobs", "invalid_value"},
		{with(`"stream":"yes"`), "stream", "invalid_type"},
		{with(`"metadata":[]`), "metadata", "invalid_type"},
		{with(`"truncation":"some"`), "truncation", "invalid_value"},
		{with(`"include":[7]`), "include[0]", "invalid_type"},
		{with(`"include":[""]`), "include[0]", "invalid_value"},
		{with(`"reasoning":{"effort":"huge"}`), "reasoning.effort", "invalid_value"},
		{with(`"reasoning":{"summary":"long"}`), "reasoning.summary", "invalid_value"},
		{with(`"text":{"verbosity":"loud"}`), "text.verbosity", "invalid_value"},
		{with(`"text":{"format":{"type":"xml"}}`), "text.format.type", "invalid_value"},
		{with(`"text":{"format":{"type":"json_schema","schema":{}}}`), "text.format.name", "missing_required_parameter"},
		{with(`"text":{"format":{"type":"json_schema","name":"n"}}`), "text.format.schema", "missing_required_parameter"},
		{with(`"text":{"format":{"type":"json_schema","name":"n","schema":true}}`), "text.format.schema", "invalid_type"},
		{with(`"tools":[{}]`), "tools[0].type", "missing_required_parameter"},
		{with(`"tools":["x"]`), "tools[0]", "invalid_type"},
		{with(`"tools":[{"type":"function"}]`), "tools[0].name", "missing_required_parameter"},
		{with(`"tools":[{"type":"function","name":7}]`), "tools[0].name", "invalid_type"},
		{with(`"tools":[{"type":"function","name":"f","parameters":[]}]`), "tools[0].parameters", "invalid_type"},
		{with(`"tools":[{"type":"custom"}]`), "tools[0].name", "missing_required_parameter"},
		{with(`"tools":[{"type":"custom","name":"c","format":{}}]`), "tools[0].format.type", "missing_required_parameter"},
		{with(`"tools":[{"type":"function","name":"f"},{"type":"file_search","vector_store_ids":["v"]}]`), "tools[1].type", "unsupported_parameter"},
		{with(`"tools":[{"type":"code_interpreter","container":{"type":"auto"}}]`), "tools[0].type", "unsupported_parameter"},
		{with(`"tools":[{"type":"web_search","filters":{"allowed_domains":"a.test"}}]`), "tools[0].filters.allowed_domains", "invalid_type"},
		{with(`"tools":[{"type":"web_search","filters":{"blocked":["a.test"]}}]`), "tools[0].filters.blocked", "unsupported_parameter"},
		{with(`"tools":[{"type":"namespace","tools":[]}]`), "tools[0].name", "missing_required_parameter"},
		{with(`"tools":[{"type":"namespace","name":"n"}]`), "tools[0].tools", "missing_required_parameter"},
		{with(`"tools":[{"type":"namespace","name":"n","tools":{}}]`), "tools[0].tools", "invalid_type"},
		{with(`"tools":[{"type":"namespace","name":"n","tools":[{"type":"function","name":"f"},{"type":"mcp"}]}]`), "tools[0].tools[1].type", "unsupported_parameter"},
		{with(`"tools":[{"type":"namespace","name":"n","tools":[{"type":"namespace","name":"m","tools":[]}]}]`), "tools[0].tools[0].type", "unsupported_parameter"},
		{with(`"tools":[{"type":"namespace","name":"n","tools":[{"type":"function"}]}]`), "tools[0].tools[0].name", "missing_required_parameter"},
		{with(`"tools":[{"type":"web_search","user_location":{"city":7}}]`), "tools[0].user_location.city", "invalid_type"},
		{with(`"tool_choice":"maybe"`), "tool_choice", "invalid_value"},
		{with(`"tool_choice":{"type":"function"}`), "tool_choice.name", "missing_required_parameter"},
		{with(`"tool_choice":{"type":"file_search"}`), "tool_choice.type", "unsupported_parameter"},
		{with(`"tool_choice":{"type":"allowed_tools","tools":[]}`), "tool_choice.mode", "invalid_value"},
		{with(`"tool_choice":{"type":"allowed_tools","mode":"auto","tools":[{"type":"mcp"}]}`), "tool_choice.tools[0]", "missing_required_parameter"},
		{items(`{}`), "input[1]", "unsupported_parameter"},
		{items(`{"type":"item_reference","id":"msg_1"}`), "input[1]", "unsupported_parameter"},
		{items(`{"type":"hologram","arguments":{}}`), "input[1].type", "invalid_value"},
		{items(`{"type":"computer_call","action":{}}`), "input[1].type", "unsupported_parameter"},
		{items(`{"type":"compaction","encrypted_content":"x"}`), "input[1].type", "unsupported_parameter"},
		{items(`{"type":7}`), "input[1].type", "invalid_type"},
		{items(`{"type":"message","content":"x"}`), "input[1].role", "missing_required_parameter"},
		{items(`{"role":"tool","content":"x"}`), "input[1].role", "invalid_value"},
		{items(`{"role":"user"}`), "input[1].content", "missing_required_parameter"},
		{items(`{"role":"user","content":7}`), "input[1].content", "invalid_type"},
		{items(`{"role":"user","content":[7]}`), "input[1].content[0]", "invalid_type"},
		{items(`{"role":"user","content":[{"type":"text","text":"x"}]}`), "input[1].content[0].type", "invalid_value"},
		{items(`{"role":"user","content":[{"type":"input_text"}]}`), "input[1].content[0].text", "missing_required_parameter"},
		{items(`{"role":"user","content":[{"type":"input_text","text":"a"},{"type":"input_text","text":7}]}`), "input[1].content[1].text", "invalid_type"},
		{items(`{"role":"user","content":[{"type":"input_image"}]}`), "input[1].content[0]", "missing_required_parameter"},
		{items(`{"role":"user","content":[{"type":"input_image","image_url":"file:///etc/passwd"}]}`), "input[1].content[0].image_url", "invalid_value"},
		{items(`{"role":"user","content":[{"type":"input_image","image_url":{"url":"https://x"}}]}`), "input[1].content[0].image_url", "invalid_type"},
		{items(`{"role":"user","content":[{"type":"input_file"}]}`), "input[1].content[0]", "missing_required_parameter"},
		{items(`{"role":"user","content":[{"type":"input_file","file_data":"http://x"}]}`), "input[1].content[0].file_data", "invalid_value"},
		{items(`{"role":"user","content":[{"type":"input_file","file_url":"data:text/plain;base64,eA=="}]}`), "input[1].content[0].file_url", "invalid_value"},
		{items(`{"role":"user","content":[{"type":"input_audio"}]}`), "input[1].content[0].input_audio", "missing_required_parameter"},
		{items(`{"type":"function_call","name":"f","arguments":"{}"}`), "input[1].call_id", "missing_required_parameter"},
		{items(`{"type":"function_call","call_id":"c","arguments":"{}"}`), "input[1].name", "missing_required_parameter"},
		{items(`{"type":"function_call","call_id":"c","name":"f"}`), "input[1].arguments", "missing_required_parameter"},
		{items(`{"type":"function_call","call_id":"c","name":"f","arguments":{}}`), "input[1].arguments", "invalid_type"},
		{items(`{"type":"custom_tool_call","call_id":"c","name":"f"}`), "input[1].input", "missing_required_parameter"},
		{items(`{"type":"function_call_output","output":"x"}`), "input[1].call_id", "missing_required_parameter"},
		{items(`{"type":"function_call_output","call_id":"c"}`), "input[1].output", "missing_required_parameter"},
		{items(`{"type":"function_call_output","call_id":"c","output":[{"type":"x"}]}`), "input[1].output[0].type", "invalid_value"},
		{items(`{"type":"reasoning","summary":"x"}`), "input[1].summary", "invalid_type"},
		{items(`{"type":"reasoning","summary":[],"encrypted_content":"mgw1.t.***"}`), "input[1].encrypted_content", "invalid_value"},
		{items(`{"type":"reasoning","summary":[],"encrypted_content":"mgw1.x.eA"}`), "input[1].encrypted_content", "invalid_value"},
	} {
		name := c.body[:min(len(c.body), 150)]
		_, err := responses.Dialect{}.DecodeRequest([]byte(c.body))
		var e *fault.Error
		if !errors.As(err, &e) {
			t.Errorf("%s: accepted (%v)", name, err)
			continue
		}
		if e.Kind != fault.Malformed || e.Param != c.param || e.Code != c.code || e.Detail == "" {
			t.Errorf("%s: %v, param %q, code %q; want param %q, code %q", name, e, e.Param, e.Code, c.param, c.code)
		}
		if strings.Contains(e.Error(), "secret text") || strings.Contains(e.Error(), "hologram") {
			t.Errorf("%s: the error quotes the request: %v", name, e)
		}
	}
}

func TestDecodeRequestIsCheapForHostileBodies(t *testing.T) {
	deep := strings.Repeat("[", 20000) + strings.Repeat("]", 20000)
	for name, body := range map[string]string{
		"deep":  with(`"x":` + deep),
		"items": `{"model":"m","input":[` + strings.Repeat(`{"role":"user","content":""},`, 200_000) + `{}]}`,
	} {
		began := time.Now()
		if _, err := (responses.Dialect{}).DecodeRequest([]byte(body)); err == nil {
			t.Errorf("%s: accepted", name)
		}
		if took := time.Since(began); took > 30*time.Second { // a linear pass takes far less, a quadratic one far more
			t.Errorf("%s: took %v for %d bytes", name, took, len(body))
		}
	}
}

// at is a place in input.
func at(item int, field string, part int) wire.Place {
	return wire.Place{Member: "input", Item: item, Field: field, Part: part}
}

func TestDecodeRequestReads(t *testing.T) {
	body := `{"model":"m","instructions":"Be brief.","max_output_tokens":1e3,"stream":true,"store":true,"truncation":"auto","background":false,
		"previous_response_id":null,"stream_options":{"include_obfuscation":false},"include":["reasoning.encrypted_content"],
		"temperature":0.5,"top_p":0.9,"top_logprobs":2,"parallel_tool_calls":false,"metadata":{"a":"b"},"user":"u","safety_identifier":"s",
		"service_tier":"flex","prompt_cache_key":"k","max_tool_calls":2,"future":{"a":[1.50]},
		"reasoning":{"effort":"high","summary":"auto"},
		"text":{"verbosity":"low","format":{"type":"json_schema","name":"n","schema":{"type":"object"},"strict":true}},
		"tools":[{"type":"function","name":"f","description":"d","parameters":{"type":"object"},"strict":true},
			{"type":"custom","name":"c","format":{"type":"grammar","syntax":"lark","definition":"start: x"}},
			{"type":"web_search","search_context_size":"low","filters":{"allowed_domains":["a.test"]},"user_location":{"type":"approximate","city":"Bern"}}],
		"tool_choice":{"type":"allowed_tools","mode":"required","tools":[{"type":"function","name":"f"}]},
		"input":[
			{"type":"message","role":"developer","content":"first"},
			{"role":"user","content":[{"type":"input_text","text":"look","prompt_cache_breakpoint":{"mode":"explicit"}},
				{"type":"input_image","image_url":"data:image/png;base64,aGk=","detail":"low"},
				{"type":"input_image","file_id":"file_1"},
				{"type":"input_file","file_data":"data:application/pdf;base64,aGk=","filename":"a.pdf"},
				{"type":"input_file","file_url":"https://x.test/a.pdf"}]},
			{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"a"},{"type":"summary_text","text":"b"}],"encrypted_content":"gAAA"},
			{"type":"message","id":"msg_1","status":"completed","role":"assistant","phase":"commentary",
				"content":[{"type":"output_text","text":"said","annotations":[],"logprobs":[]},{"type":"refusal","refusal":"no"}]},
			{"type":"function_call","id":"fc_1","status":"completed","call_id":"c1","name":"f","arguments":"{}"},
			{"type":"custom_tool_call","call_id":"c2","name":"c","input":"free"},
			{"type":"function_call_output","call_id":"c1","output":"r"},
			{"type":"custom_tool_call_output","call_id":"c2","output":[{"type":"input_text","text":"t"},{"type":"input_image","image_url":"https://x.test/i.png"}]},
			{"type":"reasoning","summary":[]}]}`
	got, err := responses.Dialect{}.DecodeRequest([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	limit, two, yes, no, cool, most := int64(1000), int64(2), true, false, 0.5, 0.9
	want := &wire.Request{
		Caller: wire.Responses, Model: "m", MaxTokens: &limit, Stream: true, IncludeUsage: true, ParallelTools: &no, User: "u", Metadata: jsontext.Value(`{"a":"b"}`),
		Sampling:  wire.Sampling{Temperature: &cool, TopP: &most, Logprobs: &yes, TopLogprobs: &two},
		Reasoning: wire.Reasoning{Effort: "high", Summary: "auto"},
		Format:    wire.Format{Kind: wire.FormatSchema, Name: "n", Schema: jsontext.Value(`{"type":"object"}`), Strict: &yes},
		Tools: []wire.Tool{
			{Name: "f", Description: "d", Schema: jsontext.Value(`{"type":"object"}`), Strict: &yes},
			{Type: "custom", Raw: jsontext.Value(`{"type":"custom","custom":{"name":"c","format":{"type":"grammar","grammar":{"definition":"start: x","syntax":"lark"}}}}`)},
		},
		WebSearch:  &wire.WebSearch{ContextSize: "low", MostUses: 2, Allowed: []string{"a.test"}, Location: jsontext.Value(`{"city":"Bern"}`)},
		ToolChoice: wire.ToolChoice{Mode: wire.ChoiceRequired, Allowed: []string{"f"}},
		Messages: []wire.Message{
			{Role: wire.System, Parts: []wire.Part{{Text: "Be brief.", At: wire.Place{Member: "instructions"}}}},
			{Role: wire.Developer, Parts: []wire.Part{{Text: "first", At: at(1, "content", 0)}}},
			{Role: wire.User, Parts: []wire.Part{
				{Text: "look", Cache: jsontext.Value(`{"type":"ephemeral"}`), At: at(2, "content", 1)},
				{Kind: wire.ImagePart, Media: &wire.Media{Data: "aGk=", Type: "image/png", Detail: "low"}, At: at(2, "content", 2)},
				{Kind: wire.ImagePart, Media: &wire.Media{ID: "file_1"}, At: at(2, "content", 3)},
				{Kind: wire.FilePart, Media: &wire.Media{Data: "aGk=", Type: "application/pdf", Name: "a.pdf"}, At: at(2, "content", 4)},
				{Kind: wire.FilePart, Media: &wire.Media{URL: "https://x.test/a.pdf"}, At: at(2, "content", 5)},
			}},
			{Role: wire.Assistant, Parts: []wire.Part{
				{Kind: wire.ThinkingPart, Text: "a\n\nb", Signature: wire.Mark(wire.Responses, "rs_1:gAAA"), At: at(3, "", 0)},
				{Text: "said", At: at(4, "content", 1)},
				{Kind: wire.RefusalPart, Text: "no", At: at(4, "content", 2)},
				{Kind: wire.ToolCallPart, Call: &wire.ToolCall{ID: "c1", Name: "f", Arguments: "{}"}, At: at(5, "arguments", 0)},
				{Kind: wire.ToolCallPart, Call: &wire.ToolCall{ID: "c2", Name: "c", Arguments: "free", Custom: true}, At: at(6, "input", 0)},
			}},
			{Role: wire.ToolRole, Parts: []wire.Part{{Kind: wire.ToolResultPart, At: at(7, "output", 0), Result: &wire.ToolResult{
				CallID: "c1", Parts: []wire.Part{{Text: "r", At: at(7, "output", 0)}},
			}}}},
			{Role: wire.ToolRole, Parts: []wire.Part{{Kind: wire.ToolResultPart, At: at(8, "output", 0), Result: &wire.ToolResult{
				CallID: "c2", Parts: []wire.Part{{Text: "t", At: at(8, "output", 1)}, {Kind: wire.ImagePart, Media: &wire.Media{URL: "https://x.test/i.png"}, At: at(8, "output", 2)}},
			}}}},
		},
		Extra: []wire.Field{
			{Name: "verbosity", Value: jsontext.Value(`"low"`)},
			{Name: "safety_identifier", Value: jsontext.Value(`"s"`)},
			{Name: "service_tier", Value: jsontext.Value(`"flex"`)},
			{Name: "prompt_cache_key", Value: jsontext.Value(`"k"`)},
			{Name: "future", Value: jsontext.Value(`{"a":[1.50]}`)},
		},
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(wire.Request{}, "Echo")); diff != "" {
		t.Errorf("(-want +got) %s", diff)
	}
}

func TestEncodeResponseRepeatsTheRequest(t *testing.T) {
	a, err := responses.Dialect{}.DecodeRequest([]byte(`{"model":"alias","input":"x","instructions":"i","metadata":{"a":"b"},"parallel_tool_calls":false,
		"reasoning":{"effort":"low"},"temperature":1,"tools":[{"type":"function","name":"f"}],"tool_choice":{"type":"function","name":"f"},
		"text":{"verbosity":"high"},"truncation":"auto","user":"u","max_tool_calls":3,"safety_identifier":"s"}`))
	if err != nil {
		t.Fatal(err)
	}
	cost := money.Pico(1_500_000)
	r := &wire.Response{
		ID: "provider-id", Model: "provider-model", ServiceTier: "default",
		Choices: []wire.Choice{{
			Text: "hi", Thinking: []wire.Thinking{{Text: "hm", Signature: "sig"}, {Redacted: wire.Mark(wire.Responses, "rs_9:gAAA")}},
			ToolCalls:   []wire.ToolCall{{Name: "f", Arguments: "{}"}, {ID: "call_1", Name: "c", Arguments: "x", Custom: true}},
			Annotations: []wire.Annotation{{URL: "https://x.test", Title: "X", Start: 0, End: 2}},
			Logprobs:    jsontext.Value(`{"content":[{"token":"hi","logprob":-0.5,"bytes":null,"top_logprobs":[]}],"refusal":null}`),
			Finish:      wire.FinishToolCalls,
		}},
		Usage: wire.Usage{Tokens: usage.Tokens{Input: 3, CacheRead: 1, CacheWrite: 1, Output: 2, Reasoning: 1}, Source: usage.Estimated, Cost: &cost},
	}
	got := string(responses.Dialect{}.EncodeResponse([]byte("kept"), r, dialect.Meta{ID: "chatcmpl-1", Model: "alias", Created: 9, Echo: a.Echo}))
	want := `kept{"id":"resp_1","object":"response","created_at":9,"status":"completed","error":null,"incomplete_details":null,"model":"alias","output":[` +
		`{"id":"rs_1_0","type":"reasoning","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"mgw1.t.c2ln"},` +
		`{"id":"rs_1_1","type":"reasoning","summary":[],"encrypted_content":"mgw1.r.bWd3MTpyZXNwb25zZXM6cnNfOTpnQUFB"},` +
		`{"id":"msg_1_2","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","text":"hi",` +
		`"annotations":[{"type":"url_citation","start_index":0,"end_index":2,"title":"X","url":"https://x.test"}],` +
		`"logprobs":[{"token":"hi","bytes":[],"logprob":-0.5,"top_logprobs":[]}]}]},` +
		`{"id":"fc_1_3","type":"function_call","status":"completed","call_id":"call_1_0","name":"f","arguments":"{}"},` +
		`{"id":"ctc_1_4","type":"custom_tool_call","call_id":"call_1","name":"c","input":"x"}],"service_tier":"default",` +
		`"usage":{"input_tokens":3,"input_tokens_details":{"cached_tokens":1,"cache_write_tokens":1},"output_tokens":2,"output_tokens_details":{"reasoning_tokens":1},"total_tokens":5,"cost":0.0000015},` +
		`"background":false,"instructions":"i","max_output_tokens":null,"max_tool_calls":3,"metadata":{"a":"b"},"parallel_tool_calls":false,"previous_response_id":null,` +
		`"reasoning":{"effort":"low","summary":null},"safety_identifier":"s","temperature":1,"text":{"format":{"type":"text"},"verbosity":"high"},` +
		`"tool_choice":{"type":"function","name":"f"},"tools":[{"type":"function","name":"f","parameters":null,"strict":null}],"top_logprobs":0,"top_p":null,"truncation":"auto","user":"u"}`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got) %s", diff)
	}
}

func TestEncodeResponseSaysWhyItEnded(t *testing.T) {
	for finish, want := range map[wire.Finish]string{
		"":                   `"status":"completed","error":null,"incomplete_details":null`,
		wire.FinishStop:      `"status":"completed","error":null,"incomplete_details":null`,
		wire.FinishToolCalls: `"status":"completed","error":null,"incomplete_details":null`,
		wire.FinishLength:    `"status":"incomplete","error":null,"incomplete_details":{"reason":"max_output_tokens"}`,
		wire.FinishFilter:    `"status":"incomplete","error":null,"incomplete_details":{"reason":"content_filter"}`,
	} {
		r := &wire.Response{Choices: []wire.Choice{{Text: "x", Finish: finish}}}
		got := string(responses.Dialect{}.EncodeResponse(nil, r, dialect.Meta{ID: "resp_x"}))
		item := `"type":"message","status":"completed"`
		if strings.Contains(want, "reason") {
			item = `"type":"message","status":"incomplete"`
		}
		if !strings.Contains(got, want) || !strings.Contains(got, item) {
			t.Errorf("%q: got %s", finish, got)
		}
	}
}

func TestIDsAreShortAndPlain(t *testing.T) {
	for _, id := range []string{"", "a b", strings.Repeat("x", 500), "chatcmpl-" + strings.Repeat("é", 9), "req_01ABC"} {
		r := &wire.Response{Choices: []wire.Choice{{Text: "x"}}}
		got := string(responses.Dialect{}.EncodeResponse(nil, r, dialect.Meta{ID: id}))
		for _, prefix := range []string{`"id":"resp_`, `"id":"msg_`} {
			_, rest, ok := strings.Cut(got, prefix)
			own, _, _ := strings.Cut(rest, `"`)
			if !ok || own == "" || len(own) > 60 || strings.Trim(own, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-") != "" {
				t.Errorf("%q: %s%s", id, prefix, own)
			}
		}
	}
}

func TestUnencodableValuesAreErrors(t *testing.T) {
	r := &wire.Response{Choices: []wire.Choice{{Text: "a\xffb", Logprobs: jsontext.Value(`{"broken"`)}}}
	got := responses.Dialect{}.EncodeResponse(nil, r, dialect.Meta{})
	if !jsontext.Value(got).IsValid() || !bytes.Contains(got, []byte("a\uFFFDb")) {
		t.Errorf("got %s", got)
	}
	e := fault.Field("input", "invalid_value", "no")
	if got := (responses.Dialect{}).EncodeError(e, "req_1"); !bytes.Equal(got, e.OpenAI()) {
		t.Errorf("got %s", got)
	}
}

// Reasoning comes back as it was sent, whichever provider it is from.
func TestReasoningComesBackUnchanged(t *testing.T) {
	for _, in := range []wire.Thinking{
		{Text: "hm", Signature: "EqQB+/="},
		{Redacted: "EqQB+/="},
		{Text: "hm", Signature: wire.Mark(wire.Responses, "rs_1:gAAA")},
		{Redacted: wire.Mark(wire.Responses, "rs_1:gAAA")},
		{Text: "without a proof"},
	} {
		r := &wire.Response{Choices: []wire.Choice{{Thinking: []wire.Thinking{in}}}}
		out := jsontext.Value(responses.Dialect{}.EncodeResponse(nil, r, dialect.Meta{ID: "x"}))
		_, list, _ := strings.Cut(string(out), `"output":`)
		list, _, _ = strings.Cut(list, `,"usage"`)
		a, err := responses.Dialect{}.DecodeRequest(fmt.Appendf(nil, `{"model":"m","input":%s}`, list))
		if err != nil {
			t.Fatalf("%v: %s", err, list)
		}
		want := wire.Part{Kind: wire.ThinkingPart, Text: in.Text, Signature: in.Signature, At: at(1, "", 0)}
		if in.Redacted != "" {
			want.Kind, want.Signature = wire.RedactedPart, in.Redacted
		}
		if diff := cmp.Diff([]wire.Message{{Role: wire.Assistant, Parts: []wire.Part{want}}}, a.Messages); diff != "" {
			t.Errorf("(-want +got) %s", diff)
		}
	}
}

func FuzzDecodeRequest(f *testing.F) {
	for _, s := range []string{
		with(`"tools":[{"type":"function","name":"f","parameters":{}}],"tool_choice":{"type":"function","name":"f"}`),
		with(`"text":{"format":{"type":"json_schema","name":"n","schema":{}}},"reasoning":{"effort":"low"},"include":["x"]`),
		items(`{"type":"function_call","call_id":"c","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"c","output":[]}`),
		items(`{"type":"reasoning","id":"r","summary":[{"type":"summary_text","text":"t"}],"encrypted_content":"mgw1.t.c2ln"}`),
		items(`{"role":"user","content":[{"type":"input_image","image_url":"https://x"},{"type":"input_file","file_id":"f"}]}`),
		`{"model":"m","input":"x","Future":1,"max_output_tokens":1e3,"metadata":{}}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		a, err := responses.Dialect{}.DecodeRequest(body)
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
		if !jsontext.Value(body).IsValid() || a.Model == "" || len(a.Messages) == 0 || !a.Echo.IsValid() {
			t.Fatalf("%s: accepted as %+v", body, a)
		}
	})
}
