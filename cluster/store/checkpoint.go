package store

import (
	"errors"
	"sync"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// background is what Pebble's flushes and compactions have met.
type background struct {
	mu struct {
		sync.Mutex
		failed chan struct{}   // closed at the next failure
		err    error           // the last failure
		flush  <-chan struct{} // of the last flush that was asked for: closed when it is done
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

// began is told of a flush.
func (b *background) began(done <-chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.mu.flush = done
}

// flush is the last that began; flushes end in their order.
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

// Flush returns nil when everything that was committed before the call survives a
// power cut, also what was committed without a sync. An error leaves that open:
// Pebble goes on trying by itself, and whoever needs to know calls again. Where
// the log fails it does not return (Config.Fatal).
func (s *Store) Flush() error {
	if err := s.begin(); err != nil {
		return err
	}
	defer s.end()
	defer s.guard()
	failed := s.background.next()
	// Each flush begins a memtable and a log. On a disk that refuses they would
	// pile up until writes stall, and Flush with them: so the one before goes first.
	if err := s.flushed(s.background.flush(), failed); err != nil {
		return err
	}
	done, err := s.db.AsyncFlush()
	if err != nil {
		return notTaken("flush", err)
	}
	s.background.began(done)
	// The tables are synced before the manifest names them, and that is synced too.
	// What is committed meanwhile may go along or not.
	return s.flushed(done, failed)
}

// flushed waits for a flush, but not, as DB.Flush does, for as long as the disk
// refuses. What is told may be the failure of a compaction; on such a disk that is
// reason enough.
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

// Checkpoint makes a consistent copy of the store in dir, which must not be there
// yet and must be on the same file system. Tables are linked, not copied, so it
// takes little time and space whatever the size. The copy is synced when
// Checkpoint returns nil; after an error, and after a crash, half a copy may be
// there, which is the caller's to remove.
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

// LinkDir makes a directory with the files of a checkpoint in it: a store that
// can be opened and changed while the checkpoint stays what it is. Tables, which
// are never changed, are linked; everything else is copied. It is synced when
// LinkDir returns nil; after an error or a crash a part may be there, which is the
// caller's to remove. The error is the file system's. A nil file system is the
// operating system's.
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
			err = vfs.Copy(fsys, source, target) // synced
		}
		if err != nil {
			return err
		}
	}
	return errors.Join(syncDir(fsys, to), syncDir(fsys, fsys.PathDir(to)))
}
