package auditsink

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
)

// dir is a directory that objects are put into: one that is mounted, or that another
// program takes them from. Unlike blob's own it has them on the disk before it says
// so.
type dir struct{ path string }

// openDir reads file:///absolute/path.
func openDir(u *url.URL) (objects, error) {
	if u.Host != "" || u.Opaque != "" || !filepath.IsAbs(u.Path) || u.RawQuery != "" {
		return nil, bucketError("is not the path of a directory; write it like file:///var/lib/audit")
	}
	return dir{filepath.Clean(u.Path)}, nil
}

// Put writes the file beside its place, and moves it there when it is whole and
// synced. A crash before that leaves a file whose name begins with a dot, which the
// next Put of that name replaces.
func (d dir) Put(_ context.Context, name string, write func(io.Writer) error) error {
	target := filepath.Join(d.path, filepath.FromSlash(name))
	parent := filepath.Dir(target)
	if err := os.MkdirAll(parent, 0o750); err != nil {
		return fmt.Errorf("writing the object %s: %w", name, err)
	}
	part := filepath.Join(parent, "."+filepath.Base(target)+".part")
	if err := writeFile(part, write); err != nil {
		return fmt.Errorf("writing the object %s: %w", name, errors.Join(err, os.Remove(part)))
	}
	if err := os.Rename(part, target); err != nil {
		return fmt.Errorf("writing the object %s: %w", name, err)
	}
	// The names of new directories are in those above them.
	for at := parent; ; at = filepath.Dir(at) {
		if err := syncDir(at); err != nil {
			return fmt.Errorf("writing the object %s: %w", name, err)
		}
		if at == d.path || len(at) <= len(d.path) {
			return nil
		}
	}
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

// Close does nothing.
func (dir) Close() error { return nil }
