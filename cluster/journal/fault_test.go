package journal_test

import (
	"context"
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

	"github.com/modelgateway/modelgateway/cluster/journal"
)

// TestFaults runs the tests of failing disks in a child process. A permanently failed store
// leaves goroutines of Pebble behind, as an exiting process may, but this process is checked
// for leaks.
func TestFaults(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestChild", "-test.v")
	cmd.Env = append(os.Environ(), childFault+"=1")
	out, err := cmd.CombinedOutput()
	if err != nil || strings.Count(string(out), "--- PASS: TestChild") != 2 {
		t.Errorf("%v\n%s", err, out)
	}
}

// failAt fails the k-th write, counted from 1, and all later ones if lasts is set.
type failAt struct {
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
		return fmt.Errorf("injected: %w", syscall.EIO)
	}
	return nil
}

func (f *failAt) String() string { return "fail at" }

func (f *failAt) wasHit() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.hit
}

// TestChildFailingWrites fails every write, once and permanently. Whether the store rejects,
// dies or survives, everything promised is present afterwards.
func TestChildFailingWrites(t *testing.T) {
	if os.Getenv(childFault) == "" {
		return // TestFaults runs it
	}
	for _, lasts := range []bool{false, true} {
		refused, died, survived := 0, 0, 0
		for k := 1; ; k++ {
			mem, book := vfs.NewCrashableMem(), newBook()
			inject := &failAt{k: k, lasts: lasts}
			ctx, cancel := context.WithCancel(context.Background())
			cfg := config(errorfs.Wrap(mem, inject))
			cfg.Fatal = func(error) {
				cancel() // the process and all waiting callers would be gone
				runtime.Goexit()
			}
			opened := make(chan *node, 1) // the goroutine may end in Open
			go func() {
				defer close(opened)
				if n, err := boot(cfg, journal.Config{}); err == nil {
					opened <- n
				}
			}()
			if n := <-opened; n == nil {
				refused++
			} else {
				book.work(ctx, n.Journal, 3)
				if ctx.Err() != nil {
					died++
				} else if n.shut() == nil {
					survived++
				}
			}
			cancel()
			crashed := mem.CrashClone(vfs.CrashCloneCfg{
				UnsyncedDataPercent: []int{0, 50, 100}[k%3], RNG: rand.New(rand.NewPCG(1, uint64(k))),
			})
			book.check(t, config(crashed), book.sent)
			if t.Failed() {
				t.Fatalf("failing write %d, permanently %v", k, lasts)
			}
			if !inject.wasHit() {
				break // no writes left
			}
		}
		t.Logf("permanently: %v, failed to open %d, died %d, survived %d", lasts, refused, died, survived)
		if refused == 0 || died == 0 {
			t.Error("the faults miss a phase: the test proves nothing")
		}
	}
}

// TestChildFailedCommit: all waiting callers get the error, and new records are rejected.
func TestChildFailedCommit(t *testing.T) {
	if os.Getenv(childFault) == "" {
		return // TestFaults runs it
	}
	var inject errorfs.Toggle
	inject.Injector = errorfs.InjectorFunc(func(op errorfs.Op) error {
		if op.Kind.ReadOrWrite() == errorfs.OpIsWrite {
			return syscall.EIO
		}
		return nil
	})
	cfg := config(errorfs.Wrap(vfs.NewMem(), &inject))
	fatal := make(chan error, 1)
	cfg.Fatal = func(err error) {
		fatal <- err
		runtime.Goexit()
	}
	n, err := boot(cfg, journal.Config{})
	if err != nil {
		t.Fatal(err)
	}
	before := n.Intent(fullIntent("req_1"))
	await(t, before)
	inject.On()
	failed := []*journal.Pending{n.Intent(fullIntent("req_2")), n.Settle([]*journal.Pending{before}, []journal.Event{fullEvent("req_1")})}
	for _, p := range failed {
		unavailable(t, p.Wait(t.Context()), "has to be restarted")
	}
	unavailable(t, <-fatal, "middle of a write")
	unavailable(t, n.Healthy(), "has to be restarted")
	unavailable(t, n.Intent(fullIntent("req_3")).Wait(t.Context()), "has to be restarted")
	if err := before.Wait(t.Context()); err != nil {
		t.Errorf("an earlier promise is broken: %v", err)
	}
}
