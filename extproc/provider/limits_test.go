package provider_test

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// limited are the languages of providers with limits, and one of compatible providers, which judge
// for themselves.
func limited(t *testing.T) map[string]driver.Codec {
	t.Helper()
	out := map[string]driver.Codec{}
	for name, of := range map[string]struct {
		provider string
		language wire.Dialect
	}{
		"chat": {"openai", wire.OpenAI}, "responses": {"openai", wire.Responses}, "anthropic": {"anthropic", wire.Anthropic}, "compatible": {"openai_compatible", wire.OpenAI},
	} {
		p, ok := byName(of.provider)
		if !ok {
			t.Fatalf("there is no provider %s", of.provider)
		}
		out[name] = p.Driver.Codec(of.language)
	}
	return out
}

// request with a tool.
func withTool(caller wire.Dialect, tool wire.Tool) *wire.Request {
	return &wire.Request{
		Caller: caller, Model: "m", Tools: []wire.Tool{{Name: "first"}, tool},
		Messages: []wire.Message{{Role: wire.User, Parts: []wire.Part{{Text: "a"}}}},
	}
}

// A name that the target's language has no room for is refused with its path in the caller's
// language, so that another deployment serves the request; all others reach the provider.
func TestToolNames(t *testing.T) {
	paths := map[wire.Dialect]string{wire.OpenAI: "tools[1].function.name", "": "tools[1].function.name", wire.Anthropic: "tools[1].name", wire.Responses: "tools[1].name"}
	most := map[string]int{"chat": 64, "responses": 128, "anthropic": 128}
	for name, codec := range limited(t) {
		for caller, path := range paths {
			for _, tool := range []string{"f", strings.Repeat("a", 64), strings.Repeat("a", 65), strings.Repeat("B-_9", 32), strings.Repeat("a", 129), "a.b", "grüße", "mcp__a:b"} {
				body, err := codec.Encode(withTool(caller, wire.Tool{Name: tool}), driver.Target{Model: "up"})
				limit, strict := most[name]
				fits := !strict || len(tool) <= limit && !strings.ContainsAny(tool, ".:ü")
				switch {
				case fits && (err != nil || !strings.Contains(string(body), `"`+tool+`"`)):
					t.Errorf("%s, caller %s: %s is sent as %s (%v)", name, caller, tool, body, err)
				case !fits && (err == nil || fault.From(err).Param != path || fault.From(err).Code != driver.CodeUnsupported):
					t.Errorf("%s, caller %s: %s is not refused at %s: %v", name, caller, tool, path, err)
				}
			}
		}
	}
	old := withTool("", wire.Tool{Name: "a.b"})
	old.Functions = true
	if _, err := limited(t)["chat"].Encode(old, driver.Target{Model: "up"}); err == nil || fault.From(err).Param != "functions[1].name" {
		t.Errorf("an older function: %v", err)
	}
}

// OpenAI takes four texts that end a response; its responses take none, and the others any number.
func TestStops(t *testing.T) {
	for name, codec := range limited(t) {
		for caller, param := range map[wire.Dialect]string{wire.OpenAI: "stop", wire.Anthropic: "stop_sequences"} {
			for _, n := range []int{0, 4, 5} {
				in := withTool(caller, wire.Tool{Name: "f"})
				in.Stop = strings.Fields("s1 s2 s3 s4 s5")[:n]
				_, err := codec.Encode(in, driver.Target{Model: "up"})
				refused := name == "chat" && n > 4 || name == "responses" && n > 0
				if (err != nil) != refused || refused && fault.From(err).Param != param {
					t.Errorf("%s, caller %s, %d texts: %v", name, caller, n, err)
				}
			}
		}
	}
	in := withTool("", wire.Tool{Name: "f"})
	in.Stop = []string{"s1", "s2", "s3", "s4", "s5"}
	body, err := limited(t)["chat"].Encode(in, driver.Target{Model: "up", DropParams: true})
	if err != nil || !strings.Contains(string(body), `"stop":["s1","s2","s3","s4"]`) {
		t.Errorf("with drop_params: %s (%v)", body, err)
	}
}

// strict is sent where the schema is strict by the target's rules. A caller of OpenAI's language means
// OpenAI's rules, so the provider judges those; a caller of Anthropic's does not lose its tool.
func TestStrictTools(t *testing.T) {
	const (
		closed = `{"type":"object","properties":{"a":{"type":"object","properties":{},"additionalProperties":false}},"required":["a"],"additionalProperties":false}`
		open   = `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`
		some   = `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"required":["a"],"additionalProperties":false}`
		inner  = `{"type":"object","properties":{"a":{"anyOf":[{"type":"object","properties":{"b":{}}}]}},"required":["a"],"additionalProperties":false}`
	)
	yes := true
	for name, codec := range limited(t) {
		for _, test := range []struct {
			caller wire.Dialect
			schema string
			openai bool // OpenAI's providers get it as strict
		}{
			{wire.Anthropic, closed, true},
			{wire.Anthropic, open, false},
			{wire.Anthropic, some, false},
			{wire.Anthropic, inner, false},
			{wire.OpenAI, closed, true},
			{wire.OpenAI, open, true},
			{wire.Responses, some, true},
		} {
			body, err := codec.Encode(withTool(test.caller, wire.Tool{Name: "f", Strict: &yes, Schema: jsontext.Value(test.schema)}),
				driver.Target{Model: "up", Features: driver.Features{JSONSchema: true}})
			want := test.openai || name == "anthropic" // its schema is reduced to what strict allows
			if err != nil || strings.Contains(string(body), `"strict":true`) != want {
				t.Errorf("%s, caller %s: %s (%v)", name, test.caller, body, err)
			}
		}
	}
}
