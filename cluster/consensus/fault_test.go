package consensus_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/modelgateway/modelgateway/cluster/consensus"
	"github.com/modelgateway/modelgateway/cluster/store"
)

// TestFaults runs the tests of failing disks in a child process. A permanently failed node
// leaves goroutines behind, as an exiting process may, but this process is checked for leaks.
func TestFaults(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestChild", "-test.v")
	cmd.Env = append(os.Environ(), childFault+"=1")
	out, err := cmd.CombinedOutput()
	if err != nil || strings.Count(string(out), "--- PASS: TestChild") != 2 {
		t.Errorf("%v\n%s", err, out)
	}
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, "survived") {
			t.Log(strings.TrimSpace(line))
		}
	}
}

// failAt fails the k-th write, counted from 1, and all later ones if lasts is set.
type failAt struct {
	die   func() // ends the simulated process
	mu    sync.Mutex
	n, k  int
	lasts bool
	hit   bool
}

func (f *failAt) MaybeError(op errorfs.Op) error {
	if op.Kind.ReadOrWrite() != errorfs.OpIsWrite || op.Kind == errorfs.OpFileClose {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.n++
	if f.n == f.k || f.lasts && f.n > f.k {
		f.hit = true
		if ends(op) {
			f.die()
			f.mu.Unlock() // other goroutines may reach their own ends
			select {}
		}
		return fmt.Errorf("injected: %w", syscall.EIO)
	}
	return nil
}

// ends reports whether Pebble itself ends the process after a failure of op, by a panic that
// cannot be recovered. It does so if it cannot start another log or name the current manifest.
// A test that must continue has to end the simulated process first.
func ends(op errorfs.Op) bool {
	stack := make([]byte, 1<<14)
	stack = stack[:runtime.Stack(stack, false)]
	return bytes.Contains(stack, []byte(".rotateWAL(")) || bytes.Contains(stack, []byte("(*Marker).Move(")) ||
		strings.HasSuffix(op.Path, ".log") && !strings.HasPrefix(op.Path, "data/store")
}

func (f *failAt) String() string { return "fail at" }

func (f *failAt) wasHit() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.hit
}

// life runs a node until its work is done or part of it fails.
func life(ctx context.Context, disk vfs.FS, cfg consensus.Config, h *history) error {
	n, err := bootAlone(disk, cfg) //nolint:contextcheck // the node outlives ctx
	if err != nil {
		return err
	}
	err = h.follow(ctx, n, "aasbara")
	if ctx.Err() != nil {
		return err // there is no process left to stop the node
	}
	return errors.Join(err, n.shut())
}

// TestChildFailingWrites fails every write, once and permanently. Whether the node rejects,
// dies or survives, acknowledged commands are present afterwards.
func TestChildFailingWrites(t *testing.T) {
	if os.Getenv(childFault) == "" {
		return // TestFaults runs it
	}
	for _, lasts := range []bool{false, true} {
		step := 1
		if lasts {
			step = 3 // after the first failure the node is mostly dead
		}
		failed, died, survived := 0, 0, 0
		for k := 1; ; k += step {
			mem, h := vfs.NewCrashableMem(), newHistory()
			ctx, cancel := context.WithCancel(context.Background())
			inject := &failAt{k: k, lasts: lasts, die: cancel}
			cfg := consensus.Config{Timing: crashTiming(), Fatal: func(error) {
				cancel() // the process and all waiting callers would be gone
				runtime.Goexit()
			}}
			ended := make(chan error, 1)
			go func() {
				err := errors.New("died") // unless the goroutine reaches its end
				defer func() { ended <- err }()
				err = life(ctx, errorfs.Wrap(mem, inject), cfg, h)
			}()
			select {
			case err := <-ended:
				if err != nil {
					failed++
				} else {
					survived++
				}
			case <-ctx.Done():
				died++
			}
			cancel()
			disk := mem.CrashClone(vfs.CrashCloneCfg{
				UnsyncedDataPercent: []int{0, 50, 100}[k%3], RNG: rand.New(rand.NewPCG(1, uint64(k))),
			})
			if err := h.promise().check(disk, consensus.Config{Timing: crashTiming()}); err != nil {
				t.Fatalf("failing write %d, permanently %v: %v", k, lasts, err)
			}
			if !inject.wasHit() {
				break // no writes left
			}
		}
		t.Logf("permanently: %v, failed %d, died %d, survived %d", lasts, failed, died, survived)
		if failed == 0 || died == 0 {
			t.Error("the faults miss a phase: the test proves nothing")
		}
	}
}

// TestChildUnknownCommand: a command that the machine cannot apply ends the process, and again
// at each start until the machine can. No later entry is applied before it.
func TestChildUnknownCommand(t *testing.T) {
	if os.Getenv(childFault) == "" {
		return // TestFaults runs it
	}
	disk := vfs.NewCrashableMem()
	for i := range 2 {
		fatal := make(chan error, 1)
		n, err := open(disk, consensus.Config{Fatal: func(err error) {
			fatal <- err
			runtime.Goexit()
		}})
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			if err := n.Bootstrap([]consensus.Server{{Node: "one", Address: "one", Voter: true}}); err != nil {
				t.Fatal(err)
			}
		}
		n.run()
		if i == 0 {
			if err := n.lead(t.Context()); err != nil {
				t.Fatal(err)
			}
			n.must(t, "1", "append l 1")
			go func() { _, _, _ = n.Propose(context.Background(), command("2", "poison")) }() // never returns a result
		}
		if err := <-fatal; !strings.Contains(err.Error(), "cannot be applied") {
			t.Errorf("got %v", err)
		}
		if got := n.machine.get("l"); got != "1 " {
			t.Errorf("got %q", got)
		}
		// The simulated process ends here.
		disk = disk.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 100, RNG: rand.New(rand.NewPCG(1, 1))})
	}
}

// TestOpenRejects: inconsistent files.
func TestOpenRejects(t *testing.T) {
	timing := quick()
	timing.TrailingLogs = 1
	disk := vfs.NewMem()
	n := alone(t, disk, consensus.Config{Timing: timing})
	fill(t, n)
	for i := range 5 {
		n.must(t, fmt.Sprint(i), "append l %d", i)
	}
	if err := n.shut(); err != nil {
		t.Fatal(err)
	}
	edit := func(change func(b *store.Batch, index, entry []byte)) func(*testing.T, vfs.FS) {
		return func(t *testing.T, disk vfs.FS) {
			t.Helper()
			s, err := store.Open(store.Config{Dir: "data/store", FS: disk, BallastBytes: -1})
			if err != nil {
				t.Fatal(err)
			}
			var keys, values [][]byte
			err = s.Scan(t.Context(), store.Range{Space: store.SpaceLog}, func(key, value []byte) bool {
				keys, values = append(keys, append([]byte{}, key...)), append(values, append([]byte{}, value...))
				return true
			})
			if err != nil {
				t.Fatal(err)
			}
			b := s.NewBatch()
			change(b, keys[len(keys)-2], values[len(keys)-2])
			if err := b.Commit(); err != nil {
				t.Fatal(err)
			}
			b.Close()
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, tc := range []struct {
		name   string
		change func(*testing.T, vfs.FS)
		remedy string
	}{
		{"an entry is missing", edit(func(b *store.Batch, index, _ []byte) { b.Delete(store.SpaceLog, index) }), "join again"},
		{"an entry is changed", edit(func(b *store.Batch, index, entry []byte) {
			entry[len(entry)/2] ^= 4
			b.Set(store.SpaceLog, index, entry)
		}), "join again"},
		{"an entry is in another's place", edit(func(b *store.Batch, index, entry []byte) {
			index[7]++
			b.Set(store.SpaceLog, index, entry)
		}), "join again"},
		{"the log is gone", func(t *testing.T, disk vfs.FS) {
			t.Helper()
			if err := disk.RemoveAll("data/store"); err != nil {
				t.Fatal(err)
			}
		}, "ends before the state does"},
		{"the snapshots are gone", func(t *testing.T, disk vfs.FS) {
			t.Helper()
			if err := disk.RemoveAll("data/snapshots"); err != nil {
				t.Fatal(err)
			}
		}, "begins later than the newest snapshot ends"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			hurt := vfs.NewMem()
			if _, err := vfs.Clone(disk, hurt, "data", "data"); err != nil {
				t.Fatal(err)
			}
			tc.change(t, hurt)
			_, err := open(hurt, consensus.Config{})
			if err == nil || !strings.Contains(err.Error(), tc.remedy) {
				t.Errorf("got %v", err)
			}
		})
	}
}
