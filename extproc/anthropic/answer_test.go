package anthropic_test

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/usage"
	"github.com/modelgateway/modelgateway/extproc/anthropic"
	"github.com/modelgateway/modelgateway/extproc/dialect"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// object is a JSON object of the test's own.
type object = map[string]any

// whole encodes a response with one choice, and reads it.
func whole(t *testing.T, c wire.Choice) object {
	t.Helper()
	var out object
	raw := anthropic.Dialect{}.EncodeResponse(nil, &wire.Response{ID: "chatcmpl-1", Choices: []wire.Choice{c}}, dialect.Meta{Model: "alias"})
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatalf("%v: %s", err, raw)
	}
	return out
}

func TestWholeAnswer(t *testing.T) {
	r := &wire.Response{
		ID: "chatcmpl-1", Model: "upstream", ServiceTier: "default",
		Choices: []wire.Choice{{
			Text:      "Så: rain.",
			Thinking:  []wire.Thinking{{Text: "hm", Signature: "sig"}, {Redacted: "opaque"}, {Text: "unsigned"}},
			ToolCalls: []wire.ToolCall{{ID: "call_1", Name: "f", Arguments: ` {"a":1}`}, {Name: "g"}, {ID: "f.g:0", Name: "h", Arguments: `{"a":`}},
			Annotations: []wire.Annotation{
				{URL: "https://x.test", Title: "X", Start: 4, End: 8},
				{Citation: jsontext.Value(`{"type":"char_location"}`), Start: 4, End: 8},
			},
			Finish: wire.FinishStop,
		}},
		Usage: wire.Usage{Source: usage.Provider, Tokens: usage.Tokens{
			Input: 100, CacheRead: 40, CacheWrite: 20, CacheWrite1h: 10, Output: 9, Reasoning: 5, SearchQueries: 2,
		}},
	}
	want := `{"id":"msg_1","type":"message","role":"assistant","model":"alias","content":[
		{"type":"thinking","thinking":"hm","signature":"sig"},
		{"type":"redacted_thinking","data":"opaque"},
		{"type":"thinking","thinking":"unsigned","signature":""},
		{"type":"text","text":"Så: "},
		{"type":"text","text":"rain","citations":[
			{"type":"web_search_result_location","url":"https://x.test","title":"X","cited_text":"","encrypted_index":""},{"type":"char_location"}]},
		{"type":"text","text":"."},
		{"type":"tool_use","id":"call_1","name":"f","input":{"a":1}},
		{"type":"tool_use","id":"toolu_1_1","name":"g","input":{}},
		{"type":"tool_use","id":"toolu_gw_Zi5nOjA","name":"h","input":{"INVALID_JSON":"{\"a\":"}}],
		"stop_reason":"tool_use","stop_sequence":null,
		"usage":{"input_tokens":30,"cache_creation_input_tokens":30,"cache_read_input_tokens":40,
			"cache_creation":{"ephemeral_5m_input_tokens":20,"ephemeral_1h_input_tokens":10},"output_tokens":9,
			"output_tokens_details":{"thinking_tokens":5},"server_tool_use":{"web_search_requests":2,"web_fetch_requests":0},"service_tier":"standard"}}`
	got := jsontext.Value(anthropic.Dialect{}.EncodeResponse(nil, r, dialect.Meta{Model: "alias"}))
	expected := jsontext.Value(want)
	if err := expected.Compact(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(expected), string(got)); diff != "" {
		t.Errorf("(-want +got) %s", diff)
	}
}

func TestStopReasons(t *testing.T) {
	call := []wire.ToolCall{{ID: "c", Name: "f"}}
	for _, c := range []struct {
		name   string
		choice wire.Choice
		want   string
	}{
		{"nothing known", wire.Choice{}, "end_turn"},
		{"the end", wire.Choice{Finish: wire.FinishStop}, "end_turn"},
		{"a stop sequence", wire.Choice{Finish: wire.FinishStop, Ending: wire.Ending{Sequence: "END"}}, "stop_sequence"},
		{"a pause", wire.Choice{Finish: wire.FinishStop, Ending: wire.Ending{Paused: true}}, "pause_turn"},
		{"too long", wire.Choice{Finish: wire.FinishLength}, "max_tokens"},
		{"no more room", wire.Choice{Finish: wire.FinishLength, Ending: wire.Ending{Window: true}}, "model_context_window_exceeded"},
		{"a filter", wire.Choice{Finish: wire.FinishFilter}, "refusal"},
		{"a refusal", wire.Choice{Finish: wire.FinishStop, Refusal: "no"}, "refusal"},
		{"a call", wire.Choice{Finish: wire.FinishToolCalls, ToolCalls: call}, "tool_use"},
		{"a call that the provider does not mention", wire.Choice{Finish: wire.FinishStop, ToolCalls: call}, "tool_use"},
		{"half a call", wire.Choice{Finish: wire.FinishLength, ToolCalls: call}, "max_tokens"},
		{"a call that is not there", wire.Choice{Finish: wire.FinishToolCalls}, "end_turn"},
	} {
		out := whole(t, c.choice)
		if out["stop_reason"] != c.want || (out["stop_sequence"] != nil) != (c.want == "stop_sequence") {
			t.Errorf("%s: %v, %v", c.name, out["stop_reason"], out["stop_sequence"])
		}
	}
}

// Sources that cannot be cut out of the text are sources of all of it.
func TestSourcesThatOverlap(t *testing.T) {
	for _, spans := range [][]wire.Annotation{
		{{Start: 0, End: 4}, {Start: 2, End: 5}},
		{{Start: 3, End: 4}, {Start: 0, End: 1}},
		{{Start: 0, End: 99}},
		{{Start: -1, End: 2}},
		{{Start: 2, End: 2}},
	} {
		content, ok := whole(t, wire.Choice{Text: "12345", Annotations: spans})["content"].([]any)
		if !ok || len(content) != 1 {
			t.Errorf("%v: %v", spans, content)
			continue
		}
		block, _ := content[0].(object)
		if cited, ok := block["citations"].([]any); block["text"] != "12345" || !ok || len(cited) != len(spans) {
			t.Errorf("%v: %v", spans, block)
		}
	}
}

// A caller sends the ids of tool calls back, and the provider gets its own again.
func TestIDsOfToolCallsComeBack(t *testing.T) {
	for _, id := range []string{"call_abc", "toolu_01D7FLrfh4GYq7yT1ULFeyMV", "functions.get:0", "ünïcode", "toolu_gw_", "toolu_gw_Zg", strings.Repeat("x/", 60)} {
		content, _ := whole(t, wire.Choice{ToolCalls: []wire.ToolCall{{ID: id, Name: "f"}}})["content"].([]any)
		block, _ := content[0].(object)
		shown, _ := block["id"].(string)
		if shown == "" || strings.Trim(shown, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") != "" {
			t.Errorf("%q is shown as %q", id, shown)
		}
		in, err := anthropic.Dialect{}.DecodeRequest([]byte(message(`{"role":"assistant","content":[{"type":"tool_use","id":"` + shown + `","name":"f","input":{}}]}`)))
		if err != nil {
			t.Fatal(err)
		}
		if got := in.Messages[1].Parts[0].Call.ID; got != id {
			t.Errorf("%q comes back as %q", id, got)
		}
	}
}

func TestErrorsHaveAnthropicsTypes(t *testing.T) {
	for kind, want := range map[fault.Kind]string{
		fault.Malformed: "invalid_request_error", fault.Blocked: "invalid_request_error", fault.Unauthenticated: "authentication_error",
		fault.Denied: "permission_error", fault.NotFound: "not_found_error", fault.TooLarge: "request_too_large",
		fault.RateLimited: "rate_limit_error", fault.OverBudget: "billing_error", fault.Timeout: "timeout_error",
		fault.Unavailable: "overloaded_error", fault.Upstream: "api_error", fault.Internal: "api_error", fault.StorageUnavailable: "api_error",
		fault.Unsupported: "invalid_request_error", fault.MethodNotAllowed: "invalid_request_error",
	} {
		got := string(anthropic.Dialect{}.EncodeError(&fault.Error{Kind: kind, Detail: `a "text"`}, "req_1"))
		text := `a \"text\"`
		if kind == fault.Internal {
			text = "Something went wrong inside the gateway."
		}
		if expected := `{"type":"error","error":{"type":"` + want + `","message":"` + text + `"},"request_id":"req_1"}`; got != expected {
			t.Errorf("%v: got %s", kind, got)
		}
	}
	if got := string(anthropic.Dialect{}.EncodeError(&fault.Error{Kind: fault.Internal}, "")); strings.Contains(got, "request_id") {
		t.Errorf("an error without a request names one: %s", got)
	}
}
