package cluster_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/modelgateway/modelgateway/cluster"
	"github.com/modelgateway/modelgateway/cluster/audit"
	"github.com/modelgateway/modelgateway/cluster/block"
	"github.com/modelgateway/modelgateway/cluster/event"
	"github.com/modelgateway/modelgateway/cluster/ledger"
)

// sealLab is a cluster whose records are sealed after a minute, with 3,000 records of the audit log and the usage of a
// spender.
func sealLab(t *testing.T, seed uint64, nodes int, configure func(*cluster.Config)) *lab {
	t.Helper()
	l := newLab(t, seed)
	for range nodes {
		l.add(nodes).configure = func(c *cluster.Config) {
			c.Hot = time.Minute
			if configure != nil {
				configure(c)
			}
		}
	}
	for _, h := range l.hosts {
		h.start()
	}
	if err := l.ready(l.hosts, settleTime); err != nil {
		l.close()
		t.Fatal(err)
	}
	tick(settleTime) // the nodes tell each other what they understand, and begin to pack
	s := newSpender(l, "s", 0)
	s.work(time.Now().Add(3*time.Minute), l.hosts)
	l.balance([]*spender{s})
	l.hosts[0].grow(t, 3000)
	return l
}

// read is everything that a node shows of the records.
func readRecords(t *testing.T, h *host) []string {
	t.Helper()
	var out []string
	ctx := t.Context()
	log := h.node().AuditLog()
	show := func(name string) func(audit.Record) bool {
		return func(x audit.Record) bool {
			out = append(out, fmt.Sprintf("%s %d %x %s", name, x.Number, x.Hash, x.External))
			return true
		}
	}
	usage := func(name string) func(ledger.Record) bool {
		return func(r ledger.Record) bool {
			out = append(out, fmt.Sprintf("%s %s %d %s", name, r.Node, r.Seq, r.Request))
			return true
		}
	}
	for _, err := range []error{
		log.Query(ctx, audit.Filter{}, show("latest first")),
		log.Query(ctx, audit.Filter{OldestFirst: true, Type: event.TypeManagement}, show("of a type")),
		h.node().Logs(ctx, ledger.LogFilter{NewestFirst: true}, usage("latest first")),
		h.node().Audit(func(r audit.Reader) error {
			return audit.From(ctx, r, audit.DefaultWorkspace, 1, show("in order"))
		}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	rows, _ := rowsOf(t, h)
	return append(out, rows...)
}

// segments returns what is sealed, as a node's state has it.
func segments(t *testing.T, h *host) (out []block.Segment) {
	t.Helper()
	for _, log := range []block.Log{audit.Log(audit.DefaultWorkspace), ledger.RowLog()} {
		if err := h.node().Audit(func(r audit.Reader) error {
			return log.Segments(t.Context(), r, func(s block.Segment) bool { out = append(out, s); return true })
		}); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func (h *host) verify(t *testing.T) {
	t.Helper()
	if r, err := h.node().AuditLog().Verify(t.Context(), 0, 0); err != nil || !r.Valid {
		t.Errorf("%s: %+v, %v", h.name, r, err)
	}
}

func (h *host) problems(t *testing.T) string {
	t.Helper()
	s, err := h.node().Status(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(s.Problems, "; ")
}

func equal(t *testing.T, name string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: %d lines, want %d", name, len(got), len(want))
	}
}

// TestRecordsAreSealed lets records become old: they go into files, and every node shows the same as before. So does one
// that joins afterwards and gets the files from the others.
func TestRecordsAreSealed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := sealLab(t, 81, 3, nil)
		defer l.close()
		before := readRecords(t, l.hosts[0])
		tick(5 * time.Minute)
		if err := l.same(); err != nil {
			t.Fatal(err)
		}
		sealed := segments(t, l.hosts[0])
		if len(sealed) < 2 {
			t.Fatalf("%d segments are sealed of %d lines", len(sealed), len(before))
		}
		late := l.add(3)
		late.configure = l.hosts[0].configure
		late.start()
		if err := l.ready(l.hosts, settleTime); err != nil {
			t.Fatal(err)
		}
		tick(3 * time.Minute)
		for _, h := range l.hosts {
			got := readRecords(t, h)
			equal(t, h.name, withoutLater(got, before), before)
			h.verify(t)
			if err := h.node().CheckLedger(t.Context()); err != nil {
				t.Errorf("the books of %s: %v", h.name, err)
			}
			if text := h.problems(t); text != "" && h != late { // which does not vote, and says so
				t.Errorf("%s: %s", h.name, text)
			}
			if files := h.disk.files(t, "data/segments"); len(files) != len(sealed) {
				t.Errorf("%s has the files %q of %d segments", h.name, files, len(sealed))
			}
		}
	})
}

// withoutLater leaves out what was recorded since: checkpoints and joins may be.
func withoutLater(got, before []string) []string {
	had := make(map[string]bool, len(before))
	for _, line := range before {
		had[line] = true
	}
	return slices.DeleteFunc(got, func(line string) bool { return !had[line] })
}

// TestDamagedSegmentIsReplaced flips bytes in the files of a node, at each place in turn: what it reads is what was
// written, because it gets the file again from another node, and the problems name it.
func TestDamagedSegmentIsReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := sealLab(t, 82, 3, nil)
		defer l.close()
		before := readRecords(t, l.hosts[0])
		tick(5 * time.Minute)
		random := rand.New(rand.NewPCG(1, 2))
		h := l.hosts[1]
		for range 8 {
			for _, name := range h.disk.files(t, "data/segments") {
				h.disk.flip(t, name, random)
			}
			equal(t, h.name, withoutLater(readRecords(t, h), before), before)
			h.verify(t)
		}
		if text := h.problems(t); !strings.Contains(text, "was damaged, and it was replaced by an intact copy") {
			t.Errorf("the problems are %q", text)
		}
	})
}

// TestRetentionDropsSegments drops sealed records as whole segments, and the nodes delete the files.
func TestRetentionDropsSegments(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := sealLab(t, 83, 1, func(c *cluster.Config) { c.Retention = 30 * time.Minute })
		defer l.close()
		tick(10 * time.Minute)
		if sealed := segments(t, l.hosts[0]); len(sealed) < 2 {
			t.Fatalf("%d segments are sealed", len(sealed))
		}
		tick(45 * time.Minute)
		if sealed := segments(t, l.hosts[0]); len(sealed) > 0 {
			t.Errorf("%d segments are left", len(sealed))
		}
		tick(2 * time.Hour)
		for _, h := range l.hosts {
			h.verify(t)
			if files := h.disk.files(t, "data/segments"); len(files) > 0 {
				t.Errorf("%s still has %q", h.name, files)
			}
		}
		if err := l.same(); err != nil {
			t.Error(err)
		}
	})
}

// TestSealingSurvivesPowerCuts cuts the power before operations on the disk while records are sealed, of which some lose
// what was not synced. All records are there after each cut, and are sealed in the end.
func TestSealingSurvivesPowerCuts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := sealLab(t, 84, 1, nil)
		defer l.close()
		h := l.hosts[0]
		before := readRecords(t, h)
		var clones []*vfs.MemFS
		var mu sync.Mutex
		operations, begun := 0, false
		random := rand.New(rand.NewPCG(84, 1))
		h.disk.watchAll(func(op errorfs.Op) {
			mu.Lock()
			defer mu.Unlock()
			ours := strings.HasPrefix(op.Path, "data/segments/")
			begun = begun || ours && op.Kind == errorfs.OpCreate
			writes := op.Kind == errorfs.OpCreate || op.Kind == errorfs.OpFileWrite || op.Kind == errorfs.OpFileSync ||
				op.Kind == errorfs.OpFileSyncData || op.Kind == errorfs.OpRename || op.Kind == errorfs.OpFileClose
			if !begun || !writes {
				return
			}
			if operations++; len(clones) < 40 {
				clones = append(clones, h.disk.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 50 * (operations % 3), RNG: random}))
			}
		})
		tick(5 * time.Minute)
		h.disk.watchAll(nil)
		if sealed := segments(t, h); len(sealed) < 2 || len(clones) < 12 {
			t.Fatalf("%d segments are sealed, in %d operations", len(sealed), operations)
		}
		h.shut()
		sealedEarly := 0
		for n, clone := range clones {
			h.disk = diskOf(clone)
			h.start()
			if err := l.ready(l.hosts, settleTime); err != nil {
				t.Fatal(err)
			}
			if len(segments(t, h)) > 0 {
				sealedEarly++
			}
			name := fmt.Sprintf("after cut %d", n)
			equal(t, name, withoutLater(readRecords(t, h), before), before)
			tick(5 * time.Minute)
			sealed := segments(t, h)
			if len(sealed) < 2 {
				t.Errorf("%s %d segments are sealed", name, len(sealed))
			}
			equal(t, name, withoutLater(readRecords(t, h), before), before)
			h.verify(t)
			for _, file := range h.disk.files(t, "data/segments") {
				if strings.HasSuffix(file, ".part") {
					t.Errorf("%s there is %s", name, file)
				}
			}
			h.shut()
		}
		if sealedEarly == 0 || sealedEarly == len(clones) {
			t.Errorf("of %d cuts %d were after the commit of a segment", len(clones), sealedEarly)
		}
		h.start()
		if err := l.ready(l.hosts, settleTime); err != nil {
			t.Fatal(err)
		}
	})
}

// fakeBucket is object storage with faults.
type fakeBucket struct {
	mu      sync.Mutex
	objects map[string][]byte
	away    bool // every call fails
	halfway bool // a Put fails after half of the object, which is not there then
	stale   bool // a Get returns an older content
	deleted int
}

func (b *fakeBucket) Put(_ context.Context, name, _ string, write func(io.Writer) error) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	var content bytes.Buffer
	if b.away {
		return errors.New("the bucket is away")
	}
	if err := write(&content); err != nil {
		return err
	}
	if b.halfway {
		return errors.New("the bucket refuses the rest")
	}
	b.objects[name] = content.Bytes()
	return nil
}

func (b *fakeBucket) Get(_ context.Context, name string, read func(io.Reader) error) error {
	b.mu.Lock()
	content, ok := b.objects[name]
	away, stale := b.away, b.stale
	b.mu.Unlock()
	switch {
	case away:
		return errors.New("the bucket is away")
	case !ok:
		return errors.New("there is no such object")
	case stale:
		content = content[:len(content)/2]
	}
	return read(bytes.NewReader(content))
}

func (b *fakeBucket) Delete(_ context.Context, name string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.away {
		return errors.New("the bucket is away")
	}
	delete(b.objects, name)
	b.deleted++
	return nil
}

func (b *fakeBucket) deletedAtLeast(n int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.deleted >= n
}

func (b *fakeBucket) set(fn func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	fn()
}

// TestSealingIntoABucket seals into a bucket that is away for a while, refuses half-way and gives an older content: nothing
// leaves the state before the bucket has it. Then nodes read from it, and say what they cannot read.
func TestSealingIntoABucket(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &fakeBucket{objects: map[string][]byte{}, away: true}
		l := sealLab(t, 85, 3, func(c *cluster.Config) { c.Bucket, c.Retention = b, 35*time.Minute })
		defer l.close()
		before := readRecords(t, l.hosts[0])
		for _, fault := range []func(){func() {}, func() { b.away, b.halfway = false, true }, func() { b.halfway, b.stale = false, true }} {
			b.set(fault)
			tick(5 * time.Minute)
			if sealed := segments(t, l.hosts[0]); len(sealed) > 0 {
				t.Fatalf("%d segments are sealed, and the bucket does not have them", len(sealed))
			}
			if text := l.leader(settleTime).problems(t); !strings.Contains(text, "records that are old enough stay in the state") {
				t.Errorf("the leader's problems are %q", text)
			}
		}
		b.set(func() { b.stale = false })
		tick(2 * time.Minute)
		sealed := segments(t, l.hosts[0])
		if len(sealed) < 2 || len(b.objects) < len(sealed) {
			t.Fatalf("%d segments are sealed, and the bucket has %d objects", len(sealed), len(b.objects))
		}
		if text := l.leader(settleTime).problems(t); text != "" {
			t.Errorf("the leader's problems are still %q", text)
		}
		for _, h := range l.hosts {
			equal(t, h.name, withoutLater(readRecords(t, h), before), before)
			h.verify(t)
		}

		// A node without the files, while the bucket is away and the others are off.
		h := l.hosts[2]
		for _, name := range h.disk.files(t, "data/segments") {
			if err := h.disk.Remove(name); err != nil {
				t.Fatal(err)
			}
		}
		h.shut()
		h.start()
		if err := l.ready(l.hosts, settleTime); err != nil {
			t.Fatal(err)
		}
		l.hosts[0].shut()
		l.hosts[1].shut()
		b.set(func() { b.away = true })
		err := h.node().AuditLog().Query(t.Context(), audit.Filter{}, func(audit.Record) bool { return true })
		if codeOf(err) != "records_unavailable" {
			t.Errorf("the error is %v", err)
		}
		if text := h.problems(t); !strings.Contains(text, "sealed records: ") {
			t.Errorf("the problems are %q", text)
		}
		b.set(func() { b.away = false })
		equal(t, h.name, withoutLater(readRecords(t, h), before), before)
		l.hosts[0].start()
		l.hosts[1].start()
		if err := l.ready(l.hosts, settleTime); err != nil {
			t.Fatal(err)
		}
		// The checkpoints that are signed meanwhile are young: one segment of them may be left.
		if !until(3*time.Hour, func() bool { return b.deletedAtLeast(len(sealed)) }) {
			t.Errorf("%d of %d objects were deleted", b.deleted, len(sealed))
		}
	})
}

// TestLegalHold keeps records that are older than the retention, sealed or not, until the hold ends.
func TestLegalHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var hold time.Time
		l := sealLab(t, 86, 1, func(c *cluster.Config) { c.Retention, c.HoldFrom = 30*time.Minute, hold })
		defer l.close()
		h := l.hosts[0]
		before := readRecords(t, h)
		h.shut()
		hold = time.Now().Add(-time.Hour)
		h.start()
		if err := l.ready(l.hosts, settleTime); err != nil {
			t.Fatal(err)
		}
		tick(2 * time.Hour)
		equal(t, "with the hold", withoutLater(readRecords(t, h), before), before)
		h.shut()
		hold = time.Time{}
		h.start()
		if err := l.ready(l.hosts, settleTime); err != nil {
			t.Fatal(err)
		}
		tick(15 * time.Minute)
		// The last 1,023 records of a chain at most stay, for it is trimmed 1,024 at a time; each has up to three lines.
		if left := withoutLater(readRecords(t, h), before); len(left) > 3*1023 || len(left) > len(before)/3 {
			t.Errorf("%d of %d lines are left after the hold", len(left), len(before))
		}
	})
}
