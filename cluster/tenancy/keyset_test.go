package tenancy_test

import (
	"context"
	"maps"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/modelgateway/modelgateway/cluster/credential"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/record/recordtest"
	"github.com/modelgateway/modelgateway/cluster/store"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	"github.com/modelgateway/modelgateway/cluster/tenancy/tenancytest"
	"github.com/modelgateway/modelgateway/cluster/vault"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// written is a key as the state has it; one without an alias is deleted.
func written(tb rapid.TB, key, alias string) record.Change {
	h := id.HashKey(key)
	c := record.Change{Space: store.SpaceKey, Key: h[:]}
	if alias == "" {
		return c
	}
	var err error
	if c.Value, err = proto.Marshal(&clusterv1.VirtualKey{Hash: h[:], Alias: alias}); err != nil {
		tb.Fatal(err)
	}
	return c
}

func TestWith(t *testing.T) {
	t.Parallel()
	file := set(t, tenancy.Key{Alias: "file", Hash: id.HashKey(good)})
	with := func(s *tenancy.Set, c record.Change) *tenancy.Set {
		next, broken := s.With([]record.Change{c})
		if len(broken) > 0 {
			t.Fatal(broken)
		}
		return next
	}
	who := func(s *tenancy.Set, key string) string {
		p, err := s.Authenticate(tenancytest.Present("x-api-key", key), tenancytest.Now())
		if err != nil {
			return fault.From(err).Code
		}
		if p.Cluster != (p.Alias == "state" || p.Alias == "renamed") {
			t.Errorf("%s: of the state is %v", p.Alias, p.Cluster)
		}
		return p.Alias
	}
	s := with(file, written(t, other, "state"))
	renamed := with(s, written(t, other, "renamed"))
	without := with(renamed, written(t, other, ""))
	for _, test := range []struct {
		name string
		set  *tenancy.Set
		key  string
		want string
		keys int
	}{
		{"before", file, other, "invalid_api_key", 1},
		{"added", s, other, "state", 2},
		{"replaced", renamed, other, "renamed", 2},
		{"removed", without, other, "invalid_api_key", 1},
		{"the file's stays", without, good, "file", 1},
		{"the file's wins", with(file, written(t, good, "usurper")), good, "file", 2},
		{"the file's is not deleted", with(file, written(t, good, "")), good, "file", 1},
		{"the master stays", without, tenancytest.Master, "master", 1},
		{"the master wins", with(file, written(t, tenancytest.Master, "usurper")), tenancytest.Master, "master", 2},
	} {
		if got := who(test.set, test.key); got != test.want || test.set.Len() != test.keys {
			t.Errorf("%s: %s of %d keys, want %s of %d", test.name, got, test.set.Len(), test.want, test.keys)
		}
	}
	if _, ok := tenancytest.TheOne(renamed, "state"); ok {
		t.Error("the alias that a key had is still its own")
	}
	if k, ok := tenancytest.TheOne(renamed, "renamed"); !ok || k.Hash != id.HashKey(other) || k.Static {
		t.Errorf("by its new alias the key is %v", k)
	}
	if _, ok := tenancytest.TheOne(file, "file"); ok {
		t.Error("a key of the file is found by its label")
	}
}

// TestUnreadableKeys: what cannot be read is left out, or as it was, and said.
func TestUnreadableKeys(t *testing.T) {
	t.Parallel()
	h := id.HashKey(other)
	for name, value := range map[string][]byte{"garbage": {0xff, 0xff}, "no hash": {}} {
		s, _ := set(t).With([]record.Change{written(t, other, "fine")})
		s, broken := s.With([]record.Change{{Space: store.SpaceKey, Key: h[:], Value: value}})
		if k, ok := s.Get(h); len(broken) != 1 || !ok || k.Alias != "fine" {
			t.Errorf("after %s the key is %v, errors %v", name, k, broken)
		}
		var state recordtest.State
		state.Set(store.SpaceKey, h[:], value)
		fine := written(t, good, "fine")
		state.Set(store.SpaceKey, fine.Key, fine.Value)
		loaded, broken, err := set(t).Load(context.Background(), &state)
		if err != nil || len(broken) != 1 || loaded.Cluster() != 1 || strings.Contains(broken[0].Error(), other) {
			t.Errorf("of %s there are %d keys, errors %v, %v", name, loaded.Cluster(), broken, err)
		}
	}
}

// TestSetsAreImmutable: whatever is added and removed, each set answers as the
// map that it was made from, also after others were made from it.
func TestSetsAreImmutable(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		type version struct {
			set  *tenancy.Set
			want map[string]string // key → alias
		}
		names := []string{"sk-a", "sk-b", "sk-c", "sk-d", "sk-e", "sk-f"}
		first, err := tenancy.New(nil, vault.Secret{})
		if err != nil {
			t.Fatal(err)
		}
		versions := []version{{first, map[string]string{}}}
		for range rapid.IntRange(1, 30).Draw(t, "changes") {
			from := versions[rapid.IntRange(0, len(versions)-1).Draw(t, "from")]
			next := version{want: maps.Clone(from.want)}
			name, alias := rapid.SampledFrom(names).Draw(t, "key"), rapid.SampledFrom([]string{"", "x", "y"}).Draw(t, "alias")
			next.set, _ = from.set.With([]record.Change{written(t, name, alias)})
			if next.want[name] = alias; alias == "" {
				delete(next.want, name)
			}
			versions = append(versions, next)
		}
		for i, v := range versions {
			if v.set.Len() != len(v.want) {
				t.Fatalf("version %d has %d keys, want %v", i, v.set.Len(), v.want)
			}
			for _, name := range names {
				p, err := v.set.Authenticate(tenancytest.Present("x-api-key", name), tenancytest.Now())
				if want, ok := v.want[name]; ok != (err == nil) || p.Alias != want {
					t.Fatalf("version %d: %s is %q (%v), want %q", i, name, p.Alias, err, want)
				}
			}
		}
	})
}

// changed is a set with a key more, and then without it.
func changed(tb testing.TB, s *tenancy.Set, more, less []record.Change) {
	tb.Helper()
	next, _ := s.With(more)
	if next, _ = next.With(less); next.Len() != s.Len() {
		tb.Fatal("a key that was there was not removed")
	}
}

// TestKeyChangeDoesNotGrow: a change of a set a hundred times as large allocates at
// most twice as often.
func TestKeyChangeDoesNotGrow(t *testing.T) {
	allocations := func(n int) float64 {
		s, more := tenancytest.ManyKeys(t, n), tenancytest.Numbered(t, n)
		less := record.Change{Space: more.Space, Key: more.Key}
		return testing.AllocsPerRun(100, func() { changed(t, s, []record.Change{more}, []record.Change{less}) })
	}
	small, large := allocations(1_000), allocations(100_000)
	if large > 2*small {
		t.Errorf("%v allocations with 1,000 keys and %v with 100,000", small, large)
	}
}

func TestAuthenticateOfManyAllocatesNothing(t *testing.T) {
	s, _ := tenancytest.ManyKeys(t, 10_000).With([]record.Change{written(t, good, "app")})
	header, at := "Bearer "+good, tenancytest.Now()
	if n := testing.AllocsPerRun(100, func() {
		var p credential.Presented
		p.Add(credential.HeaderAuthorization, header)
		if who, err := s.Authenticate(p, at); err != nil || !who.Cluster {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}

func BenchmarkKeyChange100k(b *testing.B) {
	s := tenancytest.ManyKeys(b, 100_000)
	b.ReportAllocs()
	for n := 100_000; b.Loop(); n++ {
		more := tenancytest.Numbered(b, n)
		changed(b, s, []record.Change{more}, []record.Change{{Space: more.Space, Key: more.Key}})
	}
}

func BenchmarkAuthenticate100k(b *testing.B) {
	s, _ := tenancytest.ManyKeys(b, 100_000).With([]record.Change{written(b, good, "app")})
	b.ReportAllocs()
	for b.Loop() {
		p, err := s.Authenticate(tenancytest.Present("authorization", "Bearer "+good), time.Time{})
		if err != nil || !p.Allows("gpt-4o") {
			b.Fatal(err)
		}
	}
}
