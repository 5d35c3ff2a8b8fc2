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

// ballastName is the file that makes way when the disk is full.
const ballastName = "ballast"

// diskSpace watches the disk's free space and keeps the ballast.
type diskSpace struct {
	// Set by init, read only after. fs is the plain file system, below the
	// watch for a full disk: while that calls releaseBallast, all writes
	// through it wait.
	fs      vfs.FS
	dir     string
	size    int64 // of the ballast; not positive means there is none
	minFree uint64

	full   atomic.Bool  // the ballast has made way
	low    atomic.Bool  // little space is left
	probed atomic.Int64 // when Healthy last looked, in nanoseconds since Open

	mu sync.Mutex // held while the ballast file is changed
}

func (p *diskSpace) init(cfg Config) {
	p.fs, p.dir, p.size, p.minFree = cfg.FS, cfg.Dir, cfg.BallastBytes, cfg.MinFreeBytes
}

func (p *diskSpace) path() string { return p.fs.PathJoin(p.dir, ballastName) }

// free returns how many bytes are left for us; known is false where the file
// system cannot tell, as one in memory.
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

// inPlace returns the size of the ballast that is there; 0 if it is not whole.
func (p *diskSpace) inPlace() int64 {
	info, err := p.fs.Stat(p.path())
	if err != nil || p.size <= 0 || info.Size() != p.size {
		return 0
	}
	return p.size
}

// ensure puts the ballast in place.
func (p *diskSpace) ensure() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.size <= 0 || p.inPlace() == p.size {
		return nil
	}
	err := p.allocateLocked()
	if err != nil {
		// Half a ballast takes space and helps nobody.
		_ = p.fs.Remove(p.path())
	}
	return err
}

// allocateLocked makes the ballast: real blocks, for a sparse file would free
// nothing when it goes. The size is set last, so that a crash on the way leaves
// a file that inPlace does not take for a ballast.
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

// fill writes size bytes that do not compress: some file systems would store
// zeros as nothing.
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

// releaseBallast makes way: it is called when a write found the disk full, all
// writes wait for it, and the one that failed is then tried once more. That of
// the store beside goes as well, for it is the same disk.
func (s *Store) releaseBallast() {
	if s.cfg.Beside != nil {
		s.cfg.Beside.releaseBallast()
	}
	p := &s.disk
	p.mu.Lock()
	err := p.fs.Remove(p.path())
	// Healthy says no from here on, until the ballast is back. A crash here
	// leaves a directory without a ballast; Open wants its space first.
	p.full.Store(true)
	p.mu.Unlock()
	s.cfg.Logger.LogAttrs(context.Background(), slog.LevelError, "disk is full",
		slog.Bool("ballast_released", err == nil), slog.Int64("ballast_bytes", p.size))
	if s.cfg.Events.DiskFull != nil {
		s.cfg.Events.DiskFull()
	}
}

// Healthy returns nil when the store takes new work, or else an *fault.Error of
// kind StorageUnavailable that says why nothing new should be begun: its state
// is not known, it is closed, or its disk is full or nearly so. What is under
// way may still be written. It recovers by itself when space is back. It is
// cheap; once in Config.ProbeEvery it asks the file system for the free space.
func (s *Store) Healthy() error {
	if err := s.begin(); err != nil {
		return err
	}
	defer s.end()
	p := &s.disk
	now := int64(time.Since(s.opened))
	if last := p.probed.Load(); now-last >= int64(s.cfg.ProbeEvery) && p.probed.CompareAndSwap(last, now) {
		s.lookAtSpace()
	}
	if p.full.Load() || p.low.Load() {
		return fault.New(fault.StorageUnavailable, "", "The disk of the gateway's data directory is full: free some space; the gateway goes on by itself.")
	}
	return nil
}

// lookAtSpace updates full and low from the free space. Little is a quarter of
// what Open wants, enough again is half of it: between the two nothing changes,
// so that the answer does not flutter.
func (s *Store) lookAtSpace() {
	p := &s.disk
	free, known, err := p.free()
	if err != nil || !known {
		return // the next write will tell
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
