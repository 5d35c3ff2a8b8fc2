package mgmt

import (
	"fmt"
	"strings"
	"testing"
)

// TestGuardrailSettings: the settings of an engine come back as they were sent, and pii is another name of
// presidio.
func TestGuardrailSettings(t *testing.T) {
	t.Parallel()
	s, _ := newFake(t)
	config := `{"entities":["PERSON","EMPLOYEE"],"action":"anonymize","score_threshold":0.4,"on_error":"pass","unscannable":"block","reversible":true,` +
		`"regions":["DE"],"allow_list":["support@example.com"],"recognizers":[{"entity":"EMPLOYEE","pattern":"EMP-[0-9]{6}","context":["staff"],"score":0.3}]}`
	created := ask(t, s, "POST /guardrail", `{"guardrail_name":"pii","engines":[{"engine_name":"pii","config":`+config+`,"event_hooks":["pre_call","post_call"]}]}`, nil)
	if created.status != 200 {
		t.Fatal(created.body)
	}
	engines := fmt.Sprint(ask(t, s, "GET /guardrail/pii", "", nil).json(t)["engines"])
	for _, want := range []string{
		"presidio", "[PERSON EMPLOYEE]", "score_threshold:0.4", "on_error:pass", "unscannable:block", "reversible:true", "[DE]", "[support@example.com]",
		"pattern:EMP-[0-9]{6}", "score:0.3", "context:[staff]",
	} {
		if !strings.Contains(engines, want) {
			t.Errorf("%s is not in %s", want, engines)
		}
	}
}

// TestGuardrailWithoutHooks: an engine looks whenever it can, unless the guardrail says when.
func TestGuardrailWithoutHooks(t *testing.T) {
	t.Parallel()
	s, _ := newFake(t)
	for engine, want := range map[string]string{"pii": "[pre_call post_call]", "prompt_injection": "[pre_call]"} {
		created := ask(t, s, "POST /guardrail", `{"guardrail_name":"`+engine+`","engines":[{"engine_name":"`+engine+`"}]}`, nil)
		engines, _ := created.json(t)["engines"].([]any)
		if created.status != 200 || len(engines) != 1 {
			t.Fatal(created.status, created.body)
		}
		first, _ := engines[0].(map[string]any)
		if got := fmt.Sprint(first["event_hooks"]); got != want {
			t.Errorf("%s looks at %s, want %s", engine, got, want)
		}
	}
}

// TestBadGuardrails: what an engine cannot do is rejected when the guardrail is saved.
func TestBadGuardrails(t *testing.T) {
	t.Parallel()
	s, _ := newFake(t)
	const at = "engines[0].config."
	for name, tc := range map[string]struct{ engine, param string }{
		"unknown engine":     {`"engine_name":"magic"`, "engines[0].engine_name"},
		"unknown action":     {`"engine_name":"presidio","config":{"action":"shrug"}`, at + "action"},
		"action of others":   {`"engine_name":"presidio","config":{"action":"redact"}`, at + "action"},
		"unknown hook":       {`"engine_name":"presidio","event_hooks":["mid_call"]`, "engines[0].event_hooks[0]"},
		"many entities":      {`"engine_name":"presidio","config":{"entities":["PERSON"` + strings.Repeat(`,"PERSON"`, 1e5) + `]}`, at + "entities"},
		"no entities":        {`"engine_name":"presidio","config":{"entities":[ ]}`, at + "entities"},
		"no detectors":       {`"engine_name":"detect_secret","config":{"detectors":[]}`, at + "detectors"},
		"permits every tool": {`"engine_name":"tool_permission","config":{"allowed_tools":[]}`, "engines[0].config"},
		"unknown entity":     {`"engine_name":"presidio","config":{"entities":["SOUL"]}`, at + "entities[0]"},
		"cannot be told":     {`"engine_name":"presidio","config":{"entities":["NRP"]}`, at + "entities[0]"},
		"no regex":           {`"engine_name":"presidio","config":{"recognizers":[{"entity":"A","pattern":"a"},{"entity":"B","pattern":"("}]}`, at + "recognizers[1].pattern"},
		"look-around":        {`"engine_name":"presidio","config":{"recognizers":[{"entity":"B","pattern":"(?=b)"}]}`, at + "recognizers[0].pattern"},
		"regex bomb":         {`"engine_name":"presidio","config":{"recognizers":[{"entity":"B","pattern":"((b{1,100}){1,10}){1,10}c"}]}`, at + "recognizers[0].pattern"},
		"bomb in a filter":   {`"engine_name":"content_filter","config":{"banned_patterns":["x{900}y{900}x{900}y{900}x{900}y{900}"]}`, at + "banned_patterns[0]"},
		"nameless":           {`"engine_name":"presidio","config":{"recognizers":[{"entity":"b","pattern":"b"}]}`, at + "recognizers[0].entity"},
		"no such country":    {`"engine_name":"presidio","config":{"regions":["XX"]}`, at + "regions[0]"},
		"no such error rule": {`"engine_name":"presidio","config":{"on_error":"retry"}`, at + "on_error"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hooks := ""
			if !strings.Contains(tc.engine, "event_hooks") {
				hooks = `,"event_hooks":["pre_call"]`
			}
			a := ask(t, s, "POST /guardrail", `{"guardrail_name":"g","engines":[{`+tc.engine+hooks+`}]}`, nil)
			refusal, _ := a.json(t)["error"].(map[string]any)
			if a.status != 422 || refusal["param"] != tc.param {
				t.Errorf("%d %s, want a problem of %s", a.status, a.body[:min(len(a.body), 500)], tc.param)
			}
		})
	}
}
