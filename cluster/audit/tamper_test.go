package audit_test

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/modelgateway/modelgateway/cluster/audit"
	"github.com/modelgateway/modelgateway/cluster/store"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// memory is an in-memory state that tests can change in any way.
type memory map[string][]byte

func (m memory) Get(space store.Space, key []byte) (value []byte, ok bool, err error) {
	value, ok = m[string(byte(space))+string(key)]
	return bytes.Clone(value), ok, nil
}

func (m memory) Set(space store.Space, key, value []byte) {
	m[string(byte(space))+string(key)] = bytes.Clone(value)
}

func (m memory) Delete(space store.Space, key []byte) { delete(m, string(byte(space))+string(key)) }

// Scan implements audit.Reader.
func (m memory) Scan(_ context.Context, r store.Range, fn func(key, value []byte) bool) error {
	var keys []string
	for k := range m {
		key := k[1:]
		if k[0] == byte(r.Space) && strings.HasPrefix(key, string(r.Prefix)) && key >= string(r.From) && (len(r.To) == 0 || key < string(r.To)) {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	if r.Reverse {
		slices.Reverse(keys)
	}
	for n, k := range keys {
		if !fn([]byte(k[1:]), m[k]) || n+1 == r.Limit {
			break
		}
	}
	return nil
}

// memoryTx is a transaction on a memory.
type memoryTx struct{ memory }

// Scan implements audit.Tx.
func (m memoryTx) Scan(r store.Range, fn func(key, value []byte) bool) error {
	return m.memory.Scan(context.Background(), r, fn)
}

// at returns the keys of a space.
func (m memory) at(space store.Space) []string {
	var out []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		if k[0] == byte(space) {
			out = append(out, k)
		}
	}
	return out
}

// chain returns n records with a checkpoint after every third.
func chain(t *testing.T, n int, signer *audit.Signer, of func(int) *clusterv1.AuditEvent) (m memory, last string) {
	t.Helper()
	m = memory{}
	for i := range n {
		if f := audit.Append(memoryTx{m}, workspace, of(i), base().Add(time.Duration(i)*time.Second)); f != nil {
			t.Fatal(f)
		}
		if i%3 != 2 {
			continue
		}
		head, err := audit.Head(m, workspace)
		if err != nil {
			t.Fatal(err)
		}
		c, err := audit.Sign(head, workspace, base(), signer)
		if err != nil {
			t.Fatal(err)
		}
		if f := audit.PutCheckpoint(memoryTx{m}, workspace, c); f != nil {
			t.Fatal(f)
		}
		last = c.GetNote()
	}
	return m, last
}

func check(t *testing.T, m memory, c audit.Check) audit.Report {
	t.Helper()
	report, err := audit.Verify(t.Context(), m, workspace, c)
	if err != nil {
		t.Fatal(err)
	}
	if report.Valid != (report.Reason == "") {
		t.Fatalf("%+v", report)
	}
	return report
}

// TestAnyBitFlipped flips a bit in each byte that is stored.
func TestAnyBitFlipped(t *testing.T) {
	signer := newSigner(t)
	m, _ := chain(t, 7, signer, event)
	c := audit.Check{Verifiers: []audit.Verifier{signer.Verifier()}, Indexes: true}
	if r := check(t, m, c); !r.Valid || r.Checked != 7 || r.Checkpoints != 2 || r.Signed != 2 {
		t.Fatalf("%+v", r)
	}
	n := 0
	for _, space := range []store.Space{store.SpaceAudit, store.SpaceAuditHead, store.SpaceAuditSegment, store.SpaceCheckpoint} {
		for number, key := range m.at(space) {
			was := m[key]
			for i := range was {
				m[key] = bytes.Clone(was)
				m[key][i] ^= 1 << (n % 8)
				n++
				r := check(t, m, c)
				if r.Valid {
					t.Errorf("space %c, value %d: bit %d of byte %d flipped is not detected", space, number, (n-1)%8, i)
				}
				if space == store.SpaceAudit && r.BrokenAt != uint64(number)+1 {
					t.Errorf("record %d is invalid, but the report names %d: %s", number+1, r.BrokenAt, r.Reason)
				}
			}
			m[key] = was
		}
	}
	for _, space := range []store.Space{store.SpaceAudit, store.SpaceAuditHead, store.SpaceAuditSegment, store.SpaceAuditIndex} {
		for number, key := range m.at(space) {
			was := m[key]
			delete(m, key)
			if r := check(t, m, c); r.Valid {
				t.Errorf("space %c, value %d removed is not detected", space, number)
			}
			m[key] = was
		}
	}
	if r := check(t, m, c); !r.Valid || n < 5000 {
		t.Errorf("after %d flips: %+v", n, r)
	}
}

// TestRecordsExchanged swaps each pair of records, and copies each record over each other one.
func TestRecordsExchanged(t *testing.T) {
	m, _ := chain(t, 6, newSigner(t), func(int) *clusterv1.AuditEvent { return event(1) })
	keys := m.at(store.SpaceAudit)
	for i, a := range keys {
		for j, b := range keys {
			if i == j {
				continue
			}
			x, y := m[a], m[b]
			m[a] = y
			if r := check(t, m, audit.Check{}); r.Valid {
				t.Errorf("record %d is a copy of %d, which is not detected", i+1, j+1)
			}
			m[b] = x
			if r := check(t, m, audit.Check{}); r.Valid || r.BrokenAt != uint64(min(i, j)+1) {
				t.Errorf("records %d and %d are swapped: %+v", i+1, j+1, r)
			}
			m[a], m[b] = x, y
		}
	}
}

// TestForged forges chains like an attacker with full access to the disk, but without the signing
// key.
func TestForged(t *testing.T) {
	signer, other := newSigner(t), newSigner(t)
	verifiers := []audit.Verifier{signer.Verifier()}
	m, held := chain(t, 9, signer, event)
	lie := func(n int) *clusterv1.AuditEvent {
		e := event(n)
		e.CostPico++
		return e
	}
	checkpoints := func(from, to memory) {
		for _, key := range from.at(store.SpaceCheckpoint) {
			to[key] = from[key]
		}
	}
	cut, _ := chain(t, 8, signer, event)
	checkpoints(m, cut)
	rebuilt, _ := chain(t, 9, other, lie)
	longer, _ := chain(t, 12, other, lie)
	mixed, _ := chain(t, 9, other, lie)
	checkpoints(m, mixed)
	bare, _ := chain(t, 9, other, lie)
	for _, key := range bare.at(store.SpaceCheckpoint) {
		delete(bare, key)
	}
	cutBare, _ := chain(t, 8, signer, event)
	for _, x := range []struct {
		name  string
		state memory
		c     audit.Check
		valid bool
		at    uint64
	}{
		{"as it was", m, audit.Check{Verifiers: verifiers, Held: []string{held}}, true, 0},
		{"cut, with the head of a shorter chain", cut, audit.Check{}, false, 9},
		{"rebuilt, signed with another key", rebuilt, audit.Check{Verifiers: verifiers}, false, 3},
		{"rebuilt, with the old checkpoints", mixed, audit.Check{Verifiers: verifiers}, false, 3},
		{"rebuilt, unknown key", rebuilt, audit.Check{}, true, 0},
		{"rebuilt, old checkpoint held", rebuilt, audit.Check{Held: []string{held}}, false, 9},
		{"rebuilt and longer, old checkpoint held", longer, audit.Check{Held: []string{held}}, false, 9},
		{"rebuilt without checkpoints", bare, audit.Check{Verifiers: verifiers}, true, 0},
		{"rebuilt without checkpoints, old checkpoint held", bare, audit.Check{Verifiers: verifiers, Held: []string{held}}, false, 9},
		{"cut with its checkpoints, and one was kept", cutBare, audit.Check{Held: []string{held}}, false, 9},
	} {
		t.Run(x.name, func(t *testing.T) {
			r := check(t, x.state, x.c)
			if r.Valid != x.valid || r.BrokenAt != x.at {
				t.Errorf("%+v", r)
			}
			// The same for an export.
			var out bytes.Buffer
			if err := audit.WriteExport(t.Context(), &out, x.state, audit.Export{Workspace: workspace}); err != nil {
				t.Fatal(err)
			}
			if strings.HasPrefix(x.name, "cut, with the head") {
				return // the checkpoints behind the end are not in it
			}
			r, err := audit.VerifyExport(t.Context(), &out, x.c)
			if err != nil || r.Valid != x.valid || r.BrokenAt != x.at {
				t.Errorf("export: %+v %v", r, err)
			}
		})
	}
}

// TestHeldNotesAreChecked: invalid notes are rejected.
func TestHeldNotesAreChecked(t *testing.T) {
	signer := newSigner(t)
	m, held := chain(t, 3, signer, event)
	for _, note := range []string{
		"", "x\n\n", held[:len(held)-1], strings.Replace(held, "default", "other", 1), strings.Replace(held, "\n3\n", "\n4\n", 1),
		strings.Replace(held, "head sha256", "head sha1", 1),
	} {
		_, err := audit.Verify(t.Context(), m, workspace, audit.Check{Held: []string{note}, Verifiers: []audit.Verifier{signer.Verifier()}})
		if err == nil {
			t.Errorf("%q is accepted as a checkpoint", note)
		}
	}
	witnessed := held + "\u2014 witness.example/1 " + "AAAAAAAAAAAA" + "\n"
	if r := check(t, m, audit.Check{Held: []string{witnessed}, Verifiers: []audit.Verifier{signer.Verifier()}}); !r.Valid {
		t.Errorf("with a witness's signature: %+v", r)
	}
}

// TestExportTampered flips a bit in each byte of exports, and removes and repeats lines.
func TestExportTampered(t *testing.T) {
	signer := newSigner(t)
	m, _ := chain(t, 7, signer, event)
	c := audit.Check{Verifiers: []audit.Verifier{signer.Verifier()}}
	for name, x := range map[string]audit.Export{
		"all":      {Workspace: workspace},
		"a part":   {Workspace: workspace, From: 4, To: 6},
		"external": {Workspace: workspace, ExternalOnly: true},
		"nothing":  {Workspace: workspace, From: 9},
		"no more":  {Workspace: workspace, From: 5, To: 2},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			if err := audit.WriteExport(t.Context(), &out, m, x); err != nil {
				t.Fatal(err)
			}
			good := out.Bytes()
			valid := func(b []byte) bool {
				r, err := audit.VerifyExport(t.Context(), bytes.NewReader(b), c)
				if err != nil {
					t.Fatal(err)
				}
				return r.Valid
			}
			if !valid(good) {
				t.Fatalf("the export is invalid:\n%s", good)
			}
			for i := range good {
				bad := bytes.Clone(good)
				bad[i] ^= 1 << (i % 8)
				if valid(bad) {
					t.Errorf("bit %d of byte %d flipped is not detected: %s", i%8, i, good[max(0, i-30):min(i+30, len(good))])
				}
			}
			lines := bytes.SplitAfter(good, []byte("\n"))
			lines = lines[:len(lines)-1]
			for i, line := range lines {
				isCheckpoint := bytes.HasPrefix(line, []byte(`{"checkpoint"`))
				if without := slices.Concat(slices.Concat(lines[:i]...), slices.Concat(lines[i+1:]...)); !isCheckpoint && valid(without) {
					t.Errorf("line %d is missing, which is not detected", i+1)
				}
				if doubled := slices.Concat(slices.Concat(lines[:i+1]...), slices.Concat(lines[i:]...)); valid(doubled) {
					t.Errorf("line %d is repeated, which is not detected", i+1)
				}
				if cut := slices.Concat(lines[:i]...); valid(cut) {
					t.Errorf("the export ends before line %d, which is not detected", i+1)
				}
			}
		})
	}
}

// TestMutations changes random bytes of a chain or of its export. The result is never valid,
// unless it has the same meaning.
func TestMutations(t *testing.T) {
	signer := newSigner(t)
	m, _ := chain(t, 12, signer, event)
	var out bytes.Buffer
	if err := audit.WriteExport(t.Context(), &out, m, audit.Export{Workspace: workspace}); err != nil {
		t.Fatal(err)
	}
	good := out.Bytes()
	keys := slices.Concat(m.at(store.SpaceAudit), m.at(store.SpaceAuditHead), m.at(store.SpaceAuditSegment), m.at(store.SpaceCheckpoint))
	c := audit.Check{Verifiers: []audit.Verifier{signer.Verifier()}}
	rapid.Check(t, func(t *rapid.T) {
		if rapid.Bool().Draw(t, "export") {
			bad := mutated(t, good)
			r, err := audit.VerifyExport(context.Background(), bytes.NewReader(bad), c)
			if err != nil {
				t.Fatal(err)
			}
			if r.Valid && !bytes.Equal(bytes.TrimRight(bad, "\n"), bytes.TrimRight(good, "\n")) {
				t.Fatalf("not detected:\n%s", bad)
			}
			return
		}
		key := rapid.SampledFrom(keys).Draw(t, "key")
		was := m[key]
		defer func() { m[key] = was }()
		m[key] = mutated(t, was)
		r, err := audit.Verify(context.Background(), m, workspace, c)
		if err != nil {
			t.Fatal(err)
		}
		if r.Valid && key[0] == byte(store.SpaceAudit) && !bytes.Equal(m[key], was) {
			t.Fatalf("not detected: %x", m[key])
		}
		if r.Valid && !bytes.Equal(m[key], was) && !sameMessage(m[key], was) {
			t.Fatalf("not detected in %q: %x, was %x", key, m[key], was)
		}
	})
}

// sameMessage reports whether two records without a hash differ only in fields that are unknown
// to this version.
func sameMessage(a, b []byte) bool {
	var x, y clusterv1.AuditHead
	var p, q clusterv1.AuditCheckpoint
	return unmarshal(a, &x) && unmarshal(b, &y) && fmt.Sprint(&x) == fmt.Sprint(&y) ||
		unmarshal(a, &p) && unmarshal(b, &q) && fmt.Sprint(&p) == fmt.Sprint(&q)
}

// unmarshal decodes a message without its unknown fields.
func unmarshal(b []byte, m proto.Message) bool {
	return proto.UnmarshalOptions{DiscardUnknown: true}.Unmarshal(b, m) == nil
}

// mutated changes some bytes.
func mutated(t *rapid.T, b []byte) []byte {
	out := bytes.Clone(b)
	at := rapid.IntRange(0, len(out)-1).Draw(t, "at")
	switch rapid.IntRange(0, 4).Draw(t, "how") {
	case 0:
		out[at] = rapid.Byte().Draw(t, "byte")
	case 1:
		out = slices.Delete(out, at, min(len(out), at+rapid.IntRange(1, 40).Draw(t, "n")))
	case 2:
		out = slices.Insert(out, at, rapid.SliceOfN(rapid.Byte(), 1, 8).Draw(t, "bytes")...)
	case 3:
		other := rapid.IntRange(0, len(out)-1).Draw(t, "other")
		out[at], out[other] = out[other], out[at]
	case 4:
		other := rapid.IntRange(at, len(out)).Draw(t, "other")
		out = slices.Insert(out, at, bytes.Clone(out[at:other])...)
	}
	return out
}
