package bucket

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
)

// dir is a directory for objects: a mounted one, or one from which another program takes them.
// Unlike the driver of package blob, it syncs an object before it reports it as durable.
type dir struct{ path string }

// dirOf reads file:///absolute/path.
func dirOf(u *url.URL) (dir, bool) {
	if u.Host != "" || u.Opaque != "" || !filepath.IsAbs(u.Path) || u.RawQuery != "" {
		return dir{}, false
	}
	return dir{filepath.Clean(u.Path)}, true
}

// put writes a file with a temporary name, syncs it, and renames it. A crash before the rename
// leaves a file whose name begins with a dot; the next put of that name replaces it.
func (d dir) put(_ context.Context, name, _ string, write func(io.Writer) error) error {
	target := filepath.Join(d.path, filepath.FromSlash(name))
	parent := filepath.Dir(target)
	if err := os.MkdirAll(parent, 0o750); err != nil {
		return err
	}
	part := filepath.Join(parent, "."+filepath.Base(target)+".part")
	if err := writeFile(part, write); err != nil {
		return errors.Join(err, os.Remove(part))
	}
	if err := os.Rename(part, target); err != nil {
		return err
	}
	// The names of new directories are in those above them.
	for at := parent; ; at = filepath.Dir(at) {
		if err := syncDir(at); err != nil {
			return err
		}
		if at == d.path || len(at) <= len(d.path) {
			return nil
		}
	}
}

func (d dir) get(_ context.Context, name string, read func(io.Reader) error) error {
	f, err := os.Open(filepath.Join(d.path, filepath.FromSlash(name)))
	if err != nil {
		return err
	}
	return errors.Join(read(f), f.Close())
}

// remove deletes a file. A crash may leave it; the caller repeats the call.
func (d dir) remove(_ context.Context, name string) error {
	path := filepath.Join(d.path, filepath.FromSlash(name))
	if err := os.Remove(path); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	return syncDir(filepath.Dir(path))
}

func writeFile(path string, write func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o640) //nolint:gosec // the operator's group reads them
	if err != nil {
		return err
	}
	err = write(f)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

func syncDir(path string) error {
	f, err := os.Open(path) //nolint:gosec // a directory of the configuration
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// close does nothing.
func (dir) close() error { return nil }
