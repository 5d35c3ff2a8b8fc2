package consensus

import (
	"context"
	"errors"
	"fmt"

	"github.com/hashicorp/raft"
	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster/fault"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// maxCommand is the size limit of a command, in bytes. The largest deletes a team with its
// keys, at about a hundred bytes per key. Larger commands would delay heartbeats on a slow
// link, and exceed the limit that a node accepts from another.
const maxCommand = 6 << 20

// Propose adds a command to the log and applies it. It returns the index and the outcome once
// the effects are published on this node. A repeated command returns its first index and
// outcome.
//
// An error means that there is no outcome. After ErrNotLeader certainly nothing was done. After
// ErrUncertain, also when ctx ends, the command may have been applied or may be applied later.
// This node must be the leader.
func (c *Consensus) Propose(ctx context.Context, command []byte) (uint64, *fault.Error, error) {
	if len(command) == 0 {
		return 0, fault.New(fault.Malformed, "", "The command is empty."), nil
	}
	if len(command) > maxCommand {
		return 0, fault.New(fault.TooLarge, "", "The change is larger than %d bytes. Make it in several steps: delete or move some of what it takes along first.", maxCommand), nil
	}
	res, err := c.propose(ctx, command)
	return res.index, res.fault, err
}

// propose is Propose without the size checks. It also accepts an empty command.
func (c *Consensus) propose(ctx context.Context, command []byte) (result, error) {
	now, known := c.cfg.Now()
	if !known {
		return result{}, ErrNotLeader
	}
	data, err := proto.Marshal(&clusterv1.Entry{TimeUnixNano: now.UnixNano(), Command: command})
	if err != nil {
		return result{}, err
	}
	return await(ctx, c, func(r *raft.Raft) (result, error) {
		if r.State() != raft.Leader {
			return result{}, ErrNotLeader
		}
		future := r.ApplyLog(raft.Log{Data: data}, 0)
		if err := future.Error(); err != nil {
			return result{}, outcomeOf(err)
		}
		res, ok := future.Response().(result)
		if !ok {
			return result{}, ErrUncertain
		}
		return res, nil
	})
}

// outcomeOf converts an error of Raft for the caller.
func outcomeOf(err error) error {
	switch {
	case errors.Is(err, raft.ErrNotLeader), errors.Is(err, raft.ErrLeadershipTransferInProgress), errors.Is(err, raft.ErrEnqueueTimeout):
		return fmt.Errorf("%w: %w", ErrNotLeader, err)
	}
	return fmt.Errorf("%w: %w", ErrUncertain, err)
}

// await runs a call of Raft that takes no context. The call may outlast ctx but not Run, which
// completes all calls before it shuts Raft down.
func await[T any](ctx context.Context, c *Consensus, call func(*raft.Raft) (T, error)) (T, error) {
	r := c.enter(false)
	if r == nil {
		var none T
		return none, ErrNotLeader
	}
	return awaitEntered(ctx, c, r, call)
}

// enter returns Raft and counts a call in inFlight; nil if no call is possible now.
func (c *Consensus) enter(restore bool) *raft.Raft {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.mu.raft == nil || c.mu.stopping || c.mu.restoring {
		return nil
	}
	c.mu.restoring = restore
	c.inFlight.Add(1)
	c.mu.calls++
	return c.mu.raft
}

// leave ends a call that enter counted.
func (c *Consensus) leave() {
	c.mu.Lock()
	c.mu.calls--
	close(c.mu.left)
	c.mu.left = make(chan struct{})
	c.mu.Unlock()
	c.inFlight.Done()
}

// alone returns when the call that restores a backup is the only one.
func (c *Consensus) alone(ctx context.Context) error {
	for {
		c.mu.Lock()
		calls, left := c.mu.calls, c.mu.left
		c.mu.Unlock()
		if calls == 1 {
			return nil
		}
		select {
		case <-left:
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", ErrNotLeader, context.Cause(ctx)) // nothing has changed
		}
	}
}

// awaitEntered is await after enter.
func awaitEntered[T any](ctx context.Context, c *Consensus, r *raft.Raft, call func(*raft.Raft) (T, error)) (T, error) {
	var none T
	type answer struct {
		value T
		err   error
	}
	answers := make(chan answer, 1)
	go func() {
		defer c.leave()
		value, err := call(r)
		answers <- answer{value, err}
	}()
	select {
	case a := <-answers:
		return a.value, a.err
	case <-ctx.Done():
		return none, fmt.Errorf("%w: %w", ErrUncertain, context.Cause(ctx))
	}
}

// ReadIndex returns an index at or above every command that any leader acknowledged before the
// call. After WaitApplied for that index, on any node, a read is not stale. This node must be
// the leader, which a majority confirms.
func (c *Consensus) ReadIndex(ctx context.Context) (uint64, error) {
	r := c.running()
	if r == nil || r.State() != raft.Leader {
		return 0, ErrNotLeader
	}
	if c.state.applied().term != r.CurrentTerm() {
		// A new leader learns what is committed only with the first committed entry of its own
		// term. Before that, its commit index may be below what its predecessor acknowledged.
		if _, err := c.propose(ctx, nil); err != nil {
			return 0, err
		}
	}
	return await(ctx, c, func(r *raft.Raft) (uint64, error) {
		// Read before the majority confirms: commands that are acknowledged later are not
		// before this call.
		index := r.CommitIndex()
		if err := r.VerifyLeader().Error(); err != nil {
			return 0, fmt.Errorf("%w: %w", ErrNotLeader, err)
		}
		return index, nil
	})
}
