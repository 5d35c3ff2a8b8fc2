package socket

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// pair returns the two ends of a connection; ours is the one under test.
func pair(t *testing.T) (ours, theirs net.Conn) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s.sock")
	l, err := Listen(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	theirs, err = net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = theirs.Close() })
	if ours, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ours.Close() })
	return ours, theirs
}

// More than the socket's buffers hold goes both ways, so that both directions
// have to wait for each other's reader.
func TestCarriesEverythingBothWays(t *testing.T) {
	ours, theirs := pair(t)
	sent := make([]byte, 8<<20)
	if _, err := rand.Read(sent); err != nil {
		t.Fatal(err)
	}
	errs := make(chan error, 2)
	go func() {
		_, err := io.Copy(theirs, io.LimitReader(theirs, int64(len(sent)))) // an echo
		errs <- err
	}()
	go func() {
		n, err := ours.Write(sent)
		if n != len(sent) && err == nil {
			err = io.ErrShortWrite
		}
		errs <- err
	}()
	got := make([]byte, len(sent))
	if _, err := io.ReadFull(ours, got); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := <-errs; err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(got, sent) {
		t.Error("what came back is not what was sent")
	}
}

func TestEndsAndDeadlines(t *testing.T) {
	ours, theirs := pair(t)
	if err := ours.SetReadDeadline(time.Now().Add(-time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := ours.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("past the deadline: %v", err)
	}
	if err := ours.SetReadDeadline(time.Time{}); err != nil {
		t.Fatal(err)
	}
	if err := theirs.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := ours.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("after the other end has closed: %v, want io.EOF", err)
	}
	if _, err := ours.Write(make([]byte, 1<<20)); err == nil {
		t.Error("writing to nobody is no error")
	}
	ours, _ = pair(t)
	done := make(chan error, 1)
	go func() {
		_, err := ours.Read(make([]byte, 1))
		done <- err
	}()
	if err := ours.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err == nil {
		t.Error("a read goes on after Close")
	}
}

func TestListen(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "s.sock")
	first, err := Listen(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	if u, ok := first.(listener).Listener.(*net.UnixListener); ok {
		u.SetUnlinkOnClose(false) // as if the process had died
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	second, err := Listen(context.Background(), path)
	if err != nil {
		t.Fatalf("in place of a dead process's socket: %v", err)
	}
	defer func() { _ = second.Close() }()
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v; want 0600", info.Mode(), err)
	}
	if _, err := Listen(context.Background(), filepath.Join(dir, strings.Repeat("x", 120))); err == nil || !strings.Contains(err.Error(), "107") {
		t.Errorf("a path that is too long: %v", err)
	}
}

func TestPrivate(t *testing.T) {
	dir := t.TempDir()
	ours := filepath.Join(dir, "ours")
	if err := os.Mkdir(ours, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := Private(ours); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(ours); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("mode %v, %v; want 0700", info.Mode(), err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(ours, link); err != nil {
		t.Fatal(err)
	}
	if err := Private(link); err == nil {
		t.Error("a link to somewhere else is taken for a directory")
	}
}
