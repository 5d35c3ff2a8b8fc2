package guard_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/guardrails"
	"github.com/modelgateway/modelgateway/cluster/resource"
	"github.com/modelgateway/modelgateway/extproc/guard"
	"github.com/modelgateway/modelgateway/extproc/texts"
)

// gatewayScreen has the engines of the gateway.
func gatewayScreen(engines ...guardrails.Engine) *guard.Screen {
	g := &guardrails.Guardrail{Head: resource.Head{ID: "1", Name: "pii"}, Engines: engines}
	return guard.New([]*guard.Guardrail{guard.NewLibrary(guard.Makers(guard.Outside{})).Get(g)}, nil)
}

// called is an answer with a tool call of these arguments.
func called(arguments string) string {
	return `{"choices":[{"index":0,"message":{"role":"assistant","tool_calls":[{"id":"1","type":"function","function":{"name":"pay","arguments":"` + inside(arguments) + `"}}]}}]}`
}

// TestNumbers: the digits of numbers are examined like texts. A number in which something is replaced becomes a
// string, so what is JSON stays JSON. Numbers of schemas are bounds, and stay.
func TestNumbers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, arguments, want string }{
		{"a card", `{"card": 4111111111111111}`, `{"card": "[CREDIT_CARD]"}`},
		{"in a list", `{"cards": [1, 4111111111111111,2, -4111111111111111 ]}`, `{"cards": [1, "[CREDIT_CARD]",2, "[CREDIT_CARD]" ]}`},
		{"with a fraction", `[4111111111111111.00]`, `["[CREDIT_CARD]"]`},
		{"with an exponent", `[4111111111111111e0]`, `["[CREDIT_CARD]"]`},
		{"other numbers", `{"a": 4111111111111112, "b": [0, -0.5, 1e9, 2147483647, 1732424205123], "c": true, "d": null}`, ""},
		{"no number", `{"card": 4111-1111-1111-1111}`, `{"card": [CREDIT_CARD]}`},
		{"no literal", `{"to": ada@example.com}`, `{"to": [EMAIL_ADDRESS]}`},
		{"broken off", `{"card": 4111111111111111`, `{"card": "[CREDIT_CARD]"`},
		{"endless", `[` + strings.Repeat("1", 300) + ` ada@example.com]`, `[` + strings.Repeat("1", 300) + ` [EMAIL_ADDRESS]]`},
	} {
		if c.want == "" {
			c.want = c.arguments
		}
		e := presidio("", guardrails.PreCall, guardrails.PostCall)
		body, err := gatewayScreen(e).Answer(t.Context(), texts.Chat(), []byte(called(c.arguments)), false)
		if err != nil || string(body) != called(c.want) {
			t.Errorf("%s:\n%s %v\nwant\n%s", c.name, body, err, called(c.want))
		}
		request := `{"messages":[` + strings.TrimSuffix(strings.TrimPrefix(called(c.arguments), `{"choices":[{"index":0,"message":`), `}]}`) + `]}`
		body, err = gatewayScreen(e).Request(t.Context(), texts.Chat(), []byte(request))
		if want := strings.Replace(request, inside(c.arguments), inside(c.want), 1); err != nil || string(body) != want {
			t.Errorf("%s:\n%s %v\nwant\n%s", c.name, body, err, want)
		}
		for cut := range len(c.arguments) + 1 {
			var s chat
			for _, piece := range []string{c.arguments[:cut], c.arguments[cut:]} {
				s.delta(0, `{"tool_calls":[{"index":0,"function":{"arguments":"`+inside(piece)+`"}}]}`, "")
			}
			out, err := stream(t, gatewayScreen(e), append(s.events, "data: [DONE]\n\n"))
			if got := collect(t, out).arguments[0]; err != nil || got != c.want {
				t.Fatalf("%s, cut at %d: %q %v, want %q", c.name, cut, got, err, c.want)
			}
		}
	}
}

// TestNumbersOfOtherKinds: numbers in objects of arguments and in structured content, and what else may happen to
// them.
func TestNumbersOfOtherKinds(t *testing.T) {
	t.Parallel()
	const number = "4111111111111111"
	reversible := presidio("", guardrails.PreCall)
	reversible.Reversible = true
	for name, c := range map[string]struct {
		engine     guardrails.Engine
		reader     texts.Reader
		body, want string // an empty want: it is blocked
	}{
		"an object of messages": {
			presidio("", guardrails.PreCall), texts.Messages(),
			`{"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"4111111111111111","name":"pay","input":{"card":4111111111111111}}]}]}`,
			`{"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"4111111111111111","name":"pay","input":{"card":"[CREDIT_CARD]"}}]}]}`,
		},
		"reversible": {
			reversible, texts.Messages(),
			`{"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"pay","input":{"card":4111111111111111}}]}]}`,
			`{"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"pay","input":{"card":"[CREDIT_CARD_1]"}}]}]}`,
		},
		"block": {
			presidio("block", guardrails.PreCall), texts.Messages(),
			`{"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"pay","input":{"card":4111111111111111}}]}]}`, "",
		},
		"flag": {
			presidio("flag", guardrails.PreCall), texts.Messages(),
			`{"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"pay","input":{"card":4111111111111111}}]}]}`,
			`{"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"pay","input":{"card":4111111111111111}}]}]}`,
		},
		"a schema": {
			presidio("block", guardrails.PreCall), texts.Messages(),
			`{"tools":[{"name":"pay","input_schema":{"type":"object","properties":{"n":{"type":"integer","maximum":4111111111111111}}}}]}`,
			`{"tools":[{"name":"pay","input_schema":{"type":"object","properties":{"n":{"type":"integer","maximum":4111111111111111}}}}]}`,
		},
		"settings": {
			presidio("block", guardrails.PreCall), texts.Chat(),
			`{"seed":4111111111111111,"x_setting":{"n":4111111111111111},"messages":[{"role":"user","content":"Hello"}]}`,
			`{"seed":4111111111111111,"x_setting":{"n":4111111111111111},"messages":[{"role":"user","content":"Hello"}]}`,
		},
	} {
		s := gatewayScreen(c.engine)
		body, err := s.Request(t.Context(), c.reader, []byte(c.body))
		if c.want == "" {
			if f := fault.From(err); f == nil || f.Kind != fault.Blocked || strings.Contains(fmt.Sprint(f, f.Details), number) {
				t.Errorf("%s: %s %v", name, body, err)
			}
			continue
		}
		if err != nil || string(body) != c.want {
			t.Errorf("%s: %v\n%s\nwant\n%s", name, err, body, c.want)
		}
		if found := len(s.Violations()) > 0; found != (name != "a schema" && name != "settings") {
			t.Errorf("%s: found is %v", name, found)
		}
	}
	body, err := gatewayScreen(presidio("", guardrails.PostCall)).Answer(t.Context(), texts.Chat(), []byte(`{"choices":[{"index":0,"message":{"role":"assistant","content":"{\"card\":4111111111111111}"}}]}`), true)
	if want := `{"choices":[{"index":0,"message":{"role":"assistant","content":"{\"card\":\"[CREDIT_CARD]\"}"}}]}`; err != nil || string(body) != want {
		t.Errorf("%s %v, want %s", body, err, want)
	}
}
