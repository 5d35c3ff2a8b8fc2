package auditsink

import (
	"context"
	"io"

	"github.com/modelgateway/modelgateway/cluster/audit"
)

// Log is a Source over the replicated state of this node.
type Log struct {
	// View calls a function with the state as it is, which it may read until it
	// returns.
	View func(func(audit.Reader) error) error
	// Changed returns a channel that is closed when the state is not as it was at
	// the call any more.
	Changed func() <-chan struct{}
	// Workspace is whose log it is.
	Workspace string
}

// Head returns the number of the last record.
func (l Log) Head(context.Context) (head uint64, err error) {
	err = l.View(func(state audit.Reader) error {
		h, err := audit.Head(state, l.Workspace)
		head = h.Size
		return err
	})
	return head, err
}

// From calls fn for the records from a number on.
func (l Log) From(ctx context.Context, number uint64, fn func(audit.Record) bool) error {
	return l.View(func(state audit.Reader) error { return audit.From(ctx, state, l.Workspace, number, fn) })
}

// Wait returns when there is a record of that number.
func (l Log) Wait(ctx context.Context, number uint64) error {
	for {
		changed := l.Changed() // before the look, so that nothing is missed between the two
		head, err := l.Head(ctx)
		if err != nil || head >= number {
			return err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Export writes records as external systems get them.
func (l Log) Export(ctx context.Context, w io.Writer, first, last uint64) error {
	return l.View(func(state audit.Reader) error {
		return audit.WriteExport(ctx, w, state, audit.Export{Workspace: l.Workspace, From: first, To: last, ExternalOnly: true})
	})
}
