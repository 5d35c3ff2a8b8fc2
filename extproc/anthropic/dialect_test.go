package anthropic_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/anthropic"
	"github.com/modelgateway/modelgateway/extproc/dialect"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

var _ dialect.Dialect = anthropic.Dialect{}

// with is a valid request with more members.
func with(members string) string {
	return `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"secret text"}],` + members + `}`
}

// message is a valid request with more messages.
func message(m string) string {
	return `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"secret text"},` + m + `]}`
}

// block is a valid request with one more block of a user.
func block(b string) string { return message(`{"role":"user","content":[` + b + `]}`) }

// result is a valid request with a block in a tool's result.
func result(b string) string {
	return message(`{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"f","input":{}}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":` + b + `}]}`)
}

func TestDecodeRequestRejects(t *testing.T) {
	for _, c := range []struct{ body, param, code string }{
		{``, "", "invalid_json"},
		{`[]`, "", "invalid_json"},
		{`null`, "model", "missing_required_parameter"},
		{`{"model":"m"`, "", "invalid_json"},
		{`{"model":"m"}`, "messages", "missing_required_parameter"},
		{`{"model":"m","messages":[]}`, "messages", "missing_required_parameter"},
		{`{"model":"m","messages":[{"role":"user","content":"x"}]}`, "max_tokens", "missing_required_parameter"},
		{`{"model":"m","max_tokens":0,"messages":[{"role":"user","content":"x"}]}`, "max_tokens", "invalid_value"},
		{`{"model":"m","max_tokens":"9","messages":[{"role":"user","content":"x"}]}`, "max_tokens", "invalid_type"},
		{`{"model":"m","max_tokens":9,"messages":{}}`, "messages", "invalid_type"},
		{`{"model":"m","max_tokens":9,"messages":["x"]}`, "messages[0]", "invalid_type"},
		{`{"model":"m","max_tokens":9,"messages":[null]}`, "messages[0].role", "missing_required_parameter"},
		{with(`"model":"other"`), "model", "duplicate_parameter"},
		{with(`"Model":"other"`), "model", "duplicate_parameter"},
		{with(`"MCP_servers":[]`), "mcp_servers", "duplicate_parameter"},
		{with(`"future":{"a":1,"a":2}`), "future.a", "duplicate_parameter"},
		{with(`"temperature":1.1`), "temperature", "invalid_value"},
		{with(`"top_p":-0.1`), "top_p", "invalid_value"},
		{with(`"stream":"yes"`), "stream", "invalid_type"},
		{with(`"stop_sequences":"a"`), "stop_sequences", "invalid_type"},
		{with(`"stop_sequences":["a",7]`), "stop_sequences[1]", "invalid_type"},
		{with(`"metadata":"x"`), "metadata", "invalid_type"},
		{with(`"metadata":{"user_id":7}`), "metadata.user_id", "invalid_type"},
		{with(`"thinking":{"type":"sometimes"}`), "thinking.type", "invalid_value"},
		{with(`"thinking":{"type":"enabled"}`), "thinking.budget_tokens", "missing_required_parameter"},
		{with(`"thinking":{"type":"enabled","budget_tokens":-5}`), "thinking.budget_tokens", "invalid_value"},
		{with(`"thinking":{"type":"enabled","budget_tokens":1.5}`), "thinking.budget_tokens", "invalid_type"},
		{with(`"thinking":{"type":"adaptive","display":"all"}`), "thinking.display", "invalid_value"},
		{with(`"output_config":{"effort":"huge"}`), "output_config.effort", "invalid_value"},
		{with(`"output_config":{"format":{"type":"json"}}`), "output_config.format.type", "invalid_value"},
		{with(`"output_config":{"format":{"type":"json_schema"}}`), "output_config.format.schema", "missing_required_parameter"},
		{with(`"output_format":{"type":"json_schema","schema":[]}`), "output_format.schema", "invalid_type"},
		{with(`"tools":[{"input_schema":{}}]`), "tools[0].name", "missing_required_parameter"},
		{with(`"tools":[{"name":7}]`), "tools[0].name", "invalid_type"},
		{with(`"tools":[{"name":"f"}]`), "tools[0].input_schema", "missing_required_parameter"},
		{with(`"tools":[{"name":"f","input_schema":[]}]`), "tools[0].input_schema", "invalid_type"},
		{with(`"tools":[{"name":"f","input_schema":{}},{"name":"f","input_schema":{}}]`), "tools[1].name", "duplicate_parameter"},
		{with(`"tools":[{"name":"f","input_schema":{},"cache_control":7}]`), "tools[0].cache_control", "invalid_type"},
		{with(`"tools":[{"type":"web_search_20250305","name":"a"},{"type":"web_search_20260209","name":"b"}]`), "tools[1].type", "duplicate_parameter"},
		{with(`"tools":[{"type":"web_search_20250305","name":"a","max_uses":0}]`), "tools[0].max_uses", "invalid_value"},
		{with(`"tool_choice":"auto"`), "tool_choice", "invalid_type"},
		{with(`"tool_choice":{"type":"required"}`), "tool_choice.type", "invalid_value"},
		{with(`"tool_choice":{"type":"tool"}`), "tool_choice.name", "missing_required_parameter"},
		{with(`"system":7`), "system", "invalid_type"},
		{with(`"system":[{"type":"text"}]`), "system[0].text", "missing_required_parameter"},
		{with(`"system":[{"type":"image"}]`), "system[0].type", "invalid_value"},
		{with(`"system":[{"type":"text","text":7}]`), "system[0].text", "invalid_type"},
		{message(`{"role":"tool","content":"x"}`), "messages[1].role", "invalid_value"},
		{message(`{"role":"user"}`), "messages[1].content", "missing_required_parameter"},
		{message(`{"role":"user","content":7}`), "messages[1].content", "invalid_type"},
		{message(`{"role":"user","content":{}}`), "messages[1].content", "invalid_type"},
		{block(`7`), "messages[1].content[0]", "invalid_type"},
		{block(`{}`), "messages[1].content[0].type", "missing_required_parameter"},
		{block(`{"type":"text"}`), "messages[1].content[0].text", "missing_required_parameter"},
		{block(`{"type":"text","text":7}`), "messages[1].content[0].text", "invalid_type"},
		{block(`{"type":"text","text":"x","cache_control":7}`), "messages[1].content[0].cache_control", "invalid_type"},
		{block(`{"type":"image"}`), "messages[1].content[0].source", "missing_required_parameter"},
		{block(`{"type":"image","source":"x"}`), "messages[1].content[0].source", "missing_required_parameter"},
		{block(`{"type":"image","source":{"type":"ftp"}}`), "messages[1].content[0].source.type", "invalid_value"},
		{block(`{"type":"image","source":{"type":"text","data":"x"}}`), "messages[1].content[0].source.type", "invalid_value"},
		{block(`{"type":"image","source":{"type":"base64","media_type":"image/png"}}`), "messages[1].content[0].source.data", "missing_required_parameter"},
		{block(`{"type":"image","source":{"type":"base64","data":"eA=="}}`), "messages[1].content[0].source.media_type", "missing_required_parameter"},
		{block(`{"type":"image","source":{"type":"url","url":"file:///etc/passwd"}}`), "messages[1].content[0].source.url", "invalid_value"},
		{block(`{"type":"document","source":{"type":"file"}}`), "messages[1].content[0].source.file_id", "missing_required_parameter"},
		{block(`{"type":"tool_use","id":"t","name":"f","input":{}}`), "messages[1].content[0].type", "invalid_value"},
		{block(`{"type":"thinking","thinking":"x","signature":"s"}`), "messages[1].content[0].type", "invalid_value"},
		{block(`{"type":"tool_result","content":"x"}`), "messages[1].content[0].tool_use_id", "missing_required_parameter"},
		{block(`{"type":"tool_result","tool_use_id":"nobody","content":"x"}`), "messages[1].content[0].tool_use_id", "invalid_value"},
		{message(`{"role":"assistant","content":[{"type":"image","source":{"type":"url","url":"https://x.test"}}]}`), "messages[1].content[0].type", "invalid_value"},
		{message(`{"role":"assistant","content":[{"type":"tool_use","name":"f","input":{}}]}`), "messages[1].content[0].id", "missing_required_parameter"},
		{message(`{"role":"assistant","content":[{"type":"tool_use","id":"t","input":{}}]}`), "messages[1].content[0].name", "missing_required_parameter"},
		{message(`{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"f"}]}`), "messages[1].content[0].input", "missing_required_parameter"},
		{message(`{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"f","input":"{}"}]}`), "messages[1].content[0].input", "invalid_type"},
		{message(`{"role":"assistant","content":[{"type":"redacted_thinking"}]}`), "messages[1].content[0].data", "missing_required_parameter"},
		{result(`7`), "messages[2].content[0].content", "invalid_type"},
		{result(`[7]`), "messages[2].content[0].content[0]", "invalid_type"},
		{result(`[{"type":"text","text":"x"},{"type":"text","text":7}]`), "messages[2].content[0].content[1].text", "invalid_type"},
		{result(`[{"type":"tool_result","tool_use_id":"t"}]`), "messages[2].content[0].content[0].type", "invalid_value"},
	} {
		name := c.body[:min(len(c.body), 220)]
		_, err := anthropic.Dialect{}.DecodeRequest([]byte(c.body))
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
	nested := strings.Repeat(`[{"type":"tool_result","tool_use_id":"t","content":`, 3000) + `"x"` + strings.Repeat(`}]`, 3000)
	var keys, messages strings.Builder
	for i := range 300_000 {
		fmt.Fprintf(&keys, `"k%d":0,`, i)
		messages.WriteString(`{"role":"user","content":[]},`)
	}
	for name, body := range map[string]string{
		"deep":     with(`"x":` + deep),
		"nested":   message(`{"role":"user","content":` + nested + `}`),
		"keys":     with(keys.String() + `"z":0`),
		"messages": message(messages.String() + `{}`),
	} {
		began := time.Now()
		if _, err := (anthropic.Dialect{}).DecodeRequest([]byte(body)); err == nil {
			t.Errorf("%s: accepted", name)
		}
		if took := time.Since(began); took > 30*time.Second { // a linear pass takes far less, a quadratic one far more
			t.Errorf("%s: took %v for %d bytes", name, took, len(body))
		}
	}
}

func TestDecodeRequestReads(t *testing.T) {
	body := `{"model":"m","max_tokens":1e18,"stop_sequences":["END"],"stream":true,"temperature":0.5,"top_k":40,"future":{"a":[1.50]},
		"system":[{"type":"text","text":"be","cache_control":{"type":"ephemeral","ttl":"1h"}},{"type":"text","text":"kind"}],
		"thinking":{"type":"enabled","budget_tokens":2048,"display":"omitted"},"output_config":{"effort":"xhigh","format":{"type":"json_schema","schema":{"type":"object"}}},
		"metadata":{"user_id":"u","session_id":"s"},
		"tools":[{"name":"f","description":"d","input_schema":{"type":"object"},"strict":true,"cache_control":{"type":"ephemeral"},"input_examples":[{}]},
			{"type":"web_search_20260209","name":"web_search","max_uses":3,"allowed_domains":["a.test"],"user_location":{"type":"approximate","city":"Oslo","country":null}},
			{"type":"bash_20250124","name":"bash"}],
		"tool_choice":{"type":"tool","name":"f","disable_parallel_tool_use":true},
		"messages":[
			{"role":"user","content":[{"type":"text","text":"q"},
				{"type":"image","source":{"type":"base64","media_type":"image/png","data":"aQ=="}},
				{"type":"image","source":{"type":"url","url":"https://x.test/i"}},
				{"type":"image","source":{"type":"file","file_id":"file_1"}},
				{"type":"document","title":"T","context":"C","citations":{"enabled":true},"source":{"type":"base64","media_type":"application/pdf","data":"cA=="}},
				{"type":"document","source":{"type":"text","media_type":"text/plain","data":"å"}},
				{"type":"search_result","source":"https://s.test","title":"S","content":[{"type":"text","text":"found"}]}]},
			{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"sig"},{"type":"redacted_thinking","data":"opaque"},
				{"type":"text","text":"a","citations":[{"type":"web_search_result_location","url":"u","encrypted_index":"","cited_text":""},{"type":"char_location","cited_text":"c"}]},
				{"type":"tool_use","id":"t1","name":"f","input":{ "a": 1.50 }},{"type":"tool_use","id":"toolu_gw_Zi9nOjA","name":"f","input":{}}]},
			{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","is_error":true,"content":[{"type":"text","text":"r"},{"type":"image","source":{"type":"url","url":"https://x.test/r"}}]},
				{"type":"tool_result","tool_use_id":"toolu_gw_Zi9nOjA"}]},
			{"role":"assistant","content":"said"}]}`
	got, err := anthropic.Dialect{}.DecodeRequest([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	at := func(message, part int) wire.Place {
		return wire.Place{Member: "messages", Item: message + 1, Field: "content", Part: part + 1}
	}
	inner := func(n int) wire.Place { p := at(2, 0); p.Inner = n + 1; return p }
	half, limit, yes, no := 0.5, int64(1<<31), true, false
	want := &wire.Request{
		Caller: wire.Anthropic, Model: "m", MaxTokens: &limit, Stop: []string{"END"}, Stream: true, IncludeUsage: true, User: "u",
		Sampling:   wire.Sampling{Temperature: &half},
		Reasoning:  wire.Reasoning{Mode: "enabled", Budget: 2048, Display: "omitted", Effort: "xhigh"},
		Format:     wire.Format{Kind: wire.FormatSchema, Schema: jsontext.Value(`{"type":"object"}`)},
		ToolChoice: wire.ToolChoice{Mode: wire.ChoiceNamed, Name: "f"}, ParallelTools: &no,
		Tools: []wire.Tool{
			{Name: "f", Description: "d", Schema: jsontext.Value(`{"type":"object"}`), Strict: &yes, Cache: jsontext.Value(`{"type":"ephemeral"}`), Extra: jsontext.Value(`{"input_examples":[{}]}`)},
			{Name: "bash", Type: "bash_20250124", Raw: jsontext.Value(`{"type":"bash_20250124","name":"bash"}`)},
		},
		WebSearch: &wire.WebSearch{Version: "web_search_20260209", MostUses: 3, Allowed: []string{"a.test"}, Location: jsontext.Value(`{"city":"Oslo"}`)},
		Extra:     []wire.Field{{Name: "top_k", Value: jsontext.Value("40")}, {Name: "future", Value: jsontext.Value(`{"a":[1.50]}`)}},
		Messages: []wire.Message{
			{Role: wire.System, Parts: []wire.Part{
				{Text: "be", Cache: jsontext.Value(`{"type":"ephemeral","ttl":"1h"}`), At: wire.Place{Member: "system", Item: 1}},
				{Text: "kind", At: wire.Place{Member: "system", Item: 2}},
			}},
			{Role: wire.User, Parts: []wire.Part{
				{Text: "q", At: at(0, 0)},
				{Kind: wire.ImagePart, Media: &wire.Media{Type: "image/png", Data: "aQ=="}, At: at(0, 1)},
				{Kind: wire.ImagePart, Media: &wire.Media{URL: "https://x.test/i"}, At: at(0, 2)},
				{Kind: wire.ImagePart, Media: &wire.Media{ID: "file_1"}, At: at(0, 3)},
				{Kind: wire.FilePart, Media: &wire.Media{Type: "application/pdf", Data: "cA==", Name: "T", About: "C", Cite: true}, At: at(0, 4)},
				{Kind: wire.FilePart, Media: &wire.Media{Type: "text/plain", Data: "w6U="}, At: at(0, 5)},
				{Kind: wire.NativePart, At: at(0, 6), Native: &wire.Native{
					Language: wire.Anthropic, Type: "search_result",
					Raw: jsontext.Value(`{"type":"search_result","source":"https://s.test","title":"S","content":[{"type":"text","text":"found"}]}`),
				}},
			}},
			{Role: wire.Assistant, Parts: []wire.Part{
				{Kind: wire.ThinkingPart, Text: "hm", Signature: "sig", At: at(1, 0)},
				{Kind: wire.RedactedPart, Signature: "opaque", At: at(1, 1)},
				{Text: "a", Citations: jsontext.Value(`[{"type":"char_location","cited_text":"c"}]`), At: at(1, 2)},
				{Kind: wire.ToolCallPart, Call: &wire.ToolCall{ID: "t1", Name: "f", Arguments: `{"a":1.50}`}, At: at(1, 3)},
				{Kind: wire.ToolCallPart, Call: &wire.ToolCall{ID: "f/g:0", Name: "f", Arguments: `{}`}, At: at(1, 4)},
			}},
			{Role: wire.ToolRole, Parts: []wire.Part{
				{Kind: wire.ToolResultPart, At: at(2, 0), Result: &wire.ToolResult{CallID: "t1", Error: true, Parts: []wire.Part{
					{Text: "r", At: inner(0)}, {Kind: wire.ImagePart, Media: &wire.Media{URL: "https://x.test/r"}, At: inner(1)},
				}}},
				{Kind: wire.ToolResultPart, At: at(2, 1), Result: &wire.ToolResult{CallID: "f/g:0"}},
			}},
			{Role: wire.Assistant, Parts: []wire.Part{{Text: "said", At: wire.Place{Member: "messages", Item: 4, Field: "content"}}}},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got) %s", diff)
	}
}
