package store

import (
	"errors"
	"io/fs"
)

// Free returns the number of bytes that a process can still write to the disk of a directory.
// The error is vfs.ErrUnsupported if the file system does not know, like one in memory.
func Free(fsys FS, dir string) (uint64, error) {
	usage, err := realFS(fsys).GetDiskUsage(dir)
	return usage.AvailBytes, err
}

// Size returns the total size of all files below a directory. It ignores files that disappear
// during the walk.
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

// unlessGone returns err, or nil if it means that a file does not exist.
func unlessGone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
