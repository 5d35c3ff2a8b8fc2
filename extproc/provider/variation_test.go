package provider_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/modelgateway/modelgateway/cluster/cloud"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/provider"
	"github.com/modelgateway/modelgateway/extproc/splice"
)

// What a provider of the caller's language spells otherwise, or lacks, is an edit of the caller's bytes:
// everything else passes as it came.
func TestPassedRequestsAreTheProvidersOwn(t *testing.T) {
	t.Parallel()
	const (
		dropped = "dropped"
		m       = `"messages":[{"role":"user","content":"a"}]`
	)
	varied := provider.Variations(provider.Providers())
	for _, c := range []struct{ provider, body, want string }{
		{"deepseek", `{"model":"m", ` + m + ` ,"max_completion_tokens": 9}`, `{"model":"m","max_tokens":9, ` + m + `}`},
		{"deepseek", `{"model":"m",` + m + `,"max_tokens":5,"max_completion_tokens":9}`, `{"model":"m",` + m + `,"max_tokens":9}`},
		{"deepseek", `{"model":"m",` + m + `,"max_completion_tokens":null}`, `{"model":"m",` + m + `}`},
		{"deepseek", `{"model":"m",` + m + `,"max_tokens":5,"seed":1}`, `{"model":"m",` + m + `,"max_tokens":5,"seed":1}`},
		{"moonshot", `{"model":"m","messages":[{"role":"developer","content":"developer"}],"max_completion_tokens":9}`, `{"model":"m","messages":[{"role":"system","content":"developer"}],"max_completion_tokens":9}`},
		{"groq", `{"model":"m",` + m + `,"logprobs":true}`, "logprobs"},
		{"groq", `{"model":"m",` + m + `,"n":2}`, "n"},
		{"groq", `{"model":"m",` + m + `,"logprobs":false,"top_logprobs":0,"logit_bias":{ },"n":1}`, `{"model":"m",` + m + `}`},
		{"groq", `{"model":"m",` + m + `,"logit_bias":5}`, "logit_bias"},
		{"groq", `{"model":"m",` + m + `,"logit_bias":null,"logprobs":null,"n":null}`, `{"model":"m",` + m + `}`},
		{"cerebras", `{"model":"m",` + m + `,"presence_penalty":""}`, "presence_penalty"},
		{"cerebras", `{"model":"m",` + m + `,"presence_penalty":-0.5}`, "presence_penalty"},
		{"cerebras", `{"model":"m",` + m + `,"presence_penalty":0.0,"frequency_penalty":-0}`, `{"model":"m",` + m + `}`},
		{"cerebras", `{"model":"m",` + m + `,"logit_bias":{"1":2},"x":{}}` + dropped, `{"model":"m",` + m + `,"x":{}}`},
		{"mistral", `{"model":"m","input":"a","dimensions":256,"user":"u"}`, `{"model":"m","output_dimension":256,"input":"a"}`},
		{"mistral", `{"model":"m","input":"a","dimensions":null}`, `{"model":"m","input":"a"}`},
		{"cohere", `{"model":"m","input":"a","dimensions":256,"user":"u"}`, `{"model":"m","input":"a","dimensions":256}`},
		{"openrouter", `{"model":"m","messages":[{"role":"developer"}],"logprobs":true}`, `{"model":"m","messages":[{"role":"developer"}],"logprobs":true}`},
	} {
		body, drop := []byte(c.body), false
		if n := len(body) - len(dropped); string(body[n:]) == dropped {
			body, drop = body[:n], true
		}
		var r splice.Request
		scan := splice.Scan
		if strings.Contains(c.body, `"input"`) {
			scan = splice.ScanInputs(splice.Input)
		}
		if err := scan(body, &r); err != nil {
			t.Fatalf("%s: %v", body, err)
		}
		got := string(body)
		if v := varied[c.provider]; v != nil {
			var plan splice.Plan
			v.Plan(&r, &plan)
			got = string(splice.Apply(nil, body, r.Edits(nil, &plan)))
			if err := v.Rejects(&r); err != nil && !drop {
				got = fault.From(err).Param
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s: (-want +got)\n%s", c.provider, c.body, diff)
		}
	}
}

// Each name that a row lists is of a field that can be edited.
func TestLackedParametersAreFields(t *testing.T) {
	t.Parallel()
	for _, row := range provider.Providers() {
		for _, name := range row.Variation.Lacks {
			if _, ok := splice.FieldNamed([]byte(name)); !ok {
				t.Errorf("%s lacks %s, which a passed request keeps", row.Name, name)
			}
		}
	}
}

// Most requests need no edit for their provider, and are not copied.
func BenchmarkVariation(b *testing.B) {
	body := []byte(`{"model":"m","messages":[{"role":"user","content":"Hello"}],"max_tokens":5}`)
	v := provider.Variations(provider.Providers())["deepseek"]
	var r splice.Request
	if err := splice.Scan(body, &r); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		var plan splice.Plan
		v.Plan(&r, &plan)
		if edits := r.Edits(nil, &plan); len(edits) > 0 {
			b.Fatal("it is edited")
		}
	}
}

// The parameters of a deployment of Azure depend on the version of its API.
func TestVariationOfAVersion(t *testing.T) {
	t.Parallel()
	general := provider.Variations(provider.Providers())
	for version, old := range map[string]bool{"": false, "v1": false, "2024-02-01": true, "2024-10-21": false, "preview": false} {
		p, _ := byName("azure")
		if v := p.VariationOf(general[p.Name], cloud.Settings(nil).With(cloud.AzureAPIVersion, version)); (v != nil && v.OldLimit) != old {
			t.Errorf("the variation of version %q is %+v", version, v)
		}
	}
	p, _ := byName("groq")
	if v := p.VariationOf(general[p.Name], nil); v == nil || len(v.Lacks) == 0 {
		t.Errorf("the variation of groq is %+v", v)
	}
}
