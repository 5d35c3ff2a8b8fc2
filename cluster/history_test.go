package cluster_test

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster"
	"github.com/modelgateway/modelgateway/cluster/audit"
	"github.com/modelgateway/modelgateway/cluster/event"
	records "github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/store"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// grow has the audit log grow by n records.
func (h *host) grow(t *testing.T, n int) {
	t.Helper()
	_, err := h.node().Change(t.Context(), actor, func(v *cluster.View, tx *records.Txn) error {
		if _, err := v.Catalog.Create(tx, newDeployment("told"), h.node().Seal); err != nil {
			return err
		}
		for range n {
			tx.Audit(records.Audit{Type: event.TypeManagement})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestHistoryIsSignedAndTrimmed lets time go by: the log has checkpoints, what is too old
// goes, the log says so, and what is left verifies, here and elsewhere.
func TestHistoryIsSignedAndTrimmed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, 11)
		defer l.close()
		h := l.add(1)
		h.alone = true
		h.configure = func(c *cluster.Config) { c.Retention = time.Minute }
		h.start()
		if err := l.ready(l.hosts, settleTime); err != nil {
			t.Fatal(err)
		}
		verified := func() audit.Report {
			t.Helper()
			r, err := h.node().AuditLog().Verify(t.Context(), 0, 0)
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		h.grow(t, 1100)
		tick(90 * time.Second) // a checkpoint is due every minute
		if r := verified(); !r.Valid || r.Covered != 1100 || r.Last != 1100 || r.Before != 0 {
			t.Fatalf("%+v", r)
		}
		tick(12 * time.Minute) // every ten minutes it is looked for what is too old
		r := verified()
		if !r.Valid || r.Before != 1024 || r.First != 1025 || r.Last != 1101 || len(r.Verifiers) != 1 || r.Covered != 1101 {
			t.Fatalf("%+v", r)
		}
		var out bytes.Buffer
		if err := h.node().Audit(func(s audit.Reader) error {
			return audit.WriteExport(t.Context(), &out, s, audit.Export{Workspace: audit.DefaultWorkspace, From: 1090})
		}); err != nil {
			t.Fatal(err)
		}
		exported, err := audit.VerifyExport(t.Context(), &out, audit.Check{Verifiers: r.Verifiers})
		if err != nil || !exported.Valid || exported.Checked != 12 || exported.Covered != 1101 || exported.Root != r.Root {
			t.Errorf("%+v %v", exported, err)
		}
	})
}

// TestCheckpointKeyExchanged has somebody put another public key beside the private one,
// to have signed what he likes: the log is not verified by it.
func TestCheckpointKeyExchanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, 12)
		defer l.close()
		h := l.add(1)
		h.alone = true
		h.start()
		if err := l.ready(l.hosts, settleTime); err != nil {
			t.Fatal(err)
		}
		h.grow(t, 1)
		log := h.node().AuditLog()
		tick(90 * time.Second)
		if r, err := log.Verify(t.Context(), 0, 0); err != nil || r.Covered != 1 {
			t.Fatalf("there is no checkpoint: %+v %v", r, err)
		}
		_, theirs := audit.NewSigner()
		at := records.At{Space: store.SpaceAuditSigner, Key: []byte("signer")}
		if _, err := h.node().Change(t.Context(), actor, func(_ *cluster.View, tx *records.Txn) error {
			var own []byte
			if err := h.node().Audit(func(s audit.Reader) (err error) {
				own, _, err = s.Get(at.Space, at.Key)
				return err
			}); err != nil {
				return err
			}
			r := &clusterv1.AuditSigner{}
			if err := proto.Unmarshal(own, r); err != nil {
				return err
			}
			r.Verifier = theirs
			tx.Put(at, r)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if r, err := log.Verify(t.Context(), 0, 0); err == nil || !strings.Contains(err.Error(), "exchanged") {
			t.Errorf("%+v %v", r, err)
		}
	})
}
