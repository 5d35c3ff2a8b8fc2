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

// Servers returns the members, as the newest configuration that this node has says,
// sorted by name. It may not be committed yet. Before Run it is the one on the disk.
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

// Removed reports whether there is a cluster that this node knows of and is not a
// member of: an operator removed it, so that it receives nothing more and asks for no
// votes, or it is new and has not come to the entry yet that makes it one. A node that
// was down when it was removed may never hear of it.
func (c *Consensus) Removed() bool {
	servers, err := c.Servers()
	if err != nil || len(servers) == 0 {
		return false
	}
	return !slices.ContainsFunc(servers, func(s Server) bool { return s.Node == c.cfg.Node })
}

// AddVoter makes a node a voter, or gives a voter another address. It counts for
// the majority at once, so it should have caught up as a non-voter first. This node
// has to lead. The change is committed when AddVoter returns without an error; the
// errors are Propose's.
func (c *Consensus) AddVoter(ctx context.Context, node id.Node, address string) error {
	return c.change(ctx, func(r *raft.Raft, patience time.Duration) raft.IndexFuture {
		return r.AddVoter(raft.ServerID(node), raft.ServerAddress(address), 0, patience)
	})
}

// AddNonvoter makes a node receive the log without a vote, or gives it another
// address. A voter stays one; see Demote. Otherwise it is like AddVoter.
func (c *Consensus) AddNonvoter(ctx context.Context, node id.Node, address string) error {
	return c.change(ctx, func(r *raft.Raft, patience time.Duration) raft.IndexFuture {
		return r.AddNonvoter(raft.ServerID(node), raft.ServerAddress(address), 0, patience)
	})
}

// Demote takes a voter's vote away. Otherwise it is like AddVoter.
func (c *Consensus) Demote(ctx context.Context, node id.Node) error {
	return c.change(ctx, func(r *raft.Raft, patience time.Duration) raft.IndexFuture {
		return r.DemoteVoter(raft.ServerID(node), 0, patience)
	})
}

// Remove takes a node out of the cluster; that it is none of its is no error. The
// leader may remove itself, and then leads no more. Otherwise it is like AddVoter.
func (c *Consensus) Remove(ctx context.Context, node id.Node) error {
	return c.change(ctx, func(r *raft.Raft, patience time.Duration) raft.IndexFuture {
		return r.RemoveServer(raft.ServerID(node), 0, patience)
	})
}

// change has a change of the members made.
func (c *Consensus) change(ctx context.Context, begin func(*raft.Raft, time.Duration) raft.IndexFuture) error {
	_, err := await(ctx, c, func(r *raft.Raft) (struct{}, error) {
		if r.State() != raft.Leader {
			return struct{}{}, ErrNotLeader
		}
		// How long Raft may hold it back while another change is under way.
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

// TransferLeadership hands the leadership to another voter, the one that is furthest,
// and returns when this node has ceased to lead. This node has to lead.
func (c *Consensus) TransferLeadership(ctx context.Context) error {
	_, err := await(ctx, c, func(r *raft.Raft) (struct{}, error) {
		if r.State() != raft.Leader {
			return struct{}{}, ErrNotLeader
		}
		if !c.otherVoters(r) {
			return struct{}{}, errors.New("there is no other voter")
		}
		return struct{}{}, r.LeadershipTransfer().Error()
	})
	return err
}

// TakeSnapshot makes a snapshot now and truncates the log, as happens by itself
// every some thousand entries. That there is nothing new is no error.
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
