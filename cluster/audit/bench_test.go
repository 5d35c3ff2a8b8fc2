package audit_test

import (
	"testing"

	"github.com/modelgateway/modelgateway/cluster/audit"
	"github.com/modelgateway/modelgateway/cluster/store"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// BenchmarkAppend writes records in entries of 256, like a node's shipper, including index and
// commit.
func BenchmarkAppend(b *testing.B) {
	s := open(b)
	events := make([]*clusterv1.AuditEvent, 256)
	for i := range events {
		events[i] = event(i / 4 * 4) // those with all fields
	}
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		tx := s.NewTx()
		if f := audit.AppendAll(tx, workspace, events, base()); f != nil {
			b.Fatal(f)
		}
		if err := tx.CommitReplayable(); err != nil {
			b.Fatal(err)
		}
		tx.Close()
		n += len(events)
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "records/s")
}

// BenchmarkVerify verifies a chain with its index.
func BenchmarkVerify(b *testing.B) {
	s := open(b)
	events := make([]*clusterv1.AuditEvent, 256)
	for i := range events {
		events[i] = event(i / 4 * 4) // those with all fields
	}
	const blocks = 100
	for range blocks {
		change(b, s, func(tx *store.Tx) error {
			if f := audit.AppendAll(tx, workspace, events, base()); f != nil {
				return f
			}
			return nil
		})
	}
	b.ReportAllocs()
	for b.Loop() {
		if r, err := audit.Verify(b.Context(), s, workspace, audit.Check{Indexes: true}); err != nil || !r.Valid {
			b.Fatal(r, err)
		}
	}
	b.ReportMetric(float64(b.N*blocks*len(events))/b.Elapsed().Seconds(), "records/s")
}
