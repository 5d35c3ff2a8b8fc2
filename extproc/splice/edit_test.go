package splice_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/modelgateway/modelgateway/extproc/splice"
)

func edited(tb testing.TB, body string, p *splice.Plan) string {
	tb.Helper()
	var r splice.Request
	if err := splice.Scan([]byte(body), &r); err != nil {
		tb.Fatalf("%s: %v", body, err)
	}
	return string(splice.Apply(nil, []byte(body), r.Edits(nil, p)))
}

func TestEdits(t *testing.T) {
	strip := &splice.Plan{Remove: splice.Extensions}
	usage := &splice.Plan{Usage: true}
	const m = `"messages":[{}]`
	for _, c := range []struct {
		name, body string
		plan       *splice.Plan
		want       string
	}{
		{"nothing", `{"model":"a",` + m + `}`, &splice.Plan{}, `{"model":"a",` + m + `}`},
		{"model", `{ "model" : "a" , ` + m + ` }`, &splice.Plan{Model: "b"}, `{ "model" : "b" , ` + m + ` }`},
		{"model with quotes", `{"model":"a",` + m + `}`, &splice.Plan{Model: `b"\é`}, `{"model":"b\"\\é",` + m + `}`},
		{"escaped model", `{"model":"\u0061",` + m + `}`, &splice.Plan{Model: "a"}, `{"model":"\u0061",` + m + `}`},
		{"usage, no options", `{"model":"a",` + m + `}`, usage, `{"model":"a","stream_options":{"include_usage":true},` + m + `}`},
		{"usage, model last", `{` + m + `,"model":"a" }`, usage, `{` + m + `,"model":"a","stream_options":{"include_usage":true} }`},
		{"usage, null", `{"model":"a",` + m + `,"stream_options":null}`, usage, `{"model":"a",` + m + `,"stream_options":{"include_usage":true}}`},
		{"usage, empty", `{"model":"a",` + m + `,"stream_options":{ }}`, usage, `{"model":"a",` + m + `,"stream_options":{"include_usage":true }}`},
		{"usage, other", `{"model":"a",` + m + `,"stream_options":{ "x":1}}`, usage, `{"model":"a",` + m + `,"stream_options":{"include_usage":true, "x":1}}`},
		{"usage, false", `{"model":"a",` + m + `,"stream_options":{"x":1,"include_usage" : false }}`, usage, `{"model":"a",` + m + `,"stream_options":{"x":1,"include_usage" : true }}`},
		{"usage, null inside", `{"model":"a",` + m + `,"stream_options":{"include_usage":null}}`, usage, `{"model":"a",` + m + `,"stream_options":{"include_usage":true}}`},
		{"usage, true", `{"model":"a",` + m + `,"stream_options":{"include_usage":true}}`, usage, `{"model":"a",` + m + `,"stream_options":{"include_usage":true}}`},
		{"usage, options removed", `{"model":"a",` + m + `,"stream_options":{}}`, &splice.Plan{Usage: true, Remove: splice.Set(splice.StreamOptions)}, `{"model":"a","stream_options":{"include_usage":true},` + m + `}`},
		{"first", `{"tags":[1], "model":"a",` + m + `}`, strip, `{"model":"a",` + m + `}`},
		{"first two", `{ "tags":[1] , "cache":{} , "model":"a",` + m + `}`, strip, `{ "model":"a",` + m + `}`},
		{"middle", `{"model":"a" , "tags":[1] ,` + m + `}`, strip, `{"model":"a" ,` + m + `}`},
		{"middle two", `{"model":"a","tags":[1],"cache":1,` + m + `}`, strip, `{"model":"a",` + m + `}`},
		{"last", `{"model":"a",` + m + ` , "tags":[1] }`, strip, `{"model":"a",` + m + ` }`},
		{"last two", `{"model":"a",` + m + `,"tags":[1],"cache":2}`, strip, `{"model":"a",` + m + `}`},
		{"all but model", `{"tags":1,"model":"a",` + m + `,"cache":2}`, &splice.Plan{Remove: splice.Extensions | splice.Set(splice.Model, splice.Messages)}, `{"model":"a"}`},
		{"unknown first", `{"x":1,"tags":1,"model":"a",` + m + `}`, strip, `{"x":1,"model":"a",` + m + `}`},
		{"in place of the model", `{ "model" : "a" ,"tags":1,` + m + `}`, &splice.Plan{Model: "b", Instead: `"v":"1"`, Remove: splice.Extensions}, `{ "v":"1",` + m + `}`},
		{"in place of the last", `{` + m + `,"model":"a"}`, &splice.Plan{Instead: `"v":"1"`}, `{` + m + `,"v":"1"}`},
		{"the caller's version goes", `{"anthropic_version":"x","model":"a",` + m + `}`, &splice.Plan{Instead: `"anthropic_version":"y"`, Remove: splice.Extensions}, `{"anthropic_version":"y",` + m + `}`},
		{"behind model", `{"model":"a","tags":1,` + m + `}`, &splice.Plan{Model: "b", Usage: true, Remove: splice.Extensions}, `{"model":"b","stream_options":{"include_usage":true},` + m + `}`},
		{"before model", `{"tags":1,"model":"a",` + m + `}`, &splice.Plan{Model: "b", Usage: true, Remove: splice.Extensions}, `{"model":"b","stream_options":{"include_usage":true},` + m + `}`},
		{"prepend", `{"model":"a","messages":[ {"x":1}]}`, &splice.Plan{Prepend: `{"y":2},{}`}, `{"model":"a","messages":[{"y":2},{}, {"x":1}]}`},
		{"set", `{"model":"a",` + m + `,"max_tokens":9}`, &splice.Plan{Set: []splice.Member{{splice.MaxTokens, "5"}, {splice.User, `"u"`}}}, `{"model":"a","user":"u",` + m + `,"max_tokens":5}`},
		{"system", `{"model":"a","messages":[{"role":"developer","content":"\"developer\""},{"content":{"role":"developer"}, "role" : "developer" },{"role":"user"}]}`, &splice.Plan{System: true}, `{"model":"a","messages":[{"role":"system","content":"\"developer\""},{"content":{"role":"developer"}, "role" : "system" },{"role":"user"}]}`},
		{"system, none", `{"model":"a","messages":[{"role":"user","content":"the developer"}]}`, &splice.Plan{System: true}, `{"model":"a","messages":[{"role":"user","content":"the developer"}]}`},
		{"system, behind others", `{"model":"a","messages":[{"role":"developer"}]}`, &splice.Plan{System: true, Prepend: `{}`}, `{"model":"a","messages":[{},{"role":"system"}]}`},
		{"set to what it is", `{"model":"a",` + m + `,"max_tokens":9}`, &splice.Plan{Set: []splice.Member{{splice.MaxTokens, "9"}}}, `{"model":"a",` + m + `,"max_tokens":9}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if d := cmp.Diff(c.want, edited(t, c.body, c.plan)); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestApplyWithoutEditsReturnsTheBody(t *testing.T) {
	body := []byte(ask(`"stream_options":{"include_usage":true}`))
	var r splice.Request
	if err := splice.Scan(body, &r); err != nil {
		t.Fatal(err)
	}
	got := splice.Apply(make([]byte, 0, 100), body, r.Edits(nil, &splice.Plan{Model: "m", Usage: true, Remove: splice.Extensions}))
	if &got[0] != &body[0] || len(got) != len(body) {
		t.Error("the body was copied")
	}
	if got := splice.Replace(nil, body, r.Span(splice.Model), []byte(`"m"`)); &got[0] != &body[0] {
		t.Error("the body was copied")
	}
}

// field is a decoded member with its value in canonical form.
type field struct{ name, value string }

// decode reads an object's members independently of the package.
func decode(tb testing.TB, body []byte) []field {
	tb.Helper()
	d := jsontext.NewDecoder(bytes.NewReader(body), jsontext.AllowDuplicateNames(true))
	if k := d.PeekKind(); k != jsontext.KindBeginObject {
		tb.Fatalf("not an object: %v", k)
	}
	if _, err := d.ReadToken(); err != nil {
		tb.Fatal(err)
	}
	var out []field
	for d.PeekKind() != jsontext.KindEndObject {
		name, err := d.ReadToken()
		if err != nil {
			tb.Fatalf("%q: %v", body, err)
		}
		text := name.String()
		v, err := d.ReadValue()
		if err != nil {
			tb.Fatalf("%q: %v", body, err)
		}
		v = v.Clone()
		if err := v.Format(jsontext.AllowDuplicateNames(true)); err != nil {
			tb.Fatal(err)
		}
		out = append(out, field{text, string(v)})
	}
	return out
}

// checkEdits applies the edits of a plan and checks the invariant: the result is valid JSON
// and, decoded, equals the input except for the members in the plan.
func checkEdits(tb testing.TB, body []byte, r *splice.Request, p *splice.Plan) {
	tb.Helper()
	edits := r.Edits(nil, p)
	out := splice.Apply(nil, body, edits)
	if !jsontext.Value(out).IsValid(jsontext.AllowDuplicateNames(true)) {
		tb.Fatalf("invalid JSON\n%s\nfrom\n%s", out, body)
	}
	from := 0
	for _, e := range edits { // the other bytes are equal by construction if the edits are in order
		if e.Off < from || e.End < e.Off || e.End > len(body) {
			tb.Fatalf("edits out of order: %+v", edits)
		}
		from = e.End
	}
	removed := func(f field) bool {
		for k := splice.Model; k.String() != ""; k++ {
			if k.String() == f.name {
				return k != splice.Model && p.Remove.Has(k)
			}
		}
		return false
	}
	var want []field
	options := ""
	for _, f := range decode(tb, body) {
		switch {
		case removed(f):
			continue
		case f.name == "model" && p.Model != "":
			f.value = string(splice.Quote(nil, p.Model))
		case f.name == "stream_options" && p.Usage:
			options = f.value
			continue
		}
		want = append(want, f)
	}
	var got []field
	for _, f := range decode(tb, out) {
		if f.name == "stream_options" && p.Usage {
			checkOptions(tb, options, f.value)
			continue
		}
		if f.name == "model" && p.Model != "" { // keeps its spelling if it is equal
			v, err := jsontext.AppendUnquote(nil, f.value)
			if err != nil {
				tb.Fatal(err)
			}
			f.value = string(splice.Quote(nil, string(v)))
		}
		got = append(got, f)
	}
	if d := cmp.Diff(want, got, cmp.AllowUnexported(field{})); d != "" {
		tb.Fatalf("%s\nfrom %s\nto   %s", d, body, out)
	}
	var again splice.Request
	if err := splice.ScanEdited(out, &again); err != nil {
		tb.Fatalf("%s: %v", out, err)
	}
	if p.Usage && !again.IncludeUsage {
		tb.Fatalf("usage is not requested: %s", out)
	}
}

// checkOptions compares stream_options before and after.
func checkOptions(tb testing.TB, before, after string) {
	tb.Helper()
	var want []field
	if before != "" && before != "null" {
		want = decode(tb, []byte(before))
	}
	is := func(f field) bool { return f.name == "include_usage" }
	got := decode(tb, []byte(after))
	if n := slices.IndexFunc(got, is); n < 0 || got[n].value != "true" {
		tb.Fatalf("options are %s", after)
	}
	if want, got = slices.DeleteFunc(want, is), slices.DeleteFunc(got, is); !slices.Equal(want, got) {
		tb.Fatalf("options: %v became %v", want, got)
	}
}

func TestEditsProperty(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		gap := rapid.SampledFrom([]string{"", "", " ", "\n\t", "\r\n  "})
		values := rapid.SampledFrom([]string{`1`, `null`, `"a,}\"{"`, `{"a":[1,{}]}`, `[]`, `[ {"x":"]"} ]`, `{ }`, `-1.5e3`, `"\ud83d\ude00é"`})
		names := rapid.Permutation([]string{"tags", "cache", "prompt_id", "memory_id", "timeout", "x", "y", "gu\\u0061rdrail_id"}).Draw(rt, "names")
		names = append(names[:rapid.IntRange(0, len(names)).Draw(rt, "count")], "model", "messages")
		if rapid.Bool().Draw(rt, "options") {
			names = append(names, "stream_options")
		}
		names = rapid.Permutation(names).Draw(rt, "order")
		var b strings.Builder
		b.WriteString(gap.Draw(rt, "g") + "{")
		for i, n := range names {
			v := values.Draw(rt, "v")
			switch n {
			case "model":
				v = rapid.SampledFrom([]string{`"m"`, `"\u006d"`, `"other"`}).Draw(rt, "model")
			case "messages":
				v = `[{}]`
			case "stream_options":
				v = rapid.SampledFrom([]string{`null`, `{}`, `{ }`, `{"a":1}`, `{"include_usage":false}`, `{"a":[],"include_usage" : true }`, `{"include_usage":null,"b":2}`}).Draw(rt, "so")
			}
			if i > 0 {
				b.WriteString("," + gap.Draw(rt, "g"))
			}
			fmt.Fprintf(&b, `%s"%s"%s:%s%s%s`, gap.Draw(rt, "g"), n, gap.Draw(rt, "g"), gap.Draw(rt, "g"), v, gap.Draw(rt, "g"))
		}
		b.WriteString("}" + gap.Draw(rt, "g"))
		body := []byte(b.String())
		var r splice.Request
		if err := splice.Scan(body, &r); err != nil {
			rt.Fatalf("%s: %v", body, err)
		}
		checkEdits(t, body, &r, &splice.Plan{
			Model:  rapid.SampledFrom([]string{"", "m", "n", `q"`}).Draw(rt, "to"),
			Usage:  rapid.Bool().Draw(rt, "usage"),
			Remove: splice.FieldSet(rapid.Uint64().Draw(rt, "remove")) &^ splice.Set(splice.StreamOptions),
		})
	})
}

func FuzzEdit(f *testing.F) {
	for _, s := range []string{
		`{"model":"m","messages":[{}],"tags":1}`,
		`{"tags":1,"cache":2,"model":"m","messages":[{}],"stream_options":{"include_usage":false}}`,
		` { "t\u0061gs" : [ ] , "model" : "m" , "messages" : [ { } ] , "stream_options" : { } } `,
	} {
		f.Add([]byte(s), "n", uint64(splice.Extensions), true)
	}
	f.Fuzz(func(t *testing.T, body []byte, model string, remove uint64, usage bool) {
		var r splice.Request
		if splice.Scan(body, &r) != nil {
			return
		}
		for _, c := range model {
			if c < ' ' || c == 0x7f || c >= 0x80 {
				return
			}
		}
		if len(model) > 100 {
			return
		}
		checkEdits(t, body, &r, &splice.Plan{Model: model, Usage: usage, Remove: splice.FieldSet(remove) &^ splice.Set(splice.StreamOptions)})
	})
}
