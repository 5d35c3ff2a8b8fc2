package audit_test

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/modelgateway/modelgateway/cluster/audit"
	"github.com/modelgateway/modelgateway/cluster/store"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

func trim(t *testing.T, s *store.Store, first uint64) {
	t.Helper()
	change(t, s, func(tx *store.Tx) error {
		if f := audit.Trim(tx, workspace, first, base()); f != nil {
			return f
		}
		return nil
	})
}

// count returns the number of keys in a space.
func count(t *testing.T, s *store.Store, space store.Space) int {
	t.Helper()
	n := 0
	if err := s.Scan(t.Context(), store.Range{Space: space}, func(_, _ []byte) bool { n++; return true }); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestTrimKeepsTheRestGood(t *testing.T) {
	t.Run("packed", func(t *testing.T) { testTrim(t, open(t), store.SpaceAuditLog) })
	t.Run("older", func(t *testing.T) { testTrim(t, openOlder(t), store.SpaceAuditIndex) })
}

func testTrim(t *testing.T, s *store.Store, index store.Space) {
	t.Helper()
	signer := newSigner(t)
	fill(t, s, 1100)
	early := sign(t, s, signer, base())
	fill(t, s, 2000)
	late := sign(t, s, signer, base())
	perRecord := float64(count(t, s, index)) / 3100
	c := audit.Check{Verifiers: []audit.Verifier{signer.Verifier()}, Held: []string{late, early}, Indexes: true}
	for _, x := range []struct {
		first, want uint64
		unchecked   int
		last        uint64 // each time that something is dropped has a record
	}{
		{1, 1, 0, 3100},
		{1024, 1, 0, 3100},
		{1025, 1025, 0, 3101},
		{1024, 1025, 0, 3101},
		{2048, 1025, 0, 3101},
		{2049, 2049, 1, 3102},
		{1, 2049, 1, 3102},
		{1 << 40, 3073, 1, 3103},
		{0, 3073, 1, 3103},
	} {
		trim(t, s, x.first)
		r := verify(t, s, c)
		if !r.Valid || r.First != x.want || r.Last != x.last || r.Unchecked != x.unchecked || r.Checkpoints != 4-2*x.unchecked {
			t.Errorf("%+v", r)
		}
		left := int(x.last - x.want + 1)
		n := 0
		if err := audit.From(t.Context(), s, workspace, 0, func(audit.Record) bool { n++; return true }); err != nil || n != left {
			t.Errorf("%d records are left, want %d; %v", n, left, err)
		}
		if n := count(t, s, index); float64(n) > perRecord*float64(left)+40 {
			t.Errorf("%d records are left and %d keys in the index", left, n)
		}
		var out bytes.Buffer
		if err := audit.WriteExport(t.Context(), &out, s, audit.Export{Workspace: workspace}); err != nil {
			t.Fatal(err)
		}
		report, err := audit.VerifyExport(t.Context(), &out, audit.Check{Verifiers: c.Verifiers})
		if err != nil || !report.Valid || report.Checked != uint64(left) || report.Root != r.Root {
			t.Errorf("export: %+v %v", report, err)
		}
	}
	fill(t, s, 100)
	if r := verify(t, s, c); !r.Valid || r.Last != 3203 {
		t.Errorf("after more: %+v", r)
	}
	// The part that remains.
	if r := verify(t, s, audit.Check{From: 3080, To: 3090}); !r.Valid || r.First != 3080 || r.Last != 3090 || r.Checked != 11 {
		t.Errorf("a part: %+v", r)
	}
	if err := audit.Query(t.Context(), s, workspace, audit.Filter{After: 5}, func(audit.Record) bool { return true }); err == nil {
		t.Error("a cursor of a trimmed record is accepted")
	}
}

// TestTrimLeavesNothingOfARecord: after a trim of all records, only the record of the trim, its
// segment and the head remain, for any events.
func TestTrimLeavesNothingOfARecord(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := memory{}
		some := rapid.SliceOfN(rapid.Custom(drawn), 1, 20).Draw(t, "events")
		var events []*clusterv1.AuditEvent
		for len(events) < 1024 {
			events = append(events, some...)
		}
		if f := audit.AppendAll(memoryTx{m}, workspace, events[:1024], base()); f != nil {
			t.Fatal(f)
		}
		if f := audit.Trim(memoryTx{m}, workspace, 1025, base()); f != nil {
			t.Fatal(f)
		}
		// The record of the trim remains, in two indexes, and starts a segment.
		want := []int{1, 2, 1, 1}
		got := []int{len(m.at(store.SpaceAudit)), len(m.at(store.SpaceAuditIndex)), len(m.at(store.SpaceAuditSegment)), len(m.at(store.SpaceAuditHead))}
		if diff := cmp.Diff(want, got); diff != "" || len(m) != 5 {
			t.Fatalf("%d keys are left: %s", len(m), diff)
		}
	})
}

func TestTrimPoint(t *testing.T) {
	s := open(t)
	fill(t, s, 2100) // the record n was written at base + n/100*100 s
	for _, x := range []struct {
		after time.Duration
		want  uint64
	}{{0, 1}, {999 * time.Second, 1}, {1001 * time.Second, 1025}, {1999 * time.Second, 1025}, {2001 * time.Second, 2049}, {time.Hour, 2049}} {
		first, err := audit.TrimPoint(t.Context(), s, workspace, base().Add(x.after))
		if err != nil || first != x.want {
			t.Errorf("after %v: %d %v", x.after, first, err)
		}
	}
	trim(t, s, 2049)
	if first, err := audit.TrimPoint(t.Context(), s, workspace, base().Add(time.Hour)); err != nil || first != 2049 {
		t.Errorf("%d %v", first, err)
	}
}

// TestTrimOfADamagedChain: a trim is rejected, because the rest could not be verified.
func TestTrimOfADamagedChain(t *testing.T) {
	for _, n := range []uint64{1, 500, 1024} {
		s := openOlder(t)
		fill(t, s, 1100)
		change(t, s, func(tx *store.Tx) error {
			tx.Delete(store.SpaceAudit, append([]byte(workspace), 0, 0, 0, 0, 0, 0, 0, byte(n>>8), byte(n)))
			return nil
		})
		tx := s.NewTx()
		if f := audit.Trim(tx, workspace, 1025, base()); f == nil {
			t.Errorf("without record %d", n)
		}
		tx.Close()
		var out bytes.Buffer
		if err := audit.WriteExport(t.Context(), &out, s, audit.Export{Workspace: workspace}); err == nil {
			t.Error("exported without an error")
		}
		if r := verify(t, s, audit.Check{}); r.Valid || r.BrokenAt != n {
			t.Errorf("%+v", r)
		}
	}
}

// TestVerifyWhileItChanges verifies a chain that grows, is signed and is trimmed.
func TestVerifyWhileItChanges(t *testing.T) {
	s := open(t)
	signer := newSigner(t)
	fill(t, s, 1500)
	var wg sync.WaitGroup
	defer wg.Wait()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	wg.Go(func() {
		for i := 0; ctx.Err() == nil && i < 200; i++ {
			fill(t, s, 50)
			sign(t, s, signer, base())
			head, err := audit.Head(s, workspace)
			if err != nil {
				t.Error(err)
				return
			}
			if i%5 == 0 {
				trim(t, s, head.Size-1000)
			}
		}
	})
	for range 30 {
		r, err := audit.Verify(t.Context(), s, workspace, audit.Check{Verifiers: []audit.Verifier{signer.Verifier()}})
		if err != nil || !r.Valid {
			t.Fatalf("%+v %v", r, err)
		}
	}
}

func TestProgress(t *testing.T) {
	s := open(t)
	fill(t, s, 2100)
	var seen []uint64
	verify(t, s, audit.Check{Progress: func(n uint64) { seen = append(seen, n) }})
	if len(seen) != 3 || seen[2] != 2100 {
		t.Errorf("%v", seen)
	}
}

func TestReadingFails(t *testing.T) {
	s, err := store.Open(store.Config{Dir: t.TempDir(), Kind: store.StateStore, MinFreeBytes: 1})
	if err != nil {
		t.Fatal(err)
	}
	fill(t, s, 3)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	_, err1 := audit.Verify(t.Context(), s, workspace, audit.Check{})
	_, err2 := audit.TrimPoint(t.Context(), s, workspace, base())
	err3 := audit.WriteExport(t.Context(), &bytes.Buffer{}, s, audit.Export{Workspace: workspace})
	_, _, err4 := audit.LastCheckpoint(t.Context(), s, workspace)
	for i, err := range []error{err1, err2, err3, err4} {
		if err == nil {
			t.Errorf("%d: no error", i+1)
		}
	}
	wrong := errors.New("wrong")
	err = audit.WriteCSV(&bytes.Buffer{}, func(yield func(audit.Record, error) bool) { yield(audit.Record{}, wrong) })
	if !errors.Is(err, wrong) {
		t.Error(err)
	}
}
