package operation

import (
	"context"

	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/proto/gen/gateway/surface"
)

// Changes is the state that the nodes agree on, as the services see and change it.
// A cluster.Node is one. It is safe for concurrent use.
type Changes interface {
	// View is what this node knows now.
	View() *cluster.View
	// Current is the view that shows whatever was acknowledged on any node before the
	// call; Unavailable where nobody can say what is current.
	Current(ctx context.Context) (*cluster.View, error)
	// Change runs an operation until it is committed or refuses.
	Change(ctx context.Context, actor string, op cluster.Operation) (record.Committed, error)
	// Replayed is the answer that was kept for a scope; nil for none. One that is
	// Stale does not count.
	Replayed(ctx context.Context, scope [32]byte) (*record.Remembered, error)
}

// Change runs an operation of the API that changes the state. op decides by the
// view, writes to the transaction and returns the whole response, each time that it is
// run. The transaction carries its audit events. Fields called revision that are 0 in the
// response get the revision that the change is committed with. Under an Idempotency-Key
// op is not run if there is a response already, and the change that it makes keeps its
// response. The caller of an operation for admins must be one when it is committed.
func Change[R proto.Message](ctx context.Context, state Changes, op func(v *cluster.View, tx *record.Txn) (R, error)) (answer R, err error) {
	c := Of(ctx)
	var kept proto.Message
	committed, err := state.Change(ctx, c.Principal.Actor(), func(v *cluster.View, tx *record.Txn) (err error) {
		var stale uint64
		if c.Once != nil { // somebody may have been quicker since the last run
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

// StillAdmin denies a change to a caller that is not an admin when it is decided.
func StillAdmin(ctx context.Context, v *cluster.View, tx *record.Txn) error {
	if !v.Keys.Rights(tx, Principal(ctx)).Admin() {
		return fault.New(fault.Denied, "insufficient_permissions", "Only a proxy_admin may do that.")
	}
	return nil
}
