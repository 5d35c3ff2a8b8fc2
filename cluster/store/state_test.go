package store_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/modelgateway/modelgateway/cluster/store"
	"github.com/modelgateway/modelgateway/cluster/store/storetest"
)

// A state after n steps. Each step is one transaction that increments a counter, adds a record,
// removes an earlier one and changes a common one. So a state that does not equal that of any n
// is a mixture.

func numbered(n int) []byte { return fmt.Appendf(nil, "%04d", n) }

const kept = 3 // number of records that stay

func step(s *store.Store, n int, padding string) error {
	tx := s.NewTx()
	defer tx.Close()
	tx.Set(store.SpaceApplied, []byte("applied"), numbered(n))
	tx.Set(store.SpaceKey, numbered(n), fmt.Appendf(nil, "%d%s", n, padding))
	tx.Delete(store.SpaceKey, numbered(n-kept))
	tx.Set(store.SpaceSetting, []byte("last"), numbered(n))
	return tx.CommitReplayable()
}

// steps returns the number of steps in the store, and checks that it has exactly their state.
func steps(t *testing.T, s *store.Store) int {
	t.Helper()
	applied, _, err := s.Get(store.SpaceApplied, []byte("applied"))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	if len(applied) > 0 {
		if _, err := fmt.Sscanf(string(applied), "%d", &n); err != nil {
			t.Fatal(err)
		}
	}
	want := map[string]string{}
	for i := max(1, n-kept+1); i <= n; i++ {
		want[string(numbered(i))] = fmt.Sprint(i)
	}
	err = s.Scan(t.Context(), store.Range{Space: store.SpaceKey}, func(k, v []byte) bool {
		if want[string(k)] != strings.TrimRight(string(v), ".") {
			t.Errorf("after %d steps %s is %.10q", n, k, v)
		}
		delete(want, string(k))
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(want) > 0 {
		t.Errorf("after %d steps these are missing: %v", n, want)
	}
	last, _, err := s.Get(store.SpaceSetting, []byte("last"))
	if err != nil || string(last) != string(applied) {
		t.Errorf("after %d steps the last is %s, %v", n, last, err)
	}
	return n
}

// stateRun is the progress of a state store.
type stateRun struct {
	started int            // started steps
	flushed int            // steps that a Flush or a Close has confirmed
	copies  map[string]int // directory → steps, of confirmed copies
}

func (r *stateRun) clone() stateRun {
	out := *r
	out.copies = maps.Clone(r.copies)
	return out
}

// live runs steps, flushes, copies and reopens. It calls now each time that the promises
// change.
func (r *stateRun) live(cfg store.Config, rounds int, now func(stateRun)) error {
	cfg.Kind, cfg.Dir = store.StateStore, "data/state"
	for round := range rounds {
		s, err := store.Open(cfg)
		if err != nil {
			return err
		}
		if err := r.round(s, round, cfg.FS, now); err != nil {
			return errors.Join(err, s.Close())
		}
		if err := s.Close(); err != nil {
			return err
		}
		r.flushed = r.started
		now(*r)
	}
	return nil
}

func (r *stateRun) round(s *store.Store, round int, fsys vfs.FS, now func(stateRun)) error {
	// One that is larger than a block of the log, and one larger than the first memtable.
	padding := map[int]string{2: strings.Repeat(".", 70_000), 5: strings.Repeat(".", 300_000*(1-round))}
	for i := range 7 {
		r.started++
		now(*r)
		if err := step(s, r.started, padding[i]); err != nil {
			return err
		}
		if i != 3 {
			continue
		}
		at := r.started
		if err := s.Flush(); err != nil {
			return err
		}
		r.flushed = at
		now(*r)
	}
	first, second := fmt.Sprintf("data/copy%d", round), fmt.Sprintf("data/link%d", round)
	if err := s.Checkpoint(first); err != nil {
		return err
	}
	r.copies[first] = r.started
	now(*r)
	if err := store.LinkDir(fsys, first, second); err != nil {
		return err
	}
	r.copies[second] = r.started
	now(*r)
	b := s.NewBatch()
	defer b.Close()
	b.DeleteRange(store.SpaceOutcome, []byte("a"), []byte("b"))
	return b.Commit()
}

// check opens the disk after a crash.
func (r *stateRun) check(t *testing.T, disk vfs.FS, copies map[string]int) {
	t.Helper()
	look := func(dir string) int {
		s, err := store.Open(store.Config{Kind: store.StateStore, Dir: dir, FS: disk})
		if err != nil {
			t.Fatalf("%s: %v", dir, err)
		}
		n := steps(t, s)
		if err := s.Close(); err != nil {
			t.Errorf("%s: %v", dir, err)
		}
		return n
	}
	if n := look("data/state"); n < r.flushed || n > r.started {
		t.Errorf("%d steps are left of %d, of which %d were flushed", n, r.started, r.flushed)
	}
	for dir, want := range copies {
		if n := look(dir); n != want {
			t.Errorf("%s has %d steps, not %d", dir, n, want)
		}
	}
}

// TestStateAfterCrashAtEveryWrite simulates a power failure before every write, sync and change
// of a directory. The store opens with the state after some number of steps: not fewer than
// were flushed, and never a mixture. Confirmed copies are complete.
func TestStateAfterCrashAtEveryWrite(t *testing.T) {
	mem := storetest.NewDisk()
	var mu sync.Mutex
	run := stateRun{copies: map[string]int{}}
	promised := run.clone()
	ops, lost := uint64(0), 0
	fsys := errorfs.Wrap(mem, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if op.Kind.ReadOrWrite() != errorfs.OpIsWrite {
			return nil
		}
		mu.Lock()
		defer mu.Unlock()
		ops++
		// Checked at once, because a thousand disks do not fit into memory.
		for _, percent := range []int{0, 50, 100} {
			disk := mem.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: percent, RNG: rand.New(rand.NewPCG(ops, 1))})
			copies := promised.copies
			if percent > 0 {
				copies = nil // they are synced, so the share of unsynced data does not matter
			}
			promised.check(t, disk, copies)
			if t.Failed() {
				t.Errorf("crash %d, %d %% kept, at %v %s", ops, percent, op.Kind, op.Path)
				return errors.New("enough")
			}
			lost++
		}
		return nil
	}))
	if err := run.live(store.Config{FS: fsys}, 2, func(r stateRun) {
		mu.Lock()
		defer mu.Unlock()
		promised = r.clone()
	}); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d crashes", lost)
	if lost < 400 {
		t.Errorf("only %d crashes", lost)
	}
	run.check(t, mem, run.copies)
}

// TestUnsyncedCommitsAreLostFromTheEnd shows that the test above can detect something: without
// a Flush a crash does lose commits.
func TestUnsyncedCommitsAreLostFromTheEnd(t *testing.T) {
	mem := vfs.NewCrashableMem()
	s := open(t, store.Config{Kind: store.StateStore, FS: mem})
	for n := 1; n <= 5; n++ {
		if n == 3 {
			if err := s.Flush(); err != nil {
				t.Fatal(err)
			}
		}
		if err := step(s, n, ""); err != nil {
			t.Fatal(err)
		}
	}
	left := open(t, store.Config{Kind: store.StateStore, FS: mem.CrashClone(vfs.CrashCloneCfg{})})
	if n := steps(t, left); n != 2 {
		t.Errorf("%d steps are left, of which 2 were flushed", n)
	}
}

// TestCopiesAreIndependent changes a store, its copy and a link of the copy, which share their
// tables.
func TestCopiesAreIndependent(t *testing.T) {
	cfg := store.Config{Kind: store.StateStore, FS: vfs.NewMem(), Dir: "state"}
	s := open(t, cfg)
	for n := 1; n <= 5; n++ {
		if err := step(s, n, ""); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(s.Flush(), s.Checkpoint("copy"), store.LinkDir(cfg.FS, "copy", "link")); err != nil {
		t.Fatal(err)
	}
	refused(t, s.Checkpoint("copy"), "write to the data directory failed") // it already exists
	for i, dir := range []string{"link", "copy"} {
		cfg.Dir = dir
		copied := open(t, cfg)
		if n := steps(t, copied); n != 5 {
			t.Errorf("%s has %d steps", dir, n)
		}
		for n := 6; n <= 7+i; n++ {
			if err := step(copied, n, ""); err != nil {
				t.Fatal(err)
			}
		}
		if err := copied.Flush(); err != nil {
			t.Fatal(err)
		}
		if n := steps(t, copied); n != 7+i {
			t.Errorf("%s has %d steps", dir, n)
		}
	}
	if n := steps(t, s); n != 5 {
		t.Errorf("the store has %d steps", n)
	}
}

// TestFullDiskReleasesTheBallastBeside finds the disk full in a StateStore: the NodeStore's
// ballast is released, and the NodeStore rejects new work.
func TestFullDiskReleasesTheBallastBeside(t *testing.T) {
	mem := vfs.NewMem()
	mem.TestingSetDiskUsage(vfs.DiskUsage{AvailBytes: 1 << 40})
	full := false
	var mu sync.Mutex
	fsys := errorfs.Wrap(mem, errorfs.InjectorFunc(func(op errorfs.Op) error {
		mu.Lock()
		defer mu.Unlock()
		if _, err := mem.Stat("node/ballast"); full && err == nil && op.Kind == errorfs.OpFileWrite {
			return syscall.ENOSPC
		}
		return nil
	}))
	node := open(t, store.Config{Dir: "node", FS: fsys, ProbeEvery: time.Nanosecond})
	state := open(t, store.Config{Kind: store.StateStore, Dir: "state", FS: fsys, Beside: node})
	mu.Lock()
	full = true
	mu.Unlock()
	mem.TestingSetDiskUsage(vfs.DiskUsage{AvailBytes: 1})
	if err := errors.Join(step(state, 1, ""), state.Flush()); err != nil {
		t.Error(err)
	}
	refused(t, node.Healthy(), "full")
	mem.TestingSetDiskUsage(vfs.DiskUsage{AvailBytes: 1 << 40})
	mu.Lock()
	full = false
	mu.Unlock()
	if err := node.Healthy(); err != nil {
		t.Error(err)
	}
	if n := steps(t, state); n != 1 {
		t.Errorf("%d steps", n)
	}
}

func TestStateStoreRequiresLittleSpace(t *testing.T) {
	mem := vfs.NewMem()
	mem.TestingSetDiskUsage(vfs.DiskUsage{AvailBytes: 7 << 20})
	cfg := store.Config{Kind: store.StateStore, Dir: "state", FS: mem}
	_, err := store.Open(cfg)
	refused(t, err, "7 MiB left and the gateway needs 8 MiB")
	mem.TestingSetDiskUsage(vfs.DiskUsage{AvailBytes: 8 << 20})
	open(t, cfg)
}
