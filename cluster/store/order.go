package store

import (
	"errors"
	"io/fs"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// orderedFS makes the order of two changes in the data directory survive a power failure.
// Pebble names its current manifest by an empty file, marker.*. It creates the manifest,
// creates the new marker, removes the old one, and syncs the directory once, at the end. POSIX
// allows a disk to keep any subset. A marker without its manifest makes a store that does not
// open; without any marker it looks empty. File systems with an ordered journal, such as ext4
// and xfs, never show this. Independence from that costs two syncs per manifest.
type orderedFS struct{ vfs.FS }

// Unwrap implements vfs.FS.
func (f orderedFS) Unwrap() vfs.FS { return f.FS }

// Create creates a file; a marker only after its manifest is durable.
func (f orderedFS) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	if err := f.settle(name); err != nil {
		return nil, err
	}
	return f.FS.Create(name, category)
}

// Remove removes a file; a marker only after its successor is durable.
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

// makeDir creates dir and its missing parents durably. Otherwise a power failure would lose
// synced files together with the unsynced name of their directory.
func makeDir(fsys vfs.FS, dir string) error {
	var parents []string
	for at := dir; ; at = fsys.PathDir(at) {
		_, err := fsys.Stat(at)
		if err == nil || !errors.Is(err, fs.ErrNotExist) || at == fsys.PathDir(at) {
			break // MkdirAll reports other errors
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
