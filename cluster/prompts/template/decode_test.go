package template_test

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/prompts/template"
)

// anyJSON generates what JSON can hold.
func anyJSON(depth int) *rapid.Generator[any] {
	text := rapid.String().Filter(func(s string) bool { return strings.ToValidUTF8(s, "") == s })
	plain := []*rapid.Generator[any]{
		rapid.Just[any](nil), rapid.Bool().AsAny(), text.AsAny(), rapid.Float64Range(-1e9, 1e9).AsAny(),
		rapid.Map(rapid.IntRange(-1<<40, 1<<40), func(n int) any { return float64(n) }),
	}
	if depth > 0 {
		plain = append(plain, rapid.MapOfN(text, rapid.Deferred(func() *rapid.Generator[any] { return anyJSON(depth - 1) }), 0, 12).AsAny(),
			rapid.SliceOfN(rapid.Deferred(func() *rapid.Generator[any] { return anyJSON(depth - 1) }), 0, 5).AsAny())
	}
	return rapid.OneOf(plain...)
}

// TestValuesArrive: whatever the values are and however their JSON is written, a template has them.
func TestValuesArrive(t *testing.T) {
	tpl, err := template.Parse("{{ v|tojson }}{{ other }}")
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		want := anyJSON(3).Draw(t, "v")
		form := []json.Options{jsontext.EscapeForHTML(rapid.Bool().Draw(t, "escaped")), jsontext.SpaceAfterColon(rapid.Bool().Draw(t, "colon"))}
		if rapid.Bool().Draw(t, "lines") {
			form = append(form, jsontext.WithIndent("\t"))
		}
		object, err := json.Marshal(map[string]any{"v": want, "other": ""}, form...)
		if err != nil {
			t.Fatal(err)
		}
		in, err := template.Decode(append([]byte(" \r\n"), object...))
		if err != nil {
			t.Fatalf("%s: %v", object, err)
		}
		out, err := tpl.Render(in, nil)
		if err != nil {
			t.Fatalf("%s: %v", object, err)
		}
		var got any
		if err := json.Unmarshal([]byte(out), &got); err != nil {
			t.Fatalf("%s: %v", out, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%s (-sent +read):\n%s", object, diff)
		}
	})
}

func TestRejectedValues(t *testing.T) {
	for name, tc := range map[string]struct{ object, want string }{
		"nothing":            {"", "no JSON object"},
		"a list":             {"[]", "no JSON object"},
		"two objects":        {"{}{}", "after the object"},
		"no end":             {`{"a": 1`, "no valid JSON"},
		"a name twice":       {`{"a": 1, "\u0061": 2}`, "no valid JSON"},
		"a name twice below": {`{"a": {"b": 1, "b": 1}}`, "no valid JSON"},
		"no UTF-8":           {"{\"a\": \"\xff\"}", "no valid JSON"},
		"half a character":   {`{"a": "\ud800"}`, "no valid JSON"},
		"too deep":           {`{"a": ` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + `}`, "nested more than 100 deep"},
		"too long":           {`{"a": "` + strings.Repeat("x", 1<<20) + `"}`, "more than 1048576 bytes"},
		"too many":           {`{"a": [` + strings.Repeat("1,", 200_000) + `1]}`, "bytes of memory"},
		"too many digits":    {`{"a": ` + strings.Repeat("1", 2000) + `}`, "more than 1000 digits"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := template.Decode([]byte(tc.object))
			if f := fault.From(err); err == nil || f.Code != "invalid_prompt_variables" || !strings.Contains(f.Detail, tc.want) {
				t.Errorf("%.40q: %v, want %s", tc.object, err, tc.want)
			}
		})
	}
}
