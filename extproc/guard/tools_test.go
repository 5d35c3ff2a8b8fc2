package guard_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/guardrails"
	"github.com/modelgateway/modelgateway/extproc/texts"
)

func permission(then string, allowed, blocked []string, hooks ...string) guardrails.Engine {
	return guardrails.Engine{Name: "tool_permission", OnViolation: then, AllowedTools: allowed, BlockedTools: blocked, Hooks: hooks}
}

func TestToolsOffered(t *testing.T) {
	const chat = `{"tools":[{"type":"function","function":{"name":"read"}}, {"type":"function","function":{"name":"drop","description":"x@y"}},{"type":"custom","custom":{"name":"shell"}}],"tool_choice":{"type":"function","function":{"name":"drop"}},"parallel_tool_calls":true}`
	for _, c := range []struct{ name, then, allowed, blocked, body, want string }{
		{"all are permitted", "block", "read drop shell", "", chat, chat},
		{"block", "block", "", "drop", chat, "error"},
		{"an unlisted one", "", "read drop", "", chat, "error"},
		{"flag", "flag", "", "drop", chat, chat},
		{"remove, and its choice", "remove", "", "drop", chat, `{"tools":[{"type":"function","function":{"name":"read"}},{"type":"custom","custom":{"name":"shell"}}],"parallel_tool_calls":true}`},
		{"remove all", "remove", "none", "", chat, `{}`},
		{"Anthropic's", "remove", "", "bash", `{"tools":[{"name":"bash","type":"bash_20250124"},{"name":"read","input_schema":{}}],"tool_choice":{"type":"tool","name":"bash"}}`, `{"tools":[{"name":"read","input_schema":{}}]}`},
		{"one of the provider's", "remove", "", "web_search", `{"tools":[{"type":"web_search"},{"type":"function","name":"read"}]}`, `{"tools":[{"type":"function","name":"read"}]}`},
		{
			"a namespace", "remove", "", "drop", `{"tools":[{"type":"namespace","name":"db","tools":[{"type":"function","name":"drop"},{"type":"function","name":"read"}]}]}`,
			`{"tools":[{"type":"namespace","name":"db","tools":[{"type":"function","name":"read"}]}]}`,
		},
		{"a namespace of nothing else", "remove", "", "drop", `{"tools":[{"type":"namespace","name":"db","tools":[{"type":"function","name":"drop"}]}],"input":"x"}`, `{"input":"x"}`},
		{"functions", "remove", "", "drop", `{"functions":[{"name":"drop"}],"function_call":{"name":"drop"},"n":1}`, `{"n":1}`},
		{"a server", "block", "", "drop", `{"tools":[{"type":"mcp","server_label":"db","allowed_tools":["read","drop"]}]}`, "error"},
		{"escapes", "block", "", "drop", `{"tools":[{"name":"d\u0072op"}]}`, "error"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := screen(permission(c.then, strings.Fields(c.allowed), strings.Fields(c.blocked), guardrails.PreCall))
			out, err := s.Request(t.Context(), texts.Chat(), []byte(c.body))
			if c.want == "error" {
				if f := fault.From(err); f == nil || f.Kind != fault.Blocked || f.Code != "guardrail_blocked" {
					t.Errorf("%s %v", out, err)
				}
				return
			}
			if err != nil || string(out) != c.want {
				t.Errorf("%v\n%s\nwant\n%s", err, out, c.want)
			}
			if c.then == "flag" && len(s.Violations()) != 1 {
				t.Errorf("recorded %+v", s.Violations())
			}
		})
	}
}

// TestToolsCalled blocks a call before its first delta leaves.
func TestToolsCalled(t *testing.T) {
	var c chat
	c.delta(0, `{"role":"assistant","content":"I will "}`, "")
	c.delta(0, `{"content":"look."}`, "")
	c.delta(0, `{"tool_calls":[{"index":0,"id":"1","function":{"name":"drop","arguments":""}}]}`, "")
	c.delta(0, `{"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]}`, "")
	out, err := stream(t, screen(permission("", nil, []string{"drop"}, guardrails.PostCall)), c.events)
	if err == nil || strings.Contains(out, "drop") || !strings.Contains(out, "look.") {
		t.Errorf("%v\n%s", err, out)
	}
	whole := `{"choices":[{"index":0,"message":{"role":"assistant","tool_calls":[{"id":"1","function":{"name":"%s","arguments":"{}"}}]}}]}`
	for name, blocked := range map[string]bool{"drop": true, "read": false} {
		_, err := screen(permission("remove", nil, []string{"drop"}, guardrails.PostCall)).Answer(t.Context(), texts.Chat(), fmt.Appendf(nil, whole, name), false)
		if (err != nil) != blocked {
			t.Errorf("a call of %s: %v", name, err)
		}
	}
}
