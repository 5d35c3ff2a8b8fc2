package store

import (
	"errors"
	"sync"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// background tracks Pebble's flushes and compactions.
type background struct {
	mu struct {
		sync.Mutex
		failed chan struct{}   // closed at the next failure
		err    error           // the last failure
		flush  <-chan struct{} // of the last requested flush: closed when it is done
	}
}

func (b *background) init() {
	b.mu.failed = make(chan struct{})
	none := make(chan struct{})
	close(none)
	b.mu.flush = none
}

func (b *background) fail(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.mu.err = err
	close(b.mu.failed)
	b.mu.failed = make(chan struct{})
}

// next returns a channel that is closed at the next failure.
func (b *background) next() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.mu.failed
}

// began records a flush.
func (b *background) began(done <-chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.mu.flush = done
}

// flush returns the flush that began last; flushes end in order.
func (b *background) flush() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.mu.flush
}

func (b *background) last() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.mu.err
}

// Flush returns nil when everything committed before the call survives a power failure,
// including unsynced commits. After an error that is unknown: Pebble retries, and the caller
// may call again. If the log fails, Flush does not return (Config.Fatal).
func (s *Store) Flush() error {
	if err := s.begin(); err != nil {
		return err
	}
	defer s.end()
	defer s.guard()
	failed := s.background.next()
	// Each flush starts a memtable and a log. On a failing disk they would pile up until writes
	// stall, and Flush with them. So the previous flush must end first.
	if err := s.flushed(s.background.flush(), failed); err != nil {
		return err
	}
	done, err := s.db.AsyncFlush()
	if err != nil {
		return notTaken("flush", err)
	}
	s.background.began(done)
	// The tables are synced before the manifest refers to them, and the manifest is synced too.
	// Concurrent commits may be included or not.
	return s.flushed(done, failed)
}

// flushed waits for a flush. Unlike DB.Flush it does not wait while the disk fails. The
// reported failure may be that of a compaction, which on such a disk is reason enough.
func (s *Store) flushed(done, failed <-chan struct{}) error {
	select {
	case <-done:
		return nil
	case <-failed:
		return notTaken("flush", s.background.last())
	case <-s.dead:
		return s.broken.Load()
	}
}

// Checkpoint makes a consistent copy of the store in dir, which must not exist and must be on
// the same file system. Tables are linked, not copied, so it takes little time and space. The
// copy is synced when Checkpoint returns nil. After an error or a crash the caller must remove
// a partial copy.
func (s *Store) Checkpoint(dir string) error {
	if err := s.begin(); err != nil {
		return err
	}
	defer s.end()
	defer s.guard()
	err := s.db.Checkpoint(dir, pebble.WithFlushedWAL())
	if err == nil {
		err = errors.Join(syncDir(s.cfg.FS, dir), syncDir(s.cfg.FS, s.cfg.FS.PathDir(dir)))
	}
	if err != nil {
		return notTaken("checkpoint", err)
	}
	return nil
}

// LinkDir makes a directory from the files of a checkpoint: a store that can be opened and
// changed while the checkpoint stays unchanged. It links the immutable tables and copies
// everything else. The directory is synced when LinkDir returns nil. After an error or a crash
// the caller must remove a partial directory. The error is that of the file system. A nil file
// system means the operating system's.
func LinkDir(fsys FS, from, to string) error {
	fsys = realFS(fsys)
	names, err := fsys.List(from)
	if err != nil {
		return err
	}
	if err := makeDir(fsys, to); err != nil {
		return err
	}
	for _, name := range names {
		source, target := fsys.PathJoin(from, name), fsys.PathJoin(to, name)
		if isTable(name) {
			err = vfs.LinkOrCopy(fsys, source, target)
		} else {
			err = vfs.Copy(fsys, source, target) // includes a sync
		}
		if err != nil {
			return err
		}
	}
	return errors.Join(syncDir(fsys, to), syncDir(fsys, fsys.PathDir(to)))
}
