package audit_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster/audit"
	"github.com/modelgateway/modelgateway/cluster/store"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// at returns the key of a number in a memory.
func at(space store.Space, number uint64) string {
	return string(byte(space)) + string(binary.BigEndian.AppendUint64([]byte(workspace+"\x00"), number))
}

// long returns a chain of n records.
func long(t *testing.T, n uint64) memory {
	t.Helper()
	m := memory{}
	var events []*clusterv1.AuditEvent
	for i := range n {
		events = append(events, event(int(i)))
	}
	if f := audit.AppendAll(memoryTx{m}, workspace, events, base()); f != nil {
		t.Fatal(f)
	}
	return m
}

// headOf reads the head of a chain.
func headOf(t *testing.T, m memory) *clusterv1.AuditHead {
	t.Helper()
	head := &clusterv1.AuditHead{}
	if err := proto.Unmarshal(m[string(byte(store.SpaceAuditHead))+workspace], head); err != nil {
		t.Fatal(err)
	}
	return head
}

// putHead writes a head.
func putHead(t *testing.T, m memory, head *clusterv1.AuditHead) {
	t.Helper()
	value, err := proto.Marshal(head)
	if err != nil {
		t.Fatal(err)
	}
	m.Set(store.SpaceAuditHead, []byte(workspace), value)
}

// dropFront removes the first records of a long chain, and changes the head as if they had been
// trimmed.
func dropFront(t *testing.T, m memory, first uint64) {
	t.Helper()
	head, before := headOf(t, m), headOf(t, long(t, first-1))
	head.First, head.FirstPrevious, head.FirstFrontier = first, before.GetHash(), before.GetFrontier()
	putHead(t, m, head)
	for n := uint64(1); n < first; n++ {
		delete(m, at(store.SpaceAudit, n))
	}
}

// TestFrontRemoved removes the first records as if they had been trimmed by age.
func TestFrontRemoved(t *testing.T) {
	for name, x := range map[string]struct {
		forge func(m memory)
		want  string // part of the reason; empty where there is nothing to find
		at    uint64
	}{
		"dropped as they are": {func(m memory) { trimMemory(t, m, 1025) }, "", 0},
		"dropped twice":       {func(m memory) { trimMemory(t, m, 1025); trimMemory(t, m, 2049) }, "", 0},
		"a segment":           {func(m memory) { dropFront(t, m, 1025) }, "does not say that they were dropped", 1025},
		"more than was dropped": {
			func(m memory) { trimMemory(t, m, 1025); dropFront(t, m, 2049) }, "does not say that they were dropped", 2049,
		},
		"a part of a segment": {func(m memory) { dropFront(t, m, 1000) }, "head of the chain is damaged", 0},
		"an outset that is another's": {
			func(m memory) { m[at(store.SpaceAuditSegment, 1025)] = m[at(store.SpaceAuditSegment, 1)] }, "segment that the record begins", 1025,
		},
		"an outset is gone": {func(m memory) { delete(m, at(store.SpaceAuditSegment, 2049)) }, "segment that the record begins", 2049},
		"an outset with another hash": {
			func(m memory) { m[at(store.SpaceAuditSegment, 1025)][5] ^= 1 }, "segment that the record begins", 1025,
		},
		"an outset with another tree": {
			func(m memory) { m[at(store.SpaceAuditSegment, 1025)][40] ^= 1 }, "segment that the record begins", 1025,
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := long(t, 2100)
			x.forge(m)
			r := check(t, m, audit.Check{})
			if r.Valid != (x.want == "") || !strings.Contains(r.Reason, x.want) || r.BrokenAt != x.at {
				t.Errorf("%+v", r)
			}
		})
	}
}

func trimMemory(t *testing.T, m memory, first uint64) {
	t.Helper()
	if f := audit.Trim(memoryTx{m}, workspace, first, base().Add(time.Hour)); f != nil {
		t.Fatal(f)
	}
}

// TestForeignRecords stores records next to a chain that are not part of it, where readers might
// find them.
func TestForeignRecords(t *testing.T) {
	prefix := func(space store.Space) string { return string(byte(space)) + workspace + "\x00" }
	for name, key := range map[string]string{
		"a record 0":                    at(store.SpaceAudit, 0),
		"a record behind the last":      at(store.SpaceAudit, 8),
		"a record far behind":           at(store.SpaceAudit, 1<<63),
		"a longer key behind the last":  at(store.SpaceAudit, 8) + "x",
		"a shorter key behind the last": prefix(store.SpaceAudit) + "\xff",
		"a shorter key before all":      prefix(store.SpaceAudit),
		"a longer key between two":      at(store.SpaceAudit, 3) + "x",
		"a shorter key of a checkpoint": prefix(store.SpaceCheckpoint) + "\xff",
		"a checkpoint behind the last":  at(store.SpaceCheckpoint, 8),
		"a longer key of a checkpoint":  at(store.SpaceCheckpoint, 2) + "x",
		"a checkpoint without a size":   at(store.SpaceCheckpoint, 0),
	} {
		t.Run(name, func(t *testing.T) {
			m, _ := chain(t, 7, newSigner(t), event)
			of := at(store.SpaceAudit, 7)
			if key[0] == byte(store.SpaceCheckpoint) {
				of = at(store.SpaceCheckpoint, 6)
			}
			m[key] = m[of]
			if r := check(t, m, audit.Check{}); r.Valid {
				t.Errorf("%+v", r)
			}
		})
	}
}

// TestWrongIndexes adds wrong entries to the indexes: queries use the values of the record
// itself.
func TestWrongIndexes(t *testing.T) {
	m, _ := chain(t, 7, newSigner(t), event)
	found := func(f audit.Filter) (out []uint64) {
		if err := audit.Query(t.Context(), m, workspace, f, func(r audit.Record) bool {
			out = append(out, r.Number)
			return true
		}); err != nil {
			t.Fatal(err)
		}
		return out
	}
	filters := []audit.Filter{
		{},
		{OldestFirst: true, Limit: 3},
		{From: base().Add(2 * time.Second), To: base().Add(5 * time.Second)},
		{Type: "key.created"},
		{Org: "acme"},
		{Request: "req_00000000000000000000000000000001"},
	}
	want := make([][]uint64, len(filters))
	for i, f := range filters {
		want[i] = found(f)
	}
	for i, key := range m.at(store.SpaceAuditIndex) {
		if r := check(t, m, audit.Check{Indexes: true}); r.Valid != (i == 0) || !r.Valid && (r.BrokenAt != 0 || !strings.Contains(r.Reason, "no record")) {
			t.Fatalf("with %d wrong entries: %+v", 2*i, r)
		}
		other := []byte(key)
		other[len(other)-9] ^= 1 // another time
		m[string(other)] = nil
		other = []byte(key)
		other[len(other)-1] ^= 1 // another record
		m[string(other)] = nil
	}
	for i, f := range filters {
		if diff := cmp.Diff(want[i], found(f)); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", f, diff)
		}
	}
}

// TestWhatIsCovered: the report names the last record that a trusted checkpoint covers.
func TestWhatIsCovered(t *testing.T) {
	signer, other := newSigner(t), newSigner(t)
	m, held := chain(t, 8, signer, event) // checkpoints at 3 and 6
	known, unknown := []audit.Verifier{signer.Verifier()}, []audit.Verifier{other.Verifier()}
	for name, x := range map[string]struct {
		c     audit.Check
		part  audit.Export
		valid bool
		want  uint64
	}{
		"no key":                   {audit.Check{}, audit.Export{}, true, 0},
		"the key":                  {audit.Check{Verifiers: known}, audit.Export{}, true, 6},
		"one of two keys":          {audit.Check{Verifiers: append(unknown[:1:1], known...)}, audit.Export{}, true, 6},
		"a key twice":              {audit.Check{Verifiers: append(known[:1:1], known...)}, audit.Export{}, true, 6},
		"another key":              {audit.Check{Verifiers: unknown}, audit.Export{}, false, 0},
		"kept elsewhere":           {audit.Check{Held: []string{held}}, audit.Export{}, true, 6},
		"a part with one":          {audit.Check{Verifiers: known}, audit.Export{From: 2, To: 5}, true, 3},
		"a part without any":       {audit.Check{Verifiers: known}, audit.Export{From: 5, To: 5}, true, 0},
		"a part that begins at it": {audit.Check{Verifiers: known}, audit.Export{From: 4, To: 5}, true, 3},
	} {
		c := x.c
		c.From, c.To = x.part.From, x.part.To
		r := check(t, m, c)
		if r.Valid != x.valid || r.Covered != x.want {
			t.Errorf("%s: %+v", name, r)
		}
		x.part.Workspace = workspace
		var out bytes.Buffer
		if err := audit.WriteExport(t.Context(), &out, m, x.part); err != nil {
			t.Fatal(err)
		}
		r, err := audit.VerifyExport(context.Background(), &out, x.c)
		if err != nil || r.Valid != x.valid || r.Covered != x.want {
			t.Errorf("%s, export: %+v %v", name, r, err)
		}
	}
}

// TestCheckpointsReplayed stores checkpoints at wrong positions.
func TestCheckpointsReplayed(t *testing.T) {
	signer := newSigner(t)
	c := audit.Check{Verifiers: []audit.Verifier{signer.Verifier()}}
	m, _ := chain(t, 9, signer, event)
	three, six := at(store.SpaceCheckpoint, 3), at(store.SpaceCheckpoint, 6)
	old := &clusterv1.AuditCheckpoint{}
	if err := proto.Unmarshal(m[three], old); err != nil {
		t.Fatal(err)
	}
	resized := proto.CloneOf(old)
	resized.Size = 6
	later := proto.CloneOf(old)
	later.TimeUnixNano += int64(time.Hour)
	for name, x := range map[string]struct {
		key string
		c   *clusterv1.AuditCheckpoint
	}{
		"an old one for a new one":        {six, old},
		"an old one with another size":    {six, resized},
		"an old one of another time":      {three, later},
		"an old one where there was none": {at(store.SpaceCheckpoint, 4), old},
		"of a chain of another":           {three, otherNote(t, signer)},
		"without a note":                  {three, &clusterv1.AuditCheckpoint{Size: 3, TimeUnixNano: old.GetTimeUnixNano()}},
	} {
		was, there := m[x.key]
		value, err := proto.Marshal(x.c)
		if err != nil {
			t.Fatal(err)
		}
		m[x.key] = value
		if r := check(t, m, c); r.Valid {
			t.Errorf("%s: %+v", name, r)
		}
		if m[x.key] = was; !there {
			delete(m, x.key)
		}
	}
	if r := check(t, m, c); !r.Valid {
		t.Errorf("%+v", r)
	}
}

// otherNote returns a checkpoint of another chain of the same size, signed with the same key.
func otherNote(t *testing.T, signer *audit.Signer) *clusterv1.AuditCheckpoint {
	t.Helper()
	m, _ := chain(t, 3, signer, func(n int) *clusterv1.AuditEvent { return event(n + 1) })
	head, err := audit.Head(m, workspace)
	if err != nil {
		t.Fatal(err)
	}
	c, err := audit.Sign(head, workspace, base(), signer)
	if err != nil {
		t.Fatal(err)
	}
	return c
}
