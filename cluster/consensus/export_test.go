package consensus

import (
	"errors"
	"io"

	"github.com/hashicorp/raft"
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
