package keys_test

import (
	"crypto/sha256"
	"encoding/binary"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/keys"
	"github.com/modelgateway/modelgateway/cluster/vault"
)

// numbered is one of many keys.
func numbered(n int) keys.Key {
	return keys.Key{Alias: "app", Hash: sha256.Sum256(binary.BigEndian.AppendUint64(nil, uint64(n))), Models: []string{"gpt-4o"}}
}

func TestWith(t *testing.T) {
	t.Parallel()
	file := set(t, keys.Key{Alias: "file", Hash: id.HashKey(good)})
	s, err := file.With(keys.Key{Alias: "state", Hash: id.HashKey(other)})
	if err != nil {
		t.Fatal(err)
	}
	who := func(s *keys.Set, key string) string {
		p, err := s.Authenticate(present("x-api-key", key), now())
		if err != nil {
			return fault.From(err).Code
		}
		if p.Cluster != (p.Alias == "state" || p.Alias == "renamed") {
			t.Errorf("%s: of the state is %v", p.Alias, p.Cluster)
		}
		return p.Alias
	}
	renamed, err := s.With(keys.Key{Alias: "renamed", Hash: id.HashKey(other)})
	if err != nil {
		t.Fatal(err)
	}
	without := renamed.Without(id.HashKey(other))
	for _, test := range []struct {
		name string
		set  *keys.Set
		key  string
		want string
		keys int
	}{
		{"before", file, other, "invalid_api_key", 1},
		{"added", s, other, "state", 2},
		{"replaced", renamed, other, "renamed", 2},
		{"removed", without, other, "invalid_api_key", 1},
		{"the file's stays", without, good, "file", 1},
		{"the master stays", without, master, "master", 1},
	} {
		if got := who(test.set, test.key); got != test.want || test.set.Len() != test.keys {
			t.Errorf("%s: %s of %d keys, want %s of %d", test.name, got, test.set.Len(), test.want, test.keys)
		}
	}
	if without.Without(id.HashKey("sk-nobody")) != without {
		t.Error("removing an unknown key changes the set")
	}
	if got := without.Without(id.HashKey(good)); who(got, good) != "file" {
		t.Error("a key of the file was removed")
	}
}

func TestWithRefuses(t *testing.T) {
	t.Parallel()
	s := set(t, keys.Key{Alias: "file", Hash: id.HashKey(good)})
	for _, test := range []struct {
		name string
		key  keys.Key
		want string
		kind fault.Kind
	}{
		{"of the file", keys.Key{Hash: id.HashKey(good)}, "key already_exists", fault.Exists},
		{"of the master", keys.Key{Hash: id.HashKey(master)}, "key already_exists", fault.Exists},
		{"pattern", keys.Key{Hash: id.HashKey(other), Models: []string{"a", "*/*"}}, "models[1] invalid_value", fault.Malformed},
	} {
		got, err := s.With(test.key)
		f := fault.From(err)
		if got != nil || f == nil || f.Param+" "+f.Code != test.want || f.Kind != test.kind || f.Detail == "" {
			t.Errorf("%s: %v, %v; want %s", test.name, got, err, test.want)
		}
		all, errs := s.WithAll([]keys.Key{test.key, {Alias: "fine", Hash: id.HashKey("sk-fine")}})
		if len(errs) != 1 || fault.From(errs[0]).Param != f.Param || !strings.Contains(errs[0].Error(), test.key.Hash.String()) || all.Len() != 2 {
			t.Errorf("%s among others: %v, and %d keys", test.name, errs, all.Len())
		}
	}
}

// TestSetsAreImmutable: whatever is added and removed, each set answers as the
// map that it was made from, also after others were made from it.
func TestSetsAreImmutable(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		type version struct {
			set  *keys.Set
			want map[string]string // key → alias
		}
		names := []string{"sk-a", "sk-b", "sk-c", "sk-d", "sk-e", "sk-f"}
		first, err := keys.New(nil, vault.Secret{})
		if err != nil {
			t.Fatal(err)
		}
		versions := []version{{first, map[string]string{}}}
		for range rapid.IntRange(1, 30).Draw(t, "changes") {
			from := versions[rapid.IntRange(0, len(versions)-1).Draw(t, "from")]
			next := version{from.set, maps.Clone(from.want)}
			name := rapid.SampledFrom(names).Draw(t, "key")
			if alias := rapid.SampledFrom([]string{"", "x", "y"}).Draw(t, "alias"); alias == "" {
				next.set = from.set.Without(id.HashKey(name))
				delete(next.want, name)
			} else {
				next.set, err = from.set.With(keys.Key{Alias: alias, Hash: id.HashKey(name)})
				if err != nil {
					t.Fatal(err)
				}
				next.want[name] = alias
			}
			versions = append(versions, next)
		}
		for i, v := range versions {
			if v.set.Len() != len(v.want) {
				t.Fatalf("version %d has %d keys, want %v", i, v.set.Len(), v.want)
			}
			for _, name := range names {
				p, err := v.set.Authenticate(present("x-api-key", name), now())
				if want, ok := v.want[name]; ok != (err == nil) || p.Alias != want {
					t.Fatalf("version %d: %s is %q (%v), want %q", i, name, p.Alias, err, want)
				}
			}
		}
	})
}

// of makes a set of n keys of the state.
func of(tb testing.TB, n int) *keys.Set {
	tb.Helper()
	list := make([]keys.Key, n)
	for i := range list {
		list[i] = numbered(i)
	}
	s, errs := set(tb).WithAll(list)
	if len(errs) > 0 || s.Len() != n {
		tb.Fatalf("%d keys, errors %v", s.Len(), slices.Concat(errs))
	}
	return s
}

// change adds a key, and takes one away.
func change(tb testing.TB, s *keys.Set, n int) {
	tb.Helper()
	more, err := s.With(numbered(n))
	if err != nil {
		tb.Fatal(err)
	}
	if more.Without(numbered(n/2).Hash).Len() != s.Len() {
		tb.Fatal("a key that was there was not removed")
	}
}

// TestChangeDoesNotGrow: a change of a set a hundred times as large allocates at
// most twice as often.
func TestChangeDoesNotGrow(t *testing.T) {
	allocations := func(n int) float64 {
		s := of(t, n)
		return testing.AllocsPerRun(100, func() { change(t, s, n) })
	}
	small, large := allocations(1_000), allocations(100_000)
	if large > 2*small {
		t.Errorf("%v allocations with 1,000 keys and %v with 100,000", small, large)
	}
}

func TestAuthenticateOfManyAllocatesNothing(t *testing.T) {
	s, err := of(t, 10_000).With(keys.Key{Alias: "app", Hash: id.HashKey(good), Expires: now().Add(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	header, at := "Bearer "+good, now()
	if n := testing.AllocsPerRun(100, func() {
		var p keys.Presented
		p.Add(keys.HeaderAuthorization, header)
		if who, err := s.Authenticate(p, at); err != nil || !who.Cluster {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}

func BenchmarkKeyChange100k(b *testing.B) {
	s := of(b, 100_000)
	b.ReportAllocs()
	for n := 100_000; b.Loop(); n++ {
		more, err := s.With(numbered(n))
		if err != nil {
			b.Fatal(err)
		}
		s = more.Without(numbered(n).Hash)
	}
}

func BenchmarkAuthenticate100k(b *testing.B) {
	s, err := of(b, 100_000).With(keys.Key{Alias: "app", Hash: id.HashKey(good), Models: []string{"gpt-4o"}})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		p, err := s.Authenticate(present("authorization", "Bearer "+good), now())
		if err != nil || !p.Allows("gpt-4o") {
			b.Fatal(err)
		}
	}
}
