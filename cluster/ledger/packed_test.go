package ledger_test

import (
	"slices"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"pgregory.net/rapid"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/ledger"
	"github.com/modelgateway/modelgateway/cluster/store"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// openOlder opens a state whose usage records are kept as older versions do.
func openOlder(t tb) *store.Store {
	s, err := store.Open(store.Config{Kind: store.StateStore, Dir: "state", FS: vfs.NewMem()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// TestOlderRecordsArePacked posts events before and after the log of records begins, and packs the older ones in steps.
// Every page of every query is what it is in a ledger that has always packed.
func TestOlderRecordsArePacked(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		older, packed := openOlder(t), open(t)
		seq := uint64(1)
		postBoth := func(n int) {
			var events []*clusterv1.UsageEvent
			for range n {
				e := drawEvent(t, func(id.Account) uint64 { return 0 })
				events = append(events, e)
			}
			for _, s := range []*store.Store{older, packed} {
				if _, f := post(t, s, run(t, "n1", seq, events...), day0()); f != nil {
					t.Fatal(f)
				}
			}
			seq += uint64(n)
		}
		postBoth(rapid.IntRange(0, 40).Draw(t, "before"))
		compareLogs(t, older, packed)
		for step := 0; ; step++ {
			left, err := ledger.HasOlderRows(t.Context(), older)
			if err != nil {
				t.Fatal(err)
			}
			if step > 0 && !left {
				break
			}
			if _, f := entry(t, older, func(tx *store.Tx) (int, *fault.Error) {
				if f := ledger.BeginRows(tx); f != nil {
					return 0, f
				}
				return 0, ledger.PackRows(tx, 7)
			}); f != nil {
				t.Fatal(f)
			}
			postBoth(rapid.IntRange(1, 5).Draw(t, "more"))
			compareLogs(t, older, packed)
			sound(t, older)
		}
		if _, f := entry(t, older, func(tx *store.Tx) (int, *fault.Error) {
			return ledger.TrimUsage(tx, day0().Add(20*time.Second), 1000)
		}); f != nil {
			t.Fatal(f)
		}
		sound(t, older)
	})
}

// compareLogs reads two ledgers page by page.
func compareLogs(t *rapid.T, a, b *store.Store) {
	filters := []ledger.LogFilter{
		{Limit: 3},
		{Limit: 4, NewestFirst: true},
		{Key: new(keyOf(1)), Limit: 2},
		{Team: "red"},
		{Request: "req_3", NewestFirst: true},
		{From: day0().Add(10 * time.Second), To: day0().Add(40 * time.Second), Limit: 5},
	}
	for _, f := range filters {
		if got, want := pages(t, a, f), pages(t, b, f); !slices.Equal(got, want) {
			t.Fatalf("%+v: %d records, want %d", f, len(got), len(want))
		}
	}
}

// pages returns the cursors of all records, read page by page.
func pages(t *rapid.T, s *store.Store, f ledger.LogFilter) (all []string) {
	for {
		n := len(all)
		if err := ledger.Logs(t.Context(), s, f, func(r ledger.Record) bool {
			all = append(all, r.Cursor())
			return true
		}); err != nil {
			t.Fatal(err)
		}
		if f.Limit == 0 || len(all) < n+f.Limit {
			return all
		}
		f.After = all[len(all)-1]
	}
}
