package promptfile_test

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/modelgateway/modelgateway/cli/promptfile"
)

// content is what a request for a file has.
func content(t *testing.T, f *promptfile.File) string {
	t.Helper()
	body, err := promptfile.Body(f.Content())
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// TestParse reads a file with all that a file may have.
func TestParse(t *testing.T) {
	t.Parallel()
	f, err := promptfile.Parse("prompts/support.prompt", []byte(`---
default_label: production
protected_labels: [production]
labels:
  production: latest
  staging: 3
  trial: [{weight: 10, version: 6}, {version: 5, weight: 90}]
config:
  temperature: 0.20
  model: gpt-4o
  stop: ["---", "1"]
  response_format: {type: json_schema, json_schema: {z: 1, a: true}}
  enforce: [temperature]
variables: [name]
variable_schema:
  properties:
    name: {type: string, maxLength: 1e2}
---
[system]
You help {{ name }}.

\[user]
\\[placeholder x]
[placeholder history]
[user json]
[{"type": "text",
  "text": "Hello {{ name }}"}]
[assistant]
Yes: [user] 
`))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"config":{"model":"gpt-4o","temperature":0.20,"stop":["---","1"],"response_format":{"type":"json_schema","json_schema":{"z":1,"a":true}},"enforce":["temperature"]},` +
		`"messages":[{"role":"system","content":"You help {{ name }}.\n\n[user]\n\\[placeholder x]"},{"role":"placeholder","name":"history"},` +
		`{"role":"user","content":[{"type":"text","text":"Hello {{ name }}"}]},{"role":"assistant","content":"Yes: [user] "}],` +
		`"variable_schema":{"properties":{"name":{"type":"string","maxLength":1e2}}},"variables":["name"]}`
	if diff := cmp.Diff(want, content(t, f)); diff != "" {
		t.Error(diff)
	}
	labels := []promptfile.Label{{Name: "production"}, {Name: "staging", Version: 3}, {Name: "trial", Split: jsontext.Value(`[{"version":5,"weight":90},{"version":6,"weight":10}]`)}}
	if diff := cmp.Diff(labels, f.Labels); diff != "" || f.Name != "support" || *f.DefaultLabel != "production" || f.Protected[0] != "production" {
		t.Errorf("%+v %s", f, diff)
	}
	again, err := promptfile.Parse(f.Path, []byte(f.Text()))
	if err != nil || again.Text() != f.Text() || !f.SameContent(again) {
		t.Errorf("%v\n%s", err, cmp.Diff(f.Text(), again.Text()))
	}
}

// TestParseLiteLLM reads files as LiteLLM has them.
func TestParseLiteLLM(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ file, want string }{
		"roles": {
			"---\nmodel: gpt-4\ntemperature: 0.7\nmax_tokens: 150\ninput:\n  schema:\n    user_message: string\n    \"count?\": int, how many\n---\n\nSystem: You help.\n  Be kind.\n\nUser: {{user_message}}\nAssistant:\n",
			`{"config":{"model":"gpt-4","temperature":0.7,"max_tokens":150},"messages":[{"role":"system","content":"You help.\nBe kind."},{"role":"user","content":"{{user_message}}"}],` +
				`"variable_schema":{"type":"object","properties":{"user_message":{"type":"string"},"count":{"type":"integer"}}},"variables":[]}`,
		},
		"no roles":        {"---\nmodel: gpt-4\n---\nHello {{name}}.\n", `{"config":{"model":"gpt-4"},"messages":[{"role":"user","content":"Hello {{name}}."}],"variable_schema":{},"variables":[]}`},
		"no front matter": {"Hello\r\nAda", `{"config":{},"messages":[{"role":"user","content":"Hello\nAda"}],"variable_schema":{},"variables":[]}`},
	} {
		f, err := promptfile.Parse("chat.prompt", []byte(c.file))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := cmp.Diff(c.want, content(t, f)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	f, err := promptfile.Parse("a.prompt", []byte("---\noutput:\n  format: json\n---\nx"))
	if err != nil || len(f.Notes) != 1 || !strings.HasPrefix(f.Notes[0], "a.prompt:2: output is not used") {
		t.Errorf("%v %v", f, err)
	}
}

// TestErrors: an error names the file, the line and the remedy.
func TestErrors(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]string{
		"---\nconfig:\n  model: x\n":                         "a.prompt:1: the front matter does not end: write a line --- below it",
		"---\nconfig:\n  model: [x\n---\nx":                  "a.prompt:3: not YAML: ",
		"---\nconfig:\n  presence_penalty: 1\n---\nx":        "a.prompt:3: there is no field presence_penalty: a file has name, config, ",
		"---\nlabel:\n  production: 1\n---\nx":               "a.prompt:2: there is no field label: ",
		"---\nconfig: fast\n---\nx":                          "a.prompt:2: config must have fields, in the lines below it and indented",
		"---\nmodel: a\nconfig:\n  model: b\n---\nx":         "a.prompt:4: model is there twice, within config and at the top: keep one",
		"---\nvariables: name\n---\nx":                       "a.prompt:2: variables must be a list, such as [a, b]",
		"---\nvariables:\n  - 1\n---\nx":                     "a.prompt:3: variables must be texts: put them in quotes",
		"---\nlabels:\n\n  production: newest\n---\nx":       "a.prompt:4: production must name a version: a number, latest for ",
		"---\nlabels:\n  trial: [{version: a}]\n---\nx":      "a.prompt:3: the split of trial must be a list of versions with weights",
		"---\nname: 7\n---\nx":                               "a.prompt:2: name must be a text: put it in quotes",
		"---\ninput:\n  schema:\n    a: (array)\n---\nx":     "a.prompt:4: input.schema.a must be string, number, ",
		"---\ninput:\n  default:\n    a: b\n---\nx":          "a.prompt:3: input.default is not supported: write variable_schema",
		"---\nconfig: &a\n  model: x\nmodel: *a\n---\nx":     "a.prompt:2: this form of YAML is not supported",
		"---\nmodel: x\nmodel: y\n---\nx":                    "a.prompt:3: ",
		"---\n- a\n---\nx":                                   "a.prompt:2: the front matter must be fields",
		"---\nmodel: x\n---\n\n":                             "a.prompt:4: the file has no messages: write one below the front matter",
		"":                                                   "a.prompt:1: the file has no messages",
		"[system]\nx\n[user json]\n[{\n":                     "a.prompt:3: the content of this message is not valid JSON: correct it, or write [user] for a text",
		"---\nmodel: x\n---\n[placeholder history]\nwords\n": "a.prompt:5: a placeholder has no text: remove it",
		"\xff": "a.prompt:1: the file is not UTF-8",
	} {
		_, err := promptfile.Parse("a.prompt", []byte(file))
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %s", file, err, want)
		}
	}
	if _, err := promptfile.Parse("support.v2.prompt", []byte("x")); err == nil || !strings.Contains(err.Error(), "keep the newest as NAME.prompt") {
		t.Errorf("one of several versions: %v", err)
	}
}

// TestRoundTrip: what is written is read as it was, whatever the texts, the values and the name.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{
			"", "\n", "a\n\n", "[user]", "\\[system]", "---", "[placeholder x]\n[user json]", "System: x", "- a: b # c", "null", "1.0", "a\r\nb", " lead", "{{ 'x' }}\n",
		}))
		value := func(v any) jsontext.Value {
			raw, err := json.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			return raw
		}
		f := &promptfile.File{
			Name:      rapid.StringMatching(`[^/\x00-\x1f\x7f]{1,20}`).Draw(t, "name"),
			Variables: rapid.SliceOfN(rapid.StringMatching(`[a-z]{1,5}`), 0, 3).Draw(t, "variables"),
			Config: value(map[string]any{
				"model": text.Draw(t, "model"), "temperature": rapid.Float64Range(0, 2).Draw(t, "temperature"), "max_tokens": rapid.IntRange(1, 1<<31-1).Draw(t, "tokens"),
				"tools": []any{map[string]any{"type": text.Draw(t, "type"), text.Draw(t, "member"): []any{[]any{text.Draw(t, "deep"), nil, true}, map[string]any{}, []any{}, map[string]any{"a": map[string]any{"b": 1.5}}}}},
			}),
		}
		for range rapid.IntRange(1, 4).Draw(t, "messages") {
			switch role := rapid.SampledFrom([]string{"system", "user", "assistant", "developer", "placeholder", "parts"}).Draw(t, "role"); role {
			case "placeholder":
				f.Messages = append(f.Messages, promptfile.Message{Role: role, Name: "history"})
			case "parts":
				f.Messages = append(f.Messages, promptfile.Message{Role: "user", Content: value([]any{map[string]any{"type": "text", "text": text.Draw(t, "part")}})})
			default:
				f.Messages = append(f.Messages, promptfile.Message{Role: role, Content: value(text.Draw(t, "text"))})
			}
		}
		written := f.Text()
		again, err := promptfile.Parse(promptfile.BaseName(f.Name), []byte(written))
		if err != nil {
			t.Fatalf("%v\n%s", err, written)
		}
		if again.Name != f.Name || !cmp.Equal(again.Messages, f.Messages) || again.Text() != written {
			t.Fatalf("%s\n%s\n%s", cmp.Diff(f.Messages, again.Messages), cmp.Diff(written, again.Text()), written)
		}
		var before, after any
		if json.Unmarshal(f.Config, &before) != nil || json.Unmarshal(again.Config, &after) != nil || !cmp.Equal(before, after) {
			t.Fatalf("%s\n%s", cmp.Diff(before, after), written)
		}
	})
}

// TestOrder: what others include is first.
func TestOrder(t *testing.T) {
	t.Parallel()
	var files []*promptfile.File
	for _, one := range []string{"a {% include \"prompt:tone@3\" %}", "support {%- include 'prompt:a' -%}", "tone x", "loop1 {% include \"prompt:loop2\" %}", "loop2 {% include \"prompt:loop1\" %}"} {
		name, text, _ := strings.Cut(one, " ")
		f, err := promptfile.Parse(name+".prompt", []byte("[system]\n"+text))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	got := ""
	for _, f := range promptfile.Ordered(files) {
		got += f.Name + " "
	}
	if got != "tone a support loop2 loop1 " {
		t.Error(got)
	}
}
