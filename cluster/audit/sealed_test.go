package audit_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/modelgateway/modelgateway/cluster/audit"
	"github.com/modelgateway/modelgateway/cluster/block"
	"github.com/modelgateway/modelgateway/cluster/store"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// file is the file of a sealed segment. It cannot be repaired.
type file struct{ content []byte }

func (f *file) Open(_ context.Context, _ block.Segment) (*block.File, error) {
	b := f.content
	return block.OpenFile(int64(len(b)), func(offset, size int64) ([]byte, error) { return b[offset : offset+size], nil })
}

func (f *file) Damaged(context.Context, block.Segment) bool { return false }

// seal seals what is there of a chain, but for a rest.
func seal(t *testing.T, r audit.Reader, change func(func(block.Tx) error)) (*file, block.Segment) {
	t.Helper()
	log := audit.Log(workspace)
	next, ok, err := log.Sealable(t.Context(), r, block.Due{Before: math.MaxInt64, Late: math.MaxInt64, Multiple: audit.SealMultiple})
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	var b bytes.Buffer
	s, err := log.WriteSegment(t.Context(), r, next, &b)
	if err != nil {
		t.Fatal(err)
	}
	change(func(tx block.Tx) error {
		done, err := log.Seal(tx, s)
		if !done {
			t.Error("the segment was not sealed")
		}
		return err
	})
	return &file{b.Bytes()}, s
}

// sealedMemory is a chain of 1,100 records, of which 1,024 are sealed.
func sealedMemory(t *testing.T) (memory, *file) {
	t.Helper()
	m := memory{}
	if f := audit.Begin(memoryTx{m}, workspace); f != nil {
		t.Fatal(f)
	}
	var events []*clusterv1.AuditEvent
	for i := range 1100 {
		events = append(events, event(i))
	}
	if f := audit.AppendAll(memoryTx{m}, workspace, events, base()); f != nil {
		t.Fatal(f)
	}
	f, _ := seal(t, m, func(fn func(block.Tx) error) {
		if err := fn(memoryTx{m}); err != nil {
			t.Fatal(err)
		}
	})
	return m, f
}

// TestAnyBitOfASegmentFlipped flips a bit in bytes of the file of a sealed segment, and of all that the state has of it.
func TestAnyBitOfASegmentFlipped(t *testing.T) {
	m, f := sealedMemory(t)
	verify := func() (audit.Report, error) {
		return audit.Verify(t.Context(), block.WithFiles(m, f), workspace, audit.Check{Indexes: true})
	}
	if r, err := verify(); err != nil || !r.Valid || r.Checked != 1100 {
		t.Fatalf("%+v %v", r, err)
	}
	was := f.content
	for i := 0; i < len(was); i += 1 + len(was)/50 {
		f.content = bytes.Clone(was)
		f.content[i] ^= 1 << (i % 8)
		if r, err := verify(); err == nil && r.Valid {
			t.Errorf("a flipped bit of byte %d of the file is not detected", i)
		}
	}
	f.content = was
	for _, key := range m.at(store.SpaceAuditLog) {
		was := m[key]
		for i := 0; i < len(was); i += 1 + len(was)/3 {
			m[key] = bytes.Clone(was)
			m[key][i] ^= 1 << (i % 8)
			if r, err := verify(); err == nil && r.Valid {
				t.Errorf("%q: a flipped bit of byte %d is not detected", key, i)
			}
		}
		delete(m, key)
		if r, err := verify(); err == nil && r.Valid {
			t.Errorf("%q removed is not detected", key)
		}
		m[key] = was
	}
	if r, err := verify(); err != nil || !r.Valid {
		t.Errorf("%+v %v", r, err)
	}
}

// TestChangedRecordStaysChanged seals a chain of which somebody has changed a record: the verification still finds that one.
func TestChangedRecordStaysChanged(t *testing.T) {
	m := memory{}
	if f := audit.Begin(memoryTx{m}, workspace); f != nil {
		t.Fatal(f)
	}
	for i := range 1100 {
		if f := audit.Append(memoryTx{m}, workspace, event(i), base()); f != nil {
			t.Fatal(f)
		}
		if i == 99 {
			// It is in no block yet, so its bytes are in the state as they are.
			for _, key := range m.at(store.SpaceAuditLog) {
				m[key] = bytes.ReplaceAll(m[key], []byte(fmt.Sprintf("req_%032x", 49)), []byte(fmt.Sprintf("req_%032x", 48)))
			}
		}
	}
	before, err := audit.Verify(t.Context(), m, workspace, audit.Check{})
	if err != nil || before.Valid || before.BrokenAt != 99 {
		t.Fatalf("%+v %v", before, err)
	}
	f, _ := seal(t, m, func(fn func(block.Tx) error) {
		if err := fn(memoryTx{m}); err != nil {
			t.Fatal(err)
		}
	})
	after, err := audit.Verify(t.Context(), block.WithFiles(m, f), workspace, audit.Check{})
	if err != nil || after.Valid || after.BrokenAt != before.BrokenAt || after.Reason != before.Reason {
		t.Errorf("%+v %v, before %+v", after, err, before)
	}
}

// TestSealedRecordsAreTrimmedAsAWhole trims to a number within a sealed segment, as one that was chosen before it was sealed:
// nothing of it goes. Then all of it goes, with a record that says so. Exports across the seam are what they were.
func TestSealedRecordsAreTrimmedAsAWhole(t *testing.T) {
	s := open(t)
	change(t, s, func(tx *store.Tx) error {
		if f := audit.Begin(tx, workspace); f != nil {
			return f
		}
		return nil
	})
	fill(t, s, 3000)
	export := func(r audit.Reader) []byte {
		t.Helper()
		var out bytes.Buffer
		if err := audit.WriteExport(t.Context(), &out, r, audit.Export{Workspace: workspace, From: 1}); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	before := export(s)
	f, sealed := seal(t, s, func(fn func(block.Tx) error) { change(t, s, func(tx *store.Tx) error { return fn(tx) }) })
	r := block.WithFiles(s, f)
	if sealed.First != 1 || sealed.Last != 2048 {
		t.Fatalf("%d to %d are sealed", sealed.First, sealed.Last)
	}
	if !bytes.Equal(export(r), before) {
		t.Error("the export is another one after sealing")
	}
	trim := func(first uint64) audit.ChainHead {
		t.Helper()
		change(t, s, func(tx *store.Tx) error {
			if f := audit.Trim(tx, workspace, first, base().Add(time.Hour)); f != nil {
				return f
			}
			return nil
		})
		head, err := audit.Head(s, workspace)
		if err != nil {
			t.Fatal(err)
		}
		return head
	}
	if head := trim(1025); head.First != 1 {
		t.Errorf("the chain begins with %d, in the middle of a segment", head.First)
	}
	first, err := audit.TrimPoint(t.Context(), r, workspace, base().Add(24*time.Hour))
	if err != nil || first != 2049 {
		t.Fatalf("the records before %d may go, %v", first, err)
	}
	if head := trim(first); head.First != 2049 {
		t.Errorf("the chain begins with %d", head.First)
	}
	report, err := audit.Verify(t.Context(), r, workspace, audit.Check{Indexes: true})
	if err != nil || !report.Valid || report.Before != 2048 {
		t.Errorf("%+v %v", report, err)
	}
}
