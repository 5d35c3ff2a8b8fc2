package segment_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/modelgateway/modelgateway/cluster/block"
	"github.com/modelgateway/modelgateway/cluster/segment"
	"github.com/modelgateway/modelgateway/cluster/store"
)

func log() block.Log { return block.Log{Space: store.SpaceUsageLog, Unique: "r"} }

// world is the state of a log, and what other nodes have.
type world struct {
	state *store.Store
	mu    sync.Mutex
	peers map[[32]byte][]byte // what the other nodes give for a file
	asked int
	wrong map[string]string // problems
}

func newWorld(t *testing.T) *world {
	t.Helper()
	s, err := store.Open(store.Config{Kind: store.StateStore, Dir: "state", FS: vfs.NewMem(), MinFreeBytes: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return &world{state: s, peers: map[[32]byte][]byte{}, wrong: map[string]string{}}
}

// open opens the directory of a node.
func (w *world) open(t *testing.T, fs vfs.FS, cache int64) *segment.Store {
	t.Helper()
	s, err := segment.Open(segment.Config{
		Dir: "segments", FS: fs, CacheBytes: cache, Logger: slog.New(slog.DiscardHandler),
		Peers: func(_ context.Context, sum [32]byte, read func(io.Reader) error) error {
			w.mu.Lock()
			content, ok := w.peers[sum]
			w.asked++
			w.mu.Unlock()
			if !ok {
				return errors.New("no other node has them")
			}
			return read(bytes.NewReader(content))
		},
		Report: func(about string, err error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			delete(w.wrong, about)
			if err != nil {
				w.wrong[about] = err.Error()
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (w *world) problems() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return fmt.Sprint(w.wrong)
}

// seal appends blocks to the log, and makes files of each two of them.
func (w *world) seal(t *testing.T, on *segment.Store, segments int) (out []block.Segment) {
	t.Helper()
	const size = 2 * block.Size
	for n := range segments {
		tx := w.state.NewTx()
		var entries []block.Entry
		for i := range uint64(size) {
			number := uint64(n)*size + i + 1
			entries = append(entries, block.Entry{Number: number, Time: int64(number), Value: []byte(fmt.Sprint("record ", number))})
		}
		if err := errors.Join(log().Append(tx, entries), tx.CommitReplayable()); err != nil {
			t.Fatal(err)
		}
		tx.Close()
		s, err := on.Create(func(f io.Writer) (block.Segment, error) {
			return log().WriteSegment(t.Context(), w.state, block.Span{First: uint64(n)*size + 1, Last: uint64(n+1) * size}, f)
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := on.Read(s.Sum, func(r io.Reader) error {
			content, err := io.ReadAll(r)
			w.peers[s.Sum] = content
			return err
		}); err != nil {
			t.Fatal(err)
		}
		tx = w.state.NewTx()
		if done, err := log().Seal(tx, s); err != nil || !done {
			t.Fatal(done, err)
		}
		if err := tx.CommitReplayable(); err != nil {
			t.Fatal(err)
		}
		tx.Close()
		out = append(out, s)
	}
	return out
}

// count reads all records of the log.
func (w *world) count(t *testing.T, s *segment.Store) (n int, err error) {
	t.Helper()
	err = log().Range(t.Context(), block.WithFiles(w.state, s), 1, block.All, func(x block.Record) bool {
		n++
		if string(x.Value) != fmt.Sprint("record ", n) {
			t.Errorf("record %d is %q", n, x.Value)
		}
		return true
	})
	return n, err
}

// TestFilesOfOthersAreCompared fetches files from other nodes: what is another content is not used, nobody asks twice at
// the same time, and the problems name it as long as something is missing.
func TestFilesOfOthersAreCompared(t *testing.T) {
	w := newWorld(t)
	sealed := w.seal(t, w.open(t, vfs.NewMem(), 0), 2)
	s := w.open(t, vfs.NewMem(), 0)
	good := w.peers[sealed[1].Sum]
	for name, bad := range map[string][]byte{
		"another byte": append(bytes.Clone(good[:len(good)-1]), good[len(good)-1]^1), "shorter": good[:len(good)-1],
		"longer": append(bytes.Clone(good), 0), "another file": w.peers[sealed[0].Sum], "nothing": nil,
	} {
		w.peers[sealed[1].Sum] = bad
		if n, err := w.count(t, s); err == nil || n != 2*block.Size {
			t.Errorf("%s: %d records, %v", name, n, err)
		}
		if text := w.problems(); !strings.Contains(text, "1 segments: ") {
			t.Errorf("%s: the problems are %s", name, text)
		}
	}
	w.peers[sealed[1].Sum], w.asked = good, 0
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if n, err := w.count(t, s); err != nil || n != 4*block.Size {
				t.Errorf("%d records, %v", n, err)
			}
		})
	}
	all.Wait()
	if w.asked != 1 {
		t.Errorf("the other nodes were asked %d times for one file", w.asked)
	}
	if text := w.problems(); text != "map[]" {
		t.Errorf("the problems are still %s", text)
	}
}

// TestDamagedFileIsReplaced damages each byte of some of a file: reads return the records, from the copy of another node.
// Without a copy they fail, but for the records of intact groups.
func TestDamagedFileIsReplaced(t *testing.T) {
	w := newWorld(t)
	fs := vfs.NewMem()
	s := w.open(t, fs, 0)
	sealed := w.seal(t, s, 1)
	content := w.peers[sealed[0].Sum]
	name := "segments/" + fmt.Sprintf("%x", sealed[0].Sum) + ".seg"
	damage := func(at int) {
		t.Helper()
		changed := bytes.Clone(content)
		changed[at] ^= 16
		f, err := fs.Create(name, vfs.WriteCategoryUnspecified)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write(changed); errors.Join(err, f.Close()) != nil {
			t.Fatal(err)
		}
	}
	for at := 0; at < len(content); at += 1 + len(content)/60 {
		damage(at)
		s = w.open(t, fs, 0)
		if n, err := w.count(t, s); err != nil || n != 2*block.Size {
			t.Fatalf("byte %d: %d records, %v", at, n, err)
		}
		if text := w.problems(); !strings.Contains(text, "was damaged, and it was replaced by an intact copy") {
			t.Fatalf("byte %d: the problems are %s", at, text)
		}
		clear(w.wrong)
	}
	delete(w.peers, sealed[0].Sum)
	damage(len(content) / 2)
	if _, err := w.count(t, w.open(t, fs, 0)); err == nil {
		t.Error("damaged records were read")
	}
	if text := w.problems(); !strings.Contains(text, "there is no intact copy") {
		t.Errorf("the problems are %s", text)
	}
}

// TestKeep compares the files with the state: missing ones are fetched, those that nobody names are deleted after an hour,
// and those that are in the bucket while they are more than the cache may have.
func TestKeep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		fs := vfs.NewMem()
		s := w.open(t, fs, 2000)
		sealed := w.seal(t, s, 6)
		keep := func(all bool, named ...block.Segment) int {
			t.Helper()
			if err := s.Keep(t.Context(), all, func(_ context.Context, fn func(block.Segment) bool) error {
				for _, g := range named {
					fn(g)
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			names, err := fs.List("segments")
			if err != nil {
				t.Fatal(err)
			}
			return len(names)
		}
		if n := keep(true, sealed[0]); n != 6 {
			t.Errorf("%d of 6 files are left, and none is old", n)
		}
		time.Sleep(2 * time.Hour)
		if n := keep(true, sealed[0], sealed[1]); n != 2 {
			t.Errorf("%d files are left of 2 that the state names", n)
		}
		if n := keep(false, sealed...); n != 2 {
			t.Errorf("a node without a vote has fetched files: %d", n)
		}
		if n := keep(true, sealed...); n != 6 {
			t.Errorf("%d of 6 files are there", n)
		}
		cached := make([]block.Segment, len(sealed))
		total := uint64(0)
		for i, g := range sealed {
			cached[i], total = g, total+g.Size
			cached[i].Object = segment.Object("usage", g)
		}
		time.Sleep(time.Minute)
		if _, err := s.Open(t.Context(), sealed[2]); err != nil {
			t.Fatal(err)
		}
		if n := keep(true, cached...); n != 3 && n != 4 || total < 2500 {
			t.Errorf("%d files of %d bytes are cached in 2000", n, sealed[0].Size)
		}
		if !s.Has(sealed[2].Sum, sealed[2].Size) {
			t.Error("the file that was used last was deleted")
		}
	})
}

// TestFullDisk fails each operation on the disk in turn while a file is made: nothing of it is left, and the next try makes it.
func TestFullDisk(t *testing.T) {
	w := newWorld(t)
	sealed := w.seal(t, w.open(t, vfs.NewMem(), 0), 1)
	content := w.peers[sealed[0].Sum]
	for n := range 100 {
		mem := vfs.NewMem()
		full := &failure{at: -1}
		s := w.open(t, errorfs.Wrap(mem, full), 0)
		full.at = n
		err := s.Hold(sealed[0].Sum, sealed[0].Size, bytes.NewReader(content))
		failed := full.at < 0
		full.at = -1
		if (err != nil) != failed {
			t.Fatalf("operation %d failed: %v, the error is %v", n, failed, err)
		}
		names, lerr := mem.List("segments")
		if lerr != nil {
			t.Fatal(lerr)
		}
		for _, name := range names {
			if strings.HasSuffix(name, ".part") {
				t.Errorf("operation %d: %s is left", n, name)
			}
		}
		if err := s.Hold(sealed[0].Sum, sealed[0].Size, bytes.NewReader(content)); err != nil {
			t.Fatalf("after operation %d: %v", n, err)
		}
		if got, err := w.count(t, s); err != nil || got != 2*block.Size {
			t.Errorf("after operation %d: %d records, %v", n, got, err)
		}
		if !failed {
			if n < 4 {
				t.Errorf("a file takes %d operations", n)
			}
			return
		}
	}
	t.Error("a file takes more than 100 operations")
}

// failure fails one operation that writes.
type failure struct{ at int } // counts down; below 0: none, or it has failed

// MaybeError implements errorfs.Injector.
func (f *failure) MaybeError(op errorfs.Op) error {
	if op.Kind != errorfs.OpCreate && op.Kind != errorfs.OpFileWrite && op.Kind != errorfs.OpFileSync && op.Kind != errorfs.OpRename {
		return nil
	}
	if f.at--; f.at == -1 {
		return syscall.ENOSPC
	}
	return nil
}

// String implements errorfs.Injector.
func (f *failure) String() string { return "failure" }
