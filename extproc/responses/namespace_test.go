package responses_test

import (
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/modelgateway/modelgateway/extproc/dialect"
	"github.com/modelgateway/modelgateway/extproc/responses"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// Codex groups its tools: a model of another language sees them under names of their own, and the
// caller's calls have both names again, whole, streamed and in the history.
func TestToolsInNamespaces(t *testing.T) {
	a, err := responses.Dialect{}.DecodeRequest([]byte(`{"model":"m","tools":[
		{"type":"function","name":"b__f"},{"type":"function","name":"x__y"},
		{"type":"namespace","name":"a","description":"d","tools":[{"type":"function","name":"f","description":"d"},{"type":"custom","name":"c"}]},
		{"type":"namespace","name":"a__b","description":"d","tools":[{"type":"function","name":"f"}]},
		{"type":"namespace","name":"x","description":"d","tools":[{"type":"function","name":"z"}]}],
		"input":[{"role":"user","content":"x"},{"type":"function_call","call_id":"c1","namespace":"a","name":"f","arguments":"{}"},
			{"type":"function_call_output","call_id":"c1","output":"r"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, one := range a.Tools {
		names = append(names, one.Name)
	}
	if diff := cmp.Diff([]string{"b__f", "x__y", "a__f", "", "a__b__f", "x__z"}, names); diff != "" {
		t.Error(diff)
	}
	if got := string(a.Tools[3].Raw); got != `{"type":"custom","custom":{"name":"a__c"}}` {
		t.Errorf("the custom tool is %s", got)
	}
	if got := a.Messages[1].Parts[0].Call.Name; got != "a__f" {
		t.Errorf("the call in the history is of %s", got)
	}
	for canonical, want := range map[string][2]string{
		"a__f": {"a", "f"}, "a__b__f": {"a__b", "f"}, "b__f": {"", "b__f"}, "x__y": {"", "x__y"}, "x__z": {"x", "z"}, "nobody__f": {"", "nobody__f"}, "a__": {"", "a__"}, "f": {"", "f"},
	} {
		item := object{"id": "fc_1_0", "type": "function_call", "status": "completed", "call_id": "c2", "name": want[1], "arguments": "{}"}
		if want[0] != "" {
			item["namespace"] = want[0]
		}
		meta := dialect.Meta{ID: "chatcmpl-1", Model: "m", Created: 1, Echo: a.Echo}
		whole := responses.Dialect{}.EncodeResponse(nil, &wire.Response{Choices: []wire.Choice{{ToolCalls: []wire.ToolCall{{ID: "c2", Name: canonical, Arguments: "{}"}}}}}, meta)
		enc := responses.Dialect{}.Stream(meta)
		_, streamed := readAll(t, enc.End(enc.Chunk(nil, &wire.Chunk{Tool: &wire.ToolDelta{ID: "c2", Name: canonical, Arguments: "{}"}}), nil))
		var answer object
		if err := json.Unmarshal(whole, &answer); err != nil {
			t.Fatal(err)
		}
		for _, got := range []any{answer["output"], streamed["output"]} {
			if diff := cmp.Diff([]any{item}, got); diff != "" {
				t.Errorf("%s: (-want +got) %s", canonical, diff)
			}
		}
	}
}

// A search without access to the web exists at OpenAI alone. Reasoning that is only referred to is
// what a model can go on without.
func TestWhatAModelGoesOnWithout(t *testing.T) {
	a, err := responses.Dialect{}.DecodeRequest([]byte(`{"model":"m","tools":[{"type":"web_search","external_web_access":false},{"type":"function","name":"f"}],
		"input":[{"role":"user","content":"x"},{"type":"item_reference","id":"rs_1"},{"id":"rs_2"},{"role":"assistant","content":"y"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if a.WebSearch != nil || len(a.Tools) != 1 {
		t.Errorf("search %+v, tools %+v", a.WebSearch, a.Tools)
	}
	if len(a.Messages) != 2 || len(a.Messages[1].Parts) != 1 {
		t.Errorf("messages %+v", a.Messages)
	}
	a, err = responses.Dialect{}.DecodeRequest([]byte(`{"model":"m","input":"x","tools":[{"type":"web_search","external_web_access":true}]}`))
	if err != nil || a.WebSearch == nil {
		t.Errorf("a search with access is lost: %v", err)
	}
}
