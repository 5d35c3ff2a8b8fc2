package store

import (
	"errors"
	"io/fs"
)

// Free returns how many bytes a process may still write to the disk of a directory.
// The error is vfs.ErrUnsupported for a file system that does not know, such as one in
// memory.
func Free(fsys FS, dir string) (uint64, error) {
	usage, err := realFS(fsys).GetDiskUsage(dir)
	return usage.AvailBytes, err
}

// Size returns the bytes of all files below a directory. It leaves out files that
// vanish while it looks.
func Size(fsys FS, dir string) (int64, error) {
	fsys = realFS(fsys)
	names, err := fsys.List(dir)
	if err != nil {
		return 0, unlessGone(err)
	}
	var sum int64
	for _, name := range names {
		path := fsys.PathJoin(dir, name)
		info, err := fsys.Stat(path)
		switch {
		case err != nil:
			err = unlessGone(err)
		case info.IsDir():
			var below int64
			below, err = Size(fsys, path)
			sum += below
		case info.Mode().IsRegular():
			sum += info.Size()
		}
		if err != nil {
			return 0, err
		}
	}
	return sum, nil
}

// unlessGone returns err, or nil if it says that a file does not exist.
func unlessGone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
