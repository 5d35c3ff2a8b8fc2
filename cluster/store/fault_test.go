package store_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/modelgateway/modelgateway/cluster/store"
)

// TestEveryFaultOfAStateIsReported fails each disk operation while a state is changed, flushed,
// copied and crashed, once alone and once with all later ones. Pebble leaves goroutines behind,
// so a child process does it.
func TestEveryFaultOfAStateIsReported(t *testing.T) {
	out, err := runTest(t, "TestFaultsInChild", "STORE_TEST_FATAL=faults")
	if err != nil || !strings.Contains(out, "none was silent") {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestFaultsInChild is the child's part of the test above.
func TestFaultsInChild(t *testing.T) {
	if os.Getenv("STORE_TEST_FATAL") != "faults" {
		return // the test above runs it
	}
	for _, lasting := range []bool{false, true} {
		deaths, refusals, repaired, fail := 0, 0, 0, 1
		for ; ; fail++ {
			last := fail
			if lasting {
				fail += 2 // the start matters less
				last = math.MaxInt
			}
			end := faultyRun(t, fail, last)
			if !end.reached {
				break
			}
			switch {
			case end.died:
				deaths++
			case end.err != nil:
				refusals++
				if !errors.Is(end.err, syscall.EIO) {
					t.Errorf("fault %d: %v", fail, end.err)
				}
			case lasting && !end.late:
				t.Errorf("fault %d and all after it were silent", fail)
			default:
				repaired++
			}
			if t.Failed() {
				t.Fatalf("fault %d, lasting %v", fail, lasting)
			}
		}
		t.Logf("lasting %v: %d deaths, %d errors, %d compensated", lasting, deaths, refusals, repaired)
		if deaths == 0 || refusals == 0 || deaths+refusals+repaired < 40 {
			t.Error("this proves nothing")
		}
	}
	if !t.Failed() {
		t.Log("none was silent")
		os.Exit(0)
	}
}

// faultyEnd is the result of a run with a fault.
type faultyEnd struct {
	reached bool // the run reached the fault
	late    bool // everything had been promised: only cleanup failed
	died    bool
	err     error
}

// faultyRun fails the operations of a run from the first to the last, and checks the promises
// after a power failure.
func faultyRun(t *testing.T, first, last int) faultyEnd {
	t.Helper()
	mem := vfs.NewCrashableMem()
	run := stateRun{copies: map[string]int{}}
	var mu sync.Mutex
	var end faultyEnd
	ops, promised := 0, run.clone() // operations before the first promise do not count
	cfg := store.Config{FS: errorfs.Wrap(mem, errorfs.InjectorFunc(func(op errorfs.Op) error {
		mu.Lock()
		defer mu.Unlock()
		if promised.started == 0 || op.Kind == errorfs.OpFileClose {
			return nil
		}
		ops++
		if ops < first || ops > last {
			return nil
		}
		if !end.reached {
			end.reached, end.late = true, len(promised.copies) == 2
		}
		return syscall.EIO
	}))}
	died := make(chan struct{}, 16)
	cfg.Fatal = func(error) {
		died <- struct{}{}
		select {} // like a process that is about to exit
	}
	ended := make(chan error, 1)
	go func() {
		ended <- run.live(cfg, 1, func(r stateRun) {
			mu.Lock()
			defer mu.Unlock()
			promised = r.clone()
		})
	}()
	var err error
	dead := false
	select {
	case err = <-ended:
	case <-died:
		dead = true
	}
	mu.Lock()
	defer mu.Unlock()
	// A caller may learn of the death before Fatal is called.
	end.err, end.died = err, dead || err != nil && strings.Contains(err.Error(), "middle of a write")
	for _, percent := range []int{0, 100} {
		copies := promised.copies
		if percent > 0 {
			copies = nil
		}
		promised.check(t, mem.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: percent, RNG: rand.New(rand.NewPCG(uint64(first), 1))}), copies)
	}
	last = 0 // otherwise background work would retry forever
	return end
}
