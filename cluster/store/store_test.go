package store_test

import (
	"bytes"
	"errors"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/store"
)

func open(tb testing.TB, cfg store.Config) *store.Store {
	tb.Helper()
	if cfg.Dir == "" {
		cfg.Dir = "data"
	}
	if cfg.BallastBytes == 0 {
		cfg.BallastBytes = 1 << 12
	}
	s, err := store.Open(cfg)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Error(err)
		}
	})
	return s
}

func set(tb testing.TB, s *store.Store, kv ...string) {
	tb.Helper()
	b := s.NewBatch()
	defer b.Close()
	for i := 0; i < len(kv); i += 2 {
		b.Set(store.SpaceEvent, []byte(kv[i]), []byte(kv[i+1]))
	}
	if err := b.Commit(); err != nil {
		tb.Fatal(err)
	}
}

func scan(tb testing.TB, s *store.Store, r store.Range) []string {
	tb.Helper()
	var out []string
	err := s.Scan(tb.Context(), r, func(k, v []byte) bool {
		out = append(out, string(k)+"="+string(v))
		return true
	})
	if err != nil {
		tb.Fatal(err)
	}
	return out
}

func refused(t *testing.T, err error, remedy string) {
	t.Helper()
	if fault.KindOf(err) != fault.StorageUnavailable || !strings.Contains(fault.From(err).Message(), remedy) {
		t.Errorf("got %v; want a refusal that says %q", err, remedy)
	}
}

func TestScan(t *testing.T) {
	s := open(t, store.Config{FS: vfs.NewMem()})
	set(t, s, "a", "1", "b/1", "2", "b/2", "3", "b\xff", "4", "c", "5")
	for _, tc := range []struct {
		name string
		r    store.Range
		want []string
	}{
		{"all", store.Range{}, []string{"a=1", "b/1=2", "b/2=3", "b\xff=4", "c=5"}},
		{"prefix", store.Range{Prefix: []byte("b")}, []string{"b/1=2", "b/2=3", "b\xff=4"}},
		{"prefix of 0xff", store.Range{Prefix: []byte("b\xff")}, []string{"b\xff=4"}},
		{"from and to", store.Range{From: []byte("b/1"), To: []byte("b\xff")}, []string{"b/1=2", "b/2=3"}},
		{"bounds inside a prefix", store.Range{Prefix: []byte("b"), From: []byte("a"), To: []byte("b/2")}, []string{"b/1=2"}},
		{"bounds outside a prefix", store.Range{Prefix: []byte("b"), From: []byte("c"), To: []byte("d")}, nil},
		{"reverse", store.Range{Reverse: true}, []string{"c=5", "b\xff=4", "b/2=3", "b/1=2", "a=1"}},
		{"reverse and limit", store.Range{Prefix: []byte("b"), Reverse: true, Limit: 2}, []string{"b\xff=4", "b/2=3"}},
		{"to before from", store.Range{From: []byte("c"), To: []byte("a")}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tc.r.Space = store.SpaceEvent
			if diff := cmp.Diff(tc.want, scan(t, s, tc.r)); diff != "" {
				t.Error(diff)
			}
		})
	}
	if got := scan(t, s, store.Range{Space: store.SpaceIntent}); got != nil {
		t.Errorf("another space has %q", got)
	}
}

func TestScanStopsAndSeesASnapshot(t *testing.T) {
	s := open(t, store.Config{FS: vfs.NewMem()})
	set(t, s, "a", "1", "b", "2")
	var seen []string
	err := s.Scan(t.Context(), store.Range{Space: store.SpaceEvent}, func(k, _ []byte) bool {
		set(t, s, "aa", "late") // fn may use the store
		seen = append(seen, string(k))
		return len(seen) < 2
	})
	if err != nil || !slices.Equal(seen, []string{"a", "b"}) {
		t.Errorf("got %q, %v", seen, err)
	}
}

func TestCloseWaitsAndThenRejects(t *testing.T) {
	s, err := store.Open(store.Config{Dir: "data", FS: vfs.NewMem(), BallastBytes: -1})
	if err != nil {
		t.Fatal(err)
	}
	inScan, closed := make(chan struct{}), make(chan error)
	go func() {
		<-inScan
		closed <- s.Close()
	}()
	set(t, s, "a", "1")
	b := s.NewBatch()
	defer b.Close()
	b.Set(store.SpaceEvent, []byte("late"), nil)
	err = s.Scan(t.Context(), store.Range{Space: store.SpaceEvent}, func([]byte, []byte) bool {
		close(inScan)
		for s.Healthy() == nil { // until Close has started, which waits for this scan
		}
		_, _, err := s.Get(store.SpaceEvent, []byte("a"))
		refused(t, err, "shutting down")
		return true
	})
	if err != nil {
		t.Error(err)
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
	refused(t, b.Commit(), "shutting down")
	refused(t, s.Scan(t.Context(), store.Range{Space: store.SpaceEvent}, nil), "shutting down")
	if err := s.Close(); err != nil {
		t.Errorf("a second Close: %v", err)
	}
}

func TestOpenRejects(t *testing.T) {
	occupied := filepath.Join(t.TempDir(), "data")
	open(t, store.Config{Dir: occupied, MinFreeBytes: 1})
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	failing := func(kind errorfs.OpKind, err error) vfs.FS {
		return errorfs.Wrap(vfs.NewMem(), errorfs.InjectorFunc(func(op errorfs.Op) error {
			if op.Kind == kind {
				return err
			}
			return nil
		}))
	}
	full := vfs.NewMem()
	full.TestingSetDiskUsage(vfs.DiskUsage{AvailBytes: 200 << 20, TotalBytes: 1 << 40})
	for _, tc := range []struct {
		name   string
		cfg    store.Config
		remedy string
	}{
		{"no directory", store.Config{FS: vfs.NewMem()}, "No data directory"},
		{"a file", store.Config{Dir: file}, "not a directory"},
		{"below a file", store.Config{Dir: filepath.Join(file, "data")}, "not a directory"},
		{"in use", store.Config{Dir: occupied, MinFreeBytes: 1}, "another process"},
		{"nearly full", store.Config{Dir: "data", FS: full}, "200 MiB left and the gateway needs 256 MiB"},
		{"read-only", store.Config{Dir: "data", FS: failing(errorfs.OpLock, syscall.EROFS)}, "read-only"},
		{"read-only files", store.Config{Dir: "data", FS: failing(errorfs.OpCreate, syscall.EROFS)}, "read-only"},
		{"no permission", store.Config{Dir: "data", FS: failing(errorfs.OpMkdirAll, syscall.EACCES)}, "may not write"},
		{"no space to write", store.Config{Dir: "data", FS: failing(errorfs.OpFileWrite, syscall.ENOSPC)}, "disk is full"},
		{"no space for the ballast", store.Config{Dir: "data", FS: failing(errorfs.OpFilePreallocate, syscall.ENOSPC)}, "disk is full"},
		{"quota", store.Config{Dir: "data", FS: failing(errorfs.OpFileWrite, syscall.EDQUOT)}, "disk is full"},
		{"fsync fails", store.Config{Dir: "data", FS: failing(errorfs.OpFileSync, syscall.EIO)}, "disk reports errors"},
		{"no free space known", store.Config{Dir: "data", FS: failing(errorfs.OpGetDiskUsage, syscall.EIO)}, "disk reports errors"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s, err := store.Open(tc.cfg)
			if err == nil {
				t.Fatal("opened", s.Close())
			}
			refused(t, err, tc.remedy)
		})
	}
}

func TestFailedOpenReleasesTheLock(t *testing.T) {
	mem := vfs.NewMem()
	mem.TestingSetDiskUsage(vfs.DiskUsage{AvailBytes: 1})
	cfg := store.Config{Dir: "data", FS: mem, BallastBytes: -1}
	_, err := store.Open(cfg)
	refused(t, err, "free some space")
	mem.TestingSetDiskUsage(vfs.DiskUsage{AvailBytes: 1 << 40})
	open(t, cfg) // would fail if the lock were held
}

func TestDirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "data")
	s := open(t, store.Config{Dir: dir, MinFreeBytes: 1, BallastBytes: 3 << 20})
	info, err := os.Stat(dir)
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("mode %v, %v; want 0700", info.Mode(), err)
	}
	info, err = os.Stat(filepath.Join(dir, "ballast"))
	if err != nil || info.Size() != 3<<20 {
		t.Fatalf("ballast: %v, %v", info, err)
	}
	if st, ok := info.Sys().(*syscall.Stat_t); !ok || st.Blocks*512 < 3<<20 {
		t.Errorf("the ballast takes %d blocks of 512 bytes: it is sparse and frees nothing", st.Blocks)
	}
	if _, err := os.Stat(filepath.Join(dir, "probe")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the probe file is still there: %v", err)
	}
	if err := s.Healthy(); err != nil {
		t.Error(err)
	}
}

func TestBallastWithoutPreallocation(t *testing.T) {
	mem := vfs.NewMem()
	fsys := errorfs.Wrap(mem, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if op.Kind == errorfs.OpFilePreallocate && strings.HasSuffix(op.Path, "ballast") {
			return syscall.EOPNOTSUPP
		}
		return nil
	}))
	open(t, store.Config{FS: fsys, BallastBytes: 100_000})
	if info, err := mem.Stat("data/ballast"); err != nil || info.Size() != 100_000 {
		t.Errorf("got %v, %v", info, err)
	}
}

func TestIdentityStays(t *testing.T) {
	mem := vfs.NewMem()
	cfg := store.Config{Dir: "data", FS: mem, BallastBytes: -1}
	var first store.Identity
	for range 3 {
		s, err := store.Open(cfg)
		if err != nil {
			t.Fatal(err)
		}
		got := s.Identity()
		if first == (store.Identity{}) {
			first = got
		}
		if got != first || len(got.Node) != 32 || got.Epoch != 1 {
			t.Errorf("got %+v, first %+v", got, first)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	other := open(t, store.Config{FS: vfs.NewMem()})
	if other.Identity().Node == first.Node {
		t.Error("two directories have one identity")
	}
}

func TestDamagedIdentityIsRejected(t *testing.T) {
	for name, damage := range map[string]func(*store.Batch){
		"gone":       func(b *store.Batch) { b.Delete(store.SpaceMeta, []byte("identity")) },
		"garbled":    func(b *store.Batch) { b.Set(store.SpaceMeta, []byte("identity"), []byte("\xff\xff")) },
		"empty":      func(b *store.Batch) { b.Set(store.SpaceMeta, []byte("identity"), nil) },
		"too new":    func(b *store.Batch) { b.Set(store.SpaceMeta, []byte("identity"), []byte("\x08\x02\x12\x01a\x18\x01")) },
		"epoch of 0": func(b *store.Batch) { b.Set(store.SpaceMeta, []byte("identity"), []byte("\x08\x01\x12\x01a")) },
	} {
		t.Run(name, func(t *testing.T) {
			cfg := store.Config{Dir: "data", FS: vfs.NewMem(), BallastBytes: -1}
			s, err := store.Open(cfg)
			if err != nil {
				t.Fatal(err)
			}
			set(t, s, "a", "1")
			b := s.NewBatch()
			damage(b)
			if err := errors.Join(b.Commit(), s.Close()); err != nil {
				t.Fatal(err)
			}
			b.Close()
			_, err = store.Open(cfg)
			refused(t, err, "no usable node identity")
		})
	}
}

// TestDiskFull fills the disk of a running store. The failed write succeeds in the space of the
// ballast, new work is rejected until there is free space again, and then the ballast returns.
func TestDiskFull(t *testing.T) {
	const roomy, tight = 1 << 40, 300 << 20
	mem := vfs.NewMem()
	mem.TestingSetDiskUsage(vfs.DiskUsage{AvailBytes: roomy})
	var full atomic.Bool
	hasBallast := func() bool {
		_, err := mem.Stat("data/ballast")
		return err == nil
	}
	fsys := errorfs.Wrap(mem, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if full.Load() && op.Kind == errorfs.OpFileWrite && hasBallast() {
			return syscall.ENOSPC
		}
		return nil
	}))
	var events []string
	s := open(t, store.Config{
		FS: fsys, ProbeEvery: time.Nanosecond,
		Events: store.Events{
			DiskFull:  func() { events = append(events, "full") },
			SpaceBack: func() { events = append(events, "back") },
		},
	})
	full.Store(true)
	set(t, s, "a", "1")
	mem.TestingSetDiskUsage(vfs.DiskUsage{AvailBytes: 1})
	refused(t, s.Healthy(), "full")
	set(t, s, "b", "2") // work in progress is still written
	if hasBallast() {
		t.Error("the ballast is still there")
	}
	mem.TestingSetDiskUsage(vfs.DiskUsage{AvailBytes: tight >> 1})
	refused(t, s.Healthy(), "full")
	mem.TestingSetDiskUsage(vfs.DiskUsage{AvailBytes: tight})
	full.Store(false)
	if err := s.Healthy(); err != nil || !hasBallast() {
		t.Errorf("with space again: %v, ballast %v", err, hasBallast())
	}
	if diff := cmp.Diff([]string{"full", "back"}, events); diff != "" {
		t.Error(diff)
	}
	want := []string{"a=1", "b=2"}
	if diff := cmp.Diff(want, scan(t, s, store.Range{Space: store.SpaceEvent})); diff != "" {
		t.Error(diff)
	}
}

func TestLittleSpaceIsUnhealthyWithoutFlapping(t *testing.T) {
	mem := vfs.NewMem()
	mem.TestingSetDiskUsage(vfs.DiskUsage{AvailBytes: 100})
	s := open(t, store.Config{FS: mem, MinFreeBytes: 100, ProbeEvery: time.Nanosecond})
	for _, step := range []struct {
		avail   uint64
		healthy bool
	}{{100, true}, {30, true}, {24, false}, {30, false}, {49, false}, {50, true}, {30, true}} {
		mem.TestingSetDiskUsage(vfs.DiskUsage{AvailBytes: step.avail})
		if err := s.Healthy(); (err == nil) != step.healthy {
			t.Errorf("with %d left: %v", step.avail, err)
		}
	}
}

// TestModel compares the store with a map, across crashes that keep none, some or all of the
// unsynced data.
func TestModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		mem := vfs.NewCrashableMem()
		start := func() *store.Store {
			s, err := store.Open(store.Config{Dir: "data", FS: mem, BallastBytes: -1})
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		s, model := start(), map[string]string{}
		defer func() { _ = s.Close() }()
		identity := s.Identity()
		key := rapid.SampledFrom([]string{"", "a", "b", "ba", "b\xff", "c"})
		t.Repeat(map[string]func(*rapid.T){
			"commit": func(t *rapid.T) {
				b := s.NewBatch()
				defer b.Close()
				for range rapid.IntRange(0, 4).Draw(t, "n") {
					k, v := key.Draw(t, "key"), rapid.StringN(0, 8, -1).Draw(t, "value")
					if rapid.Bool().Draw(t, "delete") {
						b.Delete(store.SpaceEvent, []byte(k))
						delete(model, k)
						continue
					}
					b.Set(store.SpaceEvent, []byte(k), []byte(v))
					model[k] = v
				}
				if err := b.Commit(); err != nil {
					t.Fatal(err)
				}
			},
			"crash": func(t *rapid.T) {
				crashed := mem.CrashClone(vfs.CrashCloneCfg{
					UnsyncedDataPercent: rapid.SampledFrom([]int{0, 50, 100}).Draw(t, "kept"),
					RNG:                 rand.New(rand.NewPCG(1, rapid.Uint64().Draw(t, "seed"))),
				})
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
				mem = crashed
				s = start()
			},
			"reopen": func(t *rapid.T) {
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
				s = start()
			},
			"": func(t *rapid.T) {
				if s.Identity() != identity {
					t.Fatalf("identity %v, was %v", s.Identity(), identity)
				}
				got := map[string]string{}
				err := s.Scan(t.Context(), store.Range{Space: store.SpaceEvent}, func(k, v []byte) bool {
					got[string(bytes.Clone(k))] = string(v)
					return true
				})
				if err != nil || !maps.Equal(got, model) {
					t.Fatalf("%v: got %q, want %q", err, got, model)
				}
			},
		})
	})
}
