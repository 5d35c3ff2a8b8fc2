package table_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/record/recordtest"
	"github.com/modelgateway/modelgateway/cluster/store"
	"github.com/modelgateway/modelgateway/cluster/table"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// row is the record of these tests: a customer and its indexed names.
type row struct {
	id       string
	group    string
	tags     []string
	revision uint64
}

const (
	byGroup = iota
	byTag
)

func newTable() *table.Table[row] {
	return table.New(&table.Spec[row]{
		Space:    store.SpaceCustomer,
		Key:      func(r *row) []byte { return []byte(r.id) },
		Revision: func(r *row) uint64 { return r.revision },
		Encode: func(r *row) proto.Message {
			return &clusterv1.Customer{Id: r.id, Alias: r.group, Models: r.tags}
		},
		Decode: func(_, value []byte) (*row, error) {
			c := &clusterv1.Customer{}
			if err := proto.Unmarshal(value, c); err != nil {
				return nil, err
			}
			if c.GetAlias() == "unreadable" {
				return nil, fmt.Errorf("no")
			}
			return &row{c.GetId(), c.GetAlias(), c.GetModels(), c.GetStamp().GetRevision()}, nil
		},
		Indexes: []func(*row) [][]byte{
			byGroup: func(r *row) [][]byte {
				if r.group == "" {
					return nil
				}
				return [][]byte{[]byte(r.group)}
			},
			byTag: func(r *row) [][]byte {
				var out [][]byte
				for _, tag := range r.tags {
					out = append(out, []byte(tag))
				}
				return out
			},
		},
	})
}

// TestTableIsAMap compares a table with a simple model through any sequence of changes, and an
// earlier table with the model of its time.
func TestTableIsAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.SampledFrom([]string{"a", "ab", "abc", "b", "ba"})
		var s recordtest.State
		now := newTable()
		model := map[string]row{}
		before, beforeModel := now, maps.Clone(model)
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			tx := record.NewTxn(time.Unix(1, 0), "ada")
			id := word.Draw(t, "id")
			found, there := now.Read(tx, []byte(id))
			if rapid.IntRange(0, 3).Draw(t, "what") == 0 && there {
				now.Delete(tx, found)
				delete(model, id)
			} else {
				r := row{id: id, group: rapid.SampledFrom([]string{"", "g", "gg"}).Draw(t, "group"), tags: slices.Compact(slices.Sorted(slices.Values(rapid.SliceOfN(word, 0, 3).Draw(t, "tags"))))}
				now.Put(tx, &r)
				model[id] = r
			}
			if rapid.IntRange(0, 5).Draw(t, "keep") == 0 {
				before, beforeModel = now, maps.Clone(model)
				if there && model[id].id == "" || !there {
					delete(beforeModel, id)
				}
				if there {
					beforeModel[id] = *found
				}
			}
			changes, _, err := s.Commit(tx)
			if err != nil {
				t.Fatal(err)
			}
			var broken []error
			if now, _, broken = now.With(changes); len(broken) > 0 {
				t.Fatal(broken[0])
			}
		}
		compare(t, now, model)
		compare(t, before, beforeModel)
		loaded, broken, err := newTable().Load(context.Background(), &s)
		if err != nil || len(broken) > 0 {
			t.Fatal(err, broken)
		}
		compare(t, loaded, model)
	})
}

func compare(t rapid.TB, got *table.Table[row], model map[string]row) {
	t.Helper()
	if got.Len() != len(model) {
		t.Fatalf("%d records, want %d", got.Len(), len(model))
	}
	var all, sorted []string
	for r := range got.All() {
		all = append(all, r.id)
	}
	if want := slices.Sorted(maps.Keys(model)); !slices.Equal(all, want) {
		t.Fatalf("all are %v, want %v", all, want)
	}
	for r := range got.Sorted(byGroup, 0) {
		sorted = append(sorted, r.group+" "+r.id)
	}
	var want []string
	for id, r := range model {
		if r.group != "" {
			want = append(want, r.group+" "+id)
		}
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, sorted); diff != "" {
		t.Fatalf("by group (-want +got):\n%s", diff)
	}
	for _, tag := range []string{"a", "ab", "abc", "b", "ba"} {
		var ids, want []string
		for r := range got.By(byTag, []byte(tag)) {
			ids = append(ids, r.id)
		}
		for _, id := range slices.Sorted(maps.Keys(model)) {
			if slices.Contains(model[id].tags, tag) {
				want = append(want, id)
			}
		}
		if !slices.Equal(ids, want) {
			t.Fatalf("by tag %s: %v, want %v", tag, ids, want)
		}
	}
}

// TestUnreadableRecordKeepsItsOldValue: a record that this version cannot decode does not
// affect others.
func TestUnreadableRecordKeepsItsOldValue(t *testing.T) {
	var s recordtest.State
	put := func(tbl *table.Table[row], r row) *table.Table[row] {
		tx := record.NewTxn(time.Unix(1, 0), "ada")
		tbl.Put(tx, &r)
		changes, _, err := s.Commit(tx)
		if err != nil {
			t.Fatal(err)
		}
		next, _, _ := tbl.With(changes)
		return next
	}
	tbl := put(newTable(), row{id: "a", group: "g"})
	tbl = put(tbl, row{id: "b", group: "g"})
	tbl = put(tbl, row{id: "a", group: "unreadable"})
	if r, ok := tbl.Get([]byte("a")); !ok || r.group != "g" {
		t.Errorf("a is %v", r)
	}
	if _, ok := tbl.One(byGroup, []byte("g")); !ok {
		t.Error("the index by group has lost a")
	}
	loaded, broken, err := newTable().Load(t.Context(), &s)
	if err != nil || len(broken) != 1 || loaded.Len() != 1 {
		t.Errorf("loaded %d records, %v, %v", loaded.Len(), broken, err)
	}
}

// TestStaleReadIsRejected: a read through the table is a precondition, also if the record did
// not exist.
func TestStaleReadIsRejected(t *testing.T) {
	var s recordtest.State
	tbl := newTable()
	one, two := record.NewTxn(time.Unix(1, 0), "ada"), record.NewTxn(time.Unix(1, 0), "grace")
	for _, tx := range []*record.Txn{one, two} {
		if _, ok := tbl.Read(tx, []byte("a")); ok {
			t.Fatal("a exists")
		}
		tbl.Put(tx, &row{id: "a"})
	}
	if _, _, err := s.Commit(one); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Commit(two); err == nil {
		t.Error("two transactions created the same record")
	}
}
