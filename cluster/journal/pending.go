package journal

import (
	"context"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/usage"
)

// Pending is something queued that may not be on the disk yet. The one that
// Intent returns is also what Settle takes to end that intent.
type Pending struct {
	group *group // never changes

	// What is to be written; the caller's until it is queued, the committer's after.
	intent  *usage.Attempt // nil for a settle
	settles []*Pending     // of a settle: the intents it ends
	events  []Event        // of a settle: what it records
	notice  bool           // it is one, and may be dropped

	// The committer's, for intents.
	number  uint64 // its key; 0 while it is not written
	settled bool   // its settle has come
}

// Done is closed when it is known whether p is on the disk; Wait then tells
// without waiting.
func (p *Pending) Done() <-chan struct{} {
	p.group.hurried()
	return p.group.done
}

// Wait returns nil once p is synced to the disk. Any error is an *fault.Error of
// kind StorageUnavailable: the journal failed or is stopped, or ctx ended, which
// leaves it open whether p is written later; the cause tells which.
func (p *Pending) Wait(ctx context.Context) error {
	select {
	case <-p.group.done: // also when ctx has ended as well
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

// group is what one commit writes. All its Pendings share its channel, which is
// therefore made once per commit and not once per request.
type group struct {
	done  chan struct{}
	ops   []*Pending   // in the order they came
	err   *fault.Error // set before done is closed, never after
	hurry func()       // has it written; nil if it never will be. Set before it is shared
}

// hurried has the group written, for somebody waits for it.
func (g *group) hurried() {
	if g.hurry != nil {
		g.hurry()
	}
}

func newGroup(ops []*Pending) *group {
	return &group{done: make(chan struct{}), ops: ops}
}

// finish tells everyone who waits.
func (g *group) finish(err *fault.Error) {
	g.err = err
	g.ops = nil
	close(g.done)
}

// result is err without the trap of a typed nil.
func (g *group) result() error {
	if g.err == nil {
		return nil
	}
	return g.err
}

// unavailable makes this package's errors.
func unavailable(detail string, err error) *fault.Error {
	return &fault.Error{Op: "journal", Kind: fault.StorageUnavailable, Detail: detail, Err: err}
}
