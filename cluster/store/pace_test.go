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

// TestFailingDiskIsRetriedWithBackoff keeps a store on a disk that rejects tables for a minute.
// It retries with pauses, reads and commits continue, and the store recovers with the disk.
func TestFailingDiskIsRetriedWithBackoff(t *testing.T) {
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
					for range 70 { // more than the waiting memtables
						set(t, s, "a", "1")
						refused(t, s.Flush(), "write to the data directory failed")
					}
					tries.Store(0)
					<-time.After(time.Minute)
					// A flush and a compaction, each retried once after the release of the
					// ballast.
					if n := tries.Load(); n < 60 || n > 300 {
						t.Errorf("%d attempts in a minute", n)
					}
					set(t, s, "b", "2")
					if got := scan(t, s, store.Range{Space: store.SpaceEvent}); len(got) != 2 {
						t.Errorf("got %q", got)
					}
					failing.Store(false)
					// One failure may still be in flight; then call again.
					if err := s.Flush(); err != nil {
						if err := s.Flush(); err != nil {
							t.Error(err)
						}
					}
				}
				// Close waits neither for the next attempt nor for the disk.
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
