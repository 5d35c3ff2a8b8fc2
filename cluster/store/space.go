package store

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/modelgateway/modelgateway/cluster/fault"
)

// ballastName is the file that is removed when the disk is full.
const ballastName = "ballast"

// diskSpace watches the free disk space and manages the ballast.
type diskSpace struct {
	// Set by init, read-only after. fs is the plain file system below the full-disk handler:
	// while the handler runs releaseBallast, all writes through it wait.
	fs      vfs.FS
	dir     string
	size    int64 // of the ballast; not positive means no ballast
	minFree uint64

	full   atomic.Bool  // the ballast has been released
	low    atomic.Bool  // little space is left
	probed atomic.Int64 // last check by Healthy, in nanoseconds since Open

	mu sync.Mutex // held while the ballast file changes
}

func (p *diskSpace) init(cfg Config) {
	p.fs, p.dir, p.size, p.minFree = cfg.FS, cfg.Dir, cfg.BallastBytes, cfg.MinFreeBytes
}

func (p *diskSpace) path() string { return p.fs.PathJoin(p.dir, ballastName) }

// free returns the number of free bytes. known is false if the file system does not know, like
// one in memory.
func (p *diskSpace) free() (bytes uint64, known bool, err error) {
	usage, err := p.fs.GetDiskUsage(p.dir)
	switch {
	case errors.Is(err, vfs.ErrUnsupported):
		return 0, false, nil
	case err != nil:
		return 0, false, err
	}
	return usage.AvailBytes, true, nil
}

// inPlace returns the size of the ballast file; 0 if it is incomplete.
func (p *diskSpace) inPlace() int64 {
	info, err := p.fs.Stat(p.path())
	if err != nil || p.size <= 0 || info.Size() != p.size {
		return 0
	}
	return p.size
}

// ensure creates the ballast if necessary.
func (p *diskSpace) ensure() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.size <= 0 || p.inPlace() == p.size {
		return nil
	}
	err := p.allocateLocked()
	if err != nil {
		// A partial ballast only takes space.
		_ = p.fs.Remove(p.path())
	}
	return err
}

// allocateLocked creates the ballast from real blocks, because removing a sparse file frees
// nothing. The size is set last, so that after a crash inPlace does not accept a partial file.
func (p *diskSpace) allocateLocked() error {
	f, err := p.fs.Create(p.path(), vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	err = f.Preallocate(0, p.size)
	switch {
	case err == nil:
		_, err = f.WriteAt([]byte{1}, p.size-1)
	case isFull(err):
	default:
		err = fill(f, p.size) // the file system has no preallocation
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// fill writes size incompressible bytes, because some file systems store zeros as holes.
func fill(f vfs.File, size int64) error {
	block := make([]byte, 64<<10)
	noise := rand.NewChaCha8([32]byte{})
	_, _ = noise.Read(block) // never fails
	for size > 0 {
		n, err := f.Write(block[:min(size, int64(len(block)))])
		if err != nil {
			return err
		}
		size -= int64(n)
	}
	return nil
}

// releaseBallast removes the ballast. It is called when a write finds the disk full; all writes
// wait for it, and the failed write is then retried. It also releases the ballast of the store
// in Config.Beside, which is on the same disk.
func (s *Store) releaseBallast() {
	if s.cfg.Beside != nil {
		s.cfg.Beside.releaseBallast()
	}
	p := &s.disk
	p.mu.Lock()
	err := p.fs.Remove(p.path())
	// Healthy returns an error from here on, until the ballast is back. After a crash here,
	// Open requires the space first.
	p.full.Store(true)
	p.mu.Unlock()
	s.cfg.Logger.LogAttrs(context.Background(), slog.LevelError, "disk is full",
		slog.Bool("ballast_released", err == nil), slog.Int64("ballast_bytes", p.size))
	if s.cfg.Events.DiskFull != nil {
		s.cfg.Events.DiskFull()
	}
}

// Healthy returns nil if the store accepts new work. Otherwise it returns a *fault.Error of
// kind StorageUnavailable: the state is unknown, the store is closed, or the disk is full or
// nearly full. Work in progress may still be written. Healthy recovers when there is space
// again. It is cheap; once per Config.ProbeEvery it queries the free space of the file system.
func (s *Store) Healthy() error {
	if err := s.begin(); err != nil {
		return err
	}
	defer s.end()
	p := &s.disk
	now := int64(time.Since(s.opened))
	if last := p.probed.Load(); now-last >= int64(s.cfg.ProbeEvery) && p.probed.CompareAndSwap(last, now) {
		s.checkSpace()
	}
	if p.full.Load() || p.low.Load() {
		return fault.New(fault.StorageUnavailable, "", "The disk of the gateway's data directory is full: free some space; the gateway then continues.")
	}
	return nil
}

// checkSpace updates full and low from the free space. Low means less than a quarter of what
// Open requires; it ends above half of it. The hysteresis avoids flapping.
func (s *Store) checkSpace() {
	p := &s.disk
	free, known, err := p.free()
	if err != nil || !known {
		return // the next write will find out
	}
	switch {
	case free < p.minFree/4:
		p.low.Store(true)
	case free >= p.minFree/2:
		p.low.Store(false)
	}
	if !p.full.Load() || free < p.minFree || p.ensure() != nil {
		return
	}
	p.full.Store(false)
	s.cfg.Logger.LogAttrs(context.Background(), slog.LevelInfo, "disk has space again", slog.Uint64("free_bytes", free))
	if s.cfg.Events.SpaceBack != nil {
		s.cfg.Events.SpaceBack()
	}
}
