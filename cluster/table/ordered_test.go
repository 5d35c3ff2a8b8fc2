package table_test

import (
	"cmp"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/record/recordtest"
	"github.com/modelgateway/modelgateway/cluster/table"
)

// ids returns the ids of records in their order.
func ids(records iter.Seq[*row]) []string {
	var out []string
	for r := range records {
		out = append(out, r.id)
	}
	return out
}

// TestManyRecordsStayInOrder adds and removes thousands of records in batches of any size and
// order. It compares every read of an index with a sorted list, and earlier tables with their
// state at that time.
func TestManyRecordsStayInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		var s recordtest.State
		now := newTable()
		model := map[string]row{}
		var kept []*table.Table[row]
		var were [][]string
		for range rapid.IntRange(1, 12).Draw(t, "batches") {
			tx := record.NewTxn(time.Unix(1, 0), "ada")
			size, room := 1+random.IntN(900), 1+random.IntN(3000)
			remove := random.IntN(3) == 0
			first := random.IntN(room)
			for i := range size {
				n := (first + i) % room // batches are runs of consecutive ids
				if random.IntN(2) == 0 {
					n = random.IntN(room)
				}
				r := row{id: fmt.Sprintf("%05d", n), group: fmt.Sprintf("g%03d", random.IntN(200)), tags: []string{fmt.Sprint(n % 7)}}
				if old, there := now.Get([]byte(r.id)); remove && there {
					now.Delete(tx, old)
					delete(model, r.id)
					continue
				}
				now.Put(tx, &r)
				model[r.id] = r
			}
			changes, _, err := s.Commit(tx)
			if err != nil {
				t.Fatal(err)
			}
			now, _, _ = now.With(changes)
			kept, were = append(kept, now), append(were, inOrder(model))
		}
		for i, k := range kept {
			want := were[i]
			if got := ids(k.Sorted(byGroup, 0)); !slices.Equal(got, want) || k.Indexed(byGroup) != len(want) {
				t.Fatalf("table %d has %d records, not the %d records of its time in their order", i, len(got), len(want))
			}
			skip := random.IntN(len(want) + 3)
			if got := ids(k.Sorted(byGroup, skip)); !slices.Equal(got, want[min(skip, len(want)):]) {
				t.Fatalf("without the first %d of %d records the table has %d", skip, len(want), len(got))
			}
			slices.Reverse(want)
			if got := ids(slices.Values(table.Take(k.Backward(byGroup, skip), 50))); !slices.Equal(got, want[min(skip, len(want)):min(skip+50, len(want))]) {
				t.Fatalf("backward, without %d of %d records, the table begins with %v", skip, len(want), got)
			}
		}
		group := fmt.Sprintf("g%03d", random.IntN(200))
		var of []string
		for _, id := range inOrder(model) {
			if model[id].group == group {
				of = append(of, id)
			}
		}
		if got := ids(now.By(byGroup, []byte(group))); !slices.Equal(got, of) {
			t.Fatalf("group %s has %v, want %v", group, got, of)
		}
		if got := ids(now.Matching(byGroup, func(value string) bool { return value == group })); !slices.Equal(got, of) {
			t.Fatalf("%v match %s, want %v", got, group, of)
		}
	})
}

// inOrder returns the ids of records ordered by group and then by id.
func inOrder(model map[string]row) []string {
	var rows []row
	for _, r := range model {
		rows = append(rows, r)
	}
	slices.SortFunc(rows, func(a, b row) int { return cmp.Or(cmp.Compare(a.group, b.group), cmp.Compare(a.id, b.id)) })
	out := make([]string, 0, len(rows))
	for _, r := range rows {
		out = append(out, r.id)
	}
	return out
}
