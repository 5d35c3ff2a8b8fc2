package store_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/modelgateway/modelgateway/cluster/store"
	"github.com/modelgateway/modelgateway/cluster/store/storetest"
)

// TestCrashAtEveryWrite simulates a power failure before every write, sync and change of the
// directory, while a store is created, used, closed and opened again. With any subset of the
// unsynced changes on the disk, the store opens with its identity and all committed data.
func TestCrashAtEveryWrite(t *testing.T) {
	type crash struct {
		disk      *vfs.MemFS
		identity  store.Identity
		committed int
	}
	mem := storetest.NewDisk()
	var mu sync.Mutex
	var crashes []crash
	var now crash // the current promises
	ops := uint64(0)
	fsys := errorfs.Wrap(mem, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if op.Kind.ReadOrWrite() != errorfs.OpIsWrite {
			return nil
		}
		mu.Lock()
		defer mu.Unlock()
		ops++
		for _, percent := range []int{0, 50, 100} {
			at := now
			at.disk = mem.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: percent, RNG: rand.New(rand.NewPCG(ops, 1))})
			crashes = append(crashes, at)
		}
		return nil
	}))
	key := func(n int) []byte { return fmt.Appendf(nil, "%03d", n) }
	for range 3 {
		s, err := store.Open(store.Config{Dir: "a/b/data", FS: fsys, BallastBytes: 64})
		if err != nil {
			t.Fatal(err)
		}
		mu.Lock()
		now.identity = s.Identity()
		mu.Unlock()
		for range 5 {
			b := s.NewBatch()
			b.Set(store.SpaceEvent, key(now.committed), nil)
			if err := b.Commit(); err != nil {
				t.Fatal(err)
			}
			b.Close()
			mu.Lock()
			now.committed++
			mu.Unlock()
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for i, at := range crashes {
		s, err := store.Open(store.Config{Dir: "a/b/data", FS: at.disk, BallastBytes: 64})
		if err != nil {
			t.Fatalf("crash %d: %v", i, err)
		}
		if at.identity != (store.Identity{}) && s.Identity() != at.identity {
			t.Errorf("crash %d: identity %v, was %v", i, s.Identity(), at.identity)
		}
		for n := range at.committed {
			if _, ok, err := s.Get(store.SpaceEvent, key(n)); !ok || err != nil {
				t.Errorf("crash %d: commit %d is lost: %v", i, n, err)
			}
		}
		if err := s.Close(); err != nil {
			t.Errorf("crash %d: %v", i, err)
		}
	}
	if len(crashes) < 200 {
		t.Errorf("only %d crashes", len(crashes))
	}
}
