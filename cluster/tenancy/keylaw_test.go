package tenancy_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	"github.com/modelgateway/modelgateway/cluster/tenancy/tenancytest"
)

// modelKey is a key as the law knows it.
type modelKey struct {
	Alias     string
	Team      id.Team
	Blocked   bool
	Expires   time.Time
	Successor string
	Rotations uint32
	Account   string // the name of the first of those that it comes of
}

// keyModel is what operations on keys come to on a plain map.
type keyModel map[string]modelKey

func (m keyModel) aliasTaken(alias string, team id.Team, but string) bool {
	for name, k := range m {
		if alias != "" && k.Alias == alias && k.Team == team && name != but {
			return true
		}
	}
	return false
}

// paid reports whether a name is that of an account which another key has than one of
// the account own.
func (m keyModel) paid(name, own string) bool {
	for _, k := range m {
		if k.Account == name && name != own {
			return true
		}
	}
	return false
}

func (m keyModel) remove(name string) {
	delete(m, name)
	maps.DeleteFunc(m, func(_ string, k modelKey) bool { return k.Successor == name })
}

// followers has the keys that were replaced be as the key that took their place.
func (m keyModel) followers(of string, end time.Time) {
	k := m[of]
	for name, old := range m {
		if old.Successor == of {
			old.Team, old.Blocked, old.Expires = k.Team, k.Blocked, earlier(earlier(old.Expires, end), k.Expires)
			m[name] = old
		}
	}
}

func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// TestKeyLaw: whatever sequence of operations there is, the keys and the aliases
// that are taken are those of the model, refusals included.
func TestKeyLaw(t *testing.T) {
	t.Parallel()
	done, refused := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		o := newKeys(newOffice(t))
		m := keyModel{}
		for range rapid.IntRange(1, 40).Draw(t, "operations") {
			op, want, then := m.draw(t, o)
			_, err := o.Try(op)
			if got := tenancytest.Refusal(err); got != want {
				t.Fatalf("refused by %q, want %q", got, want)
			}
			if want == "" {
				done++
				then()
			} else {
				refused++
			}
			got := keyModel{}
			list := slices.Collect(o.Set.KeysByAge().From(0))
			for _, k := range list {
				one := modelKey{Alias: k.Alias, Team: k.Team, Blocked: k.Blocked, Expires: k.Expires, Rotations: k.Rotations}
				for _, name := range keyNames() {
					if tenancytest.HashOf(name) == k.Account() {
						one.Account = name
					}
				}
				if k.Replaced() {
					successor, ok := o.Set.Get(k.Successor)
					if !ok {
						t.Fatalf("the key %s was replaced by none", k.Name)
					}
					one.Successor = successor.Name[len("sk-..."):]
				}
				got[k.Name[len("sk-..."):]] = one
			}
			if diff := cmp.Diff(m, got); diff != "" {
				t.Fatalf("keys (- model, + state)\n%s", diff)
			}
			for name, k := range m {
				if found, ok := o.Set.OfAccount(tenancytest.HashOf(k.Account)); !ok || k.Successor == "" && found.Hash != tenancytest.HashOf(name) || found.Replaced() {
					t.Fatalf("the account of %s has %v", name, found)
				}
				found := slices.Collect(o.Set.ByAlias(k.Alias))
				if slices.ContainsFunc(found, func(one *tenancy.Key) bool { return one.Hash == tenancytest.HashOf(name) }) != (k.Alias != "") {
					t.Fatalf("by the alias %q there is %v", k.Alias, found)
				}
			}
			o.check()
		}
	})
	if done < 100 || refused < 100 {
		t.Errorf("%d operations were done and %d refused, which tries little", done, refused)
	}
}

// keyNames are the names of the law's keys.
func keyNames() []string { return []string{"a", "b", "c", "d", "e"} }

// draw returns an operation, what it is to be refused by, and what it then does to
// the model.
func (m keyModel) draw(t *rapid.T, o *office) (op func(*tenancy.Set, *record.Txn) error, want string, then func()) {
	any := func(label string) string { return rapid.SampledFrom(keyNames()).Draw(t, label) }
	name, alias := any("key"), rapid.SampledFrom([]string{"", "x", "y"}).Draw(t, "alias")
	team := rapid.SampledFrom([]id.Team{"", "free", "none"}).Draw(t, "team")
	k, there := m[name]
	change := func(k *tenancy.Key) { k.Alias, k.Team = alias, team }
	switch {
	case team == "none":
		want = "team_id team_not_found"
	case m.aliasTaken(alias, team, name):
		want = "key_alias already_exists"
	}
	switch rapid.IntRange(0, 4).Draw(t, "operation") {
	case 0:
		if want != "team_id team_not_found" && (there || m.paid(name, "")) {
			want = "key already_exists"
		}
		return tenancytest.CreateKey(tenancytest.Called(name, change)), want, func() { m[name] = modelKey{Alias: alias, Team: team, Account: name} }
	case 1:
		blocked := rapid.Bool().Draw(t, "blocked")
		end := time.Time{}
		if hours := rapid.IntRange(0, 4).Draw(t, "hours"); hours > 0 {
			end = o.Time.Add(time.Duration(hours) * time.Hour)
		}
		return changeKey(name, 0, func(k *tenancy.Key) { change(k); k.Blocked, k.Expires = blocked, end }), m.orGone(name, want), func() {
			k.Alias, k.Team, k.Blocked, k.Expires = alias, team, blocked, end
			m[name] = k
			m.followers(name, end)
		}
	case 2:
		second := any("second")
		want = ""
		for i, n := range []string{name, second} {
			if _, ok := m[n]; !ok && want == "" {
				want = fmt.Sprintf("keys[%d] key_not_found", i)
			}
		}
		return deleteKeys(name, second), want, func() { m.remove(name); m.remove(second) }
	default:
		next, grace := any("next"), time.Duration(rapid.IntRange(0, 3).Draw(t, "grace"))*time.Hour
		if _, ok := m[next]; ok || m.paid(next, k.Account) {
			want = "key already_exists"
		}
		want = m.orGone(name, want)
		return rotateKey(name, next, grace, change), want, func() {
			after := modelKey{Alias: alias, Team: team, Blocked: k.Blocked, Expires: k.Expires, Rotations: k.Rotations + 1, Account: k.Account}
			if grace == 0 {
				m.remove(name)
				m[next] = after
				return
			}
			m[next] = after
			for _, old := range slices.Collect(maps.Keys(m)) {
				if of := m[old]; old == name || of.Successor == name {
					of.Successor, of.Alias = next, ""
					m[old] = of
				}
			}
			m.followers(next, o.Time.Add(grace))
		}
	}
}

// orGone is what a change of a key is refused by: that the key is not there, or was
// replaced, or else want.
func (m keyModel) orGone(name, want string) string {
	switch k, ok := m[name]; {
	case !ok:
		return "key key_not_found"
	case k.Successor != "":
		return "key key_rotated"
	}
	return want
}

// TestKeyRaces: of two operations that are decided by one set and do not go
// together, the later one is refused as stale, whichever that is.
func TestKeyRaces(t *testing.T) {
	t.Parallel()
	named := func(name, alias string) func(*tenancy.Set, *record.Txn) error {
		return tenancytest.CreateKey(tenancytest.Called(name, func(k *tenancy.Key) { k.Alias = alias }))
	}
	for _, test := range []struct {
		name string
		a, b func(*tenancy.Set, *record.Txn) error
	}{
		{"two keys, one alias", named("x", "new"), named("y", "new")},
		{"one key twice", named("x", "p"), named("x", "q")},
		{"two changes", changeKey("a", 0, func(k *tenancy.Key) { k.Blocked = true }), changeKey("a", 0, func(k *tenancy.Key) { k.Tags = []string{"t"} })},
		{"change and deletion", changeKey("a", 0, func(k *tenancy.Key) { k.Blocked = true }), deleteKeys("a")},
		{"change and rotation", changeKey("a", 0, func(k *tenancy.Key) { k.Blocked = true }), rotateKey("a", "x", time.Hour, nil)},
		{"two rotations", rotateKey("a", "x", 0, nil), rotateKey("a", "y", time.Hour, nil)},
		{"rotation and deletion", rotateKey("a", "x", time.Hour, nil), deleteKeys("a")},
		{"rotation again, and the end of the first", rotateKey("b", "x", time.Hour, nil), deleteKeys("old")},
		{"change, and the end of what follows", changeKey("b", 0, func(k *tenancy.Key) { k.Blocked = true }), deleteKeys("old")},
		{"rotation and the team", rotateKey("c", "x", time.Hour, nil), tenancytest.DeleteTeam("free")},
		{"budget and the key under it", changeKey("a", 0, func(k *tenancy.Key) { k.Limits.Budget = "gold" }), func(s *tenancy.Set, tx *record.Txn) error {
			_, err := s.DeleteBudget(tx, "id", "gold")
			return err
		}},
	} {
		for order, pair := range [][2]func(*tenancy.Set, *record.Txn) error{{test.a, test.b}, {test.b, test.a}} {
			o := newKeys(newOffice(t))
			o.Must(named("a", "a"))
			o.Must(named("old", "b"))
			o.Must(rotateKey("old", "b", time.Hour, nil))
			o.Must(tenancytest.CreateKey(tenancytest.Called("c", func(k *tenancy.Key) { k.Team = "free" })))
			first, second := o.Begin(), o.Begin()
			for tx, op := range map[*record.Txn]func(*tenancy.Set, *record.Txn) error{first: pair[0], second: pair[1]} {
				if err := op(o.Set, tx); err != nil {
					t.Fatalf("%s: %v", test.name, err)
				}
			}
			if _, err := o.Commit(first); err != nil {
				t.Fatalf("%s: %v", test.name, err)
			}
			if _, err := o.Commit(second); tenancytest.Refusal(err) != record.CodeStale {
				t.Errorf("%s, order %d: the second one: %v", test.name, order, err)
			}
			o.check()
		}
	}
}
