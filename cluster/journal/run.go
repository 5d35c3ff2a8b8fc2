package journal

import (
	"context"
	"time"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/inject"
)

// spareOps is the largest memory of a group that is kept for a later one. A
// burst above it is rare and gives its memory back.
const spareOps = 4096

// Run writes what is queued until ctx ends. From then on it takes nothing more,
// writes what it has, and returns nil when that is synced. A commit that fails
// ends it with the error, and everyone who waits gets that too. A journal runs
// once.
func (j *Journal) Run(ctx context.Context) error {
	if err := j.start(); err != nil {
		return err
	}
	var current *group
	failure := unavailable("The gateway cannot record usage: the disk failed. It has to be restarted.", nil)
	// A defer, for the goroutine may be ended in the middle of a commit, which is
	// what store.Config.Fatal does in tests: nobody may wait for ever.
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
		return fault.New(fault.Internal, "", "The journal runs already, or has run.")
	}
	j.mu.state = running
	return nil
}

// stop takes nothing more.
func (j *Journal) stop() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.mu.state, j.mu.reason = stopped, unavailable("The gateway is shutting down.", nil)
	if j.late != nil {
		j.late.Stop()
	}
}

// abandon ends a journal that cannot write, unless failure is nil: whoever waits,
// for the group under way (nil if there is none) or for the one that gathers,
// gets the failure. What became of the group under way, the next Open finds out.
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

// A sync costs the same for one record as for a hundred. Where many wait already,
// more are about to come, and the group waits for them: a moment, once. Where few
// do, there is nothing to wait for. These are PostgreSQL's commit_siblings and
// commit_delay, with the former's default.
const (
	siblings   = 5
	groupDelay = 500 * time.Microsecond
)

// gather lets a group of many become one of more.
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

// take returns the group that gathers and starts another; nil if it is empty.
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

// recycle keeps the memory of a group that is finished.
func (j *Journal) recycle(ops []*Pending) {
	if cap(ops) > spareOps {
		return
	}
	clear(ops)
	j.mu.Lock()
	defer j.mu.Unlock()
	j.mu.spare = ops[:0]
}
