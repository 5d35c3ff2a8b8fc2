package store

import (
	"errors"
	"io"
	"io/fs"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// FS is the file system of a store.
type FS = vfs.FS

func realFS(fsys FS) FS {
	if fsys == nil {
		return vfs.Default
	}
	return fsys
}

// FileSystem returns fsys, or the operating system's if it is nil, for files next to a store.
func FileSystem(fsys FS) FS { return realFS(fsys) }

// CreateFile creates a file, or empties one, for writing. The caller syncs it and its directory.
func CreateFile(fsys FS, name string) (vfs.File, error) {
	return fsys.Create(name, vfs.WriteCategoryUnspecified)
}

// tmpSuffix marks incomplete files of WriteFile. After a crash they are ignored.
const tmpSuffix = ".tmp"

// Dir is a directory next to a store. Its methods change whole files and directories so that
// they survive a power failure: a change is durable when the method returns nil. Names are
// relative to it. Concurrent use is safe for different names.
type Dir struct {
	fs   FS
	path string
}

// NewDir returns the directory at path, which need not exist. A nil file system means the
// operating system's.
func NewDir(fsys FS, path string) *Dir { return &Dir{fs: realFS(fsys), path: path} }

func (d *Dir) at(name string) string { return d.fs.PathJoin(d.path, name) }

// List returns the names of its entries, in no particular order.
func (d *Dir) List() ([]string, error) { return d.fs.List(d.path) }

// Make creates a directory and its missing parents. An existing directory is no error.
func (d *Dir) Make(name string) error {
	if err := makeDir(d.fs, d.at(name)); err != nil {
		return err
	}
	// Also for an existing directory: after a crash or a failed sync its name may not be on the
	// disk.
	return syncDir(d.fs, d.fs.PathDir(d.at(name)))
}

// Rename renames a file or directory. A crash leaves the old name or the new one, or both if
// the parent directory differs, but never none. It replaces an existing file.
func (d *Dir) Rename(from, to string) error {
	if err := d.fs.Rename(d.at(from), d.at(to)); err != nil {
		return err
	}
	source, target := d.fs.PathDir(d.at(from)), d.fs.PathDir(d.at(to))
	if err := syncDir(d.fs, target); err != nil || source == target {
		return err
	}
	// A crash here may leave both names, but never none.
	return syncDir(d.fs, source)
}

// Link makes a directory from a checkpoint, as LinkDir does.
func (d *Dir) Link(from, to string) error { return LinkDir(d.fs, d.at(from), d.at(to)) }

// Remove removes a file or a whole directory; a missing one is no error. A crash may leave any
// part of it.
func (d *Dir) Remove(name string) error {
	if err := d.fs.RemoveAll(d.at(name)); err != nil {
		return err
	}
	err := syncDir(d.fs, d.fs.PathDir(d.at(name)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil // its parent directory does not exist
	}
	return err
}

// WriteFile creates or replaces a file. A crash leaves the old content or the new.
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
	// A crash up to here leaves a file that is never read.
	if err := errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, d.fs.Remove(d.at(tmp)))
	}
	return d.Rename(tmp, name)
}

// ReadFile returns a file's content. For a missing file, errors.Is(err, fs.ErrNotExist) is
// true.
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

// Create creates or truncates a file. Its name and content are durable once Close has returned
// nil. A crash before that leaves any part of it; use WriteFile for a file that must be
// complete.
func (d *Dir) Create(name string) (io.WriteCloser, error) {
	f, err := d.fs.Create(d.at(name), vfs.WriteCategoryUnspecified)
	if err != nil {
		return nil, err
	}
	return syncedFile{File: f, fs: d.fs, dir: d.fs.PathDir(d.at(name))}, nil
}

// syncedFile syncs its content and its directory when it is closed.
type syncedFile struct {
	vfs.File
	fs  FS
	dir string
}

// Close syncs and closes.
func (f syncedFile) Close() error {
	return errors.Join(f.Sync(), f.File.Close(), syncDir(f.fs, f.dir))
}
