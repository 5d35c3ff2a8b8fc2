package store

import (
	"strings"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// logFS ends the process if Pebble cannot rotate its log. Pebble panics there after it has
// released a lock that a deferred call releases again. The runtime then ends the process at
// once, regardless of any recover, and Config.Fatal would not be called. So logFS calls it
// first. It is between Pebble and the full-disk handler, which has retried by then.
type logFS struct {
	vfs.FS
	s *Store
}

// Unwrap implements vfs.FS.
func (f logFS) Unwrap() vfs.FS { return f.FS }

// Create creates a file, and tracks it if it is a log.
func (f logFS) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	file, err := f.FS.Create(name, category)
	return f.watch(name, file, err)
}

// ReuseForWrite renames a file, and tracks it if it is a log: Pebble recycles log files.
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

// logFile is a log of Pebble. One goroutine writes it until a write fails. Another one then
// syncs and closes it, when it rotates the log.
type logFile struct {
	vfs.File
	s      *Store
	failed atomic.Pointer[error] // the first failure
}

// leave ends the process if the closed log has failed, except while the store is being opened
// or closed: then the caller gets the error.
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

// Write implements vfs.File. The waiting commit reports a failure, or else the next operation.
func (f *logFile) Write(p []byte) (int, error) {
	n, err := f.File.Write(p)
	return n, f.note(err)
}

// SyncTo implements vfs.File, like Write.
func (f *logFile) SyncTo(length int64) (bool, error) {
	full, err := f.File.SyncTo(length)
	return full, f.note(err)
}

// Sync implements vfs.File, like Write.
func (f *logFile) Sync() error {
	f.leave()
	return f.note(f.File.Sync())
}

// SyncData implements vfs.File, like Write.
func (f *logFile) SyncData() error {
	f.leave()
	return f.note(f.File.SyncData())
}

// Close implements vfs.File.
func (f *logFile) Close() error {
	err := f.note(f.File.Close())
	f.leave()
	return err
}

// onLog is called for each log that Pebble starts.
func (s *Store) onLog(info pebble.WALCreateInfo) {
	if info.Err != nil {
		s.logFailed(info.Err)
	}
}

// logFailed ends the process, if the store has acknowledged anything.
func (s *Store) logFailed(err error) {
	if s.running.Load() {
		s.die(err)
	}
}
