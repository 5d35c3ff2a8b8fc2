package cluster_test

import (
	"sync"
	"testing"
	"testing/synctest"

	"github.com/modelgateway/modelgateway/cluster"
	"github.com/modelgateway/modelgateway/cluster/catalog"
	records "github.com/modelgateway/modelgateway/cluster/record"
)

// TestNoUpdateIsLost has many callers on all nodes add to one setting at once, each
// what it finds plus one: every addition that was acknowledged is there, and no
// caller is refused because another was quicker.
func TestNoUpdateIsLost(t *testing.T) {
	const callers, each = 30, 4
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, 11)
		defer l.close()
		for range 3 {
			l.add(3).start()
		}
		if err := l.ready(l.hosts, settleTime); err != nil {
			t.Fatal(err)
		}
		var wait sync.WaitGroup
		for i := range callers {
			node := l.hosts[i%3].node()
			wait.Go(func() {
				for range each {
					if err := count(t, node); err != nil {
						t.Errorf("caller %d: %v", i, err)
					}
				}
			})
		}
		wait.Wait()
		v, err := l.hosts[2].node().Current(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if p, _ := v.Catalog.Patch(); *p.AllowedFails != callers*each {
			t.Errorf("%d additions are there of %d", *p.AllowedFails, callers*each)
		}
	})
}

// count adds one to a setting.
func count(t *testing.T, node *cluster.Node) error {
	t.Helper()
	_, err := node.Change(t.Context(), actor, func(v *cluster.View, tx *records.Txn) error {
		n := 1
		if p, _ := v.Catalog.Patch(); p.AllowedFails != nil {
			n = *p.AllowedFails + 1
		}
		return v.Catalog.UpdateRouter(tx, catalog.RouterPatch{AllowedFails: &n}, 0)
	})
	return err
}
