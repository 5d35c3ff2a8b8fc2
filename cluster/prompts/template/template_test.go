package template_test

import (
	"strings"
	"testing"
	"testing/quick"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/prompts/template"
)

func values(t rapid.TB, text string) template.Values {
	t.Helper()
	if text == "" {
		return template.Values{}
	}
	out, err := template.Decode([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// valuesOf returns decoded values.
func valuesOf(tb testing.TB, members map[string]any) template.Values {
	tb.Helper()
	object, err := json.Marshal(members)
	if err != nil {
		tb.Fatal(err)
	}
	out, err := template.Decode(object)
	if err != nil {
		tb.Fatal(err)
	}
	return out
}

func TestRender(t *testing.T) {
	for _, tc := range []struct{ name, source, values, want string }{
		{"text", "Hello.", ``, "Hello."},
		{"variable", "Hello {{ name }}.", `{"name": "Ada"}`, "Hello Ada."},
		{"no spaces", "Hello {{name}}.", `{"name": "Ada"}`, "Hello Ada."},
		{"missing variable is empty", "Hello {{ name }}.", ``, "Hello ."},
		{"null is None", "Hello {{ name }}.", `{"name": null}`, "Hello None."},
		{"numbers are short", "{{ a }} {{ b }} {{ c }}", `{"a": 3, "b": 0.1, "c": 1e21}`, "3 0.1 1e+21"},
		{"objects are shown as Python shows them", "{{ a }}", `{"a": {"y": [1, "x"], "b": true}}`, `{'y': [1, 'x'], 'b': True}`},
		{"members", "{{ user.name }}, {{ user['name'] }} {{ list[1] }} {{ list[-1] }} {{ list.0 }}", `{"user": {"name": "Ada"}, "list": ["a", "b", "c"]}`, "Ada, Ada b c a"},
		{"members of nothing are nothing", "<{{ a.b.c[3] }}>", ``, "<>"},
		{"braces in values are text", "{{ a }}", `{"a": "{{ 7*7 }} {% if %}"}`, "{{ 7*7 }} {% if %}"},
		{"filters", "{{ ' a b ' | trim | upper }} {{ name | default('you') }} {{ n | length }} {{ l | join(', ') }}", `{"n": "äö", "l": [1, 2]}`, "A B you 2 1, 2"},
		{"default for empty", "{{ a | default('x', true) }}{{ a | default('y') }}", `{"a": ""}`, "x"},
		{"more filters", "{{ 'hELLO wORLD' | title }} {{ 'hELLO' | capitalize }} {{ 'abcdef' | truncate(5) }} {{ 'a-b' | replace('-', '+') }} {{ 2.6 | round }} {{ '7.9' | int }} {{ l | first }}{{ l | last }} {{ l | tojson }}", `{"l": ["x", "y"]}`, `Hello World Hello abcdef a+b 3.0 7 xy ["x", "y"]`},
		{"if", "{% if a %}yes{% else %}no{% endif %}", `{"a": "x"}`, "yes"},
		{"elif", "{% if n > 2 %}many{% elif n == 2 %}two{% else %}few{% endif %}", `{"n": 2}`, "two"},
		{"conditions", "{% if a == 'x' and not b or c in l %}y{% endif %}{% if 'q' not in l %}z{% endif %}", `{"a": "x", "l": ["k"], "c": "k"}`, "yz"},
		{"defined", "{% if a is defined %}a{% endif %}{% if b is not defined %}b{% endif %}", `{"a": 1}`, "ab"},
		{"for", "{% for x in l %}{{ loop.index }}:{{ x }}{% if not loop.last %}, {% endif %}{% endfor %}", `{"l": ["a", "b"]}`, "1:a, 2:b"},
		{"for else", "{% for x in l %}{{ x }}{% else %}none{% endfor %}", ``, "none"},
		{"for an object", "{% for k in o %}{{ k }}={{ o[k] }};{% endfor %}", `{"o": {"b": 2, "a": 1}}`, "b=2;a=1;"},
		{"loops within loops", "{% for x in l %}{% for y in x %}{{ loop.index }}{{ y }}{% endfor %}{{ loop.index }}{% endfor %}", `{"l": [["a"], ["b", "c"]]}`, "1a11b2c2"},
		{"the loop's name ends with it", "{% for x in l %}{{ x }}{% endfor %}{{ x }}", `{"l": [1], "x": "out"}`, "1out"},
		{"dashes", "a  {{- ' b ' -}}  c\n{%- if true -%}\n d \n{%- endif %}", ``, "a b cd"},
		{"comments", "a{# {{ b }} #}c", ``, "ac"},
		{"raw", "{% raw %}{{ a }}{% endraw %}{{ a }}", `{"a": 1}`, "{{ a }}1"},
		{"closing braces in quotes", `{{ "}}" }}`, ``, "}}"},
		{"escapes", `{{ 'a\'b\n' }}`, ``, "a'b\n"},
		{"single braces are text", "{a} { {", ``, "{a} { {"},
		{"nothing is escaped", "{{ a }}", `{"a": "<b>&\""}`, `<b>&"`},
		{"different sorts are different", "{% if a == 1 %}x{% endif %}{% if a != 1 %}y{% endif %}", `{"a": "1"}`, "y"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tpl, err := template.Parse(tc.source)
			if err != nil {
				t.Fatal(err)
			}
			got, err := tpl.Render(values(t, tc.values), nil)
			if err != nil || got != tc.want {
				t.Errorf("got %q (%v), want %q", got, err, tc.want)
			}
		})
	}
}

// TestRefused: what could do harm, or would be taken for something else, is refused
// when it is read, with the place.
func TestRefused(t *testing.T) {
	for source, want := range map[string]string{
		"{% include '/etc/passwd' %}":               `Line 1, column 12: only prompts can be included: write "prompt:NAME"`,
		"{% include name %}":                        "include takes a prompt's name in quotes",
		"{% include 'prompt:' %}":                   "write the prompt's name",
		"{% include 'prompt:a@' %}":                 "write a version or a label",
		"{% include 'prompt:a@0' %}":                "versions are numbers from 1",
		"{% extends 'prompt:a' %}":                  "there is no tag extends",
		"{% import 'prompt:a' as a %}":              "there is no tag import",
		"{% from 'prompt:a' import b %}":            "there is no tag from",
		"a\n b {% block x %}":                       "Line 2, column 7: there is no tag block",
		"{{ x.__class__ }}":                         "underscore",
		"{{ x['__class__'] }}":                      "underscore",
		"{{ _secret }}":                             "underscore",
		"{{ lipsum.__globals__ }}":                  "underscore",
		"{{ lipsum() }}":                            "the function lipsum is not supported",
		"{{ strftime_now('%Y') }}":                  "the function strftime_now is not supported",
		"{{ x | random }}":                          "the filter random is not supported",
		"{{ x | urlize }}":                          "the filter urlize is not supported",
		"{{ x | map('random') }}":                   "the filter random is not supported",
		"{{ x | select('new') }}":                   `there is no test "new"`,
		"{{ x | nope }}":                            `there is no filter "nope"`,
		"{{ x | upper(1) }}":                        "upper takes fewer values",
		"{{ x | replace('a') }}":                    "replace needs more values",
		"{{ x | join(by=1) }}":                      "join has no parameter by",
		"{{ x.append(1) }}":                         "append changes a list or a dict",
		"{{ x is sameas 1 }}":                       "sameas takes true, false or none only",
		"{{ x":                                      "{{ has no }}",
		"{{ 'x }}":                                  "no closing quote",
		"{{ }}":                                     "an expression is expected here",
		"{{ a b }}":                                 `"b" is not expected here`,
		"{% if a %}x":                               "this if has no {% endif %}",
		"{% if a %}x{% endfor %}":                   "needs elif or else or endif",
		"{% for x in l %}":                          "this for has no {% endfor %}",
		"x{% endif %}":                              "no block that {% endif %} could be of",
		"{% else %}":                                "no block that {% else %} could be of",
		"{% for if in l %}{% endfor %}":             "cannot be a name",
		"{% raw %}x":                                "has no {% endraw %}",
		"{% break %}":                               "break is for loops only",
		"{{ x() }}":                                 `there is no function "x"`,
		"{%  %}":                                    "begins with its name",
		strings.Repeat("{% if a %}", 99):            "nested more than 50 deep",
		"{{ " + strings.Repeat("(", 99) + "1":       "{{ has no }}",
		"{{ " + strings.Repeat("not ", 99) + "1 }}": "nested more than 50 deep",
		strings.Repeat("x", template.MaxSource+1):   "longer than",
		"{{ a ? b }}":                               `"?" has no meaning here`,
		"{{ (a] }}":                                 `this "]" closes nothing`,
		"{% if a %}{% endif a %}":                   `"a" is not expected here`,
		"{{ a.[0] }}":                               "a name is expected after the point",
	} {
		_, err := template.Parse(source)
		f := fault.From(err)
		if err == nil || f.Kind != fault.Malformed || !strings.Contains(f.Detail, want) {
			t.Errorf("%.60q: %v, want something with %q", source, err, want)
		}
	}
}

func TestVariables(t *testing.T) {
	tpl, err := template.Parse("{{ b }}{% for x in list %}{{ x }}{{ a.c }}{{ loop.index }}{% endfor %}{% if b and d[k] %}{% endif %}{{ x }}")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"b", "list", "a", "d", "k", "x"}, tpl.Variables()); diff != "" {
		t.Errorf("variables (-want +got):\n%s", diff)
	}
}

// TestBounds: what would take too long, or come to too much, is refused, and the
// same always is.
func TestBounds(t *testing.T) {
	long := make([]any, 1000)
	for i := range long {
		long[i] = "0123456789"
	}
	for name, source := range map[string]string{
		"steps":   "{% for a in l %}{% for b in l %}x{% endfor %}{% endfor %}",
		"output":  "{% for a in l %}{{ t }}{% endfor %}",
		"replace": "{{ t | replace('', t) }}",
		"waste":   "{% for a in l %}{% if t | upper == '' %}x{% endif %}{% endfor %}",
		"join":    "{% for a in l %}{% if l | join(t) %}{% endif %}{% endfor %}",
	} {
		tpl, err := template.Parse(source)
		if err != nil {
			t.Fatal(err)
		}
		_, err = tpl.Render(valuesOf(t, map[string]any{"l": long, "t": strings.Repeat("y", 4096)}), nil)
		if f := fault.From(err); f == nil || f.Code != "template_too_costly" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestValuesAreNotRead: whatever a value is, the template around it stays, and the
// value stands in the outcome as it is.
func TestValuesAreNotRead(t *testing.T) {
	tpl, err := template.Parse("<{{ a }}|{% if a == 'x' %}{% endif %}{% for b in l %}{{ b }}{% endfor %}>")
	if err != nil {
		t.Fatal(err)
	}
	check := func(a, b string) bool {
		if len(a)+len(b) > 1000 {
			return true
		}
		got, err := tpl.Render(valuesOf(t, map[string]any{"a": a, "l": []any{b}}), nil)
		return err == nil && got == "<"+a+"|"+b+">"
	}
	if err := quick.Check(check, nil); err != nil {
		t.Error(err)
	}
	for _, s := range []string{"{{", "}}", "{%", "{{ l }}", "{% raw %}", "#}"} {
		if !check(s, s) {
			t.Errorf("the value %q is read", s)
		}
	}
}

// FuzzParse: whatever is read ends, in one outcome, within its bounds.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"{{ a }}", "{% for x in l %}{{ loop.index }}{% endfor %}", "{% macro m(x, y=1) %}{{ x }}{{ caller() }}{% endmacro %}{% call m(a) %}b{% endcall %}", "{% set ns = namespace(a=1) %}{% set ns.a = ns.a + 1 %}{{ ns.a }}",
		"{% for k, v in l[2].items() if v recursive %}{{ loop.cycle(k, v) }}{% else %}{% endfor %}", "{{ '%5.2f|%(a)s' % 3 }}{{ '{:>5}'.format(a) }}{{ [1, (2,), {'a': b}] | tojson(indent=2) }}", "{{ 2 ** 70 // 3 % 7 - 1.5 }}{{ a[::-1] ~ l[1:] | sort | pprint }}",
		"{% with x = a %}{% filter upper | trim %}{{ x }}{% endfilter %}{% endwith %}{% include 'prompt:a@3' %}", "{{ a | map('upper') | select('string') | groupby(0) | batch(2) | list | wordwrap(3) }}", "{% if a is defined %}{% elif b %}{% else %}{% endif %}",
		"{{ a | default('x') | replace('a', 'b') | truncate(3) }}", "{% raw %}{{{% endraw %}", "{#- c -#}", "{{ l[-1].x['y'] }}", "{{ not (a and b) or 1 <= 2 }}",
	} {
		f.Add(s, "v")
	}
	f.Fuzz(func(t *testing.T, source, value string) {
		tpl, err := template.Parse(source)
		if err != nil {
			if fault.From(err).Kind != fault.Malformed {
				t.Fatalf("refused with %v", err)
			}
			return
		}
		if !utf8.ValidString(value) {
			return
		}
		in := valuesOf(t, map[string]any{"a": value, "l": []any{value, 1.0, map[string]any{"x": value}}, "b": nil})
		itself := func(template.Reference) (*template.Template, error) { return tpl, nil }
		one, err1 := tpl.Render(in, itself)
		if err1 != nil && fault.KindOf(err1) != fault.Malformed {
			t.Fatal(err1)
		}
		two, err2 := tpl.Render(in, itself)
		if one != two || (err1 == nil) != (err2 == nil) || len(one) > template.MaxOutput {
			t.Fatalf("%d bytes (%v), then %d (%v)", len(one), err1, len(two), err2)
		}
	})
}

// BenchmarkRender renders a prompt of 1 KB with five variables.
func BenchmarkRender(b *testing.B) {
	source := "You are {{ role | default('an assistant') }} of {{ company }}. {% if tone %}Answer in a {{ tone }} tone.{% endif %} The user is {{ user.name }}, on the plan {{ plan | upper }}.\n"
	source += strings.Repeat("Keep to the facts that the documents say. ", (1024-len(source))/42)
	tpl, err := template.Parse(source)
	if err != nil {
		b.Fatal(err)
	}
	object := []byte(`{"role": "a guide", "company": "Acme", "tone": "friendly", "user": {"name": "Ada"}, "plan": "pro"}`)
	b.Run("render", func(b *testing.B) {
		in, err := template.Decode(object)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportAllocs()
		for b.Loop() {
			if _, err := tpl.Render(in, nil); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("decode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := template.Decode(object); err != nil {
				b.Fatal(err)
			}
		}
	})
}
