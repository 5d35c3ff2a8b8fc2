package store

import (
	"strings"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// logFS ends the process where Pebble cannot go from one of its logs to the next.
// Pebble panics there, with its lock released that a deferred call releases again:
// the runtime then ends the process at once, whatever recovers, and Config.Fatal
// would never hear of it. So this comes before it: it sits between Pebble and the
// watch for a full disk, which has had its second try by then.
type logFS struct {
	vfs.FS
	s *Store
}

// Unwrap returns the file system below.
func (f logFS) Unwrap() vfs.FS { return f.FS }

// Create makes a file, and watches it if it is a log.
func (f logFS) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	file, err := f.FS.Create(name, category)
	return f.watch(name, file, err)
}

// ReuseForWrite renames a file, and watches it if it is a log: Pebble writes new
// ones over old ones.
func (f logFS) ReuseForWrite(oldname, newname string, category vfs.DiskWriteCategory) (vfs.File, error) {
	file, err := f.FS.ReuseForWrite(oldname, newname, category)
	return f.watch(newname, file, err)
}

func (f logFS) watch(name string, file vfs.File, err error) (vfs.File, error) {
	if err != nil || !strings.HasSuffix(name, ".log") {
		return file, err
	}
	return &logFile{File: file, s: f.s}, nil
}

// logFile is a log of Pebble's. One goroutine writes it, and nothing more once
// that failed; another one then syncs and closes it, on the way to the next log.
type logFile struct {
	vfs.File
	s      *Store
	failed atomic.Pointer[error] // the first failure
}

// leave ends the process if the log that is being left has failed, unless the
// store is being opened or closed, where the error is told.
func (f *logFile) leave() {
	if failed := f.failed.Load(); failed != nil {
		f.s.logFailed(*failed)
	}
}

func (f *logFile) note(err error) error {
	if err != nil {
		f.failed.CompareAndSwap(nil, &err)
	}
	return err
}

// Write writes. That it failed is told by the commit that waits for it, or else
// by what comes after.
func (f *logFile) Write(p []byte) (int, error) {
	n, err := f.File.Write(p)
	return n, f.note(err)
}

// SyncTo syncs a part; as Write.
func (f *logFile) SyncTo(length int64) (bool, error) {
	full, err := f.File.SyncTo(length)
	return full, f.note(err)
}

// Sync syncs; as Write.
func (f *logFile) Sync() error {
	f.leave()
	return f.note(f.File.Sync())
}

// SyncData syncs; as Write.
func (f *logFile) SyncData() error {
	f.leave()
	return f.note(f.File.SyncData())
}

// Close closes the log.
func (f *logFile) Close() error {
	err := f.note(f.File.Close())
	f.leave()
	return err
}

// onLog is told of each log that Pebble begins.
func (s *Store) onLog(info pebble.WALCreateInfo) {
	if info.Err != nil {
		s.logFailed(info.Err)
	}
}

// logFailed ends the process, if there is a log that has been promised anything.
func (s *Store) logFailed(err error) {
	if s.running.Load() {
		s.die(err)
	}
}
