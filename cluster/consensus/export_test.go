package consensus

import (
	"errors"
	"io"

	"github.com/hashicorp/raft"
)

// NewestSnapshot returns what this node would send to a follower that lags.
func (c *Consensus) NewestSnapshot() (*raft.SnapshotMeta, io.ReadCloser, error) {
	return c.snaps.Open(c.snaps.newest().id)
}

// Entry returns an entry of the log.
func (c *Consensus) Entry(index uint64) (*raft.Log, error) {
	var entry raft.Log
	return &entry, c.log.GetLog(index, &entry)
}

// Receive does what Raft does with a snapshot that has passed the guard.
func (c *Consensus) Receive(meta *raft.SnapshotMeta) error {
	sink, err := c.snaps.Create(meta.Version, meta.Index, meta.Term, meta.Configuration, meta.ConfigurationIndex, nil)
	if err != nil {
		return err
	}
	_, err = sink.Write([]byte("what the other node sends"))
	return errors.Join(err, sink.Cancel())
}
