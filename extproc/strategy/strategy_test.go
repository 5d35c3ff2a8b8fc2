package strategy_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/extproc/strategy"
)

func start() time.Time { return time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC) }

func named(ids ...string) []*catalog.Deployment {
	ds := make([]*catalog.Deployment, len(ids))
	for i, name := range ids {
		ds[i] = &catalog.Deployment{ID: id.Deployment(name)}
	}
	return ds
}

// TestPlanWithFullDeployments: a full deployment does not begin a plan, and takes
// no fallback away.
func TestPlanWithFullDeployments(t *testing.T) {
	t.Parallel()
	one := func(members ...string) []catalog.Target {
		return []catalog.Target{{Name: "f", Deployments: named(members...)}}
	}
	for _, test := range []struct {
		name       string
		group      []string
		fallbacks  []catalog.Target
		full       []string
		inCooldown []string
		want       string
	}{
		{name: "left out", group: []string{"a", "b"}, full: []string{"a"}, want: "bb"},
		{name: "alone", group: []string{"a"}, full: []string{"a"}},
		{name: "all", group: []string{"a", "b"}, full: []string{"a", "b"}},
		{name: "the rest is in cooldown", group: []string{"a", "b"}, full: []string{"a"}, inCooldown: []string{"b"}},
		{name: "the fallback is asked first", group: []string{"a"}, fallbacks: one("x"), full: []string{"a"}, want: "x"},
		{name: "a fallback stays", group: []string{"a"}, fallbacks: one("x"), full: []string{"x"}, want: "aax"},
		{name: "another one of the fallback", group: []string{"a"}, fallbacks: one("x", "y"), full: []string{"x"}, want: "aay"},
		{name: "a fallback does not begin either", group: []string{"a"}, fallbacks: one("x"), full: []string{"a", "x"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			plan, err := strategy.Plan(strategy.Request{
				Group: named(test.group...), Fallbacks: test.fallbacks, Retries: 1, Now: start(), Order: inOrder, InCooldown: inCooldown(test.inCooldown...),
				Full: func(d *catalog.Deployment) bool { return slices.Contains(test.full, string(d.ID)) },
			})
			got := ""
			for _, a := range plan {
				got += string(a.Deployment.ID)
			}
			if got != test.want {
				t.Errorf("the plan is %q, want %q", got, test.want)
			}
			e, _ := errors.AsType[*fault.Error](err)
			if (err == nil) != (test.want != "") || e != nil && (e.Kind != fault.RateLimited || e.RetryAfter <= 0) {
				t.Errorf("error %v", err)
			}
		})
	}
}

func ids(ds []*catalog.Deployment) []string {
	out := []string{}
	for _, d := range ds {
		out = append(out, string(d.ID))
	}
	return out
}

// drawGroup draws up to 12 deployments with levels and weights.
func drawGroup(t *rapid.T) []*catalog.Deployment {
	ds := make([]*catalog.Deployment, rapid.IntRange(0, 12).Draw(t, "size"))
	number := rapid.SampledFrom([]int64{0, 0, 1, 2, 9, 1_000_000_000_000})
	for i := range ds {
		ds[i] = &catalog.Deployment{
			ID: id.Deployment(fmt.Sprintf("d%02d", i)), Order: rapid.IntRange(0, 2).Draw(t, "order"),
			Weight: number.Draw(t, "weight"), RPM: number.Draw(t, "rpm"), TPM: number.Draw(t, "tpm"),
		}
	}
	return ds
}

func seeded(t *rapid.T) strategy.Random {
	return rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1)).Uint64N
}

// TestOrderings: an ordering returns each candidate once, lower levels first, and
// changes nothing.
func TestOrderings(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		ds, rnd := drawGroup(t), seeded(t)
		before := slices.Clone(ds)
		busy := map[id.Deployment]int64{}
		for _, d := range ds {
			busy[d.ID] = rapid.Int64Range(0, 3).Draw(t, "busy")
		}
		count := func(d id.Deployment) int64 { return busy[d] }
		for name, got := range map[string][]*catalog.Deployment{
			"shuffle": strategy.SimpleShuffle(ds, rnd), "least busy": strategy.LeastBusy(ds, count, rnd),
		} {
			if diff := cmp.Diff(ids(before), ids(ds)); diff != "" {
				t.Fatalf("%s changed its candidates:\n%s", name, diff)
			}
			sorted := ids(got)
			slices.Sort(sorted)
			if diff := cmp.Diff(ids(ds), sorted); diff != "" {
				t.Fatalf("%s lost or invented some (-want +got)\n%s", name, diff)
			}
			for i := 1; i < len(got); i++ {
				a, b := got[i-1], got[i]
				if a.Order > b.Order {
					t.Fatalf("%s: level %d before level %d", name, a.Order, b.Order)
				}
				if name == "least busy" && a.Order == b.Order && busy[a.ID] > busy[b.ID] {
					t.Fatalf("%d in flight before %d", busy[a.ID], busy[b.ID])
				}
			}
		}
	})
}

// TestShares: who comes first, how often, by which weights.
func TestShares(t *testing.T) {
	t.Parallel()
	type w = catalog.Deployment
	for _, test := range []struct {
		name  string
		group []w
		want  []float64
	}{
		{"nobody has a weight", []w{{}, {}, {}, {}}, []float64{.25, .25, .25, .25}},
		{"by weight", []w{{Weight: 1}, {Weight: 3}, {Weight: 6}}, []float64{.1, .3, .6}},
		{"weight before rpm and tpm", []w{{Weight: 1, RPM: 100}, {Weight: 1, TPM: 900}}, []float64{.5, .5}},
		{"by rpm", []w{{RPM: 100, TPM: 9}, {RPM: 300, TPM: 1}}, []float64{.25, .75}},
		{"by tpm", []w{{TPM: 100}, {TPM: 300}}, []float64{.25, .75}},
		{"no weight among weights", []w{{Weight: 5}, {}}, []float64{1, 0}},
		{"lowest level only", []w{{Order: 1, Weight: 9}, {Weight: 1}, {Weight: 1}}, []float64{0, .5, .5}},
		{"the weights of a level are its own", []w{{Order: 1, Weight: 9}, {RPM: 1}, {RPM: 3}}, []float64{0, .25, .75}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var ds []*catalog.Deployment
			for i := range test.group {
				test.group[i].ID = id.Deployment(rune('a' + i))
				ds = append(ds, &test.group[i])
			}
			const n = 20_000
			rnd := rand.New(rand.NewPCG(1, 2)).Uint64N
			first := map[id.Deployment]float64{}
			for range n {
				first[strategy.SimpleShuffle(ds, rnd)[0].ID]++
			}
			for i, d := range ds {
				if got := first[d.ID] / n; math.Abs(got-test.want[i]) > .02 {
					t.Errorf("%s comes first in %.3f of all cases, want %.3f", d.ID, got, test.want[i])
				}
			}
		})
	}
}

// TestSecondPlace: what comes second is drawn from the weights that are left.
func TestSecondPlace(t *testing.T) {
	t.Parallel()
	ds := named("a", "b", "c")
	ds[0].Weight, ds[1].Weight, ds[2].Weight = 1, 2, 3
	rnd := rand.New(rand.NewPCG(3, 4)).Uint64N
	const n = 30_000
	got := map[string]float64{}
	for range n {
		order := ids(strategy.SimpleShuffle(ds, rnd))
		got[order[0]+order[1]]++
	}
	for order, want := range map[string]float64{
		"ab": 1. / 6 * 2 / 5, "ac": 1. / 6 * 3 / 5, "ba": 2. / 6 * 1 / 4, "bc": 2. / 6 * 3 / 4, "ca": 3. / 6 * 1 / 3, "cb": 3. / 6 * 2 / 3,
	} {
		if math.Abs(got[order]/n-want) > .015 {
			t.Errorf("%s in %.3f of all cases, want %.3f", order, got[order]/n, want)
		}
	}
}

func TestFitting(t *testing.T) {
	t.Parallel()
	ds := named("unknown", "small", "large")
	ds[1].MaxInputTokens, ds[2].MaxInputTokens = 1000, 2000
	for tokens, want := range map[int64][]string{
		0: {"unknown", "small", "large"}, 1000: {"unknown", "small", "large"}, 1001: {"unknown", "large"}, 5000: {"unknown"},
	} {
		if diff := cmp.Diff(want, ids(strategy.Fitting(ds, tokens))); diff != "" {
			t.Errorf("%d tokens (-want +got)\n%s", tokens, diff)
		}
	}
}

// inOrder is a strategy that leaves the order as it is.
func inOrder(ds []*catalog.Deployment) []*catalog.Deployment { return ds }

// inCooldown puts the given deployments into cooldown; the first ends first.
func inCooldown(who ...string) func(id.Deployment) (time.Time, bool) {
	return func(d id.Deployment) (time.Time, bool) {
		i := slices.Index(who, string(d))
		return start().Add(time.Duration(i+1) * time.Second), i >= 0
	}
}

func TestPlan(t *testing.T) {
	t.Parallel()
	target := func(name string, members ...string) catalog.Target {
		return catalog.Target{Name: name, Deployments: named(members...)}
	}
	for _, test := range []struct {
		name       string
		group      []string
		fallbacks  []catalog.Target
		retries    int
		inCooldown []string
		want       []string
		wait       time.Duration
	}{
		{name: "as many as there are attempts", group: []string{"a", "b", "c"}, retries: 2, want: []string{"a", "b", "c"}},
		{name: "more than attempts", group: []string{"a", "b", "c"}, retries: 1, want: []string{"a", "b"}},
		{name: "fewer than attempts", group: []string{"a", "b"}, retries: 2, want: []string{"a", "b", "a"}},
		{name: "one alone", group: []string{"a"}, retries: 2, want: []string{"a", "a", "a"}},
		{name: "no retries", group: []string{"a", "b"}, want: []string{"a"}},
		{name: "nonsense retries", group: []string{"a", "b"}, retries: -5, want: []string{"a"}},
		{name: "one in cooldown is omitted", group: []string{"a", "b", "c"}, retries: 2, inCooldown: []string{"a"}, want: []string{"b", "c", "b"}},
		{name: "a single one is tried even in cooldown", group: []string{"a"}, retries: 1, inCooldown: []string{"a"}, want: []string{"a", "a"}},
		{name: "all in cooldown", group: []string{"a", "b"}, retries: 1, inCooldown: []string{"b", "a"}, wait: time.Second},
		{
			name: "fallbacks, one attempt each", group: []string{"a"}, retries: 1,
			fallbacks: []catalog.Target{target("f", "x", "y"), target("g", "z")}, want: []string{"a", "a", "x 1 f", "z 2 g"},
		},
		{
			name: "the best of a fallback may be in cooldown", group: []string{"a"}, inCooldown: []string{"x"},
			fallbacks: []catalog.Target{target("f", "x", "y")}, want: []string{"a", "y 1 f"},
		},
		{
			name: "a fallback in cooldown is skipped", group: []string{"a"}, inCooldown: []string{"x"},
			fallbacks: []catalog.Target{target("f", "x"), target("g", "z")}, want: []string{"a", "z 2 g"},
		},
		{
			name: "a group in cooldown goes directly to its fallback", group: []string{"a"}, retries: 2, inCooldown: []string{"a"},
			fallbacks: []catalog.Target{target("f", "x")}, want: []string{"x 1 f"},
		},
		{
			name: "not asked again", group: []string{"a", "b"}, retries: 1,
			fallbacks: []catalog.Target{target("f", "a", "b"), target("g", "b", "c"), target("h", "c")}, want: []string{"a", "b", "c 2 g"},
		},
		{
			name: "not yet asked, of the same group", group: []string{"a", "b"},
			fallbacks: []catalog.Target{target("f", "b")}, want: []string{"a", "b 1 f"},
		},
		{
			name: "the group and all fallbacks are in cooldown", group: []string{"a"}, inCooldown: []string{"z", "x", "a"},
			fallbacks: []catalog.Target{target("f", "x"), target("g", "z")}, wait: time.Second,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			plan, err := strategy.Plan(strategy.Request{
				Group: named(test.group...), Fallbacks: test.fallbacks, Retries: test.retries,
				Now: start(), Order: inOrder, InCooldown: inCooldown(test.inCooldown...),
			})
			if test.want == nil {
				var f *fault.Error
				if !errors.As(err, &f) || f.HTTPStatus() != 503 || f.Code != "all_deployments_in_cooldown" || f.RetryAfter != test.wait {
					t.Errorf("plan %v, error %v, want a refusal for %v", plan, err, test.wait)
				}
				return
			}
			var got []string
			for _, a := range plan {
				s := string(a.Deployment.ID)
				if a.Hop > 0 {
					s += fmt.Sprintf(" %d %s", a.Hop, a.Target)
				}
				got = append(got, s)
			}
			if diff := cmp.Diff(test.want, got); diff != "" || err != nil {
				t.Errorf("error %v; plan (-want +got)\n%s", err, diff)
			}
		})
	}
}

func TestPlanOfNothing(t *testing.T) {
	t.Parallel()
	_, err := strategy.Plan(strategy.Request{Now: start(), Order: inOrder})
	if f := fault.From(err); f == nil || f.Code != "no_deployments" || f.HTTPStatus() != 503 {
		t.Errorf("error %v", err)
	}
}

// TestWildcardFallback: a wildcard's deployment has one id for all its models and may
// be asked for another of them.
func TestWildcardFallback(t *testing.T) {
	t.Parallel()
	one, two := &catalog.Deployment{ID: "w", Model: "one"}, &catalog.Deployment{ID: "w", Model: "two"}
	plan, err := strategy.Plan(strategy.Request{
		Group: []*catalog.Deployment{one}, Fallbacks: []catalog.Target{{Name: "f", Deployments: []*catalog.Deployment{two}}},
		Now: start(), Order: inOrder,
	})
	if err != nil || len(plan) != 2 || plan[1].Deployment != two {
		t.Errorf("plan %v, error %v", plan, err)
	}
}

// TestPlanLaws checks the laws of the package comment on random requests.
func TestPlanLaws(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		pool := named("a", "b", "c", "d", "e", "f", "g", "h")
		some := func(name string) []*catalog.Deployment {
			return rapid.SliceOfNDistinct(rapid.SampledFrom(pool), 1, 5, func(d *catalog.Deployment) id.Deployment { return d.ID }).Draw(t, name)
		}
		r := strategy.Request{Group: some("group"), Retries: rapid.IntRange(0, 4).Draw(t, "retries"), Now: start()}
		everyone := slices.Clone(r.Group)
		for i := range rapid.IntRange(0, 4).Draw(t, "fallbacks") {
			r.Fallbacks = append(r.Fallbacks, catalog.Target{Name: fmt.Sprint(i), Deployments: some("target")})
			everyone = append(everyone, r.Fallbacks[i].Deployments...)
		}
		cooling := map[id.Deployment]bool{}
		for _, d := range pool {
			cooling[d.ID] = rapid.Bool().Draw(t, "cooling")
		}
		r.InCooldown = func(d id.Deployment) (time.Time, bool) { return start().Add(time.Second), cooling[d] }
		rnd := seeded(t)
		r.Order = func(ds []*catalog.Deployment) []*catalog.Deployment { return strategy.SimpleShuffle(ds, rnd) }

		plan, err := strategy.Plan(r)
		alone := len(r.Group) == 1 && len(r.Fallbacks) == 0
		allCooling := !slices.ContainsFunc(everyone, func(d *catalog.Deployment) bool { return !cooling[d.ID] })
		if (err != nil) != (allCooling && !alone) || (err == nil) != (len(plan) > 0) {
			t.Fatalf("error %v, plan of %d; all rest: %v, alone: %v", err, len(plan), allCooling, alone)
		}
		if err != nil {
			return
		}
		if len(plan) > 1+r.Retries+len(r.Fallbacks) {
			t.Fatalf("%d attempts with %d retries and %d fallbacks", len(plan), r.Retries, len(r.Fallbacks))
		}
		before := map[id.Deployment]bool{} // those behind the current hop
		for i, a := range plan {
			members := r.Group
			if a.Hop > 0 {
				members = r.Fallbacks[a.Hop-1].Deployments
				if i > 0 && plan[i-1].Hop >= a.Hop {
					t.Fatal("a fallback target is used twice or out of order")
				}
				if before[a.Deployment.ID] {
					t.Fatalf("%s is asked again", a.Deployment.ID)
				}
			} else if i > r.Retries {
				t.Fatalf("attempt %d is still in the group", i+1)
			}
			if !slices.Contains(members, a.Deployment) {
				t.Fatalf("%s is not a member of hop %d", a.Deployment.ID, a.Hop)
			}
			if cooling[a.Deployment.ID] && !alone {
				t.Fatalf("%s is in cooldown", a.Deployment.ID)
			}
			before[a.Deployment.ID] = true
		}
	})
}

func BenchmarkSimpleShuffle(b *testing.B) {
	for _, n := range []int{3, 1000} {
		ds := make([]*catalog.Deployment, n)
		for i := range ds {
			ds[i] = &catalog.Deployment{ID: id.Deployment(fmt.Sprint(i)), Weight: int64(i + 1)}
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				strategy.SimpleShuffle(ds, rand.Uint64N)
			}
		})
	}
}
