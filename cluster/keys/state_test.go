package keys_test

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/keys"
	"github.com/modelgateway/modelgateway/cluster/store"
	"github.com/modelgateway/modelgateway/cluster/vault"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// memory is a state in memory. What is wrong is what every read says.
type memory struct {
	records map[string]string // the byte of the space and the key
	wrong   error
}

func newMemory() *memory { return &memory{records: map[string]string{}} }

func (m *memory) at(space store.Space, key []byte) string {
	return string(append([]byte{byte(space)}, key...))
}

func (m *memory) Get(space store.Space, key []byte) (value []byte, ok bool, err error) {
	v, ok := m.records[m.at(space, key)]
	return []byte(v), ok, m.wrong
}

func (m *memory) Set(space store.Space, key, value []byte) {
	m.records[m.at(space, key)] = string(value)
}

func (m *memory) Delete(space store.Space, key []byte) { delete(m.records, m.at(space, key)) }

func (m *memory) Scan(_ context.Context, r store.Range, fn func(key, value []byte) bool) error {
	for _, key := range slices.Sorted(maps.Keys(m.records)) {
		if key[0] == byte(r.Space) && !fn([]byte(key[1:]), []byte(m.records[key])) {
			break
		}
	}
	return m.wrong
}

// apply makes a change as the log does: a fault drops what was written.
func (m *memory) apply(change proto.Message, index uint64) *fault.Error {
	tx := &memory{records: maps.Clone(m.records), wrong: m.wrong}
	var f *fault.Error
	switch change := change.(type) {
	case *clusterv1.CreateKey:
		_, f = keys.CreateKey(tx, change, keys.Stamp{Index: index, Time: stampTime(index), Actor: "admin"})
	case *clusterv1.DeleteKeys:
		f = keys.DeleteKeys(tx, change)
	}
	if f == nil {
		m.records = tx.records
	}
	return f
}

func stampTime(index uint64) time.Time { return time.Unix(int64(index), 5).UTC() }

type failer interface{ Fatal(args ...any) }

func create(t failer, k keys.Key) *clusterv1.CreateKey {
	r, err := keys.ToRecord(k)
	if err != nil {
		t.Fatal(err)
	}
	return &clusterv1.CreateKey{Key: r}
}

func remove(names ...string) *clusterv1.DeleteKeys {
	c := &clusterv1.DeleteKeys{}
	for _, name := range names {
		h := id.HashKey(name)
		c.Hashes = append(c.GetHashes(), h[:])
	}
	return c
}

func TestStateFunctions(t *testing.T) {
	t.Parallel()
	m := newMemory()
	named := func(key, alias string) keys.Key { return keys.Key{Hash: id.HashKey(key), Alias: alias, Metadata: "{}"} }
	for i, test := range []struct {
		command proto.Message
		kind    fault.Kind
		want    string // param and code; empty: done
	}{
		{create(t, named("sk-1", "one")), 0, ""},
		{create(t, named("sk-1", "other")), fault.Exists, "key already_exists"},
		{create(t, named("sk-2", "one")), fault.Exists, "key_alias already_exists"},
		{create(t, named("sk-2", "")), 0, ""},
		{create(t, named("sk-3", "")), 0, ""},
		{remove("sk-1", "sk-4"), fault.NotFound, "keys key_not_found"},
		{create(t, named("sk-4", "one")), fault.Exists, "key_alias already_exists"},
		{remove("sk-1", "sk-2", "sk-1"), 0, ""},
		{create(t, named("sk-4", "one")), 0, ""},
		{remove("sk-1"), fault.NotFound, "keys key_not_found"},
		{&clusterv1.CreateKey{Key: &clusterv1.VirtualKey{Hash: []byte("short")}}, fault.Malformed, "key invalid_value"},
		{&clusterv1.DeleteKeys{Hashes: [][]byte{[]byte("short")}}, fault.Malformed, "keys invalid_value"},
	} {
		f := m.apply(test.command, uint64(i+1))
		switch {
		case f == nil && test.want == "":
		case f == nil || f.Kind != test.kind || f.Param+" "+f.Code != test.want || f.Detail == "":
			t.Errorf("entry %d: %v, want %s", i+1, f, test.want)
		}
	}
	all, err := keys.Load(t.Context(), m)
	if err != nil || len(all) != 2 || !slices.IsSortedFunc(all, func(a, b keys.Key) int { return bytes.Compare(a.Hash[:], b.Hash[:]) }) {
		t.Fatalf("keys %v, error %v", all, err)
	}
	i := slices.IndexFunc(all, func(k keys.Key) bool { return k.Alias == "one" })
	want := keys.Key{Hash: id.HashKey("sk-4"), Alias: "one", Metadata: "{}", CreatedAt: stampTime(9), CreatedBy: "admin", UpdatedAt: stampTime(9), Revision: 9}
	if diff := cmp.Diff(want, all[i]); diff != "" {
		t.Errorf("key (-want +got)\n%s", diff)
	}
}

func TestUnreadableState(t *testing.T) {
	t.Parallel()
	disk := newMemory()
	for _, test := range []struct {
		wrong error
		kind  fault.Kind
	}{
		{fault.New(fault.StorageUnavailable, "", "disk"), fault.StorageUnavailable},
		{errors.New("I/O error"), fault.Internal},
	} {
		disk.wrong = test.wrong
		for _, c := range []proto.Message{create(t, keys.Key{Alias: "a"}), remove("sk-1")} {
			if f := disk.apply(c, 1); f == nil || f.Kind != test.kind {
				t.Errorf("%T on a disk with %v says %v", c, test.wrong, f)
			}
		}
		if all, err := keys.Load(t.Context(), disk); err == nil {
			t.Errorf("keys %v on a disk with %v", all, test.wrong)
		}
	}
	for name, value := range map[string]string{"garbage": "\xff\xff", "no hash": ""} {
		damaged := newMemory()
		h := id.HashKey("sk-1")
		damaged.Set(store.SpaceKey, h[:], []byte(value))
		if all, err := keys.Load(t.Context(), damaged); fault.KindOf(err) != fault.Internal || all != nil {
			t.Errorf("of %s there are the keys %v, error %v", name, all, err)
		}
	}
}

func drawKey(t *rapid.T) keys.Key {
	text := rapid.StringMatching(`[a-zé]{0,4}\*?`)
	k := keys.Key{
		Hash:     id.HashKey(rapid.SampledFrom([]string{"sk-1", "sk-2", "sk-3", "sk-4"}).Draw(t, "key")),
		Alias:    rapid.SampledFrom([]string{"", "a", "b", "c"}).Draw(t, "alias"),
		Name:     text.Draw(t, "name"),
		Blocked:  rapid.Bool().Draw(t, "blocked"),
		Metadata: text.Draw(t, "metadata"),
	}
	if models := rapid.SliceOfN(text, 0, 3).Draw(t, "models"); len(models) > 0 {
		k.Models = models
	}
	if n := rapid.Int64Range(0, 1<<61).Draw(t, "expires"); n > 0 {
		k.Expires = time.Unix(0, n).UTC()
	}
	return k
}

func TestRecordsRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		k := drawKey(t)
		got, err := keys.FromRecord(wired(t, create(t, k).GetKey()))
		if diff := cmp.Diff(k, got); diff != "" || err != nil {
			t.Fatalf("error %v, key (-want +got)\n%s", err, diff)
		}
	})
	if _, err := keys.ToRecord(keys.Key{Alias: "\xff"}); fault.KindOf(err) != fault.Malformed {
		t.Errorf("an alias that is no text: %v", err)
	}
}

// wired is a message as it comes out of the log.
func wired[M proto.Message](t *rapid.T, m M) M {
	b, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	out, _ := m.ProtoReflect().New().Interface().(M)
	if err := proto.Unmarshal(b, out); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestStateAgainstModel: commands on the state come to what they come to on plain
// maps, refusals included, and to the same bytes on every node.
func TestStateAgainstModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		nodes := []*memory{newMemory(), newMemory()}
		model := map[id.KeyHash]keys.Key{}
		for i := range uint64(rapid.IntRange(1, 30).Draw(t, "entries")) {
			index := i + 1
			var command proto.Message
			want := ""
			if rapid.Bool().Draw(t, "create") {
				k := drawKey(t)
				command = create(t, k)
				for h, other := range model {
					if h == k.Hash || k.Alias != "" && k.Alias == other.Alias {
						want = "already_exists"
					}
				}
				if want == "" {
					k.CreatedAt, k.CreatedBy, k.UpdatedAt, k.Revision = stampTime(index), "admin", stampTime(index), index
					model[k.Hash] = k
				}
			} else {
				names := rapid.SliceOfN(rapid.SampledFrom([]string{"sk-1", "sk-2", "sk-3", "sk-4"}), 0, 3).Draw(t, "delete")
				command = remove(names...)
				for _, name := range names {
					if _, ok := model[id.HashKey(name)]; !ok {
						want = "key_not_found"
					}
				}
				for _, name := range names {
					if want == "" {
						delete(model, id.HashKey(name))
					}
				}
			}
			for n, m := range nodes {
				c := command
				if n > 0 {
					c = wired(t, command)
				}
				if f := m.apply(c, index); (f == nil) != (want == "") || f != nil && f.Code != want {
					t.Fatalf("entry %d on node %d: %v, want %q", index, n, f, want)
				}
			}
		}
		if diff := cmp.Diff(nodes[0].records, nodes[1].records); diff != "" {
			t.Fatalf("two nodes differ\n%s", diff)
		}
		all, err := keys.Load(context.Background(), nodes[0])
		if err != nil {
			t.Fatal(err)
		}
		got, aliases := map[id.KeyHash]keys.Key{}, 0
		for _, k := range all {
			got[k.Hash] = k
			if k.Alias != "" {
				aliases++
			}
		}
		if diff := cmp.Diff(model, got); diff != "" {
			t.Fatalf("keys (-model +state)\n%s", diff)
		}
		if n := len(nodes[0].records); n != len(model)+aliases {
			t.Fatalf("%d records of %d keys with %d aliases: something was left behind", n, len(model), aliases)
		}
		s, err := keys.New(nil, vault.Secret{})
		if err != nil {
			t.Fatal(err)
		}
		s, errs := s.WithAll(all)
		if len(errs) > 0 {
			t.Fatal(errs)
		}
		for _, k := range all {
			if found, ok := s.Get(k.Hash); !ok || cmp.Diff(k, found) != "" {
				t.Fatalf("the set has %v, want %v", found, k)
			}
			if found, ok := s.ByAlias(k.Alias); ok != (k.Alias != "") || ok && found.Hash != k.Hash {
				t.Fatalf("%q is %v", k.Alias, found)
			}
		}
	})
}

func TestLookUps(t *testing.T) {
	t.Parallel()
	s := set(t, keys.Key{Alias: "app", Hash: id.HashKey(good)})
	if k, ok := s.Get(id.HashKey(good)); !ok || !k.Static || k.Alias != "app" {
		t.Errorf("the file's key is %v", k)
	}
	if _, ok := s.ByAlias("app"); ok {
		t.Error("a key of the file is found by its label")
	}
	for i := range 10 {
		k := numbered(i)
		k.Alias, k.Static = strings.Repeat("x", i), true // With knows better where the key is from
		var err error
		if s, err = s.With(k); err != nil {
			t.Fatal(err)
		}
	}
	moved := numbered(3)
	moved.Alias = "moved"
	s, err := s.With(moved)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := s.ByAlias("xxx"); ok {
		t.Error("the alias that a key had is still its own")
	}
	if k, ok := s.ByAlias("moved"); !ok || k.Hash != moved.Hash || k.Static {
		t.Errorf("by its new alias the key is %v", k)
	}
	if _, ok := s.Without(moved.Hash).ByAlias("moved"); ok {
		t.Error("a key that was removed has its alias still")
	}
	var seen []keys.Key
	for offset := 0; ; offset += 3 {
		page, total := s.List(offset, 3)
		if total != 10 || s.Cluster() != 10 || s.Len() != 11 || len(page) > 3 {
			t.Fatalf("a page of %d, and %d in all", len(page), total)
		}
		if len(page) == 0 {
			break
		}
		seen = append(seen, page...)
	}
	if len(seen) != 10 || !slices.IsSortedFunc(seen, func(a, b keys.Key) int { return bytes.Compare(a.Hash[:], b.Hash[:]) }) {
		t.Errorf("the pages have %d keys", len(seen))
	}
	if slices.ContainsFunc(seen, func(k keys.Key) bool { return k.Static }) {
		t.Error("the pages show a key of the file")
	}
	if page, _ := s.List(0, -1); len(page) != 0 {
		t.Errorf("a page of less than none has %d", len(page))
	}
}

// TestStateInAStore: what was committed is there when the store is opened again.
func TestStateInAStore(t *testing.T) {
	t.Parallel()
	cfg := store.Config{Kind: store.StateStore, Dir: "state", FS: vfs.NewMem()}
	s, err := store.Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	tx := s.NewTx()
	for i, name := range []string{"sk-1", "sk-2"} {
		k := keys.Key{Hash: id.HashKey(name), Alias: name}
		if _, f := keys.CreateKey(tx, create(t, k), keys.Stamp{Index: uint64(i), Time: now(), Actor: "admin"}); f != nil {
			t.Fatal(f)
		}
	}
	if f := keys.DeleteKeys(tx, remove("sk-1")); f != nil {
		t.Fatal(f)
	}
	if err := tx.CommitReplayable(); err != nil {
		t.Fatal(err)
	}
	tx.Close()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s, err = store.Open(cfg); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	if all, err := keys.Load(t.Context(), s); err != nil || len(all) != 1 || all[0].Alias != "sk-2" {
		t.Errorf("keys %v, error %v", all, err)
	}
}
