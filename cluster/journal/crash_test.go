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
	"github.com/modelgateway/modelgateway/cluster/store/storetest"
	"github.com/modelgateway/modelgateway/cluster/usage"
)

// ledgerBook has the promises to the callers of a journal, by request.
type ledgerBook struct {
	mu       sync.Mutex
	intended map[id.Request]bool // confirmed intents
	sent     map[id.Request]bool // queued settles
	settled  map[id.Request]bool // confirmed settles
	shipped  map[uint64]posted   // events that were read for posting, and may have been trimmed since
}

// posted is the part of an event that the ledger would keep.
type posted struct {
	request id.Request
	outcome usage.Outcome
}

func newBook() *ledgerBook {
	return &ledgerBook{intended: map[id.Request]bool{}, sent: map[id.Request]bool{}, settled: map[id.Request]bool{}, shipped: map[uint64]posted{}}
}

func (b *ledgerBook) note(m map[id.Request]bool, r id.Request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	m[r] = true
}

func (b *ledgerBook) copy() *ledgerBook {
	b.mu.Lock()
	defer b.mu.Unlock()
	return &ledgerBook{intended: maps.Clone(b.intended), sent: maps.Clone(b.sent), settled: maps.Clone(b.settled), shipped: maps.Clone(b.shipped)}
}

// ship reads and trims until ctx ends. It passes each event to note first.
func ship(ctx context.Context, j *journal.Journal, note func(seq uint64, p posted)) {
	for at := uint64(0); j.Wait(ctx, at) == nil; {
		first, events, err := j.Batch(ctx, at, 5, 1<<20)
		if err != nil || len(events) == 0 {
			return
		}
		for i, value := range events {
			ev, err := journal.Decode("n", 1, first+uint64(i), value)
			if err != nil {
				return
			}
			note(ev.ID.Seq, posted{ev.Request, ev.Outcome})
		}
		at = first + uint64(len(events)) - 1
		if j.Trim(ctx, at-1) != nil {
			return
		}
	}
}

// noteShipped records a shipped event.
func (b *ledgerBook) noteShipped(seq uint64, p posted) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.shipped[seq] = p
}

// work runs four writers with n requests each: some wait for the intent, some settle at once,
// some never settle. It stops at the first error. Events are shipped concurrently.
func (b *ledgerBook) work(ctx context.Context, j *journal.Journal, n int) {
	var shipping, wg sync.WaitGroup
	ctx, stop := context.WithCancel(ctx)
	defer shipping.Wait()
	defer stop()
	shipping.Go(func() { ship(ctx, j, b.noteShipped) })
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

// request journals one request in one of four ways and reports whether that succeeded.
func (b *ledgerBook) request(ctx context.Context, j *journal.Journal, r id.Request, way int) bool {
	p := j.Intent(fullIntent(r))
	if way != 1 { // 1 settles at once
		if p.Wait(ctx) != nil {
			return false
		}
		b.note(b.intended, r)
	}
	if way == 2 { // the process dies before the settle
		return true
	}
	b.note(b.sent, r)
	if j.Settle([]*journal.Pending{p}, []journal.Event{fullEvent(r)}).Wait(ctx) != nil {
		return false
	}
	b.note(b.settled, r)
	return true
}

// check opens the disk after a crash and compares it with the promises from before the crash.
// sent is what may have been written.
func (b *ledgerBook) check(tb testing.TB, cfg store.Config, sent map[id.Request]bool) {
	tb.Helper()
	n, err := boot(cfg, journal.Config{})
	if err != nil {
		tb.Fatal(err)
	}
	events := list(tb, n.Journal, journal.Filter{})
	found := map[id.Request]usage.Outcome{}
	trimmed := n.Last() - uint64(len(events))
	for seq := uint64(1); seq <= trimmed; seq++ {
		was, ok := b.shipped[seq]
		if _, twice := found[was.request]; twice || !ok {
			tb.Errorf("event %d is gone: shipped %v, its request there twice %v", seq, ok, twice)
		}
		found[was.request] = was.outcome
	}
	for i, ev := range events {
		if was, ok := b.shipped[ev.ID.Seq]; ok && was != (posted{ev.Request, ev.Outcome}) {
			tb.Errorf("event %d was shipped as %v and is %v of %s", ev.ID.Seq, was, ev.Outcome, ev.Request)
		}
		if ev.ID.Seq != trimmed+uint64(i+1) || ev.ID.Node != n.store.Identity().Node || ev.ID.Epoch != 1 {
			tb.Errorf("event %d has the ID %v", i, ev.ID)
		}
		if _, twice := found[ev.Request]; twice {
			tb.Errorf("%s is there twice", ev.Request)
		}
		found[ev.Request] = ev.Outcome
		switch {
		case ev.Outcome == journal.Success && !sent[ev.Request]:
			tb.Errorf("%s was never settled", ev.Request)
		case ev.Outcome == journal.Crashed && (ev.Source != usage.Estimated || ev.Cost != 25 || ev.Tokens != fullIntent("").Tokens):
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
			tb.Errorf("the intent of %s was confirmed, but nothing is left of it", r)
		}
	}
	// A second Open changes nothing, and the next event gets the next number.
	if err := n.shut(); err != nil {
		tb.Fatal(err)
	}
	if n, err = boot(cfg, journal.Config{}); err != nil {
		tb.Fatal(err)
	}
	if diff := cmp.Diff(events, list(tb, n.Journal, journal.Filter{})); diff != "" {
		tb.Errorf("the second Open: %s", diff)
	}
	next := []journal.Event{fullEvent("req_next")}
	await(tb, n.Settle(nil, next))
	if next[0].ID.Seq != trimmed+uint64(len(events)+1) {
		tb.Errorf("%d events after %d and the next is %d", len(events), trimmed, next[0].ID.Seq)
	}
	if err := n.shut(); err != nil {
		tb.Fatal(err)
	}
}

// crashPoint is a disk after a crash, and the promises until then.
type crashPoint struct {
	disk *vfs.MemFS
	book *ledgerBook
}

// crashing wraps a disk. Before every stride-th write, including syncs, it simulates a crash on
// a copy that keeps none, a part or all of the unsynced data.
func crashing(mem *storetest.Disk, book *ledgerBook, stride int) (vfs.FS, func() []crashPoint) {
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
			at := crashPoint{book: book.copy()} // before the copy of the disk, which must contain everything promised
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
	book, mem := newBook(), storetest.NewDisk()
	fsys, points := crashing(mem, book, 2)
	n, err := boot(config(fsys), journal.Config{})
	if err != nil {
		t.Fatal(err)
	}
	book.work(t.Context(), n.Journal, 20)
	if err := n.shut(); err != nil {
		t.Fatal(err)
	}
	recovering := 0
	for i, at := range points() {
		if i%10 != 0 { // also crash during the recovery
			at.book.check(t, config(at.disk), book.sent)
			continue
		}
		again, further := crashing(storetest.On(at.disk), at.book, 3)
		at.book.check(t, config(again), book.sent)
		for _, at := range further() {
			at.book.checkWith(t, at.disk, book.sent)
			recovering++
		}
	}
	// Report missing crashes first: a journal that does not sync has few.
	if len(book.settled) != 60 || len(points()) < 50 || recovering < 50 {
		t.Errorf("the work settled %d and had %d crashes, and %d during recovery: the test proves nothing", len(book.settled), len(points()), recovering)
	}
}

// checkWith is check for a disk that may contain the event that check itself adds.
func (b *ledgerBook) checkWith(tb testing.TB, disk vfs.FS, sent map[id.Request]bool) {
	tb.Helper()
	sent = maps.Clone(sent)
	sent["req_next"] = true
	b.check(tb, config(disk), sent)
}

// TestKill9 kills a journaling process several times on one directory, and checks the directory
// against all promises to that process.
func TestKill9(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	book := newBook()
	for round := range 3 {
		book.child(t, dir, "", 200+100*round)
	}
	if len(book.settled) < 100 || len(book.shipped) < 20 {
		t.Fatalf("the children settled only %d and shipped only %d", len(book.settled), len(book.shipped))
	}
	book.check(t, store.Config{Dir: dir, MinFreeBytes: 1, BallastBytes: -1}, book.sent)
}

// child runs a journaling process until it has printed a number of promises, or dies at the
// failpoint in env, and records them.
func (b *ledgerBook) child(t *testing.T, dir, env string, most int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), childDir+"="+dir, env)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for n := 0; lines.Scan(); n++ {
		what, rest, ok := strings.Cut(lines.Text(), " ")
		if !ok {
			continue // truncated by the kill
		}
		switch what {
		case "intended":
			b.intended[id.Request(rest)] = true
		case "settled":
			b.settled[id.Request(rest)] = true
		case "sent":
			b.sent[id.Request(rest)] = true
		case "shipped":
			var seq uint64
			var p posted
			if _, err := fmt.Sscanf(rest, "%d %s %d", &seq, &p.request, &p.outcome); err != nil {
				t.Fatal(err)
			}
			b.shipped[seq] = p
		default:
			t.Fatalf("the child printed %q", lines.Text())
		}
		if n == most {
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	_ = cmd.Wait() // it was killed
}

// childMain journals requests from several goroutines until it is killed, and prints the
// promises that it received.
func childMain(dir string) {
	n, err := boot(store.Config{Dir: dir, MinFreeBytes: 1, BallastBytes: -1}, journal.Config{})
	if err != nil {
		fmt.Println("error", err)
		return
	}
	var mu sync.Mutex
	say := func(what string, about ...any) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Println(append([]any{what}, about...)...) // one write to the pipe: atomic
	}
	ctx := context.Background()
	var wg sync.WaitGroup
	wg.Go(func() {
		ship(ctx, n.Journal, func(seq uint64, p posted) { say("shipped", seq, p.request, uint8(p.outcome)) })
	})
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
