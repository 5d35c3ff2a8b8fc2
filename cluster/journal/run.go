package journal

import (
	"context"
	"time"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/inject"
)

// spareOps is the largest group memory that is reused. A larger one comes from a rare burst and
// is freed.
const spareOps = 4096

// Run writes queued records until ctx ends. It then accepts no more, writes the rest, and
// returns nil when that is synced. If a commit fails, Run and all waiting callers get its
// error. Run must be called at most once.
func (j *Journal) Run(ctx context.Context) error {
	if err := j.start(); err != nil {
		return err
	}
	var current *group
	failure := unavailable("The gateway cannot record usage: the disk failed. It has to be restarted.", nil)
	// Deferred because the goroutine may end in the middle of a commit, as store.Config.Fatal
	// does in tests. No caller may wait forever.
	defer func() { j.abandon(current, failure) }()
	for ending := false; !ending; {
		select {
		case <-j.wake:
		case <-ctx.Done():
			j.stop()
			ending = true
		}
		for current = j.take(ctx); current != nil; current = j.take(ctx) {
			if err := j.commit(current); err != nil {
				failure = err
				return err
			}
			ops := current.ops
			current.finish(nil)
			inject.Crash("journal.settle.told")
			j.recycle(ops)
		}
	}
	failure = nil
	return nil
}

func (j *Journal) start() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.mu.state != idle {
		return fault.New(fault.Internal, "", "The journal already runs or has run.")
	}
	j.mu.state = running
	return nil
}

// stop accepts no more records.
func (j *Journal) stop() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.mu.state, j.mu.reason = stopped, unavailable("The gateway is shutting down.", nil)
	if j.late != nil {
		j.late.Stop()
	}
}

// abandon ends a journal that cannot write, unless failure is nil. All callers that wait for
// the current group (nil if there is none) or the open one get the failure. The next Open finds
// out whether the current group was written.
func (j *Journal) abandon(current *group, failure *fault.Error) {
	if failure == nil {
		return
	}
	j.mu.Lock()
	j.mu.state, j.mu.reason = stopped, failure
	gathering := j.mu.open
	j.mu.open = newGroup(nil)
	j.mu.Unlock()
	if current != nil {
		current.finish(failure)
	}
	gathering.finish(failure)
}

// A sync costs the same for one record as for a hundred. If many records wait, more are likely
// to arrive soon, and the group waits for them once, for a moment. If few wait, it does not.
// These are commit_siblings and commit_delay of PostgreSQL, the first with its default.
const (
	siblings   = 5
	groupDelay = 500 * time.Microsecond
)

// gather waits for more records if many are queued.
func (j *Journal) gather(ctx context.Context) {
	j.mu.Lock()
	waiting := len(j.mu.open.ops)
	j.mu.Unlock()
	if waiting < siblings || ctx.Err() != nil {
		return
	}
	timer := time.NewTimer(groupDelay)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// take returns the open group and starts another; nil if it is empty.
func (j *Journal) take(ctx context.Context) *group {
	j.gather(ctx)
	j.mu.Lock()
	defer j.mu.Unlock()
	g := j.mu.open
	if len(g.ops) == 0 {
		return nil
	}
	j.mu.open, j.mu.spare = newGroup(j.mu.spare), nil
	j.mu.open.hurry = j.hurry
	return g
}

// recycle keeps the memory of a finished group.
func (j *Journal) recycle(ops []*Pending) {
	if cap(ops) > spareOps {
		return
	}
	clear(ops)
	j.mu.Lock()
	defer j.mu.Unlock()
	j.mu.spare = ops[:0]
}
