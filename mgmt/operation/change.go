package operation

import (
	"context"

	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/rights"
	"github.com/modelgateway/modelgateway/proto/gen/gateway/surface"
)

// Changes reads and changes the replicated state. A cluster.Node does. It is safe for
// concurrent use.
type Changes interface {
	// View returns the state as this node has it now.
	View() *cluster.View
	// Current returns a view that includes every change that any node acknowledged before
	// the call. It is Unavailable without a quorum.
	Current(ctx context.Context) (*cluster.View, error)
	// Change runs an operation until it is committed or returns an error.
	Change(ctx context.Context, actor string, op cluster.Operation) (record.Committed, error)
	// Replayed returns the response that was kept for a scope; nil for none. A Stale one
	// has expired.
	Replayed(ctx context.Context, scope [32]byte) (*record.Remembered, error)
}

// Change runs an operation that changes the state. op may run several times: it reads the
// view, writes to the transaction and returns the whole response. The transaction carries
// the audit events. Fields called revision that are 0 in the response get the revision of
// the commit. With an Idempotency-Key, the change keeps the response, and op does not run
// if one was kept before. The caller of an operation for admins must still be an admin
// when the change is committed.
func Change[R proto.Message](ctx context.Context, state Changes, op func(v *cluster.View, tx *record.Txn) (R, error)) (answer R, err error) {
	c := Of(ctx)
	var kept proto.Message
	committed, err := state.Change(ctx, c.Principal.Actor(), func(v *cluster.View, tx *record.Txn) (err error) {
		var stale uint64
		if c.Once != nil { // the same request may have been committed since the last run
			if kept, stale, err = c.Once.Find(ctx); err != nil || kept != nil {
				return err
			}
		}
		if c.Operation.Access == surface.Admin {
			if err = StillAdmin(ctx, v, tx); err != nil {
				return err
			}
		}
		if answer, err = op(v, tx); err != nil {
			return err
		}
		c.Audit(tx, answer)
		if c.Once == nil {
			return nil
		}
		return c.Once.Keep(tx, answer, stale)
	})
	if err != nil {
		var none R
		return none, err
	}
	show(ctx, state.View())
	if kept != nil {
		c.Replayed = true
		return kept.(R), nil
	}
	setRevision(answer.ProtoReflect(), committed.Revision)
	return answer, nil
}

// StillAdmin denies a change if the caller is no admin in the view of the transaction.
func StillAdmin(ctx context.Context, v *cluster.View, tx *record.Txn) error {
	if !rights.Of(v.Keys, tx, Principal(ctx)).Admin() {
		return fault.New(fault.Denied, "insufficient_permissions", "Only a proxy_admin may do that.")
	}
	return nil
}
