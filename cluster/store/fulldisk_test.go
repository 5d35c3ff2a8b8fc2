package store_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/modelgateway/modelgateway/cluster/store"
)

// fullDisk is the environment variable with the mount directory of a child process.
const fullDisk = "STORE_TEST_FULL_DISK"

// TestFullDisk fills a real disk of 48 MiB. A child process in its own mount namespace does it,
// so the mount is private and ends with the process.
func TestFullDisk(t *testing.T) {
	for _, name := range []string{"TestFullDiskRecovers", "TestFullDiskKills"} {
		t.Run(name, func(t *testing.T) {
			run := func(flags uintptr) (string, error) {
				cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+name+"$", "-test.v")
				cmd.Env = append(os.Environ(), fullDisk+"="+t.TempDir())
				cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS, Cloneflags: flags}
				if flags != 0 {
					cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
					cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
				}
				out, err := cmd.CombinedOutput()
				return string(out), err
			}
			out, err := run(0)
			if errors.Is(err, syscall.EPERM) { // not root, or only in name
				out, err = run(syscall.CLONE_NEWUSER)
			}
			if err != nil || !strings.Contains(out, "the disk was full") {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// smallDisk is a disk of 48 MiB for stores.
type smallDisk struct{ path, data, state, filler string }

func mountSmallDisk(t *testing.T) (smallDisk, bool) {
	t.Helper()
	path := os.Getenv(fullDisk)
	if path == "" {
		return smallDisk{}, false // TestFullDisk runs it
	}
	if err := syscall.Mount("small", path, "tmpfs", 0, "size=48m"); err != nil {
		t.Fatal(err)
	}
	return smallDisk{path, filepath.Join(path, "store"), filepath.Join(path, "state"), filepath.Join(path, "filler")}, true
}

// ballastBytes suffices for the logs of two stores, which take about 4.5 MiB each at their
// first write. With less, a store that fails to allocate its log briefly takes the space that
// the other one needs.
const ballastBytes = 10 << 20

func (d smallDisk) config() store.Config {
	return store.Config{Dir: d.data, MinFreeBytes: 12 << 20, BallastBytes: ballastBytes, ProbeEvery: time.Nanosecond}
}

// fill uses up all free space.
func (d smallDisk) fill(t *testing.T) {
	t.Helper()
	f, err := os.OpenFile(d.filler, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	block := make([]byte, 4096)
	for err == nil {
		_, err = f.Write(block)
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func (d smallDisk) free(t *testing.T) {
	t.Helper()
	if err := os.Remove(d.filler); err != nil {
		t.Fatal(err)
	}
}

// files returns how many files Pebble has created in the stores' directories: it numbers them,
// and each attempt at a table is another one.
func (d smallDisk) files(t *testing.T) int {
	t.Helper()
	highest := 0
	err := filepath.WalkDir(d.path, func(path string, _ fs.DirEntry, err error) error {
		var n int
		name := strings.TrimPrefix(filepath.Base(path), "MANIFEST-")
		if _, serr := fmt.Sscanf(name, "%06d", &n); serr == nil {
			highest = max(highest, n)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return highest
}

// TestFullDiskRecovers is a child's part of TestFullDisk. Both stores find the disk full. Work
// in progress is still written and new work is rejected. With free space, everything works as
// before. No store opens on a full disk.
func TestFullDiskRecovers(t *testing.T) {
	disk, ok := mountSmallDisk(t)
	if !ok {
		return
	}
	node, err := store.Open(disk.config())
	if err != nil {
		t.Fatal(err)
	}
	state, err := store.Open(store.Config{Kind: store.StateStore, Dir: disk.state, Beside: node})
	if err != nil {
		t.Fatal(err)
	}
	ballast := filepath.Join(disk.data, "ballast")
	value := strings.Repeat("x", 4096)
	for round := range 2 {
		disk.fill(t)
		refused(t, node.Healthy(), "full") // it checks before a write fails
		for n := range 100 {
			set(t, node, fmt.Sprint(round, n), value)
			commit(t, state, fmt.Sprint(round, n), value)
		}
		if err := state.Flush(); err != nil {
			t.Errorf("round %d: %v", round, err)
		}
		if _, err := os.Stat(ballast); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("round %d: the ballast was not released: %v", round, err)
		}
		refused(t, node.Healthy(), "full")
		disk.free(t)
		if err := node.Healthy(); err != nil {
			t.Errorf("round %d: with space again: %v", round, err)
		}
		if info, err := os.Stat(ballast); err != nil || info.Size() != ballastBytes {
			t.Errorf("round %d: the ballast is not back: %v", round, err)
		}
	}
	if err := errors.Join(state.Close(), node.Close()); err != nil {
		t.Fatal(err)
	}
	disk.fill(t)
	before := disk.files(t)
	for range 3 {
		_, err := store.Open(disk.config())
		refused(t, err, "free some space")
		_, err = store.Open(store.Config{Kind: store.StateStore, Dir: disk.state})
		refused(t, err, "free some space")
	}
	if after := disk.files(t); after != before || before > 50 {
		t.Errorf("%d files were created before and %d by rejected opens", before, after-before)
	}
	disk.free(t)
	node, state = open(t, disk.config()), open(t, store.Config{Kind: store.StateStore, Dir: disk.state})
	if n := len(scan(t, node, store.Range{Space: store.SpaceEvent})); n != 200 {
		t.Errorf("the node has %d records", n)
	}
	if n := len(scan(t, state, store.Range{Space: store.SpaceKey})); n != 200 {
		t.Errorf("the state has %d records", n)
	}
	t.Log("the disk was full")
}

// TestFullDiskKills is a child's part of TestFullDisk: writes continue on a full disk. Each
// commit is confirmed or ends the process; none retries forever, and confirmed data is present.
func TestFullDiskKills(t *testing.T) {
	disk, ok := mountSmallDisk(t)
	if !ok {
		return
	}
	cfg := disk.config()
	died := make(chan error, 16)
	cfg.Fatal = func(err error) {
		died <- err
		select {} // like a process that is about to exit
	}
	var failures atomic.Int64
	cfg.Events.Background = func(error) { failures.Add(1) }
	s, err := store.Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	disk.fill(t)
	var confirmed atomic.Int64
	value := []byte(strings.Repeat("x", 4096))
	ended := make(chan error, 1)
	go func() {
		for n := range 24 << 20 / len(value) {
			b := s.NewBatch()
			b.Set(store.SpaceEvent, numbered(n), value)
			if err := b.Commit(); err != nil {
				ended <- err
				return
			}
			b.Close()
			confirmed.Store(int64(n + 1))
		}
		ended <- nil
	}()
	select {
	case err := <-died:
		refused(t, err, "middle of a write")
	case err := <-ended:
		t.Fatalf("a full disk took everything: %v", err)
	}
	refused(t, s.Healthy(), "middle of a write")
	// The ballast provided space for work in progress.
	if n := confirmed.Load(); n < 100 {
		t.Errorf("%d commits were confirmed", n)
	}
	if n := disk.files(t); n > 50 || failures.Load() > 50 {
		t.Errorf("it tried %d files and failed %d times", n, failures.Load())
	}
	t.Logf("%d confirmed, %d files, %d failures", confirmed.Load(), disk.files(t), failures.Load())
	// The view of a restart on a disk with free space: this process has the lock.
	elsewhere := filepath.Join(filepath.Dir(disk.path), filepath.Base(disk.path)+"-copy")
	if err := store.LinkDir(nil, disk.data, elsewhere); err != nil {
		t.Fatal(err)
	}
	cfg = store.Config{Dir: elsewhere, MinFreeBytes: 1}
	again := open(t, cfg)
	found := len(scan(t, again, store.Range{Space: store.SpaceEvent}))
	if found < int(confirmed.Load()) {
		t.Errorf("%d were confirmed and %d are there", confirmed.Load(), found)
	}
	if !t.Failed() {
		t.Log("the disk was full")
		os.Exit(0) // a failed store leaves goroutines behind
	}
}
