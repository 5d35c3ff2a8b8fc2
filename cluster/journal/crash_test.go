package journal_test

import (
	"bufio"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"github.com/google/go-cmp/cmp"

	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/journal"
	"github.com/modelgateway/modelgateway/cluster/store"
	"github.com/modelgateway/modelgateway/cluster/usage"
)

// ledgerBook is what the callers of a journal were promised, by request.
type ledgerBook struct {
	mu       sync.Mutex
	intended map[id.Request]bool // intents that were confirmed
	sent     map[id.Request]bool // settles that were queued
	settled  map[id.Request]bool // settles that were confirmed
}

func newBook() *ledgerBook {
	return &ledgerBook{intended: map[id.Request]bool{}, sent: map[id.Request]bool{}, settled: map[id.Request]bool{}}
}

func (b *ledgerBook) note(m map[id.Request]bool, r id.Request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	m[r] = true
}

func (b *ledgerBook) copy() *ledgerBook {
	b.mu.Lock()
	defer b.mu.Unlock()
	return &ledgerBook{intended: maps.Clone(b.intended), sent: maps.Clone(b.sent), settled: maps.Clone(b.settled)}
}

// work has four writers do n requests each: some wait for the intent, some
// settle at once, some never settle. It stops at the first error.
func (b *ledgerBook) work(ctx context.Context, j *journal.Journal, n int) {
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for i := range n {
				if !b.request(ctx, j, id.Request(fmt.Sprintf("req_%d_%d", w, i)), (w+i)%4) {
					return
				}
			}
		})
	}
	wg.Wait()
}

// request journals one request in one of four ways and reports whether it worked.
func (b *ledgerBook) request(ctx context.Context, j *journal.Journal, r id.Request, way int) bool {
	p := j.Intent(fullIntent(r))
	if way != 1 { // 1 settles at once
		if p.Wait(ctx) != nil {
			return false
		}
		b.note(b.intended, r)
	}
	if way == 2 { // dies unsettled
		return true
	}
	b.note(b.sent, r)
	if j.Settle([]*journal.Pending{p}, []journal.Event{fullEvent(r)}).Wait(ctx) != nil {
		return false
	}
	b.note(b.settled, r)
	return true
}

// check opens what a crash left and holds it to what was promised before the
// crash; sent is what may have been written.
func (b *ledgerBook) check(tb testing.TB, cfg store.Config, sent map[id.Request]bool) {
	tb.Helper()
	n, err := boot(cfg, journal.Config{})
	if err != nil {
		tb.Fatal(err)
	}
	events := list(tb, n.Journal, journal.Filter{})
	found := map[id.Request]journal.Outcome{}
	for i, ev := range events {
		if ev.ID.Seq != uint64(i+1) || ev.ID.Node != n.store.Identity().Node || ev.ID.Epoch != 1 {
			tb.Errorf("event %d has the ID %v", i, ev.ID)
		}
		if _, twice := found[ev.Request]; twice {
			tb.Errorf("%s is there twice", ev.Request)
		}
		found[ev.Request] = ev.Outcome
		switch {
		case ev.Outcome == journal.Success && !sent[ev.Request]:
			tb.Errorf("%s was never settled", ev.Request)
		case ev.Outcome == journal.Crashed && (ev.Source != usage.Estimated || ev.Cost != 25 || ev.Tokens != fullIntent("").Estimate):
			tb.Errorf("%s is charged as %+v", ev.Request, ev)
		}
	}
	for r := range b.settled {
		if found[r] != journal.Success {
			tb.Errorf("the settle of %s was confirmed; found %v", r, found[r])
		}
	}
	for r := range b.intended {
		if found[r] == 0 {
			tb.Errorf("the intent of %s was confirmed and nothing is left of it", r)
		}
	}
	// Opening again changes nothing, and the next event gets the next number.
	if err := n.shut(); err != nil {
		tb.Fatal(err)
	}
	if n, err = boot(cfg, journal.Config{}); err != nil {
		tb.Fatal(err)
	}
	if diff := cmp.Diff(events, list(tb, n.Journal, journal.Filter{})); diff != "" {
		tb.Errorf("opening again: %s", diff)
	}
	next := []journal.Event{fullEvent("req_next")}
	await(tb, n.Settle(nil, next))
	if next[0].ID.Seq != uint64(len(events)+1) {
		tb.Errorf("%d events and the next is %d", len(events), next[0].ID.Seq)
	}
	if err := n.shut(); err != nil {
		tb.Fatal(err)
	}
}

// crashPoint is a disk as a crash left it, and what was promised until then.
type crashPoint struct {
	disk *vfs.MemFS
	book *ledgerBook
}

// crashing wraps a disk so that before every stride-th write to it, sync
// included, a crash is tried on a copy that keeps none, a part or all of what was
// not synced.
func crashing(mem *vfs.MemFS, book *ledgerBook, stride int) (vfs.FS, func() []crashPoint) {
	var mu sync.Mutex
	var points []crashPoint
	ops := 0
	fsys := errorfs.Wrap(mem, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if op.Kind.ReadOrWrite() != errorfs.OpIsWrite {
			return nil
		}
		mu.Lock()
		defer mu.Unlock()
		if ops++; ops%stride == 0 {
			at := crashPoint{book: book.copy()} // before the copy of the disk: what it promises must be there
			at.disk = mem.CrashClone(vfs.CrashCloneCfg{
				UnsyncedDataPercent: []int{0, 30, 60, 100}[len(points)%4],
				RNG:                 rand.New(rand.NewPCG(1, uint64(ops))),
			})
			points = append(points, at)
		}
		return nil
	}))
	return fsys, func() []crashPoint {
		mu.Lock()
		defer mu.Unlock()
		return points
	}
}

func TestCrashAtEveryWrite(t *testing.T) {
	book, mem := newBook(), vfs.NewCrashableMem()
	fsys, points := crashing(mem, book, 2)
	n, err := boot(config(fsys), journal.Config{})
	if err != nil {
		t.Fatal(err)
	}
	book.work(t.Context(), n.Journal, 20)
	if err := n.shut(); err != nil {
		t.Fatal(err)
	}
	if len(book.settled) != 60 || len(points()) < 50 {
		t.Fatalf("the work settled %d and met %d crashes: it proves nothing", len(book.settled), len(points()))
	}
	recovering := 0
	for i, at := range points() {
		if i%10 != 0 { // crash also while it recovers from the crash
			at.book.check(t, config(at.disk), book.sent)
			continue
		}
		again, further := crashing(at.disk, at.book, 3)
		at.book.check(t, config(again), book.sent)
		for _, at := range further() {
			at.book.checkWith(t, at.disk, book.sent)
			recovering++
		}
	}
	if recovering < 50 {
		t.Errorf("%d crashes during recovery only", recovering)
	}
}

// checkWith is check for a disk that may hold the event that check itself adds.
func (b *ledgerBook) checkWith(tb testing.TB, disk vfs.FS, sent map[id.Request]bool) {
	tb.Helper()
	sent = maps.Clone(sent)
	sent["req_next"] = true
	b.check(tb, config(disk), sent)
}

// TestKill9 kills a process that journals, several times on one directory, and
// holds the directory to everything that the process was promised.
func TestKill9(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	book := newBook()
	for round := range 3 {
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env = append(os.Environ(), childDir+"="+dir)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for n := 0; lines.Scan(); n++ {
			what, request, ok := strings.Cut(lines.Text(), " ")
			if !ok {
				continue // cut short by the kill
			}
			switch what {
			case "intended":
				book.intended[id.Request(request)] = true
			case "settled":
				book.settled[id.Request(request)] = true
			case "sent":
				book.sent[id.Request(request)] = true
			default:
				t.Fatalf("the child says %q", lines.Text())
			}
			if n == 200+100*round {
				if err := cmd.Process.Kill(); err != nil {
					t.Fatal(err)
				}
			}
		}
		_ = cmd.Wait() // it was killed
	}
	if len(book.settled) < 100 {
		t.Fatalf("the children settled %d only", len(book.settled))
	}
	book.check(t, store.Config{Dir: dir, MinFreeBytes: 1, BallastBytes: -1}, book.sent)
}

// childMain journals requests from several goroutines until it is killed, and
// says on its standard output what it was promised.
func childMain(dir string) {
	n, err := boot(store.Config{Dir: dir, MinFreeBytes: 1, BallastBytes: -1}, journal.Config{})
	if err != nil {
		fmt.Println("error", err)
		return
	}
	var mu sync.Mutex
	say := func(what string, r id.Request) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Println(what, r) // one write to the pipe: whole or not at all
	}
	ctx := context.Background()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i := 0; ; i++ {
				r := id.NewRequest()
				p := n.Intent(fullIntent(r))
				if i%2 == 0 {
					if p.Wait(ctx) != nil {
						return
					}
					say("intended", r)
				}
				if i%5 == 4 {
					continue
				}
				say("sent", r)
				if n.Settle([]*journal.Pending{p}, []journal.Event{fullEvent(r)}).Wait(ctx) != nil {
					return
				}
				say("settled", r)
			}
		})
	}
	wg.Wait()
}
