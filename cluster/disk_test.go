package cluster_test

import (
	"math/rand/v2"
	"path"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/modelgateway/modelgateway/cluster/store/storetest"
)

const (
	// ballast is the file that makes way on a full disk.
	ballast = "data/store/ballast"
	// A stall of a slow disk takes between these.
	shortStall, longStall = 50 * time.Millisecond, 5 * time.Second
)

// disk is a machine's, in memory. It can be slow, and it can be full.
type disk struct {
	*storetest.Disk

	mu struct {
		sync.Mutex
		calm   chan struct{} // closed when it is not slow any more; nil: it is not
		random *rand.Rand
		full   bool
		freed  bool                // the ballast was removed since it is full
		watch  func(op errorfs.Op) // told of each operation before it; may be nil
	}
}

func newDisk() *disk { return diskOf(vfs.NewCrashableMem()) }

// diskOf is a disk that goes on with what is on another one.
func diskOf(mem *vfs.MemFS) *disk { return &disk{Disk: storetest.On(mem)} }

// slow has every fourth sync of a log take a while, from now on.
func (d *disk) slow(seed uint64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.mu.calm == nil {
		d.mu.calm, d.mu.random = make(chan struct{}), rand.New(rand.NewPCG(seed, 3))
	}
}

// fill has no log of the node's store be written until the ballast has made way, and no
// other ballast be put in its place. A node without one stops, so that fill then does
// nothing; and so does a node that finds no space for a snapshot, so that there is some.
func (d *disk) fill() {
	_, err := d.Stat(ballast)
	d.mu.Lock()
	defer d.mu.Unlock()
	if err == nil && !d.mu.full {
		d.mu.full, d.mu.freed = true, false
	}
}

// watchAll has fn told of each operation before it, from now on.
func (d *disk) watchAll(fn func(op errorfs.Op)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.mu.watch = fn
}

// mend ends what is wrong with the disk. Who waits for it goes on.
func (d *disk) mend() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.mu.full = false
	if d.mu.calm != nil {
		close(d.mu.calm)
		d.mu.calm = nil
	}
}

// isLog reports whether an operation is on a log of the node's own store.
func isLog(op errorfs.Op) bool {
	return strings.HasPrefix(op.Path, "data/store/") && path.Ext(op.Path) == ".log"
}

// stall returns how long an operation takes, and what ends that sooner.
func (d *disk) stall(op errorfs.Op) (time.Duration, <-chan struct{}) {
	d.mu.Lock()
	defer d.mu.Unlock()
	// Pebble syncs a log without holding any lock: who waited for a lock meanwhile would
	// keep the bubble's time from going on.
	if d.mu.calm == nil || !isLog(op) || op.Kind != errorfs.OpFileSync && op.Kind != errorfs.OpFileSyncData || d.mu.random.IntN(4) > 0 {
		return 0, nil
	}
	return shortStall + time.Duration(d.mu.random.Int64N(int64(longStall-shortStall))), d.mu.calm
}

// MaybeError implements errorfs.Injector.
func (d *disk) MaybeError(op errorfs.Op) error {
	if took, calm := d.stall(op); took > 0 {
		select {
		case <-time.After(took):
		case <-calm:
		}
	}
	d.mu.Lock()
	watch := d.mu.watch
	d.mu.Unlock()
	if watch != nil {
		watch(op)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case op.Kind == errorfs.OpRemove && op.Path == ballast:
		d.mu.freed = true
	case d.mu.full && op.Path == ballast, d.mu.full && !d.mu.freed && isLog(op) && op.Kind == errorfs.OpFileWrite:
		return syscall.ENOSPC
	}
	return nil
}

// String implements errorfs.Injector.
func (d *disk) String() string { return "disk" }

// measured is a disk that says how much space it has.
type measured struct {
	vfs.FS

	disk *disk
}

// GetDiskUsage implements vfs.FS.
func (m measured) GetDiskUsage(string) (vfs.DiskUsage, error) {
	m.disk.mu.Lock()
	defer m.disk.mu.Unlock()
	if m.disk.mu.full {
		return vfs.DiskUsage{AvailBytes: 64 << 20, TotalBytes: 1 << 30}, nil
	}
	return vfs.DiskUsage{AvailBytes: 1 << 30, TotalBytes: 1 << 30}, nil
}

// fs is the disk as a node writes to it.
func (d *disk) fs() vfs.FS { return measured{errorfs.Wrap(d.Disk, d), d} }
