package store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/modelgateway/modelgateway/cluster/fault"
)

// probeName is the file of the write test of Open.
const probeName = "probe"

// prepare checks, before Pebble is opened, that the directory exists, is locked, is writable
// and has space. Each step can be repeated. A crash leaves at most a probe or a ballast of the
// wrong size, which the next Open overwrites.
func (s *Store) prepare() (err error) {
	fsys, dir := s.cfg.FS, s.cfg.Dir
	if dir == "" {
		return fault.New(fault.StorageUnavailable, "", "No data directory is configured.")
	}
	if err := makeDir(fsys, dir); err != nil {
		return refuse("create", dir, err)
	}
	if info, err := fsys.Stat(dir); err == nil && fsys == vfs.Default && info.Mode().Perm()&0o077 != 0 {
		s.cfg.Logger.LogAttrs(context.Background(), slog.LevelWarn, "data directory is open to other users",
			slog.String("dir", dir), slog.String("mode", info.Mode().Perm().String()))
	}
	lock, err := pebble.LockDirectory(dir, fsys)
	if err != nil {
		return refuse("lock", dir, err)
	}
	defer func() {
		if err != nil {
			_ = lock.Close() // the first error is the one to return
		}
	}()
	if err := s.requireSpace(); err != nil {
		return err
	}
	if err := tryWriting(fsys, fsys.PathJoin(dir, probeName)); err != nil {
		return refuse("probe", dir, err)
	}
	if err := s.disk.ensure(); err != nil {
		return refuse("ballast", dir, err)
	}
	s.lock = lock
	return nil
}

// requireSpace rejects a nearly full disk. An existing ballast counts as free space, so that a
// store that opened once opens again.
func (s *Store) requireSpace() error {
	free, known, err := s.disk.free()
	if err != nil {
		return refuse("probe", s.cfg.Dir, err)
	}
	if ballast := uint64(s.disk.inPlace()); known && free+ballast < s.cfg.MinFreeBytes {
		return &fault.Error{
			Op: "store.probe", Kind: fault.StorageUnavailable,
			Detail: fmt.Sprintf("The disk of the data directory %q has %d MiB left and the gateway needs %d MiB to start: free some space.",
				s.cfg.Dir, (free+ballast)>>20, s.cfg.MinFreeBytes>>20),
		}
	}
	return nil
}

// tryWriting writes a file, syncs it and removes it. It detects a read-only directory, an
// exhausted quota and a broken disk, while they can still be distinguished.
func tryWriting(fsys vfs.FS, name string) error {
	f, err := fsys.Create(name, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	_, err = f.Write(make([]byte, 4096))
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close(), fsys.Remove(name))
}
