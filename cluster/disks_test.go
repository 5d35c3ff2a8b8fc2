package cluster_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/modelgateway/modelgateway/cluster"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/store"
)

// voters puts up three nodes that are one cluster, and spenders of whom one has no
// budget and one a narrow one.
func voters(t *testing.T, seed uint64) (*lab, []*spender) {
	t.Helper()
	l := newLab(t, seed)
	for range 3 {
		l.add(3).start()
	}
	if err := l.ready(l.hosts, settleTime); err != nil {
		t.Fatal(err)
	}
	return l, []*spender{newSpender(l, "s1", 0), newSpender(l, "s2", 60*perRequest)}
}

// spendAll has all of them spend for a while.
func (l *lab) spendAll(spenders []*spender, long time.Duration) {
	end := time.Now().Add(long)
	var wait sync.WaitGroup
	for _, c := range spenders {
		wait.Go(func() { c.work(end, l.hosts) })
	}
	wait.Wait()
}

// balance checks the spenders' books on every host, and that all have the same state.
func (l *lab) balance(spenders []*spender) {
	l.t.Helper()
	tick(2 * answerTime) // what a disk held up is written by now
	if err := l.drained(l.hosts, settleTime); err != nil {
		l.t.Error(err)
	}
	for _, h := range l.hosts {
		if err := l.audit(h, spenders); err != nil {
			l.t.Errorf("the books of %s: %v", h.name, err)
		}
	}
	if err := l.same(); err != nil {
		l.t.Error(err)
	}
}

// TestSlowDisk has the disk of each node in turn stall for up to five seconds: nothing
// that was promised is lost, and nothing is posted twice.
func TestSlowDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, spenders := voters(t, 21)
		defer l.close()
		for i, h := range l.hosts {
			h.disk.slow(uint64(i))
			l.spendAll(spenders, 15*time.Second)
			h.disk.mend()
		}
		if err := l.ready(l.hosts, settleTime); err != nil {
			t.Error(err)
		}
		l.balance(spenders)
	})
}

// TestFullDisk has the disk of a node run full, of each in turn: the node takes no new
// requests, the others do, and when there is space again it takes them as before.
func TestFullDisk(t *testing.T) {
	full := func(c *spender) (n int) {
		for why, times := range c.refused {
			if strings.Contains(why, "is full") {
				n += times
			}
		}
		return n
	}
	synctest.Test(t, func(t *testing.T) {
		l, spenders := voters(t, 22)
		defer l.close()
		for _, h := range l.hosts {
			before := full(spenders[0])
			h.disk.fill()
			l.spendAll(spenders, 10*time.Second)
			if after := full(spenders[0]); after == before {
				t.Errorf("%s has refused nobody, although its disk is full", h.name)
			}
			if err := h.node().Journal().Healthy(); err == nil || fault.From(err).Kind != fault.StorageUnavailable {
				t.Errorf("%s, whose disk is full, says %v", h.name, err)
			}
			h.disk.mend()
			if !until(settleTime, func() bool { return h.node().Journal().Healthy() == nil }) {
				t.Errorf("%s does not know that there is space again", h.name)
			}
		}
		l.balance(spenders)
	})
}

const (
	// childFlips has a child process flip bits, and flipsDone is what it says in the end.
	childFlips = "CLUSTER_TEST_FLIPS"
	flipsDone  = "no flip was taken for the books"
)

// TestFlippedBit flips bits in what a voter has on its disk, in each of its files. The
// node does not start, or says that it cannot read, or has what it had, as far as its
// log says the rest again: it never takes something else for the books. One that does
// not start is replaced, as one whose disk is lost.
//
// A store that does not open leaves goroutines of Pebble's behind, so a child process
// does it.
func TestFlippedBit(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestFlipsInChild$", "-test.v")
	cmd.Env = append(os.Environ(), childFlips+"=1")
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), flipsDone) {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestFlipsInChild is the child's part of the test above.
func TestFlipsInChild(t *testing.T) {
	if os.Getenv(childFlips) == "" {
		return // the test above runs it
	}
	synctest.Test(t, func(t *testing.T) {
		l, spenders := voters(t, 23)
		l.spendAll(spenders, 15*time.Second)
		l.balance(spenders)
		h := l.hosts[1]
		h.shut()
		good, err := h.read("", nil)
		if err != nil {
			t.Fatal(err)
		}
		found, harmless, refused := 0, 0, ""
		for _, name := range h.disk.files(t, "data") {
			for try := range uint64(2) {
				got, err := h.read(name, rand.New(rand.NewPCG(try, 9)))
				switch {
				case err != nil:
					if found++; fault.From(err).Kind == fault.StorageUnavailable && name != "data/store/LOCK" {
						refused = name
					}
				case got.own != good.own, got.index > good.index, got.index == good.index && got.state != good.state:
					t.Errorf("with a bit of %s flipped, the node has other books: %+v, and had %+v", name, got, good)
				default:
					harmless++
				}
			}
		}
		t.Logf("%d flips were found, %d do no harm; one of %s keeps the node from starting", found, harmless, refused)
		if found < 5 || refused == "" {
			t.Fatal("this proves nothing")
		}
		h.wipe() // what an operator does, and then:
		h.start()
		l.expelReplaced("after the flips")
		if err := l.ready(l.hosts, settleTime); err != nil {
			t.Error(err)
		}
		l.spendAll(spenders, 5*time.Second)
		l.balance(spenders)
		if !t.Failed() {
			t.Log(flipsDone)
			os.Exit(0)
		}
	})
}

// kept is what a node has on its disk.
type kept struct {
	own   string // its journal and its log, and all else that no other node has
	index uint64 // how far its state has come
	state string
}

// read opens what is on the machine's disk, as it would be with a bit of a file flipped,
// and reads all of it.
func (h *host) read(flipped string, random *rand.Rand) (k kept, err error) {
	t := h.lab.t
	mem := h.disk.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 100, RNG: rand.New(rand.NewPCG(1, 1))})
	d := diskOf(mem)
	if flipped != "" {
		d.flip(t, flipped, random)
	}
	again := diskOf(d.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 100, RNG: rand.New(rand.NewPCG(1, 1))}))
	s, err := store.Open(store.Config{Dir: "data/store", FS: d.fs(), BallastBytes: 4096, MinFreeBytes: 1})
	if err != nil {
		return k, err
	}
	sum := sha256.New()
	for space := store.Space(' '); space <= '~' && err == nil; space++ {
		err = s.Scan(t.Context(), store.Range{Space: space}, func(key, value []byte) bool {
			_, _ = fmt.Fprintf(sum, "%c %x %x\n", space, key, value) // never fails
			return true
		})
	}
	if err = errors.Join(err, s.Close()); err != nil {
		return k, err
	}
	k.own = hex.EncodeToString(sum.Sum(nil))
	node, err := cluster.Open(h.config(again))
	if err != nil {
		return k, err
	}
	status, err := node.Status(t.Context(), true)
	for _, m := range status.Members {
		if m.Node == node.Identity().Node {
			k.index, k.state = m.StateIndex, m.StateHash
		}
	}
	if err == nil && k.state == "" {
		err = errors.New("the state cannot be read")
	}
	return k, errors.Join(err, node.Close())
}

// files are those below a directory that have something in them.
func (d *disk) files(t *testing.T, dir string) []string {
	t.Helper()
	names, err := d.List(dir)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	var out []string
	for _, name := range names {
		name = filepath.Join(dir, name)
		info, err := d.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case info.IsDir():
			out = append(out, d.files(t, name)...)
		case info.Size() > 0 && name != ballast:
			out = append(out, name)
		}
	}
	return out
}

// flip changes one bit of a file.
func (d *disk) flip(t *testing.T, name string, random *rand.Rand) {
	t.Helper()
	f, err := d.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(f)
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	content[random.IntN(len(content))] ^= 1 << random.IntN(8)
	f, err = d.Create(name, vfs.WriteCategoryUnspecified)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.Write(content)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		t.Fatal(err)
	}
}
