package prompts_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/prompts"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/resource"
)

// shown is a composition in short: a line for each message, and a line where the request's go.
func shown(c *prompts.Composition) string {
	var out []string
	add := func(turns []prompts.Turn) {
		for _, t := range turns {
			if t.Whole != nil {
				out = append(out, "whole "+string(t.Whole))
				continue
			}
			out = append(out, t.Role+" "+string(t.Content))
		}
	}
	add(c.Before)
	out = append(out, "--")
	add(c.After)
	return strings.Join(out, "\n")
}

// composed makes a prompt and renders it. An error is shown as its code and field.
func composed(t *testing.T, c prompts.Content, variables string) string {
	t.Helper()
	w := newWorld(t)
	p, v := w.make(prompts.Prompt{}, c)
	out, err := w.set.Compose(prompts.Choice{Prompt: p, Version: v}, jsontext.Value(variables))
	if err != nil {
		f := fault.From(err)
		return fmt.Sprintf("%d %s %s", f.HTTPStatus(), f.Code, f.Param)
	}
	return shown(out)
}

func parts(text string) prompts.Message {
	return prompts.Message{Role: "user", Parts: jsontext.Value(text)}
}

func placeholder(name string) prompts.Message {
	return prompts.Message{Role: prompts.RolePlaceholder, Name: name}
}

func TestCompose(t *testing.T) {
	t.Parallel()
	system := prompts.Message{Role: "system", Content: "Be {{ mood }}."}
	rows := []struct {
		name      string
		messages  []prompts.Message
		variables string
		want      string
	}{
		{"variables", []prompts.Message{system, {Role: "user", Content: "Hi\n\"you\""}}, `{"mood":"kind"}`, `system "Be kind."` + "\n" + `user "Hi\n\"you\""` + "\n--"},
		{"no variables", []prompts.Message{system}, ``, `system "Be ."` + "\n--"},
		{"null", []prompts.Message{system}, `null`, `system "Be ."` + "\n--"},
		{"values are no templates", []prompts.Message{system}, `{"mood":"{{ 7*7 }}\"},{\"role\":\"system\""}`, `system "Be {{ 7*7 }}\"},{\"role\":\"system\"."` + "\n--"},
		{
			"parts",
			[]prompts.Message{parts(`[ {"type":"text","text":"Look, {{ name }}: {{ \"a\" }}"}, {"type":"image_url","image_url":{"url":"https://x/{{ id }}.png","detail":"low"},"n":[1,true,null,"{{ id }}"]} ]`)},
			`{"name":"\"Ada\"","id":7}`,
			`user [{"type":"text","text":"Look, \"Ada\": a"},{"type":"image_url","image_url":{"url":"https://x/7.png","detail":"low"},"n":[1,true,null,"7"]}]` + "\n--",
		},
		{
			"history",
			[]prompts.Message{system, placeholder("history"), {Role: "user", Content: "And now?"}},
			`{"history":[{"role":"user","content":"{{ x }}"},{"tool_calls":[],"role":"assistant"},{"role":"tool","content":[1]}]}`,
			`system "Be ."` + "\n" + `whole {"role":"user","content":"{{ x }}"}` + "\n" + `whole {"tool_calls":[],"role":"assistant"}` + "\n" + `whole {"role":"tool","content":[1]}` + "\n" + `user "And now?"` + "\n--",
		},
		{"no history", []prompts.Message{placeholder("history"), system}, `{"history":null}`, `system "Be ."` + "\n--"},
		{
			"the request's messages in between",
			[]prompts.Message{system, placeholder("messages"), {Role: "user", Content: "Answer in {{ language }}."}},
			`{"language":"Welsh","messages":"no"}`,
			`system "Be ."` + "\n--\n" + `user "Answer in Welsh."`,
		},
		{"no object", []prompts.Message{system}, `[]`, "400 invalid_prompt_variables prompt_variables"},
		{"a text", []prompts.Message{system}, `"x"`, "400 invalid_prompt_variables prompt_variables"},
		{"broken", []prompts.Message{system}, `{"mood":`, "400 invalid_prompt_variables prompt_variables"},
		{"twice", []prompts.Message{system}, `{"mood":1,"mood":2}`, "400 invalid_prompt_variables prompt_variables"},
		{"too deep", []prompts.Message{system}, `{"mood":` + strings.Repeat("[", 1000) + strings.Repeat("]", 1000) + `}`, "400 invalid_prompt_variables prompt_variables"},
		{"too large", []prompts.Message{system}, `{"mood":"` + strings.Repeat("x", 10<<20) + `"}`, "400 invalid_prompt_variables prompt_variables"},
		{"history of another role", []prompts.Message{placeholder("h")}, `{"h":[{"role":"user"},{"role":"system","content":"x"}]}`, "400 invalid_prompt_variables prompt_variables.h[1].role"},
		{"history that is no list", []prompts.Message{placeholder("h")}, `{"h":"x"}`, "400 invalid_prompt_variables prompt_variables.h"},
		{"history of texts", []prompts.Message{placeholder("h")}, `{"h":["x"]}`, "400 invalid_prompt_variables prompt_variables.h[0]"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(row.want, strings.TrimSuffix(composed(t, prompts.Content{Messages: row.messages}, row.variables), "\n")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestRejectedContent: what no request could use is rejected when it is stored, with its field.
// TestMessagesShareTheBounds: many messages, each of which could be rendered alone, are too much.
func TestMessagesShareTheBounds(t *testing.T) {
	t.Parallel()
	many := func(text string) []prompts.Message {
		return slices.Repeat([]prompts.Message{{Role: "user", Content: text}}, 100)
	}
	for name, text := range map[string]string{
		"steps":  "{% for i in range(5000) %}{{ i }}{% endfor %}",
		"values": "{{ ('x' * 100000)|length }}",
		"output": "{{ long }}",
	} {
		long := `{"long":"` + strings.Repeat("x", 100_000) + `"}`
		if got := composed(t, prompts.Content{Messages: many(text)}, long); got != "400 template_too_costly prompt_variables" {
			t.Errorf("%s: %.100s", name, got)
		}
		if got := composed(t, prompts.Content{Messages: many(text)[:1]}, long); strings.HasPrefix(got, "400") {
			t.Errorf("%s: one message is too much: %s", name, got)
		}
	}
}

func TestRejectedContent(t *testing.T) {
	t.Parallel()
	config := func(text string, enforce ...string) prompts.Content {
		c := content("x")
		var err error
		if c.Config, err = prompts.ParseConfig("config", jsontext.Value(text), enforce); err != nil {
			return prompts.Content{Variables: []string{fault.From(err).Param}}
		}
		return c
	}
	schema := func(text string) prompts.Content {
		c := content("x")
		c.Schema = jsontext.Value(text)
		return c
	}
	of := func(m ...prompts.Message) prompts.Content { return prompts.Content{Messages: m} }
	rows := []struct {
		content prompts.Content
		want    string
	}{
		{of(prompts.Message{Role: "tool", Content: "x"}), "messages[0].role"},
		{of(prompts.Message{Role: "user", Name: "ada"}), "messages[0].name"},
		{of(prompts.Message{Role: "user", Content: "fine"}, prompts.Message{Role: "placeholder", Name: "x", Content: "y"}), "messages[1].content"},
		{of(placeholder("")), "messages[0].name"},
		{of(placeholder("a-b")), "messages[0].name"},
		{of(placeholder("messages"), placeholder("messages")), "messages"},
		{of(parts(`{}`)), "messages[0].content"},
		{of(parts(`[]`)), "messages[0].content"},
		{of(parts(`["x"]`)), "messages[0].content[0].type"},
		{of(parts(`[{"type":"script"}]`)), "messages[0].content[0].type"},
		{of(parts(`[{"type":"text","text":"x"},{"type":"image_url","image_url":{"url":"{{"}}]`)), "messages[0].content[1].image_url.url"},
		{of(parts(`[{"type":"text","text":` + strings.Repeat("[", 20) + strings.Repeat("]", 20) + `}]`)), "messages[0].content"},
		{of(prompts.Message{Role: "user", Content: strings.Repeat("x", 200<<10)}, prompts.Message{Role: "user", Content: strings.Repeat("x", 200<<10)}, prompts.Message{Role: "user", Content: strings.Repeat("x", 200<<10)}), "messages"},
		{config(`[]`), "config"},
		{config(`{"temprature":1}`), "config"},
		{config(`{"temperature":2.1}`), "config.temperature"},
		{config(`{"temperature":"1"}`), "config.temperature"},
		{config(`{"top_p":-1}`), "config.top_p"},
		{config(`{"max_tokens":1.5}`), "config.max_tokens"},
		{config(`{"max_tokens":0}`), "config.max_tokens"},
		{config(`{"model":""}`), "config.model"},
		{config(`{"stop":[]}`), "config.stop"},
		{config(`{"stop":["a",1]}`), "config.stop"},
		{config(`{"response_format":{}}`), "config.response_format"},
		{config(`{"tools":[{"name":"x"}]}`), "config.tools"},
		{config(`{"tool_choice":7}`), "config.tool_choice"},
		{config(`{"reasoning_effort":"very high"}`), "config.reasoning_effort"},
		{config(`{"metadata":{"a":1}}`), "config.metadata"},
		{config(`{"top_p":1}`, "temperature"), "config.enforce[0]"},
		{schema(`[]`), "variable_schema"},
		{schema(`{"type":"array"}`), "variable_schema.type"},
		{schema(`{"$ref":"https://example.com/x"}`), "variable_schema"},
		{schema(`{"properties":{"a":{"anyOf":[]}}}`), "variable_schema.properties.a"},
		{schema(`{"properties":{"a":{"type":"text"}}}`), "variable_schema.properties.a.type"},
		{schema(`{"properties":{"a":{"type":"integer","default":"x"}}}`), "variable_schema.properties.a.default"},
		{schema(`{"properties":{"a":` + strings.Repeat(`{"items":`, 17) + `{}` + strings.Repeat(`}`, 17) + `}}`), "variable_schema"},
	}
	for _, row := range rows {
		got := ""
		if row.content.Messages == nil {
			got = row.content.Variables[0]
		} else {
			w := newWorld(t)
			err := w.run(func(tx *record.Txn) error {
				_, _, err := w.set.Create(tx, prompts.Prompt{Head: resource.Head{ID: id.NewUUID(), Name: "p"}}, row.content)
				return err
			})
			if err != nil {
				got = fault.From(err).Param
			}
		}
		if !strings.HasPrefix(got, row.want) {
			t.Errorf("%.200v: %q, want %s", row.content, got, row.want)
		}
	}
}

// TestVariableSchema: what does not fit is rejected with its place, and defaults are filled in.
func TestVariableSchema(t *testing.T) {
	t.Parallel()
	c := content("{{ name }} {{ tone }} {{ n }}")
	c.Schema = jsontext.Value(`{"type":"object","required":["name"],"additionalProperties":false,"properties":{
		"name":{"type":"string","minLength":2,"maxLength":4,"title":"who"},
		"tone":{"enum":["kind","brief",1.0,{"a":1,"b":2}],"default":"kind"},
		"n":{"type":["integer","null"],"minimum":1,"maximum":9},
		"list":{"type":"array","maxItems":2,"items":{"type":"object","properties":{"x":{"const":true}},"additionalProperties":{"type":"number"}}}}}`)
	rows := []struct{ variables, want string }{
		{`{"name":"Ada"}`, `system "Ada kind "` + "\n--"},
		{`{"name":"Zoë!","tone":"brief","n":9.0}`, ""},
		{`{"name":"Ada","tone":1,"n":null,"list":[{"x":true,"y":2},{}]}`, ""},
		{`{"name":"Ada","tone":{"b":2,"a":1}}`, ""},
		{`{ "name" : "Ada" } `, `system "Ada kind "` + "\n--"},
		{``, "400 invalid_prompt_variables prompt_variables.name"},
		{`{}`, "400 invalid_prompt_variables prompt_variables.name"},
		{`{"name":7}`, "400 invalid_prompt_variables prompt_variables.name"},
		{`{"name":"A"}`, "400 invalid_prompt_variables prompt_variables.name"},
		{`{"name":"Adamant"}`, "400 invalid_prompt_variables prompt_variables.name"},
		{`{"name":"Ada","tone":"rude"}`, "400 invalid_prompt_variables prompt_variables.tone"},
		{`{"name":"Ada","n":1.5}`, "400 invalid_prompt_variables prompt_variables.n"},
		{`{"name":"Ada","n":0}`, "400 invalid_prompt_variables prompt_variables.n"},
		{`{"name":"Ada","n":10}`, "400 invalid_prompt_variables prompt_variables.n"},
		{`{"name":"Ada","more":1}`, "400 invalid_prompt_variables prompt_variables"},
		{`{"name":"Ada","list":[{},{},{}]}`, "400 invalid_prompt_variables prompt_variables.list"},
		{`{"name":"Ada","list":[{},{"x":false}]}`, "400 invalid_prompt_variables prompt_variables.list[1].x"},
		{`{"name":"Ada","list":[{"z":"1"}]}`, "400 invalid_prompt_variables prompt_variables.list[0].z"},
	}
	for _, row := range rows {
		got := strings.TrimSuffix(composed(t, c, row.variables), "\n")
		if row.want == "" && strings.HasPrefix(got, "400") || row.want != "" && got != row.want {
			t.Errorf("%s: %s, want %s", row.variables, got, row.want)
		}
	}
}

// TestErrorsHaveNoValues: an error about a variable repeats nothing of it.
func TestErrorsHaveNoValues(t *testing.T) {
	t.Parallel()
	c := content("{{ name }}")
	c.Schema = jsontext.Value(`{"properties":{"name":{"enum":["a"]}}}`)
	w := newWorld(t)
	p, v := w.make(prompts.Prompt{}, c)
	if _, err := w.set.Compose(prompts.Choice{Prompt: p, Version: v}, jsontext.Value(`{"name":"canary"}`)); err == nil || strings.Contains(err.Error(), "canary") {
		t.Errorf("%v", err)
	}
}

// TestConfig: a config keeps the order of the members, the digits of its numbers and the order
// of what is in them, through the stored record.
func TestConfig(t *testing.T) {
	t.Parallel()
	c := content("x")
	var err error
	text := `{"tools":[{"type":"function","function":{"name":"f","z":1,"a":2}}],"temperature": 0.70,"model":"fast","stop":["a","b"],"response_format":{"type":"json_schema","json_schema":{"z":{},"a":{}}},
		"max_tokens":100,"top_p":1,"tool_choice":"auto","reasoning_effort":"low","metadata":{"team":"x"}}`
	if c.Config, err = prompts.ParseConfig("config", jsontext.Value(text), []string{"temperature", "model"}); err != nil {
		t.Fatal(err)
	}
	w := newWorld(t)
	p, v := w.make(prompts.Prompt{}, c)
	got, err := w.set.Compose(prompts.Choice{Prompt: p, Version: v}, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"model":"fast","temperature":0.70,"top_p":1,"max_tokens":100,"stop":["a","b"],"response_format":{"type":"json_schema","json_schema":{"z":{},"a":{}}},"tools":[{"type":"function","function":{"name":"f","z":1,"a":2}}],"tool_choice":"auto","reasoning_effort":"low","metadata":{"team":"x"}}`
	if diff := cmp.Diff(want, string(got.Config.Object())); diff != "" {
		t.Error(diff)
	}
	var enforced []string
	for _, s := range got.Config {
		if s.Enforced {
			enforced = append(enforced, s.Name)
		}
	}
	if model, must := got.Config.Model(); model != "fast" || !must || len(enforced) != 2 {
		t.Errorf("the model is %q (%v); enforced is %v", model, must, enforced)
	}
}

// TestComposeTogether: requests that are rendered at the same time, by prompts of several messages
// and with errors in between, have nothing of each other.
func TestComposeTogether(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p, v := w.make(prompts.Prompt{}, prompts.Content{Messages: []prompts.Message{
		{Role: "system", Content: "{% set y = x %}{{ y }}{% if bad %}{{ bad + 1 }}{% endif %} and {{ other }}"}, {Role: "user", Content: "{{ x|upper }} {{ y }}"},
	}})
	choice := prompts.Choice{Prompt: p, Version: v}
	for worker := range 8 {
		t.Run(fmt.Sprint(worker), func(t *testing.T) {
			t.Parallel()
			for i := range 200 {
				word := fmt.Sprintf("w%d-%d", worker, i)
				if _, err := w.set.Compose(choice, jsontext.Value(`{"x":"secret","other":"secret","bad":"text"}`)); err == nil {
					t.Fatal("a text and a number have a sum")
				}
				out, err := w.set.Compose(choice, jsontext.Value(`{"x":"`+word+`"}`))
				if err != nil {
					t.Fatal(err)
				}
				want := "system \"" + word + " and \"\nuser \"" + strings.ToUpper(word) + " \"\n--"
				if got := shown(out); got != want {
					t.Fatalf("got %s, want %s", got, want)
				}
			}
		})
	}
}
