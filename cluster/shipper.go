package cluster

import (
	"context"
	"math/rand/v2"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster/consensus"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/inject"
	"github.com/modelgateway/modelgateway/cluster/journal"
	"github.com/modelgateway/modelgateway/cluster/ledger"
	"github.com/modelgateway/modelgateway/cluster/store"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

const (
	// shipDelay is how long the first event that waits is given company. Spend is
	// seen that much later, and a node posts at most ten times a second, however many
	// requests it has.
	shipDelay = 100 * time.Millisecond
	// shipEvents and shipBytes bound one run of events: what takes the state machine
	// some 50 ms to post, and what a slow link carries in a moment.
	shipEvents = 2048
	shipBytes  = 1 << 20
	// shipRetry and shipRetryMost are the pauses after a failure, growing.
	shipRetry     = 100 * time.Millisecond
	shipRetryMost = 2 * time.Second
	// shipQuiet is how long after its start a node does not report that its events are not
	// accepted: the nodes must find each other and elect a leader first.
	shipQuiet = 10 * time.Second
	// shipTime bounds one try. One that was lost is made again: the state skips what
	// it has.
	shipTime = 10 * time.Second
)

// ship posts what the journal has, in order, until ctx ends. What is posted the
// journal forgets, but only when this node's own state has it.
//
// A crash anywhere in it leaves events in the journal that may have been posted:
// the next start sends them again, and the state machine skips them by their
// numbers.
func (n *Node) ship(ctx context.Context) error {
	if !n.awaitCompared(ctx) {
		return nil
	}
	posted, err := n.forgetPosted(ctx)
	if err != nil {
		return err
	}
	pause, quiet := shipRetry, time.Now().Add(shipQuiet)
	for {
		if err := n.journal.Wait(ctx, posted); err != nil {
			return nil //nolint:nilerr // ctx has ended; what is left goes with the next start
		}
		if !n.gathered(ctx, posted) {
			return nil
		}
		next, err := n.shipOnce(ctx, posted)
		switch {
		case ctx.Err() != nil:
			return nil //nolint:nilerr // it ended in the middle; the next start finds out what became of it
		case err != nil:
			n.stalled(ctx, err, time.Now().After(quiet))
			select {
			case <-ctx.Done():
				return nil
			case <-time.After(pause/2 + rand.N(pause)): //nolint:gosec // it only keeps the nodes from asking at once
			}
			pause = min(2*pause, shipRetryMost)
			// It may have been posted although no response arrived.
			if next, err = n.forgetPosted(ctx); err != nil {
				return err
			}
		default:
			n.shipping.Store(nil)
			n.journal.SetStall(nil)
			pause, quiet = shipRetry, time.Time{}
		}
		posted = next
	}
}

// awaitCompared waits until the journal was compared with what is posted of it. It is
// false when ctx has ended.
func (n *Node) awaitCompared(ctx context.Context) bool {
	quiet := time.NewTicker(shipQuiet)
	defer quiet.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-n.compared:
			return true
		case <-quiet.C:
			if n.journal.Backlog() > 0 {
				n.stalled(ctx, unavailable(consensus.ErrNotLeader), true)
			}
		}
	}
}

// lastShip limits how long a stopping node posts its remaining events. It posts the rest after
// its next start.
const lastShip = 2 * time.Second

// keepShipping ships until ctx ends, and then what was written until the journal closed: a node
// that never starts again should leave nothing behind.
func (n *Node) keepShipping(ctx context.Context, written <-chan struct{}) error {
	if err := n.ship(ctx); err != nil {
		return err
	}
	<-written
	select {
	case <-n.compared:
	default:
		return nil // it was never connected; the next start posts
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastShip)
	defer cancel()
	for left := n.journal.Backlog(); ctx.Err() == nil && left > 0; {
		posted, err := n.posted()
		if err != nil {
			return err
		}
		if _, err := n.shipOnce(ctx, posted); err != nil {
			n.stalled(ctx, err, true)
			return nil
		}
		before := left
		if left = n.journal.Backlog(); left >= before {
			return nil
		}
	}
	return nil
}

// gathered gives the first event company, unless there is plenty already. It is
// false when ctx has ended.
func (n *Node) gathered(ctx context.Context, posted uint64) bool {
	if n.journal.Last() >= posted+shipEvents {
		return true
	}
	select {
	case <-ctx.Done():
		return false
	case <-time.After(shipDelay):
		return true
	}
}

// shipOnce posts the next run and returns how far this node's state has come.
func (n *Node) shipOnce(ctx context.Context, posted uint64) (uint64, error) {
	first, events, err := n.journal.Batch(ctx, posted, shipEvents, shipBytes)
	if err != nil {
		return posted, err
	}
	if len(events) == 0 {
		// It is posted already; or it is trimmed, and the state, which has lost its end in
		// a crash, has yet to catch up.
		return n.forgetPosted(ctx)
	}
	if inject.HasDefect("ack_before_commit") {
		if err := n.journal.Trim(ctx, first+uint64(len(events))-1); err != nil {
			return posted, err
		}
	}
	if err := n.redate(ctx, first, events); err != nil {
		return posted, err
	}
	identity := n.Identity()
	inject.Crash("ship.before")
	err = n.commit(ctx, &clusterv1.Command{Change: &clusterv1.Command_PostUsage{PostUsage: &clusterv1.PostUsage{
		Node: string(identity.Node), Epoch: identity.Epoch, First: first, Events: events,
	}}})
	if err != nil {
		return posted, err
	}
	inject.Crash("ship.acknowledged")
	// This node's own state has them now, and a majority's disks. A crash here leaves
	// them in the journal as well, where the next start finds that they are posted.
	next, err := n.forgetPosted(ctx)
	inject.Crash("ack.trimmed")
	return next, err
}

// redate corrects the times of events that were recorded before this node knew the
// cluster's time. A run that is sent again may have other times; only the first that is
// committed counts.
func (n *Node) redate(ctx context.Context, first uint64, events [][]byte) (err error) {
	for i, value := range events {
		if !journal.OwnClock(value) {
			continue
		}
		n.clock.Await(ctx)
		now, known := n.clock.Time()
		if !known {
			return context.Cause(ctx)
		}
		mine := n.cfg.Now().Round(0) // an earlier process had another start: its clock is the best guess
		if n.journal.Written(first + uint64(i)) {
			mine = n.clock.Mine()
		}
		if events[i], err = journal.Redate(value, now, mine.Sub(now)); err != nil {
			return err
		}
	}
	return nil
}

// forgetPosted trims the journal up to the events that this node's state has, and returns that
// position. It rejects a journal that ends before it: the data directory is an older copy.
func (n *Node) forgetPosted(ctx context.Context) (uint64, error) {
	posted, err := n.posted()
	if err != nil {
		return 0, err
	}
	return posted, n.journal.Trim(context.WithoutCancel(ctx), posted)
}

// posted returns the number of the last of this node's events that its state has.
func (n *Node) posted() (seq uint64, err error) {
	identity := n.Identity()
	err = n.consensus.View(func(state *store.Store) error {
		seq, err = ledger.Applied(state, identity.Node, identity.Epoch)
		return err
	})
	return seq, err
}

// commit commits an idempotent command: it is proposed again until its outcome is known. It
// returns when this node's state has it. Errors: the command's own; Unavailable if no leader
// responded, and then it may still be committed.
func (n *Node) commit(ctx context.Context, cmd *clusterv1.Command) error {
	data, err := proto.MarshalOptions{Deterministic: true}.Marshal(cmd)
	if err != nil {
		return &fault.Error{Op: "cluster.commit", Kind: fault.Internal, Err: err}
	}
	try, cancel := context.WithTimeout(ctx, shipTime)
	defer cancel()
	index, refusal, err := n.proposeOnce(try, data)
	switch {
	case err != nil:
		return unavailable(err)
	case refusal != nil:
		return refusal
	}
	if err := n.consensus.WaitApplied(try, index); err != nil {
		return unavailable(err)
	}
	return nil
}
