package catalog_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/price"
	"github.com/modelgateway/modelgateway/cluster/usage"
	"github.com/modelgateway/modelgateway/cluster/vault"
)

func providers() catalog.Providers {
	return catalog.Providers{
		"openai":    {DefaultBase: "https://api.openai.com/v1", NeedsKey: true},
		"anthropic": {DefaultBase: "https://api.anthropic.com", NeedsKey: true},
		"vllm":      {NeedsBase: true},
	}
}

// deploy is a deployment that lacks nothing.
func deploy(did, name, model string) catalog.DeploymentSpec {
	return catalog.DeploymentSpec{ID: did, ModelName: name, Model: model, APIBase: "http://127.0.0.1:8000/v1", APIKey: vault.NewSecret("sk-provider")}
}

func build(tb testing.TB, router catalog.RouterSpec, ds ...catalog.DeploymentSpec) *catalog.Catalog {
	tb.Helper()
	c, err := catalog.New(catalog.Spec{Deployments: ds, Router: router}, providers(), nil)
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

// problems returns the params and codes of a refused specification.
func problems(tb testing.TB, spec catalog.Spec) []string {
	tb.Helper()
	c, err := catalog.New(spec, providers(), nil)
	if (c == nil) == (err == nil) {
		tb.Fatalf("catalogue %v and error %v: want one of the two", c, err)
	}
	var out []string
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range joined.Unwrap() {
			var f *fault.Error
			if !errors.As(e, &f) || f.Detail == "" || f.Kind != fault.Malformed {
				tb.Errorf("%v is not an error for the caller", e)
				continue
			}
			out = append(out, f.Param+" "+f.Code)
		}
	}
	return out
}

func TestNewReportsEveryProblem(t *testing.T) {
	t.Parallel()
	with := func(change func(*catalog.DeploymentSpec)) catalog.Spec {
		d := deploy("d", "m", "openai/gpt-4o")
		change(&d)
		return catalog.Spec{Deployments: []catalog.DeploymentSpec{d}}
	}
	router := func(r catalog.RouterSpec) catalog.Spec {
		return catalog.Spec{Deployments: []catalog.DeploymentSpec{deploy("1", "a", "openai/x"), deploy("2", "b", "openai/y"), deploy("3", "c", "vllm/z")}, Router: r}
	}
	negative, huge := -1, 1000
	long := time.Hour * 1000
	for _, test := range []struct {
		name string
		spec catalog.Spec
		want []string
	}{
		{"nothing at all is fine", catalog.Spec{}, nil},
		{"complete", with(func(*catalog.DeploymentSpec) {}), nil},
		{"all of one entry", catalog.Spec{Deployments: []catalog.DeploymentSpec{deploy("d", "m", "openai/x"), {ID: "d", Model: "nobody/x", Weight: -1}}}, []string{
			"model_list[1].model_name missing_required_parameter",
			"model_list[1].gateway_params.model unknown_provider",
			"model_list[1].gateway_params.weight invalid_value",
			"model_list[1].model_info.id duplicate_id",
		}},
		{"no model", with(func(d *catalog.DeploymentSpec) { d.Model = "" }), []string{"model_list[0].gateway_params.model missing_required_parameter"}},
		{"no provider", with(func(d *catalog.DeploymentSpec) { d.Model = "openai" }), []string{"model_list[0].gateway_params.model invalid_value"}},
		{"path in model", with(func(d *catalog.DeploymentSpec) { d.Model = "openai/../x" }), []string{"model_list[0].gateway_params.model invalid_value"}},
		{"query in model", with(func(d *catalog.DeploymentSpec) { d.Model = "openai/x?y" }), []string{"model_list[0].gateway_params.model invalid_value"}},
		{"control in name", with(func(d *catalog.DeploymentSpec) { d.ModelName = "a\nb" }), []string{"model_list[0].model_name invalid_value"}},
		{"two stars", with(func(d *catalog.DeploymentSpec) { d.ModelName = "*/*" }), []string{"model_list[0].model_name invalid_value"}},
		{"star for nothing", with(func(d *catalog.DeploymentSpec) { d.Model = "openai/*" }), []string{"model_list[0].gateway_params.model invalid_value"}},
		{"no key", with(func(d *catalog.DeploymentSpec) { d.APIKey = vault.Secret{} }), []string{"model_list[0].gateway_params.api_key missing_required_parameter"}},
		{"no base", with(func(d *catalog.DeploymentSpec) { d.Model, d.APIBase = "vllm/x", "" }), []string{"model_list[0].gateway_params.api_base missing_required_parameter"}},
		{"bad base", with(func(d *catalog.DeploymentSpec) { d.APIBase = "http://u:p@h" }), []string{"model_list[0].gateway_params.api_base invalid_api_base"}},
		{"id for a header", with(func(d *catalog.DeploymentSpec) { d.ID = "a\r\nb" }), []string{"model_list[0].model_info.id invalid_value"}},
		{"absurd numbers", with(func(d *catalog.DeploymentSpec) { d.RPM, d.Timeout, d.MaxTokens = 1<<62, 1<<62, -3 }), []string{
			"model_list[0].gateway_params.rpm invalid_value", "model_list[0].gateway_params.timeout invalid_value", "model_list[0].model_info.max_tokens invalid_value",
		}},
		{"prices", with(func(d *catalog.DeploymentSpec) {
			d.Prices = map[string]string{"input_cost_per_tokn": "1", "input_cost_per_token": "-1", "output_cost_per_token": "cheap", "output_cost_per_image": "1e-30", "input_cost_per_second": "2000"}
		}), []string{
			"model_list[0].gateway_params.input_cost_per_second invalid_value", "model_list[0].gateway_params.input_cost_per_token invalid_value",
			"model_list[0].gateway_params.input_cost_per_tokn invalid_value", "model_list[0].gateway_params.output_cost_per_image invalid_value",
			"model_list[0].gateway_params.output_cost_per_token invalid_value",
		}},
		{"headers", with(func(d *catalog.DeploymentSpec) {
			d.ExtraHeaders = map[string]vault.Secret{"Host": vault.NewSecret("x"), "a b": vault.NewSecret("x"), "x-a": vault.NewSecret("1\r\n2"), "x-envoy-y": vault.NewSecret("1"), "ok": vault.NewSecret("1")}
		}), []string{
			"model_list[0].gateway_params.extra_headers.Host invalid_value", "model_list[0].gateway_params.extra_headers invalid_value",
			"model_list[0].gateway_params.extra_headers.x-a invalid_value", "model_list[0].gateway_params.extra_headers.x-envoy-y invalid_value",
		}},
		{"router", router(catalog.RouterSpec{Strategy: new("latency-based-routing"), NumRetries: &negative, MaxFallbacks: &huge, Timeout: &long, RetryOn: []string{"5xx", "sometimes"}}), []string{
			"router_settings.routing_strategy unknown_strategy", "router_settings.num_retries invalid_value", "router_settings.timeout invalid_value",
			"router_settings.max_fallbacks invalid_value", "router_settings.retry_on invalid_value",
		}},
		{"aliases", router(catalog.RouterSpec{ModelGroupAlias: map[string]string{"x": "x", "y": "nobody", "z": "a"}}), []string{
			"router_settings.model_group_alias.x invalid_value", "router_settings.model_group_alias.y unknown_model",
		}},
		{"fallback to itself", router(catalog.RouterSpec{Fallbacks: []map[string][]string{{"a": {"b", "a"}}}}), []string{"router_settings.fallbacks[0].a fallback_cycle"}},
		{"fallbacks in a circle", router(catalog.RouterSpec{Fallbacks: []map[string][]string{{"a": {"b"}}, {"b": {"c"}}, {"c": {"a"}}}}), []string{"router_settings.fallbacks[2].c fallback_cycle"}},
		{"circle through an alias", router(catalog.RouterSpec{ModelGroupAlias: map[string]string{"z": "a"}, Fallbacks: []map[string][]string{{"a": {"b"}, "b": {"z"}}}}), []string{"router_settings.fallbacks[0].b fallback_cycle"}},
		{"unknown names", router(catalog.RouterSpec{Fallbacks: []map[string][]string{{"nobody": {"a"}}, {"a": {"b", "nothing"}}}, DefaultFallbacks: []string{"zz"}}), []string{
			"router_settings.default_fallbacks[0] unknown_model", "router_settings.fallbacks[0].nobody unknown_model", "router_settings.fallbacks[1].a[1] unknown_model",
		}},
		{"overlong list", router(catalog.RouterSpec{Fallbacks: []map[string][]string{{"a": slices.Repeat([]string{"b"}, 1000)}}}), []string{"router_settings.fallbacks[0].a too_long"}},
		{"two lists for one", router(catalog.RouterSpec{ContextWindowFallbacks: []map[string][]string{{"a": {"b"}}, {"a": {"c"}}}}), []string{"router_settings.context_window_fallbacks[1].a duplicate_id"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, problems(t, test.spec)); diff != "" {
				t.Errorf("problems (-want +got)\n%s", diff)
			}
		})
	}
}

func TestErrorsHoldNoSecrets(t *testing.T) {
	t.Parallel()
	d := deploy("d", "m", "openai/gpt-4o")
	d.APIBase = "https://hunter2:hunter2@host"
	d.APIKey = vault.NewSecret("hunter2")
	d.ExtraHeaders = map[string]vault.Secret{"x": vault.NewSecret("hunter2\n")}
	_, err := catalog.New(catalog.Spec{Deployments: []catalog.DeploymentSpec{d}}, providers(), nil)
	if err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("error is %v", err)
	}
}

func TestDerivedIDs(t *testing.T) {
	t.Parallel()
	spec := func(key string) []catalog.DeploymentSpec {
		d := deploy("", "m", "openai/gpt-4o")
		d.APIKey = vault.NewSecret(key)
		return []catalog.DeploymentSpec{deploy("", "other", "openai/gpt-4o"), d, d}
	}
	ids := func(ds []catalog.DeploymentSpec) []id.Deployment {
		g, _ := build(t, catalog.RouterSpec{}, ds...).Group("m")
		out := []id.Deployment{}
		for _, d := range g.Deployments {
			out = append(out, d.ID)
		}
		return out
	}
	first := ids(spec("one"))
	if len(first) != 2 || first[0] == first[1] {
		t.Fatalf("ids %v, want two different ones", first)
	}
	if diff := cmp.Diff(first, ids(spec("two"))); diff != "" {
		t.Errorf("another key makes other ids:\n%s", diff)
	}
	if diff := cmp.Diff(first, ids(spec("one")[1:])); diff != "" {
		t.Errorf("another place in the list makes other ids:\n%s", diff)
	}
}

func TestGroups(t *testing.T) {
	t.Parallel()
	long := deploy("long", "openai/gpt-4*", "openai/gpt-4*")
	fixed := deploy("fixed", "openai/*", "vllm/llama")
	c := build(
		t, catalog.RouterSpec{ModelGroupAlias: map[string]string{"fast": "plain", "wide": "openai/o3"}},
		deploy("p1", "plain", "openai/gpt-4o"), deploy("p2", "plain", "vllm/llama"),
		deploy("wild", "openai/*", "openai/*"), fixed, long, deploy("any", "*", "openai/*"),
	)
	for _, test := range []struct {
		ask, group string
		want       []string
	}{
		{"plain", "plain", []string{"p1 openai/gpt-4o", "p2 vllm/llama"}},
		{"fast", "plain", []string{"p1 openai/gpt-4o", "p2 vllm/llama"}},
		{"openai/o3", "openai/*", []string{"wild openai/o3", "fixed vllm/llama"}},
		{"wide", "openai/*", []string{"wild openai/o3", "fixed vllm/llama"}},
		{"openai/gpt-4o", "openai/gpt-4*", []string{"long openai/gpt-4o"}},
		{"gpt-5", "*", []string{"any openai/gpt-5"}},
		{"anthropic/claude", "*", []string{"any openai/anthropic/claude"}},
		{"", "", nil},
		{"../x", "", nil},
		{"a\nb", "", nil},
		{"a?b", "", nil},
		{"openai/x/../../y", "", nil},
		{"*", "", nil},
		{strings.Repeat("x", 10_000), "", nil},
	} {
		g, ok := c.Group(id.ModelName(test.ask))
		var got []string
		for _, d := range g.Deployments {
			got = append(got, string(d.ID)+" "+d.Identifier())
		}
		if diff := cmp.Diff(test.want, got); diff != "" || ok != (test.want != nil) || string(g.Name) != test.group {
			t.Errorf("%.40q: group %q, want %q (-want +got)\n%s", test.ask, g.Name, test.group, diff)
		}
	}
	for name, want := range map[id.ModelName]id.ModelName{"fast": "plain", "wide": "openai/o3", "plain": "plain", "openai/o3": "openai/o3", "nobody's": "nobody's"} {
		if got := c.Alias(name); got != want {
			t.Errorf("%s stands for %s, want %s", name, got, want)
		}
	}
	if diff := cmp.Diff([]id.ModelName{"fast", "plain", "wide"}, c.Models()); diff != "" {
		t.Errorf("models (-want +got)\n%s", diff)
	}
	g, _ := c.Group("openai/gpt-4o")
	if d := g.Deployments[0]; d.Prices.Cost(usage.Tokens{Input: 1000}, price.Standard) != 2_500_000_000 || d.MaxInputTokens != 128000 {
		t.Errorf("behind a wildcard 1000 tokens cost %v and the window is %d", d.Prices.Cost(usage.Tokens{Input: 1000}, price.Standard), d.MaxInputTokens)
	}
}

func TestFallbacks(t *testing.T) {
	t.Parallel()
	three := 3
	c := build(
		t, catalog.RouterSpec{
			MaxFallbacks: &three,
			Fallbacks: []map[string][]string{
				{"a": {"b", "vllm/z", "b"}},
				{"openai/y": {"id-c"}, "id-d": {"a"}, "openai/*": {"openai/gpt-4o"}},
				{"*": {"e"}},
			},
			DefaultFallbacks:       []string{"b", "a"},
			ContextWindowFallbacks: []map[string][]string{{"a": {"c"}}},
		},
		deploy("id-a", "a", "openai/x"), deploy("id-b", "b", "openai/y"), deploy("id-c", "c", "vllm/z"),
		deploy("id-c2", "c", "vllm/z"), deploy("id-d", "d", "openai/q"), deploy("id-e", "e", "openai/r"), deploy("w", "openai/*", "openai/*"),
	)
	for _, test := range []struct {
		name  string
		class catalog.FallbackClass
		ask   string
		want  []string
	}{
		{"own entry, then *, cut to the most allowed", catalog.GeneralFallbacks, "a", []string{"b: id-b", "vllm/z: id-c id-c2", "e: id-e"}},
		{"by provider/model, then *, then the defaults without itself", catalog.GeneralFallbacks, "b", []string{"id-c: id-c", "e: id-e", "a: id-a"}},
		{"by deployment id", catalog.GeneralFallbacks, "d", []string{"a: id-a", "e: id-e", "b: id-b"}},
		{"only the defaults", catalog.GeneralFallbacks, "c", []string{"e: id-e", "b: id-b", "a: id-a"}},
		{"the defaults without itself", catalog.GeneralFallbacks, "e", []string{"b: id-b", "a: id-a"}},
		{"of a wildcard", catalog.GeneralFallbacks, "openai/gpt-5", []string{"openai/gpt-4o: w", "e: id-e", "b: id-b"}},
		{"of a wildcard, without itself", catalog.GeneralFallbacks, "openai/gpt-4o", []string{"e: id-e", "b: id-b", "a: id-a"}},
		{"of another class", catalog.ContextWindowFallbacks, "a", []string{"c: id-c id-c2"}},
		{"none of another class", catalog.ContentPolicyFallbacks, "a", nil},
	} {
		g, ok := c.Group(id.ModelName(test.ask))
		if !ok {
			t.Fatalf("no group %s", test.ask)
		}
		var got []string
		for _, target := range c.Fallbacks(test.class, g, g.Deployments[0]) {
			s := target.Name + ":"
			for _, d := range target.Deployments {
				s += " " + string(d.ID)
			}
			got = append(got, s)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: fallbacks of %s (-want +got)\n%s", test.name, test.ask, diff)
		}
	}
	g, _ := c.Group("b")
	if got := c.Fallbacks(catalog.GeneralFallbacks, g, nil); len(got) != 2 || got[0].Name != "e" {
		t.Errorf("without a failed deployment: %v", got)
	}
}

func TestSettings(t *testing.T) {
	t.Parallel()
	defaults := catalog.RouterSettings{
		Strategy: catalog.SimpleShuffle, NumRetries: 2, RetryAfter: 80 * time.Millisecond, Timeout: 600 * time.Second, StreamTimeout: 600 * time.Second,
		CooldownTime: 5 * time.Second, MaxFallbacks: 5, ModelGroupAlias: map[id.ModelName]id.ModelName{},
		RetryOn: catalog.RetryOn5xx | catalog.RetryOn429 | catalog.RetryOnTimeout | catalog.RetryOnConnection,
	}
	if diff := cmp.Diff(defaults, build(t, catalog.RouterSpec{}).Settings()); diff != "" {
		t.Errorf("defaults (-want +got)\n%s", diff)
	}
	thirty, sixty, zero := 30*time.Second, 60*time.Second, 0
	got := build(t, catalog.RouterSpec{Strategy: new("Least-Busy"), Timeout: &thirty, CooldownTime: &sixty, NumRetries: &zero, RetryOn: []string{"content_filter", "stream-error"}}).Settings()
	want := defaults
	want.Strategy, want.Timeout, want.StreamTimeout, want.CooldownTime, want.NumRetries = catalog.LeastBusy, thirty, thirty, sixty, 0
	want.RetryOn = catalog.RetryOn429 | catalog.RetryOnConnection | catalog.RetryOnContentFilter | catalog.RetryOnStreamError
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("given settings (-want +got)\n%s", diff)
	}
	if got.RetryOn.Has(catalog.RetryOn5xx) || !got.RetryOn.Has(catalog.RetryOn429) {
		t.Error("a list without 5xx has no 5xx, and always 429")
	}
}

func TestTimeouts(t *testing.T) {
	t.Parallel()
	general, stream := 30*time.Second, 90*time.Second
	for _, test := range []struct {
		name                 string
		router               catalog.RouterSpec
		timeout, stream      time.Duration
		wantTotal, wantFirst time.Duration
	}{
		{"the router's", catalog.RouterSpec{Timeout: &general, StreamTimeout: &stream}, 0, 0, general, stream},
		{"one for both", catalog.RouterSpec{Timeout: &general}, 0, 0, general, general},
		{"own for both", catalog.RouterSpec{Timeout: &general}, 7, 0, 7, 7},
		{"a stream's setting goes first", catalog.RouterSpec{StreamTimeout: &stream}, 7, 0, 7, stream},
		{"own of each", catalog.RouterSpec{StreamTimeout: &stream}, 7, 8, 7, 8},
	} {
		d := deploy("d", "m", "openai/x")
		d.Timeout, d.StreamTimeout = test.timeout, test.stream
		got, _ := build(t, test.router, d).Deployment("d")
		if got.Timeout != test.wantTotal || got.StreamTimeout != test.wantFirst {
			t.Errorf("%s: %v and %v for streams, want %v and %v", test.name, got.Timeout, got.StreamTimeout, test.wantTotal, test.wantFirst)
		}
	}
}

// TestManyDeploymentsAreCheap: ten thousand deployments on twenty endpoints share what they can.
func TestManyDeploymentsAreCheap(t *testing.T) {
	t.Parallel()
	c := build(t, catalog.RouterSpec{}, many(10_000)...)
	if n := len(c.Endpoints()); n != 20 {
		t.Errorf("%d endpoints, want 20", n)
	}
	if !slices.IsSortedFunc(c.Endpoints(), func(a, b catalog.Endpoint) int { return strings.Compare(string(a.ID), string(b.ID)) }) {
		t.Error("endpoints are not sorted")
	}
	prices := map[*price.Prices]bool{}
	for _, d := range c.Deployments() {
		prices[d.Prices] = true
	}
	if len(prices) != 1 {
		t.Errorf("%d different prices of one model, want 1", len(prices))
	}
}

func many(n int) []catalog.DeploymentSpec {
	ds := make([]catalog.DeploymentSpec, n)
	for i := range ds {
		ds[i] = deploy("", fmt.Sprintf("m%d", i%500), "openai/gpt-4o")
		ds[i].APIBase = fmt.Sprintf("https://host%d.example/v1", i%20)
	}
	return ds
}

func BenchmarkNew10k(b *testing.B) {
	spec, list := catalog.Spec{Deployments: many(10_000)}, price.NewList()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := catalog.New(spec, providers(), list); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkGroup(b *testing.B) {
	c := build(b, catalog.RouterSpec{}, append(many(10_000), deploy("w", "openai/*", "openai/*"))...)
	for _, name := range []id.ModelName{"m7", "openai/gpt-4o"} {
		b.Run(string(name), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, ok := c.Group(name); !ok {
					b.Fatal("no group")
				}
			}
		})
	}
}

// TestOrganization: an organization goes out as a header, unless that is written out.
func TestOrganization(t *testing.T) {
	t.Parallel()
	own := map[string]vault.Secret{"OpenAI-Organization": vault.NewSecret("written")}
	for want, s := range map[string]catalog.DeploymentSpec{
		"org-1":   {Organization: "org-1"},
		"written": {Organization: "org-1", ExtraHeaders: own},
		"":        {},
	} {
		s.ID, s.ModelName, s.Model, s.APIKey = "d", "m", "openai/x", vault.NewSecret("k")
		got := ""
		for _, h := range build(t, catalog.RouterSpec{}, s).Deployments()[0].ExtraHeaders {
			got += h.Value.Reveal()
		}
		if got != want {
			t.Errorf("the header is %q, want %q", got, want)
		}
	}
	if got := problems(t, catalog.Spec{Deployments: []catalog.DeploymentSpec{{ID: "d", ModelName: "m", Model: "vllm/x", APIBase: "http://h", Organization: "a b"}}}); !slices.Equal(got, []string{"model_list[0].gateway_params.organization invalid_value"}) {
		t.Error(got)
	}
}
