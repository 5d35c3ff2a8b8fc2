package journal

import (
	"context"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/usage"
)

// Pending is a queued record that may not be on the disk yet. Settle takes the Pending of
// Intent to end that intent.
type Pending struct {
	group *group // never changes

	// The record to write. Owned by the caller until it is queued, then by the committer.
	intent  *usage.Attempt // nil for a settle
	settles []*Pending     // of a settle: the intents that it ends
	events  []Event        // of a settle: the events that it records
	notice  bool           // is a notice, and may be dropped

	// Owned by the committer, for intents.
	number  uint64 // key number; 0 until it is written
	settled bool   // its settle has arrived
}

// Done returns a channel that is closed when Wait can return at once.
func (p *Pending) Done() <-chan struct{} {
	p.group.hurried()
	return p.group.done
}

// Wait returns nil once p is synced to the disk. Any error is an *fault.Error of kind
// StorageUnavailable. Either the journal failed or is stopped, or ctx ended; then p may still
// be written. The cause distinguishes these cases.
func (p *Pending) Wait(ctx context.Context) error {
	select {
	case <-p.group.done: // also if ctx has ended as well
		return p.group.result()
	default:
	}
	p.group.hurried()
	select {
	case <-p.group.done:
		return p.group.result()
	case <-ctx.Done():
		return unavailable("The usage record was not written in time. Try again later.", context.Cause(ctx))
	}
}

// group is the content of one commit. Its Pendings share one channel, so that there is one
// allocation per commit and not per request.
type group struct {
	done  chan struct{}
	ops   []*Pending   // in order of arrival
	err   *fault.Error // set before done is closed; constant afterwards
	hurry func()       // starts the write; nil if it will never happen. Set before the group is shared
}

// hurried starts the write of the group, because a caller waits for it.
func (g *group) hurried() {
	if g.hurry != nil {
		g.hurry()
	}
}

func newGroup(ops []*Pending) *group {
	return &group{done: make(chan struct{}), ops: ops}
}

// finish wakes all waiting callers.
func (g *group) finish(err *fault.Error) {
	g.err = err
	g.ops = nil
	close(g.done)
}

// result returns err without the typed-nil pitfall.
func (g *group) result() error {
	if g.err == nil {
		return nil
	}
	return g.err
}

// unavailable returns an error of this package.
func unavailable(detail string, err error) *fault.Error {
	return &fault.Error{Op: "journal", Kind: fault.StorageUnavailable, Detail: detail, Err: err}
}
