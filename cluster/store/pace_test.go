package store_test

import (
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/modelgateway/modelgateway/cluster/store"
)

// TestFailingDiskIsNotTriedWithoutRest leaves a store on a disk that takes no
// table for a minute: it is tried again, but not all the time, reads and commits
// go on, and when the disk works again so does the store.
func TestFailingDiskIsNotTriedWithoutRest(t *testing.T) {
	for name, kind := range map[string]store.Kind{"node": store.NodeStore, "state": store.StateStore} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var tries atomic.Int64
				var failing atomic.Bool
				fsys := errorfs.Wrap(vfs.NewMem(), errorfs.InjectorFunc(func(op errorfs.Op) error {
					if failing.Load() && op.Kind == errorfs.OpCreate && strings.HasSuffix(op.Path, ".sst") {
						tries.Add(1)
						return syscall.ENOSPC
					}
					return nil
				}))
				s, err := store.Open(store.Config{Kind: kind, Dir: "data", FS: fsys, BallastBytes: -1})
				if err != nil {
					t.Fatal(err)
				}
				for range 2 {
					failing.Store(true)
					for range 70 { // more than memtables may wait
						set(t, s, "a", "1")
						refused(t, s.Flush(), "write to the data directory failed")
					}
					tries.Store(0)
					<-time.After(time.Minute)
					// A flush and a compaction, each once more after the ballast made way.
					if n := tries.Load(); n < 60 || n > 300 {
						t.Errorf("%d tries in a minute", n)
					}
					set(t, s, "b", "2")
					if got := scan(t, s, store.Range{Space: store.SpaceEvent}); len(got) != 2 {
						t.Errorf("got %q", got)
					}
					failing.Store(false)
					// One failure may still be on its way; who gets it calls again.
					if err := s.Flush(); err != nil {
						if err := s.Flush(); err != nil {
							t.Error(err)
						}
					}
				}
				// Close does not wait for the next try, nor for the disk.
				failing.Store(true)
				set(t, s, "c", "3")
				refused(t, s.Flush(), "write to the data directory failed")
				before := time.Now()
				if err := s.Close(); err != nil {
					t.Error(err)
				}
				if !time.Now().Equal(before) {
					t.Errorf("Close took %v", time.Since(before))
				}
			})
		})
	}
}
