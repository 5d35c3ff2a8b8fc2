package consensus_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/modelgateway/modelgateway/cluster/consensus"
	"github.com/modelgateway/modelgateway/cluster/store/storetest"
)

// history is the list of actions that a node was asked to do, and their results.
type history struct {
	mu       sync.Mutex
	states   []string // of the list, after each started action
	commands [][]byte // that led to each state; nil for a restore
	indexes  []uint64
	done     int // number of acknowledged actions
}

func newHistory() *history {
	return &history{states: []string{""}, commands: [][]byte{nil}, indexes: []uint64{0}}
}

// promise is a history at one moment.
type promise struct {
	states  []string
	command []byte // of the last acknowledged action
	index   uint64
	done    int
}

func (h *history) promise() promise {
	h.mu.Lock()
	defer h.mu.Unlock()
	return promise{states: slices.Clip(h.states), command: h.commands[h.done], index: h.indexes[h.done], done: h.done}
}

func (h *history) begin(state string, command []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.states, h.commands, h.indexes = append(h.states, state), append(h.commands, command), append(h.indexes, 0)
}

func (h *history) end(index uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.done = len(h.states) - 1
	h.indexes[h.done] = index
}

// last returns the state after the last action, and its number.
func (h *history) last() (string, int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.states[len(h.states)-1], len(h.states) - 1
}

// work does n random actions on a node: mostly appends, sometimes a snapshot, a backup, or a
// restore of the backup. It stops at the first error.
func (h *history) work(ctx context.Context, n *node, rng *rand.Rand, actions int) error {
	plan := make([]byte, actions)
	for i := range plan {
		plan[i] = "aaaaaaaaasbr"[rng.IntN(12)]
	}
	return h.follow(ctx, n, string(plan))
}

// follow executes a plan: a appends, s takes a snapshot, b a backup, and r restores the last
// backup.
func (h *history) follow(ctx context.Context, n *node, plan string) error {
	var backup bytes.Buffer
	var backedUp string
	for _, what := range plan {
		state, number := h.last()
		switch {
		case what == 's':
			if err := n.TakeSnapshot(ctx); err != nil {
				return err
			}
		case what == 'b':
			backup.Reset()
			if err := n.Backup(&backup); err != nil { //nolint:contextcheck // takes no context
				return err
			}
			backedUp = state
		case what == 'r' && backup.Len() > 0:
			h.begin(backedUp, nil)
			if err := n.RestoreBackup(ctx, bytes.NewReader(backup.Bytes()), consensus.Adoption{}); err != nil {
				return err
			}
			h.end(0)
		default:
			c := command(fmt.Sprint(number), "append l %d", number)
			h.begin(fmt.Sprint(state, number, " "), c)
			index, _, err := n.Propose(ctx, c)
			if err != nil {
				return err
			}
			h.end(index)
		}
	}
	return nil
}

// crashTiming makes a node leader as soon as Raft allows, and keeps its log short.
func crashTiming() consensus.Timing {
	return consensus.Timing{
		Heartbeat: 5 * time.Millisecond, Election: 5 * time.Millisecond, LeaderLease: 5 * time.Millisecond,
		Commit: time.Millisecond, SnapshotInterval: time.Hour, TrailingLogs: 2,
	}
}

// check opens the disk after a crash and compares it with the promise.
func (p promise) check(disk vfs.FS, cfg consensus.Config) error {
	n, err := open(disk, cfg)
	if err != nil {
		return fmt.Errorf("open: %w", err)
	}
	if got := n.machine.get("l"); !slices.Contains(p.states, got) {
		return fmt.Errorf("the state is %q, which never existed", got)
	}
	if p.done == 0 && !n.Bootstrapped() {
		return n.shut()
	}
	n.run()
	if err := p.checkRunning(n); err != nil {
		return err
	}
	return n.shut()
}

func (p promise) checkRunning(n *node) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := n.lead(ctx); err != nil {
		servers, _ := n.Servers()
		return fmt.Errorf("%s of %v in term %d: %w", n.State(), servers, n.Term(), err)
	}
	index, err := n.ReadIndex(ctx)
	if err != nil {
		return err
	}
	if err := n.WaitApplied(ctx, index); err != nil {
		return err
	}
	if got := n.machine.get("l"); !slices.Contains(p.states[p.done:], got) {
		return fmt.Errorf("the state is %q, but %q was acknowledged", got, p.states[p.done])
	}
	if index, _, err := n.Propose(ctx, command("after", "append after x")); err != nil || n.machine.get("after") != "x " {
		return fmt.Errorf("it accepts no further command: %d, %w", index, err)
	}
	if p.command == nil || len(p.states) > p.done+1 {
		return nil
	}
	again, f, err := n.Propose(ctx, p.command)
	if f != nil {
		err = f
	}
	if again != p.index || err != nil || n.machine.get("l") != p.states[p.done] {
		return fmt.Errorf("the repeated last command has index %d, not %d: %w", again, p.index, err)
	}
	return nil
}

// fingerprint is equal for equal disks.
func fingerprint(disk vfs.FS, dir string, sum *bytes.Buffer) error {
	names, err := disk.List(dir)
	if err != nil {
		return err
	}
	slices.Sort(names)
	for _, name := range names {
		path := filepath.Join(dir, name)
		info, err := disk.Stat(path)
		if err != nil {
			return err
		}
		if info.IsDir() {
			fmt.Fprintf(sum, "%s/\n", path)
			if err := fingerprint(disk, path, sum); err != nil {
				return err
			}
			continue
		}
		f, err := disk.Open(path)
		if err != nil {
			return err
		}
		b := make([]byte, info.Size())
		if len(b) > 0 {
			if _, err := f.ReadAt(b, 0); err != nil {
				return err
			}
		}
		if err := f.Close(); err != nil {
			return err
		}
		fmt.Fprintf(sum, "%s %x\n", path, sha256.Sum256(b))
	}
	return nil
}

// crash is a disk after a power failure.
type crash struct {
	number  uint64
	disk    *vfs.MemFS
	promise promise
}

// crashes simulates a power failure before every write, sync and change of a directory, and
// checks the remaining disk. Equal disks after equal promises are checked only once.
type crashes struct {
	mem     *storetest.Disk
	history *history
	to      chan crash
	seed    uint64

	mu   sync.Mutex
	seen map[string]bool

	made *atomic.Uint64
}

func (c *crashes) MaybeError(op errorfs.Op) error {
	if op.Kind.ReadOrWrite() != errorfs.OpIsWrite {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, percent := range []int{0, 25, 50, 75, 100} {
		number := c.made.Add(1)
		p := c.history.promise()
		disk := c.mem.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: percent, RNG: rand.New(rand.NewPCG(c.seed, number))})
		var sum bytes.Buffer
		if err := fingerprint(disk, "", &sum); err != nil {
			return err
		}
		fmt.Fprint(&sum, p.done, len(p.states))
		key := sha256.Sum256(sum.Bytes())
		if !c.seen[string(key[:])] {
			c.seen[string(key[:])] = true
			c.to <- crash{number, disk, p}
		}
	}
	return nil
}

func (c *crashes) String() string { return "crashes" }

// TestCrashAtEveryWrite simulates a power failure at every write of a node that is created,
// used and restarted. With any subset of the unsynced changes on the disk, the node opens, and
// its state existed at some time. Once it is leader, every acknowledged command has taken
// effect once.
func TestCrashAtEveryWrite(t *testing.T) {
	const enough, workers = 20_000, 8
	var made, checked atomic.Uint64
	to := make(chan crash, workers)
	var wait sync.WaitGroup
	for range workers {
		wait.Go(func() {
			for one := range to {
				checked.Add(1)
				if err := one.promise.check(one.disk, consensus.Config{Timing: crashTiming()}); err != nil {
					t.Errorf("crash %d: %v", one.number, err)
				}
			}
		})
	}
	for seed := uint64(1); made.Load() < enough && !t.Failed(); seed++ {
		mem := storetest.NewDisk()
		inject := &crashes{mem: mem, history: newHistory(), to: to, seed: seed, seen: map[string]bool{}, made: &made}
		disk := errorfs.Wrap(mem, inject)
		rng := rand.New(rand.NewPCG(seed, 0))
		for range 3 {
			n := alone(t, disk, consensus.Config{Timing: crashTiming()})
			if err := inject.history.work(t.Context(), n, rng, 25); err != nil {
				t.Fatal(err)
			}
			if err := n.shut(); err != nil {
				t.Fatal(err)
			}
		}
	}
	close(to)
	wait.Wait()
	t.Logf("%d crashes, %d different disks", made.Load(), checked.Load())
}
