package catalog_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/price"
	"github.com/modelgateway/modelgateway/cluster/usage"
	"github.com/modelgateway/modelgateway/cluster/vault"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// describe is what a catalogue answers to everything that it can be asked with
// the names of names.
func describe(c *catalog.Catalog, names []string) []string {
	out := []string{fmt.Sprint("models ", c.Models()), fmt.Sprint("endpoints ", c.Endpoints())}
	ids := func(ds []*catalog.Deployment) (s string) {
		for _, d := range ds {
			s += fmt.Sprint(" ", d.ID, "=", d.Identifier(), "/", d.MaxInputTokens)
		}
		return s
	}
	for _, d := range c.Deployments() {
		stored, _ := c.Stored(d.ID)
		out = append(out, fmt.Sprint("deployment ", d.ID, " ", d.Name, " ", d.Identifier(), " ", d.Endpoint.ID, d.BasePath, " ",
			d.Timeout, d.StreamTimeout, d.MaxInputTokens, d.Static, d.Prices.List(), stored.Spec.Model, stored.Static, stored.Revision))
	}
	for _, name := range names {
		g, ok := c.Group(id.ModelName(name))
		out = append(out, fmt.Sprint("group ", name, " ", ok, g.Name, ids(g.Deployments)))
		if !ok {
			continue
		}
		for _, class := range []catalog.FallbackClass{catalog.GeneralFallbacks, catalog.ContextWindowFallbacks} {
			for _, target := range c.Fallbacks(class, g, g.Deployments[0]) {
				out = append(out, fmt.Sprint("fallback ", class, " of ", name, " ", target.Name, ids(target.Deployments)))
			}
		}
	}
	return out
}

// The universe of the property test.
var (
	changeNames  = []string{"a", "b", "c", "o/*", "o/x*", "*"}
	changeModels = []string{"openai/gpt-4o", "openai/x", "vllm/z"}
	changeAsks   = []string{"a", "b", "c", "alias", "gone", "o/1", "o/x1", "other", "openai/x"}
)

func changeRouter() catalog.RouterSpec {
	return catalog.RouterSpec{
		ModelGroupAlias: map[string]string{"alias": "fixed"},
		Fallbacks:       []map[string][]string{{"fixed": {"second", "vllm/z"}}, {"second": {"openai/x"}}},
	}
}

// changePatch names much that is there only now and then.
func changePatch() *clusterv1.RouterSettings {
	r := catalog.RouterSpec{
		ModelGroupAlias: map[string]string{"alias": "a", "gone": "o/2"},
		Fallbacks: []map[string][]string{
			{"a": {"b", "id-3", "alias"}}, {"b": {"openai/gpt-4o", "c"}}, {"id-2": {"fixed"}}, {"o/*": {"a"}}, {"vllm/z": {"second"}},
		},
		DefaultFallbacks:       []string{"c", "nobody", "second"},
		ContextWindowFallbacks: []map[string][]string{{"*": {"fixed", "o/7"}}},
	}.Record()
	r.Stamp = &clusterv1.Stamp{Revision: 7}
	return r
}

func drawStored(t *rapid.T) catalog.Stored {
	s := deploy(
		fmt.Sprintf("id-%d", rapid.IntRange(0, 6).Draw(t, "id")),
		rapid.SampledFrom(changeNames).Draw(t, "name"), rapid.SampledFrom(changeModels).Draw(t, "model"),
	)
	if strings.Contains(s.ModelName, "*") && rapid.Bool().Draw(t, "star") {
		s.Model = "openai/*"
	}
	s.APIBase = fmt.Sprintf("http://h%d/v1", rapid.IntRange(0, 2).Draw(t, "host"))
	s.Timeout = time.Duration(rapid.IntRange(0, 2).Draw(t, "timeout"))
	if rapid.Bool().Draw(t, "priced") {
		s.Prices = map[string]string{"input_cost_per_token": "0.5"}
	}
	return catalog.Stored{Spec: s, Revision: rapid.Uint64Range(1, 9).Draw(t, "revision")}
}

// TestChangesComeToTheSame: a catalogue that was changed step by step answers as
// one that is made of what is in it at once, whatever the steps were, and is not
// touched by the changes that others make of it.
func TestChangesComeToTheSame(t *testing.T) {
	t.Parallel()
	file := catalog.Spec{Router: changeRouter(), Deployments: []catalog.DeploymentSpec{
		deploy("f1", "fixed", "openai/gpt-4o"), deploy("f0", "second", "vllm/z"), deploy("f2", "second", "openai/x"),
	}}
	list := price.NewList()
	rapid.Check(t, func(t *rapid.T) {
		first, err := catalog.New(file, providers(), list)
		if err != nil {
			t.Fatal(err)
		}
		type version struct {
			catalog *catalog.Catalog
			stored  map[string]catalog.Stored
			patch   *clusterv1.RouterSettings
		}
		versions := []version{{first, map[string]catalog.Stored{}, nil}}
		for range rapid.IntRange(1, 12).Draw(t, "changes") {
			from := versions[rapid.IntRange(max(0, len(versions)-3), len(versions)-1).Draw(t, "from")]
			next := version{from.catalog, maps.Clone(from.stored), from.patch}
			switch rapid.IntRange(0, 5).Draw(t, "change") {
			case 0, 1, 2:
				s := drawStored(t)
				if next.catalog, err = from.catalog.WithStored(s); err != nil {
					t.Fatal(err)
				}
				next.stored[s.Spec.ID] = s
			case 3, 4:
				d := fmt.Sprintf("id-%d", rapid.IntRange(0, 6).Draw(t, "id"))
				next.catalog = from.catalog.Without(id.Deployment(d))
				delete(next.stored, d)
			case 5:
				next.patch = changePatch()
				next.patch.TimeoutNanos = new(int64(rapid.IntRange(1, 2).Draw(t, "timeout")) * int64(time.Second))
				next.catalog, _ = from.catalog.Adopt(next.patch)
			}
			versions = append(versions, next)
		}
		for i, v := range versions {
			want, errs := first.WithAll(slices.Collect(maps.Values(v.stored)))
			if len(errs) > 0 {
				t.Fatal(errs)
			}
			want, _ = want.Adopt(v.patch)
			if diff := cmp.Diff(describe(want, changeAsks), describe(v.catalog, changeAsks)); diff != "" {
				t.Fatalf("version %d (-at once +step by step)\n%s", i, diff)
			}
			if !want.SameEndpoints(v.catalog) || !want.SameSettings(v.catalog) || v.catalog.Len() != len(v.stored)+3 {
				t.Fatalf("version %d: endpoints or settings differ, or %d deployments are not %d", i, v.catalog.Len(), len(v.stored)+3)
			}
		}
	})
}

func TestWithReportsEveryProblem(t *testing.T) {
	t.Parallel()
	c := build(t, catalog.RouterSpec{}, deploy("static", "m", "openai/x"))
	for _, test := range []struct {
		name string
		spec catalog.DeploymentSpec
		want []string
	}{
		{"nothing", catalog.DeploymentSpec{}, []string{
			"model_name missing_required_parameter", "gateway_params.model missing_required_parameter", "model_info.id missing_required_parameter",
		}},
		{
			"much",
			catalog.DeploymentSpec{ID: "a b", ModelName: "m", Model: "openai/x", APIBase: "ftp://h", RPM: -1, MaxTokens: -1, Prices: map[string]string{"input_cost_per_token": "x"}, ExtraHeaders: map[string]vault.Secret{"host": {}}},
			[]string{
				"gateway_params.rpm invalid_value", "model_info.max_tokens invalid_value", "gateway_params.api_key missing_required_parameter", "gateway_params.api_base invalid_api_base",
				"gateway_params.extra_headers.host invalid_value", "gateway_params.input_cost_per_token invalid_value", "model_info.id invalid_value",
			},
		},
		{"provider", deploy("d", "m", "nobody/x"), []string{"gateway_params.model unknown_provider"}},
		{"of the file", deploy("static", "m", "openai/x"), []string{"model_info.id already_exists"}},
	} {
		got, err := c.With(test.spec)
		if got != nil || err == nil {
			t.Errorf("%s: accepted", test.name)
			continue
		}
		list := []error{err}
		if joined, ok := err.(interface{ Unwrap() []error }); ok {
			list = joined.Unwrap()
		}
		var params []string
		for _, e := range list {
			var f *fault.Error
			if !errors.As(e, &f) || f.Detail == "" || (f.Kind == fault.Exists) != (f.Code == "already_exists") {
				t.Errorf("%s: %v is not an error for the caller", test.name, e)
				continue
			}
			params = append(params, f.Param+" "+f.Code)
		}
		if diff := cmp.Diff(test.want, params); diff != "" {
			t.Errorf("%s: problems (-want +got)\n%s", test.name, diff)
		}
	}
	got, errs := c.WithAll([]catalog.Stored{{Spec: deploy("z", "m", "nobody/x")}, {Spec: deploy("y", "m", "openai/x")}, {Spec: deploy("static", "n", "openai/x")}})
	if len(errs) != 2 || !strings.Contains(errs[0].Error(), `"static"`) || fault.KindOf(errs[0]) != fault.Exists || !strings.Contains(errs[1].Error(), `"z"`) {
		t.Errorf("errors of many are %v", errs)
	}
	if g, _ := got.Group("m"); len(g.Deployments) != 2 || got.Len() != 2 {
		t.Errorf("of many sound and unsound ones, %v are there", got.Deployments())
	}
}

func TestStored(t *testing.T) {
	t.Parallel()
	c := build(t, catalog.RouterSpec{}, deploy("", "m", "openai/gpt-4o"))
	static := c.Deployments()[0]
	if s, ok := c.Stored(static.ID); !ok || !static.Static || !s.Static || s.Spec.ID != string(static.ID) || s.Spec.MaxInputTokens != 0 || s.Revision != 0 {
		t.Errorf("the file's is %v, %+v", static.Static, s)
	}
	want := catalog.Stored{Spec: deploy("d", "m", "openai/gpt-4o"), CreatedAt: time.Unix(5, 0), CreatedBy: "admin", UpdatedAt: time.Unix(6, 0), Revision: 7}
	c, err := c.WithStored(want)
	if err != nil {
		t.Fatal(err)
	}
	got, _ := c.Stored("d")
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(vault.Secret{})); diff != "" {
		t.Errorf("stored (-want +got)\n%s", diff)
	}
	if d, _ := c.Deployment("d"); d.Static || d.MaxInputTokens == 0 {
		t.Errorf("the state's is %+v", d)
	}
	if g, _ := c.Group("m"); len(g.Deployments) != 2 || g.Deployments[0] != static {
		t.Errorf("it did not join the file's group behind the file's: %v", g.Deployments)
	}
	if c.Without(static.ID) != c || c.Without("nobody") != c {
		t.Error("what is not of the state was removed")
	}
	if _, ok := c.Stored("nobody"); ok {
		t.Error("an unknown deployment was stored")
	}
}

// TestNamesComeAndGo: what an alias or a fallback means is found out when it is used.
func TestNamesComeAndGo(t *testing.T) {
	t.Parallel()
	c := build(t, catalog.RouterSpec{}, deploy("f", "fixed", "openai/x"))
	c, err := c.With(deploy("d", "dynamic", "vllm/z"))
	if err != nil {
		t.Fatal(err)
	}
	circle := catalog.RouterSpec{Fallbacks: []map[string][]string{{"f": {"d", "f"}}}}
	if _, err := c.WithRouter(circle); fault.From(err).Code != "fallback_cycle" {
		t.Fatalf("a deployment that falls back to itself: %v", err)
	}
	with, err := c.WithRouter(catalog.RouterSpec{
		ModelGroupAlias: map[string]string{"fast": "dynamic", "fixed": "dynamic"},
		Fallbacks:       []map[string][]string{{"f": {"fast", "d", "vllm/z"}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	without := with.Without("d")
	ask := func(c *catalog.Catalog, name string) string {
		g, ok := c.Group(id.ModelName(name))
		if !ok {
			return ""
		}
		return fmt.Sprintf("%s→%s→%s", g.Asked, g.Name, g.Deployments[0].ID)
	}
	for _, test := range []struct{ name, before, after string }{
		{"fast", "fast→dynamic→d", ""},
		{"dynamic", "dynamic→dynamic→d", ""},
		{"fixed", "fixed→dynamic→d", "fixed→fixed→f"}, // the alias counts as long as it leads somewhere
	} {
		if got := ask(with, test.name); got != test.before {
			t.Errorf("%s is %q, want %q", test.name, got, test.before)
		}
		if got := ask(without, test.name); got != test.after {
			t.Errorf("afterwards %s is %q, want %q", test.name, got, test.after)
		}
	}
	if diff := cmp.Diff([]id.ModelName{"dynamic", "fast", "fixed"}, with.Models()); diff != "" {
		t.Errorf("models (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff([]id.ModelName{"fixed"}, without.Models()); diff != "" {
		t.Errorf("models afterwards (-want +got)\n%s", diff)
	}
	f, _ := with.Deployment("f")
	fixed := catalog.Group{Asked: "fixed", Name: "fixed", Deployments: []*catalog.Deployment{f}}
	if got := with.Fallbacks(catalog.GeneralFallbacks, fixed, f); len(got) != 3 {
		t.Errorf("fallbacks are %v", got)
	}
	if got := without.Fallbacks(catalog.GeneralFallbacks, fixed, f); len(got) != 0 {
		t.Errorf("fallbacks afterwards are %v", got)
	}
	if again, err := without.With(deploy("d", "dynamic", "vllm/z")); err != nil || len(again.Fallbacks(catalog.GeneralFallbacks, fixed, f)) != 3 {
		t.Errorf("what came back is no fallback again (%v)", err)
	}
}

func TestRouterOfTheState(t *testing.T) {
	t.Parallel()
	two := 2
	file := catalog.RouterSpec{NumRetries: &two, Fallbacks: []map[string][]string{{"a": {"b"}}}}
	c := build(t, file, deploy("1", "a", "openai/x"), deploy("2", "b", "openai/y"))
	if _, revision := c.Patch(); revision != 0 {
		t.Errorf("without settings of the state their revision is %d", revision)
	}
	record := catalog.RouterSpec{
		Strategy: new("telepathy"), AllowedFails: new(3), Timeout: new(time.Minute),
		DefaultFallbacks: []string{"nobody", "b"}, ModelGroupAlias: map[string]string{"x": "later"},
	}.Record()
	record.Stamp = &clusterv1.Stamp{Revision: 9}
	next, err := c.Adopt(record)
	if err == nil || !strings.Contains(err.Error(), "telepathy") || !strings.Contains(err.Error(), "nobody") || !strings.Contains(err.Error(), "later") {
		t.Errorf("the log does not say all that this node cannot use: %v", err)
	}
	s := next.Settings()
	if s.Strategy != catalog.SimpleShuffle || s.NumRetries != 2 || s.AllowedFails != 3 || s.Timeout != time.Minute {
		t.Errorf("settings are %+v", s)
	}
	if d, _ := next.Deployment("1"); d.Timeout != time.Minute || d.StreamTimeout != time.Minute {
		t.Errorf("the deployments' timeouts are %v and %v", d.Timeout, d.StreamTimeout)
	}
	if spec, revision := next.RouterSpec(); revision != 9 || *spec.NumRetries != 2 || *spec.Strategy != "telepathy" {
		t.Errorf("specification of revision %d: %+v", revision, spec)
	}
	if patch, revision := next.Patch(); revision != 9 || *patch.AllowedFails != 3 || patch.NumRetries != nil {
		t.Errorf("patch of revision %d: %+v", revision, patch)
	}
	if next.SameSettings(c) || !next.SameEndpoints(c) {
		t.Error("the settings are said to be the same, or the endpoints to differ")
	}
	if g, ok := next.Group("a"); !ok || len(next.Fallbacks(catalog.GeneralFallbacks, g, nil)) != 1 {
		t.Error("the fallbacks of the file and the usable one of the state do not come to b, once")
	}
	if _, ok := next.Group("x"); ok {
		t.Error("an alias of nobody is somebody")
	}
	later, err := next.With(deploy("3", "later", "openai/z"))
	if err != nil {
		t.Fatal(err)
	}
	if g, ok := later.Group("x"); !ok || g.Name != "later" {
		t.Error("an alias does not find who came later")
	}
	tried, err := next.WithRouter(catalog.RouterSpec{MaxFallbacks: &two})
	if err != nil {
		t.Fatal(err)
	}
	if patch, revision := tried.Patch(); revision != 9 || patch.AllowedFails == nil {
		t.Error("trying settings out changes what the state is said to set")
	}
	if again, err := tried.Adopt(nil); err != nil || !again.SameSettings(c) {
		t.Errorf("without settings of the state the file's are not in force again: %v", err)
	}
	if _, err := c.WithRouter(catalog.RouterSpec{DefaultFallbacks: []string{"nobody"}}); fault.From(err).Param != "router_settings.default_fallbacks[0]" {
		t.Errorf("an unknown name: %v", err)
	}
}

// TestCheckPatch: a change answers for what it sets and not for what was broken
// before.
func TestCheckPatch(t *testing.T) {
	t.Parallel()
	c := build(t, catalog.RouterSpec{DefaultFallbacks: []string{"b"}}, deploy("1", "a", "openai/x"), deploy("2", "b", "openai/y"))
	c, _ = c.Adopt(catalog.RouterSpec{
		Strategy: new("telepathy"), ModelGroupAlias: map[string]string{"x": "gone"}, Fallbacks: []map[string][]string{{"a": {"gone"}}},
	}.Record())
	for _, test := range []struct {
		name  string
		patch catalog.RouterSpec
		want  []string
	}{
		{"nothing", catalog.RouterSpec{}, nil},
		{"something else", catalog.RouterSpec{NumRetries: new(1)}, nil},
		{"mended", catalog.RouterSpec{Strategy: new("least_busy"), Fallbacks: []map[string][]string{}, ModelGroupAlias: map[string]string{"x": "a"}}, nil},
		{"broken by the change", catalog.RouterSpec{NumRetries: new(-1), ModelGroupAlias: map[string]string{"x": "gone", "y": "gone"}, DefaultFallbacks: []string{"b", "gone"}}, []string{
			"router_settings.num_retries", "router_settings.model_group_alias.y", "router_settings.default_fallbacks[1]",
		}},
		{"through the other's list", catalog.RouterSpec{Fallbacks: []map[string][]string{{"a": {"b"}}, {"b": {"a"}}}}, []string{"router_settings.fallbacks[1].b"}},
	} {
		var params []string
		if joined, ok := c.CheckPatch(test.patch).(interface{ Unwrap() []error }); ok {
			for _, err := range joined.Unwrap() {
				params = append(params, fault.From(err).Param)
			}
		}
		if diff := cmp.Diff(test.want, params); diff != "" {
			t.Errorf("%s: problems (-want +got)\n%s", test.name, diff)
		}
	}
}

func TestSameEndpoints(t *testing.T) {
	t.Parallel()
	c := build(t, catalog.RouterSpec{}, deploy("1", "a", "openai/x"))
	same, err := c.With(deploy("2", "b", "openai/y"))
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := deploy("3", "b", "openai/y")
	elsewhere.APIBase = "https://elsewhere.example/v1"
	other, err := same.With(elsewhere)
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		a, b *catalog.Catalog
		want bool
	}{
		"itself":         {c, c, true},
		"same upstream":  {c, same, true},
		"another":        {same, other, false},
		"another's gone": {same, other.Without("3"), true},
		"one is gone":    {other, other.Without("2"), true},
	} {
		if got := test.a.SameEndpoints(test.b); got != test.want || test.b.SameEndpoints(test.a) != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// spread is a catalogue of n deployments of the state, twenty a group.
func spread(tb testing.TB, n int) *catalog.Catalog {
	tb.Helper()
	list := make([]catalog.Stored, n)
	for i := range list {
		list[i].Spec = spreadOne(i)
	}
	c, errs := build(tb, catalog.RouterSpec{}).WithAll(list)
	if len(errs) > 0 || c.Len() != n {
		tb.Fatalf("%d deployments, errors %v", c.Len(), errs)
	}
	return c
}

func spreadOne(i int) catalog.DeploymentSpec {
	s := deploy(fmt.Sprintf("%032x", uint64(i)*0x9E3779B97F4A7C15), fmt.Sprintf("group-%d", i/20), fmt.Sprintf("openai/model-%d", i/20))
	s.APIBase = fmt.Sprintf("https://host%d.example/v1", i%20)
	return s
}

// TestChangeDoesNotGrow: a change of a catalogue a hundred times as large allocates
// at most twice as often.
func TestChangeDoesNotGrow(t *testing.T) {
	allocations := func(n int) float64 {
		c := spread(t, n)
		return testing.AllocsPerRun(50, func() {
			more, err := c.With(spreadOne(n))
			if err != nil || more.Without(id.Deployment(spreadOne(n/2).ID)).Len() != n {
				t.Fatal(err)
			}
		})
	}
	small, large := allocations(1_000), allocations(100_000)
	if large > 2*small {
		t.Errorf("%v allocations with 1,000 deployments and %v with 100,000", small, large)
	}
}

func TestReadsAllocateNothing(t *testing.T) {
	long := strings.Repeat("name-", 50)
	c, err := spread(t, 1_000).With(deploy(strings.Repeat("i", 100), long, "openai/gpt-4o"))
	if err != nil {
		t.Fatal(err)
	}
	c, err = c.WithRouter(catalog.RouterSpec{ModelGroupAlias: map[string]string{"alias": long}, Fallbacks: []map[string][]string{{"group-7": {"group-8", "openai/model-9", long}}}})
	if err != nil {
		t.Fatal(err)
	}
	last := id.Deployment(strings.Repeat("i", 100))
	if n := testing.AllocsPerRun(100, func() {
		g, ok := c.Group("group-7")
		if !ok || len(c.Fallbacks(catalog.GeneralFallbacks, g, g.Deployments[0])) != 3 {
			t.Fatal("no group, or no fallbacks")
		}
		if g, ok = c.Group("alias"); !ok || g.Name != id.ModelName(long) {
			t.Fatal("no alias")
		}
		if d, ok := c.Deployment(last); !ok || d.Prices.Cost(usage.Tokens{Input: 1}, price.Standard) == 0 {
			t.Fatal("no deployment, or no price")
		}
	}); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}

func BenchmarkCatalogChange10k(b *testing.B) {
	for name, spec := range map[string]func(int) catalog.DeploymentSpec{
		"groups of 20": spreadOne,
		"one group": func(i int) catalog.DeploymentSpec {
			s := spreadOne(i)
			s.ModelName, s.Model = "all", "openai/gpt-4o"
			return s
		},
	} {
		b.Run(name, func(b *testing.B) {
			list := make([]catalog.Stored, 10_000)
			for i := range list {
				list[i].Spec = spec(i)
			}
			c, errs := build(b, catalog.RouterSpec{}).WithAll(list)
			if len(errs) > 0 {
				b.Fatal(errs)
			}
			b.ReportAllocs()
			for i := 10_000; b.Loop(); i++ {
				s := spec(i)
				more, err := c.With(s)
				if err != nil {
					b.Fatal(err)
				}
				c = more.Without(id.Deployment(s.ID))
			}
		})
	}
}
