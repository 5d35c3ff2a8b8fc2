package strategy_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/extproc/strategy"
)

// hinting makes hints of the given ones, the first ending the soonest. An
// asterisk says that a probe is to be had.
func hinting(who ...string) strategy.Hint {
	return func(d id.Deployment) (time.Time, bool, bool) {
		i := slices.IndexFunc(who, func(s string) bool { return strings.TrimSuffix(s, "*") == string(d) })
		return start().Add(time.Duration(i+1) * time.Second), i >= 0 && strings.HasSuffix(who[i], "*"), i >= 0
	}
}

func TestHinted(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name               string
		group              string
		inCooldown, hinted []string
		want               string
	}{
		{name: "nobody", group: "abcd", want: ""},
		{name: "one of two", group: "ab", hinted: []string{"a"}, want: "a"},
		{name: "never the last", group: "a", hinted: []string{"a"}, want: ""},
		{name: "not both of two: the later end is believed", group: "ab", hinted: []string{"a", "b"}, want: "b"},
		{name: "one of three", group: "abc", hinted: []string{"c", "a", "b"}, want: "b"},
		{name: "two of four", group: "abcd", hinted: []string{"d", "c", "a", "b"}, want: "ab"},
		{name: "two of five", group: "abcde", hinted: []string{"a", "b", "c", "d", "e"}, want: "de"},
		{name: "a local cooldown counts towards the half", group: "abcd", inCooldown: []string{"a"}, hinted: []string{"b", "c"}, want: "c"},
		{name: "the last healthy one", group: "ab", inCooldown: []string{"a"}, hinted: []string{"b"}, want: ""},
		{name: "half of the group is already in cooldown", group: "abcd", inCooldown: []string{"a", "b"}, hinted: []string{"c"}, want: ""},
		{name: "more than half of the group is already in cooldown", group: "abcd", inCooldown: []string{"a", "b", "c"}, hinted: []string{"d"}, want: ""},
		{name: "hinted and in cooldown", group: "abcd", inCooldown: []string{"a"}, hinted: []string{"b", "a"}, want: "b"},
		{name: "of somebody else", group: "abcd", hinted: []string{"x"}, want: ""},
	} {
		got := strategy.Hinted(named(strings.Split(test.group, "")...), inCooldown(test.inCooldown...), hinting(test.hinted...))
		names := []string{}
		for _, d := range slices.Sorted(maps.Keys(got)) {
			names = append(names, string(d))
		}
		if strings.Join(names, "") != test.want {
			t.Errorf("%s: %v rest, want %q", test.name, names, test.want)
		}
	}
	if strategy.Hinted(named("a", "b"), nil, nil) != nil || len(strategy.Hinted(named("a", "b"), nil, hinting("a"))) != 1 {
		t.Error("wrong result without functions or without cooldowns")
	}
}

func TestPlanWithHints(t *testing.T) {
	t.Parallel()
	one := func(members ...string) []catalog.Target {
		return []catalog.Target{{Name: "f", Deployments: named(members...)}}
	}
	for _, test := range []struct {
		name               string
		group              []string
		worse              string // one of the group that has a worse level
		fallbacks          []catalog.Target
		retries            int
		inCooldown, hinted []string
		taken              bool // somebody else gets the probe
		want               string
		probed             string
	}{
		{name: "left out", group: []string{"a", "b", "c"}, retries: 2, hinted: []string{"a"}, want: "bcb"},
		{name: "alone", group: []string{"a"}, hinted: []string{"a"}, want: "a"},
		{name: "alone, with a fallback", group: []string{"a"}, fallbacks: one("x"), hinted: []string{"a"}, want: "ax"},
		{name: "all", group: []string{"a", "b"}, retries: 1, hinted: []string{"a", "b"}, want: "aa"},
		{name: "the last healthy one", group: []string{"a", "b"}, retries: 1, inCooldown: []string{"a"}, hinted: []string{"b"}, want: "bb"},
		{name: "a fallback's", group: []string{"a"}, fallbacks: one("x", "y"), hinted: []string{"x"}, want: "ay"},
		{name: "a fallback's last", group: []string{"y"}, fallbacks: one("x", "y"), hinted: []string{"x"}, want: "yx"},
		{name: "the probe comes first", group: []string{"a", "b", "c"}, retries: 2, hinted: []string{"c*"}, want: "cab", probed: "c"},
		{name: "one probe a request", group: []string{"a", "b", "c", "d"}, retries: 1, hinted: []string{"a*", "b*"}, want: "ac", probed: "a"},
		{name: "somebody else's probe", group: []string{"a", "b"}, retries: 1, hinted: []string{"a*"}, taken: true, want: "bb", probed: "a"},
		{name: "no probe without a second attempt", group: []string{"a", "b"}, hinted: []string{"a*"}, want: "b"},
		{name: "no probe of a worse level", group: []string{"a", "b"}, worse: "a", retries: 1, hinted: []string{"a*"}, want: "bb"},
		{name: "a probe of a better level", group: []string{"a", "b"}, worse: "b", retries: 1, hinted: []string{"a*"}, want: "ab", probed: "a"},
		{name: "no probe of one in cooldown here", group: []string{"a", "b", "c"}, retries: 1, inCooldown: []string{"a"}, hinted: []string{"a*"}, want: "bc"},
		{name: "no probe of a fallback's", group: []string{"a"}, fallbacks: one("x", "y"), retries: 1, hinted: []string{"x*"}, want: "aay"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			group := named(test.group...)
			for _, d := range group {
				if string(d.ID) == test.worse {
					d.Order = 1
				}
			}
			var probed []string
			plan, err := strategy.Plan(strategy.Request{
				Group: group, Fallbacks: test.fallbacks, Retries: test.retries, Now: start(), Order: inOrder,
				InCooldown: inCooldown(test.inCooldown...), Hint: hinting(test.hinted...),
				Probe: func(d id.Deployment) bool { probed = append(probed, string(d)); return !test.taken },
			})
			var got []string
			for _, a := range plan {
				got = append(got, string(a.Deployment.ID))
			}
			if diff := cmp.Diff([2]string{test.want, test.probed}, [2]string{strings.Join(got, ""), strings.Join(probed, "")}); diff != "" || err != nil {
				t.Errorf("error %v; plan and probe (-want +got)\n%s", err, diff)
			}
		})
	}
}

// TestHintsTakeNothingAway: with whatever hints, a request that had a plan has
// one with as many attempts, and hints take no more than half of a group.
func TestHintsTakeNothingAway(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		pool := []string{"a", "b", "c", "d", "e", "f", "g"}
		some := func(name string, least int) []string {
			return rapid.SliceOfNDistinct(rapid.SampledFrom(pool), least, 6, rapid.ID[string]).Draw(t, name)
		}
		r := strategy.Request{Group: named(some("group", 1)...), Retries: rapid.IntRange(0, 3).Draw(t, "retries"), Now: start(), Order: inOrder}
		for range rapid.IntRange(0, 2).Draw(t, "fallbacks") {
			r.Fallbacks = append(r.Fallbacks, catalog.Target{Deployments: named(some("target", 1)...)})
		}
		cooling, hints := some("resting", 0), some("hinted", 0)
		r.InCooldown = inCooldown(cooling...)
		before, err := strategy.Plan(r)
		for i := range hints {
			if rapid.Bool().Draw(t, "half-open") {
				hints[i] += "*"
			}
		}
		r.Hint = hinting(hints...)
		probes := 0
		r.Probe = func(id.Deployment) bool { probes++; return rapid.Bool().Draw(t, "claimed") }
		after, errAfter := strategy.Plan(r)
		if (err == nil) != (errAfter == nil) || len(after) < min(len(before), 1+r.Retries) {
			t.Fatalf("%d attempts and %v without hints, %d and %v with them", len(before), err, len(after), errAfter)
		}
		for _, a := range after {
			if _, cooling := r.InCooldown(a.Deployment.ID); cooling && len(r.Group) > 1 {
				t.Fatalf("%s is in cooldown here and is tried", a.Deployment.ID)
			}
		}
		local := 0
		for _, d := range r.Group {
			if _, cooling := r.InCooldown(d.ID); cooling {
				local++
			}
		}
		n := len(strategy.Hinted(r.Group, r.InCooldown, r.Hint))
		if n > 0 && (local+n)*2 > len(r.Group) {
			t.Fatalf("%d of %d rest, %d of them because of hints", local+n, len(r.Group), n)
		}
	})
}
