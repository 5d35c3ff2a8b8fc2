package compose_test

import (
	"testing"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/compose"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

const (
	system = `{"role":"system","content":"You are Ada's helper."}`
	shots  = `{"role":"user","content":"2+2"},{"role":"assistant","content":"4"}`
)

func settings(pairs ...string) []compose.Setting {
	var out []compose.Setting
	for i := 0; i < len(pairs); i += 2 {
		out = append(out, compose.Setting{Name: pairs[i], Value: []byte(pairs[i+1])})
	}
	return out
}

func enforced(pairs ...string) []compose.Setting {
	out := settings(pairs...)
	for i := range out {
		out[i].Enforced = true
	}
	return out
}

// TestCompose composes requests in each language of callers.
func TestCompose(t *testing.T) {
	tool := `[{"type":"function","function":{"name":"f","parameters":{"type":"object"}}}]`
	schema := `{"type":"json_schema","json_schema":{"name":"a","schema":{"type":"object"}}}`
	for _, c := range []struct {
		name       string
		language   wire.Dialect
		body, want string
		prompt     compose.Prompt
	}{
		{
			"messages before and after", wire.OpenAI,
			`{"prompt_id":"p","model":"m", "messages": [ {"role":"user","content":"hi"} ],"prompt_variables":{}}`,
			`{"model":"m", "messages": [` + system + `, {"role":"user","content":"hi"} ,` + shots + `]}`,
			compose.Prompt{Before: []byte(system), After: []byte(shots)},
		},
		{
			"names within metadata", wire.OpenAI,
			`{"model":"m","metadata":{"prompt_id":"p","prompt_version":null,"team":"x"},"messages":[1]}`,
			`{"model":"m","metadata":{"team":"x"},"messages":[` + system + `,1]}`,
			compose.Prompt{Before: []byte(system)},
		},
		{
			"metadata with nothing else", wire.OpenAI,
			`{"model":"m","metadata":{"prompt_id":"p"},"messages":[1]}`,
			`{"model":"m","messages":[1]}`,
			compose.Prompt{},
		},
		{
			"defaults", wire.OpenAI,
			`{"model":"m","messages":[1],"temperature":1,"stop":null,"metadata":{"a":"own"}}`,
			`{"model":"m","messages":[1],"temperature":1,"stop":["x"],"metadata":{"a":"own","b":"2"},"max_tokens":5}`,
			compose.Prompt{Settings: settings("temperature", "0", "stop", `["x"]`, "max_tokens", "5", "metadata", `{"a":"1","b":"2"}`)},
		},
		{
			"enforced", wire.OpenAI,
			`{"model":"m","messages":[1],"temperature":1,"max_completion_tokens":9,"metadata":{"a":"own"}}`,
			`{"model":"n","messages":[1],"temperature":0,"max_completion_tokens":5,"metadata":{"a":"1"}}`,
			compose.Prompt{Settings: enforced("temperature", "0", "max_tokens", "5", "metadata", `{"a":"1"}`, "model", `"n"`)},
		},
		{
			"the prompt's model on request", wire.OpenAI,
			`{"model":"prompt","messages":[1]}`, `{"model":"n","messages":[1]}`,
			compose.Prompt{Settings: settings("model", `"n"`)},
		},
		{
			"the caller's model", wire.OpenAI,
			`{"model":"m","messages":[1]}`, `{"model":"m","messages":[1]}`,
			compose.Prompt{Settings: settings("model", `"n"`)},
		},
		{
			"no model", wire.OpenAI,
			`{"messages":[1]}`, `{"messages":[1],"model":"n"}`,
			compose.Prompt{Settings: settings("model", `"n"`)},
		},

		{
			"Anthropic's system as a text", wire.Anthropic,
			`{"model":"m","system":"Be brief.","messages":[{"role":"user","content":"hi"}],"max_tokens":9}`,
			`{"model":"m","system":[{"type":"text","text":"You are Ada's helper."},{"type":"text","text":"Be brief."}],` +
				`"messages":[{"role":"user","content":[{"type":"text","text":"2+2"}]},{"role":"assistant","content":[{"type":"text","text":"4"}]},{"role":"user","content":"hi"}],"max_tokens":9}`,
			compose.Prompt{Before: []byte(system + "," + shots)},
		},
		{
			"Anthropic's system is new", wire.Anthropic,
			`{"model":"m","messages":[{"role":"user","content":"hi"}],"max_tokens":9}`,
			`{"model":"m","messages":[{"role":"user","content":"hi"}],"max_tokens":9,"system":[{"type":"text","text":"You are Ada's helper."}]}`,
			compose.Prompt{Before: []byte(system)},
		},
		{
			"Anthropic's settings", wire.Anthropic,
			`{"model":"m","messages":[1],"max_tokens":9,"output_config":{"effort":"high"}}`,
			`{"model":"m","messages":[1],"max_tokens":5,"output_config":{"effort":"high","format":{"type":"json_schema","schema":{"type":"object","additionalProperties":false}}},` +
				`"stop_sequences":["x"],"tools":[{"name":"f","input_schema":{"type":"object"}}],"thinking":{"type":"adaptive"}}`,
			compose.Prompt{Settings: append(enforced("max_tokens", "5"), settings("response_format", schema, "stop", `"x"`, "tools", tool, "reasoning_effort", `"low"`, "metadata", `{"a":"b"}`)...)},
		},

		{
			"responses with a text", wire.Responses,
			`{"model":"m","input":"hi","text":{"verbosity":"low"}}`,
			`{"model":"m","input":[{"type":"message","role":"system","content":"You are Ada's helper."},{"role":"user","content":"hi"}],` +
				`"text":{"verbosity":"low","format":{"type":"json_schema","name":"a","schema":{"type":"object"}}},"max_output_tokens":50,"reasoning":{"effort":"low"}}`,
			compose.Prompt{Before: []byte(system), Settings: settings("response_format", schema, "max_tokens", "50", "reasoning_effort", `"low"`)},
		},
		{
			"responses with items, and tools", wire.Responses,
			`{"model":"m","input":[{"role":"user","content":"hi"}]}`,
			`{"model":"m","input":[{"role":"user","content":"hi"},{"type":"message","role":"user","content":"2+2"},` +
				`{"type":"message","role":"assistant","content":"4"}],"tools":[{"type":"function","name":"f","parameters":{"type":"object"},"strict":false}]}`,
			compose.Prompt{After: []byte(shots), Settings: settings("tools", tool)},
		},

		{
			"Converse's messages and system", wire.Converse,
			`{"messages":[{"role":"user","content":[{"text":"hi"}]}],"system":[{"text":"Be brief."}]}`,
			`{"messages":[{"role":"user","content":[{"text":"2+2"}]},{"role":"assistant","content":[{"text":"4"}]},{"role":"user","content":[{"text":"hi"}]}],` +
				`"system":[{"text":"You are Ada's helper."},{"text":"Be brief."}]}`,
			compose.Prompt{Before: []byte(system + "," + shots)},
		},
		{
			"Converse's settings", wire.Converse,
			`{"messages":[1],"inferenceConfig":{"maxTokens":9,"topP":0.5},"toolConfig":{"tools":[2]}}`,
			`{"messages":[1],"inferenceConfig":{"maxTokens":5,"topP":0.5,"stopSequences":["x"]},"toolConfig":{"tools":[2]},` +
				`"outputConfig":{"textFormat":{"type":"json_schema","structure":{"jsonSchema":{"schema":"{\"type\":\"object\",\"additionalProperties\":false}","name":"a"}}}},` +
				`"additionalModelRequestFields":{"reasoning_effort":"low"}}`,
			compose.Prompt{Settings: append(enforced("max_tokens", "5"), settings("response_format", schema, "stop", `"x"`, "tools", tool, "reasoning_effort", `"low"`, "metadata", `{"a":"b"}`)...)},
		},
		{
			"Converse's tools", wire.Converse, `{"messages":[1]}`,
			`{"messages":[1],"toolConfig":{"tools":[{"toolSpec":{"name":"f","inputSchema":{"json":{"type":"object"}}}}]}}`,
			compose.Prompt{Settings: settings("tools", tool)},
		},
	} {
		target := driver.Target{Features: driver.Features{JSONSchema: true, AdaptiveThinking: true}}
		got, err := compose.Languages()[c.language].Compose([]byte(c.body), &c.prompt, target)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		} else if string(got) != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

// TestComposeRejects checks that what a language cannot say is an error about the prompt.
func TestComposeRejects(t *testing.T) {
	for name, c := range map[string]struct {
		language wire.Dialect
		prompt   compose.Prompt
	}{
		"stop":    {wire.Responses, compose.Prompt{Settings: settings("stop", `"x"`)}},
		"picture": {wire.Anthropic, compose.Prompt{Before: []byte(`{"role":"system","content":[{"type":"image_url","image_url":{"url":"https://x.test/a.png"}}]}`)}},
	} {
		_, err := compose.Languages()[c.language].Compose([]byte(`{"model":"m","messages":[],"input":"x"}`), &c.prompt, driver.Target{})
		e := fault.From(err)
		if err == nil || e.HTTPStatus() != 400 || e.Param != "prompt_id" {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
