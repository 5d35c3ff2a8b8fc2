package store

import (
	"errors"
	"io/fs"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// orderedFS makes the order of two changes in the data directory hold in a power
// cut as well. Pebble names its current manifest by an empty file, marker.*: it
// makes the manifest, makes the new marker, removes the old one, and syncs the
// directory once, at the end. POSIX lets a disk keep any part of that: the marker
// without the manifest is a store that does not open, and neither marker is one
// that looks empty. File systems with an ordered journal, ext4 and xfs among
// them, never show it; to not depend on that costs two syncs per manifest.
type orderedFS struct{ vfs.FS }

// Unwrap returns the file system below.
func (f orderedFS) Unwrap() vfs.FS { return f.FS }

// Create makes a file; a marker only after what it names is there to stay.
func (f orderedFS) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	if err := f.settle(name); err != nil {
		return nil, err
	}
	return f.FS.Create(name, category)
}

// Remove removes a file; a marker only after its successor is there to stay.
func (f orderedFS) Remove(name string) error {
	if err := f.settle(name); err != nil {
		return err
	}
	return f.FS.Remove(name)
}

// settle syncs the directory of a marker.
func (f orderedFS) settle(name string) error {
	if !strings.HasPrefix(f.PathBase(name), "marker.") {
		return nil
	}
	return syncDir(f.FS, f.PathDir(name))
}

func syncDir(fsys vfs.FS, dir string) error {
	d, err := fsys.OpenDir(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// makeDir makes dir and what is missing above it, each there to stay when it
// returns: files that are synced into a directory whose own name is not would be
// lost with it.
func makeDir(fsys vfs.FS, dir string) error {
	var parents []string
	for at := dir; ; at = fsys.PathDir(at) {
		_, err := fsys.Stat(at)
		if err == nil || !errors.Is(err, fs.ErrNotExist) || at == fsys.PathDir(at) {
			break // what else is wrong, MkdirAll will say
		}
		parents = append(parents, fsys.PathDir(at))
	}
	if err := fsys.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for _, parent := range parents {
		if err := syncDir(fsys, parent); err != nil {
			return err
		}
	}
	return nil
}
