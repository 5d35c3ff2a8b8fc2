package cluster

import (
	"context"
	"log/slog"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/record"
)

// Operation decides a change from a View. It records its reads and its writes in the transaction.
// It may run several times, each time on a newer View and with a new transaction, so it must have
// no other effect. Each run must set all captured variables again.
type Operation func(v *View, tx *record.Txn) error

// Change runs an operation until it is committed or returns an error. Changes are serializable:
// the result is as if no other change had happened meanwhile, and an error was justified at some
// moment within the call. actor is what tenancy.Principal.Actor returns.
//
// When it returns nil, the change is durable and in this node's View. Most other reachable nodes
// have it too. A change that revokes waits for all of them except those that have not responded
// for two seconds; these reject agreed keys themselves after Config.KeyStaleness.
//
// Errors: the operation's own; Unavailable with code no_leader if nothing was changed, and with
// outcome_unknown if that is not known.
func (n *Node) Change(ctx context.Context, actor string, op Operation) (record.Committed, error) {
	ctx, cancel := context.WithTimeout(ctx, writeTime)
	defer cancel()
	fresh, turn := false, false
	defer func() {
		if turn {
			<-n.turn
		}
	}()
	for {
		v, tx := n.View(), record.NewTxn(n.clock.Now(), actor)
		if err := op(v, tx); err != nil {
			if fresh || !dependsOnState(err) {
				return record.Committed{}, err
			}
			// This node may be behind. What it refuses by has to be so now.
			if err := n.current(ctx); err != nil {
				return record.Committed{}, err
			}
			fresh = true
			if n.View() == v {
				return record.Committed{}, err
			}
			continue
		}
		if tx.Empty() {
			return record.Committed{Revision: v.Revision}, nil
		}
		index, err := n.propose(ctx, tx)
		switch {
		case err == nil:
			n.settle(ctx, tx, index)
			return record.Committed{Revision: index}, nil
		case !stale(err):
			return record.Committed{}, err
		}
		// Another change came first. This node needs that change before it decides again. From
		// now on it tries one such change at a time: many changes of one record would
		// otherwise mostly reject each other.
		fresh = true
		if err := n.consensus.WaitApplied(ctx, index); err != nil {
			return record.Committed{}, n.gaveUp(ctx, actor, err)
		}
		if !turn {
			select {
			case n.turn <- struct{}{}:
				turn = true
			case <-ctx.Done():
				return record.Committed{}, n.gaveUp(ctx, actor, ctx.Err())
			}
		}
	}
}

// gaveUp logs that a change ran out of time between two tries: the refusals before it
// were logged at debug level, as those of a change that is tried again.
func (n *Node) gaveUp(ctx context.Context, actor string, err error) error {
	n.logger.LogAttrs(ctx, slog.LevelInfo, "change not made: other changes came first until its time ran out",
		slog.String("actor", actor), slog.String("error", err.Error()))
	return unavailable(err)
}

// propose has a transaction committed and returns its index, also where it was
// refused.
func (n *Node) propose(ctx context.Context, tx *record.Txn) (uint64, error) {
	cmd, err := tx.Command()
	if err != nil {
		return 0, err
	}
	return n.submit(ctx, cmd)
}

// settle waits until the other nodes have a change in force. The time of the
// change does not count here: it is committed.
func (n *Node) settle(ctx context.Context, tx *record.Txn, index uint64) {
	ctx = context.WithoutCancel(ctx)
	if tx.NeedsFence() {
		n.fence(ctx, index)
		return
	}
	n.spread(ctx, index)
}

// dependsOnState reports whether a refusal could be another one on another View.
// What is wrong with a request as it stands is wrong on all of them.
func dependsOnState(err error) bool {
	kind := fault.KindOf(err)
	return kind == fault.NotFound || kind == fault.Exists || kind == fault.Conflict || kind == fault.Denied
}

func stale(err error) bool {
	f := fault.From(err)
	return f.Kind == fault.Conflict && f.Code == record.CodeStale
}
