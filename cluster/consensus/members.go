package consensus

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hashicorp/raft"

	"github.com/modelgateway/modelgateway/cluster/id"
)

// Servers returns the members in the newest configuration of this node, sorted by name. It may
// not be committed yet. Before Run, Servers returns the configuration on the disk.
func (c *Consensus) Servers() ([]Server, error) {
	r := c.started()
	if r == nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		return slices.Clone(c.mu.servers), nil
	}
	future := r.GetConfiguration()
	if err := future.Error(); err != nil {
		return nil, err
	}
	return fromRaft(future.Configuration()), nil
}

// Removed reports whether this node knows a cluster of which it is not a member. Either an
// operator removed it, and it receives no more entries and requests no votes. Or it is new and
// has not reached the entry that adds it. A node that was down when it was removed may never
// learn of it.
func (c *Consensus) Removed() bool {
	servers, err := c.Servers()
	if err != nil || len(servers) == 0 {
		return false
	}
	return !slices.ContainsFunc(servers, func(s Server) bool { return s.Node == c.cfg.Node })
}

// AddVoter makes a node a voter, or changes the address of a voter. The node counts for the
// majority at once, so it should first catch up as a non-voter. This node must be the leader.
// When AddVoter returns without an error, the change is committed. The errors are those of
// Propose.
func (c *Consensus) AddVoter(ctx context.Context, node id.Node, address string) error {
	return c.change(ctx, func(r *raft.Raft, patience time.Duration) raft.IndexFuture {
		return r.AddVoter(raft.ServerID(node), raft.ServerAddress(address), 0, patience)
	})
}

// AddNonvoter adds a node that receives the log without a vote, or changes its address. A voter
// stays a voter. Otherwise it is like AddVoter.
func (c *Consensus) AddNonvoter(ctx context.Context, node id.Node, address string) error {
	return c.change(ctx, func(r *raft.Raft, patience time.Duration) raft.IndexFuture {
		return r.AddNonvoter(raft.ServerID(node), raft.ServerAddress(address), 0, patience)
	})
}

// Remove removes a node from the cluster; a node that is not a member is no error. A leader may
// remove itself, and then stops being leader. Otherwise it is like AddVoter.
func (c *Consensus) Remove(ctx context.Context, node id.Node) error {
	return c.change(ctx, func(r *raft.Raft, patience time.Duration) raft.IndexFuture {
		return r.RemoveServer(raft.ServerID(node), 0, patience)
	})
}

// change makes a membership change.
func (c *Consensus) change(ctx context.Context, begin func(*raft.Raft, time.Duration) raft.IndexFuture) error {
	_, err := await(ctx, c, func(r *raft.Raft) (struct{}, error) {
		if r.State() != raft.Leader {
			return struct{}{}, ErrNotLeader
		}
		// The longest time that Raft may delay the change while another one is in progress.
		patience := drain
		if deadline, ok := ctx.Deadline(); ok {
			patience = max(time.Until(deadline), time.Millisecond)
		}
		if err := begin(r, patience).Error(); err != nil {
			return struct{}{}, outcomeOf(err)
		}
		return struct{}{}, nil
	})
	return err
}

// TakeSnapshot makes a snapshot now and truncates the log, as Raft does by itself every few
// thousand entries. It is no error if there is nothing new.
func (c *Consensus) TakeSnapshot(ctx context.Context) error {
	_, err := await(ctx, c, func(r *raft.Raft) (struct{}, error) {
		err := r.Snapshot().Error()
		if errors.Is(err, raft.ErrNothingNewToSnapshot) {
			err = nil
		}
		return struct{}{}, err
	})
	if errors.Is(err, ErrNotLeader) {
		return fmt.Errorf("no snapshot can be made now: %w", errStopping())
	}
	return err
}

// SnapshotIfLong makes a snapshot if a new member would otherwise get more entries one by
// one than follow a regular snapshot. Snapshots are due at intervals, and the entries of one
// interval can take a member longer than the whole state. The snapshot goes on when ctx is
// over.
func (c *Consensus) SnapshotIfLong(ctx context.Context) error {
	base := uint64(0)
	if newest := c.snaps.newest(); newest != nil {
		base = newest.index
	}
	t := c.cfg.Timing
	if c.Applied() < base+t.SnapshotThreshold+t.TrailingLogs {
		return nil
	}
	return c.TakeSnapshot(ctx)
}

func toRaft(servers []Server) raft.Configuration {
	var out raft.Configuration
	for _, s := range sorted(servers) {
		suffrage := raft.Nonvoter
		if s.Voter {
			suffrage = raft.Voter
		}
		out.Servers = append(out.Servers, raft.Server{
			Suffrage: suffrage, ID: raft.ServerID(s.Node), Address: raft.ServerAddress(s.Address),
		})
	}
	return out
}

func fromRaft(configuration raft.Configuration) []Server {
	out := make([]Server, 0, len(configuration.Servers))
	for _, s := range configuration.Servers {
		out = append(out, Server{Node: id.Node(s.ID), Address: string(s.Address), Voter: s.Suffrage == raft.Voter})
	}
	return sorted(out)
}

// sorted returns servers by name, so that all nodes write the same first entry.
func sorted(servers []Server) []Server {
	out := slices.Clone(servers)
	slices.SortFunc(out, func(a, b Server) int { return cmp.Compare(a.Node, b.Node) })
	return out
}
