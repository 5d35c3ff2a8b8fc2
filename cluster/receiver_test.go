package cluster_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelgateway/modelgateway/cluster"
	"github.com/modelgateway/modelgateway/cluster/audit"
	"github.com/modelgateway/modelgateway/cluster/delivery"
	records "github.com/modelgateway/modelgateway/cluster/record"
)

// TestReceiverThatFallsBehind: every node reports a webhook whose records wait, with
// the settings that help, and stops when the receiver has them.
func TestReceiverThatFallsBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := startedLab(t, 6, 3)
		defer l.close()
		node := l.leader(settleTime).node()
		behind := func() (out []string) {
			for _, h := range l.hosts {
				s, err := h.node().Status(t.Context(), false)
				if err != nil {
					t.Fatal(err)
				}
				for _, p := range s.Problems {
					if strings.HasPrefix(p, "delivery: ") {
						out = append(out, p)
					}
				}
			}
			return out
		}
		_, err := node.Change(t.Context(), actor, func(v *cluster.View, tx *records.Txn) error {
			_, _, err := v.Delivery.Set(tx, delivery.Change{Webhook: new(true), URL: new("https://hooks.example.com/x")}, delivery.Rules{Seal: node.Seal})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		_, err = node.Change(t.Context(), actor, func(v *cluster.View, tx *records.Txn) error {
			tx.Audit(records.Audit{Type: "key.created"})
			_, err := v.Keys.CreateKey(tx, newKey("first"))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		head := uint64(0)
		if err := node.Audit(func(r audit.Reader) error {
			h, err := audit.Head(r, audit.DefaultWorkspace)
			head = h.Size
			return err
		}); err != nil || head == 0 {
			t.Fatalf("no record was written: %v", err)
		}
		if err := node.Cursors().Save(t.Context(), delivery.Webhook, delivery.Progress{Next: head}); err != nil {
			t.Fatal(err)
		}
		if got := behind(); len(got) != 0 {
			t.Errorf("at once: %q", got)
		}
		tick(time.Minute)
		got := behind()
		if len(got) != 3 || slices.ContainsFunc(got, func(p string) bool {
			return !strings.Contains(p, "1 records") || !strings.Contains(p, delivery.FieldBatch) || !strings.Contains(p, delivery.FieldParallel)
		}) {
			t.Errorf("after a minute: %q", got)
		}
		if err := node.Cursors().Save(t.Context(), delivery.Webhook, delivery.Progress{Next: head + 1}); err != nil {
			t.Fatal(err)
		}
		tick(time.Second)
		if got := behind(); len(got) != 0 {
			t.Errorf("when it was delivered: %q", got)
		}
	})
}
