package store_test

import (
	"bytes"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"pgregory.net/rapid"

	"github.com/modelgateway/modelgateway/cluster/store"
)

// stateConfig configures a StateStore in memory.
func stateConfig() store.Config {
	return store.Config{Kind: store.StateStore, Dir: "state", FS: vfs.NewMem()}
}

// put commits one replayable change of keys and values.
func put(s *store.Store, kv ...string) error {
	tx := s.NewTx()
	defer tx.Close()
	for i := 0; i < len(kv); i += 2 {
		tx.Set(store.SpaceKey, []byte(kv[i]), []byte(kv[i+1]))
	}
	return tx.CommitReplayable()
}

func commit(tb testing.TB, s *store.Store, kv ...string) {
	tb.Helper()
	if err := put(s, kv...); err != nil {
		tb.Fatal(err)
	}
}

// readable is a store, a transaction or a reader.
type readable interface {
	Get(space store.Space, key []byte) ([]byte, bool, error)
}

type rangeScan func(store.Range, func(k, v []byte) bool) error

// same compares the results of Get and of a scan of x with the model.
func same(t *rapid.T, from readable, scan rangeScan, x store.Range, model map[string]string) {
	t.Helper()
	var want, got []string
	for _, k := range slices.Sorted(maps.Keys(model)) {
		value, ok, err := from.Get(x.Space, []byte(k))
		if !ok || err != nil || string(value) != model[k] {
			t.Fatalf("Get(%q) = %q, %v, %v; want %q", k, value, ok, err, model[k])
		}
		if bytes.HasPrefix([]byte(k), x.Prefix) && k >= string(x.From) && (len(x.To) == 0 || k < string(x.To)) {
			want = append(want, k+"="+model[k])
		}
	}
	if x.Reverse {
		slices.Reverse(want)
	}
	if x.Limit > 0 {
		want = want[:min(x.Limit, len(want))]
	}
	err := scan(x, func(k, v []byte) bool {
		got = append(got, string(k)+"="+string(v))
		return true
	})
	if err != nil || !slices.Equal(got, want) {
		t.Fatalf("scan of %+v: %v: got %q, want %q", x, err, got, want)
	}
}

// TestTxModel compares a transaction, the store below it and an earlier reader with maps,
// through committed and discarded changes.
func TestTxModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, err := store.Open(stateConfig())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = s.Close() }()
		committed, pending, seen := map[string]string{}, map[string]string{}, map[string]string{}
		tx := s.NewTx()
		defer func() { tx.Close() }()
		view, err := s.View()
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = view.Close() }()

		name := rapid.SampledFrom([]string{"", "a", "b", "ba", "b\xff", "b\xff\xff", "c", "\xff"})
		t.Repeat(map[string]func(*rapid.T){
			"set": func(t *rapid.T) {
				k, v := name.Draw(t, "key"), rapid.StringN(0, 8, -1).Draw(t, "value")
				key, value := []byte(k), []byte(v)
				tx.Set(store.SpaceKey, key, value)
				pending[k] = v
				clear(key) // they are copied
				clear(value)
			},
			"delete": func(t *rapid.T) {
				k := name.Draw(t, "key")
				tx.Delete(store.SpaceKey, []byte(k))
				delete(pending, k)
			},
			"reset": func(*rapid.T) {
				tx.Reset()
				pending = maps.Clone(committed)
			},
			"commit": func(t *rapid.T) {
				if err := tx.CommitReplayable(); err != nil {
					t.Fatal(err)
				}
				tx.Close()
				tx, committed = s.NewTx(), maps.Clone(pending)
			},
			"delete a range": func(t *rapid.T) {
				from, to := name.Draw(t, "from"), name.Draw(t, "to")
				b := s.NewBatch()
				defer b.Close()
				b.DeleteRange(store.SpaceKey, []byte(from), []byte(to))
				if err := b.Commit(); err != nil {
					t.Fatal(err)
				}
				tx.Reset() // a transaction over concurrent changes is not specified
				maps.DeleteFunc(committed, func(k, _ string) bool { return k >= from && k < to })
				pending = maps.Clone(committed)
			},
			"look": func(t *rapid.T) {
				if err := view.Close(); err != nil {
					t.Fatal(err)
				}
				var err error
				if view, err = s.View(); err != nil {
					t.Fatal(err)
				}
				seen = maps.Clone(committed)
			},
			"flush": func(t *rapid.T) {
				if err := s.Flush(); err != nil {
					t.Fatal(err)
				}
			},
			"": func(t *rapid.T) {
				x := store.Range{
					Space: store.SpaceKey, Prefix: []byte(name.Draw(t, "prefix")),
					From: []byte(name.Draw(t, "from")), To: []byte(name.Draw(t, "to")),
					Reverse: rapid.Bool().Draw(t, "reverse"), Limit: rapid.IntRange(0, 3).Draw(t, "limit"),
				}
				same(t, tx, tx.Scan, x, pending)
				same(t, view, view.Scan, x, seen)
				same(t, s, func(x store.Range, fn func(k, v []byte) bool) error { return s.Scan(t.Context(), x, fn) }, x, committed)
			},
		})
	})
}

// TestDeleteRangeEndsWithItsSpace deletes everything in a space and checks the neighboring
// spaces.
func TestDeleteRangeEndsWithItsSpace(t *testing.T) {
	s := open(t, store.Config{FS: vfs.NewMem()})
	b := s.NewBatch()
	defer b.Close()
	for _, space := range []store.Space{store.SpaceStable - 1, store.SpaceStable, store.SpaceStable + 1} {
		for _, key := range []string{"", "a", "\xff\xff"} {
			b.Set(space, []byte(key), nil)
		}
	}
	b.DeleteRange(store.SpaceStable, nil, []byte("\xff\xff"))
	if err := b.Commit(); err != nil {
		t.Fatal(err)
	}
	if got := scan(t, s, store.Range{Space: store.SpaceStable}); !slices.Equal(got, []string{"\xff\xff="}) {
		t.Errorf("left is %q", got)
	}
	for _, space := range []store.Space{store.SpaceStable - 1, store.SpaceStable + 1} {
		if got := scan(t, s, store.Range{Space: space}); len(got) != 3 {
			t.Errorf("a neighbour has %q left", got)
		}
	}
}

func TestReplayableCommitNeedsALog(t *testing.T) {
	s := open(t, store.Config{FS: vfs.NewMem()})
	tx := s.NewTx()
	defer tx.Close()
	tx.Set(store.SpaceEvent, []byte("a"), nil)
	defer func() {
		if recover() == nil {
			t.Error("a NodeStore accepted a commit without a sync")
		}
		if got := scan(t, s, store.Range{Space: store.SpaceEvent}); got != nil {
			t.Errorf("it has %q", got)
		}
	}()
	_ = tx.CommitReplayable() // panics
}

func TestClosedStoreRejectsEverything(t *testing.T) {
	s, err := store.Open(stateConfig())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	tx := s.NewTx()
	defer tx.Close()
	tx.Set(store.SpaceKey, []byte("a"), nil)
	_, _, getErr := tx.Get(store.SpaceKey, []byte("a"))
	_, viewErr := s.View()
	for name, err := range map[string]error{
		"get": getErr, "scan": tx.Scan(store.Range{Space: store.SpaceKey}, nil), "commit": tx.CommitReplayable(),
		"flush": s.Flush(), "checkpoint": s.Checkpoint("copy"), "view": viewErr,
	} {
		t.Run(name, func(t *testing.T) { refused(t, err, "shutting down") })
	}
}

// TestReaderIsConsistent reads during concurrent commits: each commit writes the same value to
// every key, so two different values mean an inconsistent read.
func TestReaderIsConsistent(t *testing.T) {
	s := open(t, stateConfig())
	commit(t, s, "a", "-", "b", "-", "c", "-")
	stop, stopped := make(chan struct{}), make(chan int)
	go func() {
		for n := 0; ; n++ {
			select {
			case <-stop:
				stopped <- n
				return
			default:
				v := string(rune('A' + n%26))
				if err := put(s, "a", v, "b", v, "c", v); err != nil {
					t.Error(err)
				}
			}
		}
	}()
	moments := map[string]bool{}
	for reads := 0; len(moments) < 20 && reads < 100_000; reads++ {
		r, err := s.View()
		if err != nil {
			t.Error(err)
			break
		}
		first, _, err := r.Get(store.SpaceKey, []byte("a"))
		if err != nil {
			t.Error(err)
		}
		err = r.Scan(store.Range{Space: store.SpaceKey}, func(k, v []byte) bool {
			if !bytes.Equal(v, first) {
				t.Errorf("%s is %s when a is %s", k, v, first)
			}
			return true
		})
		if err != nil {
			t.Error(err)
		}
		if again, _, err := r.Get(store.SpaceKey, []byte("a")); err != nil || !bytes.Equal(again, first) {
			t.Errorf("a was %s and is %s, %v", first, again, err)
		}
		moments[string(first)] = true
		for range 2 { // the second one does nothing
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	close(stop)
	if n := <-stopped; n == 0 || len(moments) < 20 {
		t.Errorf("%d commits and %d moments prove nothing", n, len(moments))
	}
}

func TestCloseWaitsForReaders(t *testing.T) {
	s, err := store.Open(stateConfig())
	if err != nil {
		t.Fatal(err)
	}
	commit(t, s, "a", "1")
	r, err := s.View()
	if err != nil {
		t.Fatal(err)
	}
	closed := make(chan error)
	go func() { closed <- s.Close() }()
	for s.Healthy() == nil { // until Close has started
	}
	if v, ok, err := r.Get(store.SpaceKey, []byte("a")); !ok || err != nil || string(v) != "1" {
		t.Errorf("got %q, %v, %v", v, ok, err)
	}
	select {
	case err := <-closed:
		t.Errorf("closed under a reader: %v", err)
	default:
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
}

func TestKindsDoNotMix(t *testing.T) {
	reopen := func(t *testing.T, cfg store.Config, fill func(*store.Store)) error {
		t.Helper()
		s, err := store.Open(cfg)
		if err != nil {
			t.Fatal(err)
		}
		fill(s)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		cfg.Kind = store.NodeStore + store.StateStore - cfg.Kind
		s, err = store.Open(cfg)
		if err == nil {
			t.Fatal("opened", s.Close())
		}
		return err
	}
	node := store.Config{Dir: "data", FS: vfs.NewMem(), BallastBytes: -1}
	refused(t, reopen(t, node, func(*store.Store) {}), "cannot hold the replicated state")
	state := store.Config{Kind: store.StateStore, Dir: "data", FS: vfs.NewMem(), BallastBytes: -1}
	refused(t, reopen(t, state, func(s *store.Store) { commit(t, s, "a", "1") }), "is that of the replicated state")
	// Neither attempt changed anything.
	open(t, node)
	if v, ok, err := open(t, state).Get(store.SpaceKey, []byte("a")); !ok || err != nil || string(v) != "1" {
		t.Errorf("got %q, %v, %v", v, ok, err)
	}
}

func TestStateStoreHasNoIdentityAndNoBallast(t *testing.T) {
	cfg := stateConfig()
	cfg.BallastBytes = 1 << 20
	s := open(t, cfg)
	if s.Identity() != (store.Identity{}) {
		t.Errorf("it is %v", s.Identity())
	}
	if _, err := cfg.FS.Stat("state/ballast"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it has a ballast: %v", err)
	}
}
