package cluster_test

import (
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/modelgateway/modelgateway/cluster"
	"github.com/modelgateway/modelgateway/cluster/audit"
	"github.com/modelgateway/modelgateway/cluster/history"
)

// TestPackingWaitsForAllNodes upgrades a cluster node by node. Nodes of this version write records as older ones do, which
// therefore go on, until the last one is upgraded. Then what was written before is packed, and all nodes have the same.
func TestPackingWaitsForAllNodes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, 73)
		defer l.close()
		for range 3 {
			l.add(3).configure = func(c *cluster.Config) { c.TransactionVersion = history.PackVersion - 1 }
		}
		for _, h := range l.hosts {
			h.start()
		}
		keys := 0
		record := func() {
			t.Helper()
			for range 100 {
				keys++
				if err := createKey(t.Context(), l.leader(settleTime).node(), newKey(fmt.Sprint("k", keys))); err != nil {
					t.Fatal(err)
				}
			}
		}
		for n, upgraded := range l.hosts {
			if err := l.ready(l.hosts, settleTime); err != nil {
				t.Fatal(err)
			}
			record()
			tick(settleTime)
			if begun, older := packing(t, upgraded); begun || !older {
				t.Fatalf("with %d nodes upgraded, records are packed: %v; there are older ones: %v", n, begun, older)
			}
			upgraded.shut()
			upgraded.configure = nil
			upgraded.start()
		}
		if err := l.ready(l.hosts, settleTime); err != nil {
			t.Fatal(err)
		}
		tick(settleTime)
		record()
		if err := l.same(); err != nil {
			t.Error(err)
		}
		for _, h := range l.hosts {
			if begun, older := packing(t, h); !begun || older {
				t.Errorf("records are packed: %v; there are older ones: %v", begun, older)
			}
			r, err := h.node().AuditLog().Verify(t.Context(), 0, 0)
			if err != nil || !r.Valid || r.Checked < 400 {
				t.Errorf("%+v, %v", r, err)
			}
		}
	})
}

// packing reports whether a node packs records, and whether it has some that are not packed.
func packing(t *testing.T, h *host) (begun, older bool) {
	t.Helper()
	err := h.node().Audit(func(r audit.Reader) (err error) {
		if begun, err = audit.Begun(r, audit.DefaultWorkspace); err != nil {
			return err
		}
		older, err = audit.HasOlder(t.Context(), r, audit.DefaultWorkspace)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return begun, older
}
