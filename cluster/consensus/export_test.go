package consensus

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/hashicorp/raft"

	"github.com/modelgateway/modelgateway/cluster/id"
)

// NewestSnapshot returns the snapshot that this node would send to a lagging follower.
func (c *Consensus) NewestSnapshot() (*raft.SnapshotMeta, io.ReadCloser, error) {
	return c.snaps.Open(c.snaps.newest().id)
}

// Entry returns a log entry.
func (c *Consensus) Entry(index uint64) (*raft.Log, error) {
	var entry raft.Log
	return &entry, c.log.GetLog(index, &entry)
}

// Receive installs a snapshot like Raft does after the guard.
func (c *Consensus) Receive(meta *raft.SnapshotMeta) error {
	sink, err := c.snaps.Create(meta.Version, meta.Index, meta.Term, meta.Configuration, meta.ConfigurationIndex, nil)
	if err != nil {
		return err
	}
	_, err = sink.Write([]byte("what the other node sends"))
	return errors.Join(err, sink.Cancel())
}

// Demote makes a voter a non-voter. Otherwise it is like AddVoter.
func (c *Consensus) Demote(ctx context.Context, node id.Node) error {
	return c.change(ctx, func(r *raft.Raft, patience time.Duration) raft.IndexFuture {
		return r.DemoteVoter(raft.ServerID(node), 0, patience)
	})
}

// TransferLeadership transfers the leadership to the voter with the longest log, and returns
// when this node is no longer the leader. This node must be the leader.
func (c *Consensus) TransferLeadership(ctx context.Context) error {
	_, err := await(ctx, c, func(r *raft.Raft) (struct{}, error) {
		if r.State() != raft.Leader {
			return struct{}{}, ErrNotLeader
		}
		if !c.otherVoters(r) {
			return struct{}{}, errors.New("there is no other voter to transfer the leadership to")
		}
		return struct{}{}, r.LeadershipTransfer().Error()
	})
	return err
}
