package cluster

import (
	"context"
	"io"

	"github.com/modelgateway/modelgateway/cluster/audit"
	"github.com/modelgateway/modelgateway/cluster/delivery"
	"github.com/modelgateway/modelgateway/cluster/history"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/store"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// Audit shows the audit log to fn. It may grow, and be trimmed, while fn looks at it.
func (n *Node) Audit(fn func(r audit.Reader) error) error {
	return n.consensus.View(func(state *store.Store) error { return fn(n.records(state)) })
}

// openHistory makes what keeps the audit log and the usage records in order.
func (n *Node) openHistory() {
	cfg := history.Config{
		Leads: n.Leads, View: func(fn func(*store.Store) error) error { return n.consensus.View(fn) }, // opened later
		Change: func(ctx context.Context, op func(*record.Txn) error) error {
			_, err := n.Change(ctx, "gateway", func(_ *View, tx *record.Txn) error { return op(tx) })
			return err
		},
		Trim: func(ctx context.Context, t *clusterv1.TrimHistory) error {
			return n.commit(ctx, &clusterv1.Command{Change: &clusterv1.Command_TrimHistory{TrimHistory: t}})
		},
		Pack: func(ctx context.Context, c *clusterv1.PackHistory) error {
			return n.commit(ctx, &clusterv1.Command{Change: &clusterv1.Command_PackHistory{PackHistory: c}})
		},
		All:  n.allUnderstand,
		Seal: n.Seal, Open: n.Open, Now: n.clock.Now, Steady: n.clock.Steady, Retention: n.cfg.Retention, HoldFrom: n.cfg.HoldFrom,
		Sealing: n.sealing(), Report: n.Report, Logger: n.logger,
	}
	if n.cfg.Ring != nil {
		cfg.Reseal = n.Reseal
	}
	n.history = history.New(cfg)
}

// AuditLog is the audit log of the cluster's workspace, as one node has it. It is safe
// for concurrent use.
type AuditLog struct{ node *Node }

// AuditLog returns the audit log.
func (n *Node) AuditLog() AuditLog { return AuditLog{n} }

// Query calls fn for each record that f wants, until it returns false.
func (l AuditLog) Query(ctx context.Context, f audit.Filter, fn func(audit.Record) bool) error {
	return l.node.Audit(func(r audit.Reader) error { return audit.Query(ctx, r, audit.DefaultWorkspace, f, fn) })
}

// Record returns the record with a number, if it is there.
func (l AuditLog) Record(ctx context.Context, number uint64) (found audit.Record, ok bool, err error) {
	if err := ctx.Err(); err != nil {
		return found, false, err
	}
	err = l.node.Audit(func(r audit.Reader) error {
		found, ok, err = audit.Get(ctx, r, audit.DefaultWorkspace, number)
		return err
	})
	return found, ok, err
}

// Export writes the records from one number on, and the checkpoints on them, as
// audit.VerifyExport reads them. A slow reader holds nothing up.
func (l AuditLog) Export(ctx context.Context, out io.Writer, from uint64) error {
	return audit.StreamExport(ctx, out, l.node.Audit, audit.Export{Workspace: audit.DefaultWorkspace, From: from})
}

// Verify checks the records from one to another, 0 for the first and the last, and
// the checkpoints on them by the key that the cluster signs with, and whether queries
// find them.
func (l AuditLog) Verify(ctx context.Context, from, to uint64) (report audit.Report, err error) {
	check := audit.Check{From: from, To: to, Indexes: true}
	if check.Verifiers, err = l.node.history.Verifiers(); err != nil {
		return report, err
	}
	err = l.node.Audit(func(r audit.Reader) error {
		report, err = audit.Verify(ctx, r, audit.DefaultWorkspace, check)
		return err
	})
	return report, err
}

// Cursors are how far the audit log was delivered to each place, as the nodes have
// agreed. They are safe for concurrent use.
type Cursors struct{ node *Node }

// Cursors returns how far the audit log was delivered.
func (n *Node) Cursors() Cursors { return Cursors{n} }

// Load returns what a place has taken, as it was saved last.
func (c Cursors) Load(ctx context.Context, place delivery.Place) (delivery.Progress, error) {
	at, err := c.at(ctx, place)
	return at.Progress, err
}

func (c Cursors) at(ctx context.Context, place delivery.Place) (at delivery.Cursor, err error) {
	if err := ctx.Err(); err != nil {
		return at, err
	}
	err = c.node.consensus.View(func(state *store.Store) error {
		at, err = delivery.CursorOf(state, place)
		return err
	})
	return at, err
}

// Save returns nil when it is committed. It is Conflict where another node has got
// further.
func (c Cursors) Save(ctx context.Context, place delivery.Place, to delivery.Progress) error {
	_, err := c.node.Change(ctx, "gateway", func(_ *View, tx *record.Txn) error {
		at, err := c.at(ctx, place)
		if err != nil {
			return err
		}
		return at.Move(tx, place, to)
	})
	return err
}

// Leads reports whether this node leads the cluster, as far as it knows.
func (n *Node) Leads() bool { return n.consensus.IsLeader() }
