package audit_test

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"github.com/modelgateway/modelgateway/cluster/audit"
	"github.com/modelgateway/modelgateway/cluster/store"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// TestAnyBitOfABlockFlipped flips a bit in bytes of everything that the log of records consists of, and removes it.
func TestAnyBitOfABlockFlipped(t *testing.T) {
	m := memory{}
	if f := audit.Begin(memoryTx{m}, workspace); f != nil {
		t.Fatal(f)
	}
	var events []*clusterv1.AuditEvent
	for i := range 2*256 + 20 {
		events = append(events, event(i))
	}
	if f := audit.AppendAll(memoryTx{m}, workspace, events, base()); f != nil {
		t.Fatal(f)
	}
	c := audit.Check{Indexes: true}
	if r := check(t, m, c); !r.Valid || r.Checked != uint64(len(events)) {
		t.Fatalf("%+v", r)
	}
	// Reports name the first record of a damaged block, so it is enough to look at few bytes of many.
	for number, key := range m.at(store.SpaceAuditLog) {
		was := m[key]
		for i := 0; i < len(was); i += 1 + len(was)/12 {
			m[key] = bytes.Clone(was)
			m[key][i] ^= 1 << (i % 8)
			if r := check(t, m, c); r.Valid {
				t.Errorf("value %d, %q: a flipped bit of byte %d is not detected", number, key, i)
			}
		}
		delete(m, key)
		if r := check(t, m, c); r.Valid {
			t.Errorf("value %d, %q removed is not detected", number, key)
		}
		m[key] = was
	}
	if r := check(t, m, c); !r.Valid {
		t.Errorf("%+v", r)
	}
}

// TestOlderRecordsArePacked packs records of an older version in steps, between new ones. All reads are the same before,
// in between and after.
func TestOlderRecordsArePacked(t *testing.T) {
	s := openOlder(t)
	fill(t, s, 1500)
	signer := newSigner(t)
	sign(t, s, signer, base())
	key := event(1).GetKeyHash()
	filters := map[string]audit.Filter{
		"all": {}, "oldest first": {OldestFirst: true}, "an organization": {Org: "acme"}, "a type": {Type: event(1).GetType(), OldestFirst: true},
		"from on": {From: base().Add(5 * time.Minute)}, "a page": {After: 700, Limit: 200}, "a page of an organization": {After: 900, Limit: 100, OldestFirst: true, Org: "acme"},
		"a model": {Model: event(1).GetModel()}, "a request": {Request: event(3).GetRequestId()},
	}
	_ = key
	list := func() map[string][]uint64 {
		out := map[string][]uint64{}
		for name, f := range filters {
			f.Before = 0
			if err := audit.Query(t.Context(), s, workspace, f, func(r audit.Record) bool {
				if r.Number <= 1500 {
					out[name] = append(out[name], r.Number)
				}
				return true
			}); err != nil {
				t.Fatal(err)
			}
		}
		return out
	}
	before := list()
	if len(before["all"]) != 1500 || len(before["an organization"]) == 0 || len(before["a model"]) == 0 {
		t.Fatalf("%d records", len(before["all"]))
	}
	change(t, s, func(tx *store.Tx) error {
		if f := audit.Begin(tx, workspace); f != nil {
			return f
		}
		return nil
	})
	for step := 0; ; step++ {
		older, err := audit.HasOlder(t.Context(), s, workspace)
		if err != nil {
			t.Fatal(err)
		}
		write(t, s, base(), event(step))
		if r := verify(t, s, audit.Check{Verifiers: []audit.Verifier{signer.Verifier()}, Indexes: true}); !r.Valid || r.Checked != uint64(1501+step) {
			t.Fatalf("step %d: %+v", step, r)
		}
		for name, numbers := range list() {
			if want := before[name]; filters[name].Limit == 0 && !slices.Equal(numbers, want) {
				t.Errorf("step %d, %s: %d records, want %d", step, name, len(numbers), len(want))
			}
		}
		n := uint64(0)
		if err := audit.From(t.Context(), s, workspace, 0, func(r audit.Record) bool { n++; return r.Number == n }); err != nil || n != uint64(1501+step) {
			t.Fatalf("step %d: %d records from the first on, %v", step, n, err)
		}
		if !older {
			break
		}
		change(t, s, func(tx *store.Tx) error {
			if f := audit.Pack(tx, workspace, 400); f != nil {
				return f
			}
			return nil
		})
	}
	if n := count(t, s, store.SpaceAudit) + count(t, s, store.SpaceAuditIndex); n != 0 {
		t.Errorf("%d keys of older versions are left", n)
	}
	trim(t, s, 1025)
	if r := verify(t, s, audit.Check{Indexes: true}); !r.Valid || r.First != 1025 {
		t.Errorf("%+v", r)
	}
}
