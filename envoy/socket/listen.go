package socket

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
)

// maxPath is the size of sun_path in unix(7) without its final zero byte.
const maxPath = 107

// Listen opens a Unix socket to which only this user can connect. It replaces the socket of a
// dead process. The directory must exist.
func Listen(ctx context.Context, path string) (net.Listener, error) {
	if len(path) > maxPath {
		return nil, fmt.Errorf("the socket path %s has %d bytes; Unix sockets take %d: use a shorter data directory", path, len(path), maxPath)
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "unix", path)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return listener{l}, nil
}

// Fits reports whether sockets with names of up to longest bytes fit in dir.
func Fits(dir string, longest int) bool { return len(dir)+1+longest <= maxPath }

// Private ensures that no other user can put a socket into dir. In a temporary directory
// another user may have created it first.
func Private(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); !info.IsDir() || ok && int(stat.Uid) != os.Geteuid() {
		return fmt.Errorf("%s is not a directory of this user; remove it, or use a shorter data directory", dir)
	}
	return os.Chmod(dir, 0o700) //nolint:gosec // a directory needs the x bit
}

type listener struct{ net.Listener }

// Accept returns the next connection.
func (l listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return direct(c)
}
