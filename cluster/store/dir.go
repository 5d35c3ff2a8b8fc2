package store

import (
	"errors"
	"io"
	"io/fs"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// FS is the file system that a store lives on.
type FS = vfs.FS

func realFS(fsys FS) FS {
	if fsys == nil {
		return vfs.Default
	}
	return fsys
}

// tmpSuffix marks files that WriteFile is not done with. What has it after a
// crash means nothing.
const tmpSuffix = ".tmp"

// Dir is a directory beside a store: whole files and directories, changed so that
// they survive a power cut. Names are relative to it. Methods that change
// something are durable when they return nil. It is safe for concurrent use on
// different names.
type Dir struct {
	fs   FS
	path string
}

// NewDir returns the directory at path, which need not exist. A nil file system
// is the operating system's.
func NewDir(fsys FS, path string) *Dir { return &Dir{fs: realFS(fsys), path: path} }

func (d *Dir) at(name string) string { return d.fs.PathJoin(d.path, name) }

// List returns the names of what is in it, in no particular order.
func (d *Dir) List() ([]string, error) { return d.fs.List(d.path) }

// Make makes a directory, and what is missing above it. That it is there already
// is no error.
func (d *Dir) Make(name string) error {
	if err := makeDir(d.fs, d.at(name)); err != nil {
		return err
	}
	// Also where it was there: a crash, or a sync that failed, may have left a name
	// that is not on the disk.
	return syncDir(d.fs, d.fs.PathDir(d.at(name)))
}

// Rename gives a file or directory another name: a crash leaves the old name or
// the new one, or both if it is another directory, but never none. A file in the
// way is replaced.
func (d *Dir) Rename(from, to string) error {
	if err := d.fs.Rename(d.at(from), d.at(to)); err != nil {
		return err
	}
	source, target := d.fs.PathDir(d.at(from)), d.fs.PathDir(d.at(to))
	if err := syncDir(d.fs, target); err != nil || source == target {
		return err
	}
	// A crash here may leave both names, never none.
	return syncDir(d.fs, source)
}

// Link makes a directory out of a checkpoint, as LinkDir does.
func (d *Dir) Link(from, to string) error { return LinkDir(d.fs, d.at(from), d.at(to)) }

// Remove removes a file or a whole directory; that there is none is no error. A
// crash leaves any part of it.
func (d *Dir) Remove(name string) error {
	if err := d.fs.RemoveAll(d.at(name)); err != nil {
		return err
	}
	err := syncDir(d.fs, d.fs.PathDir(d.at(name)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil // no directory that it could be in
	}
	return err
}

// WriteFile makes or replaces a file: a crash leaves the old content or the new.
func (d *Dir) WriteFile(name string, data []byte) error {
	tmp := name + tmpSuffix
	f, err := d.fs.Create(d.at(tmp), vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	// A crash up to here leaves a file that nobody reads.
	if err := errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, d.fs.Remove(d.at(tmp)))
	}
	return d.Rename(tmp, name)
}

// ReadFile returns a file's content. errors.Is(err, fs.ErrNotExist) if there is none.
func (d *Dir) ReadFile(name string) ([]byte, error) {
	f, _, err := d.Open(name)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(f)
	return data, errors.Join(err, f.Close())
}

// Open opens a file for reading and returns its size.
func (d *Dir) Open(name string) (io.ReadCloser, int64, error) {
	f, err := d.fs.Open(d.at(name))
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	return f, info.Size(), nil
}

// Create makes a file, empty if it was there. Its name and content survive a
// power cut once Close has returned nil; a crash before leaves any part of it, so
// that WriteFile is for what must be whole.
func (d *Dir) Create(name string) (io.WriteCloser, error) {
	f, err := d.fs.Create(d.at(name), vfs.WriteCategoryUnspecified)
	if err != nil {
		return nil, err
	}
	return syncedFile{File: f, fs: d.fs, dir: d.fs.PathDir(d.at(name))}, nil
}

// syncedFile syncs what was written, and the directory it is in, when it is closed.
type syncedFile struct {
	vfs.File
	fs  FS
	dir string
}

// Close syncs and closes.
func (f syncedFile) Close() error {
	return errors.Join(f.Sync(), f.File.Close(), syncDir(f.fs, f.dir))
}
