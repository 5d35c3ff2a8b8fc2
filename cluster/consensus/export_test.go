package consensus

import (
	"io"

	"github.com/hashicorp/raft"
)

// NewestSnapshot returns what this node would send to a follower that lags.
func (c *Consensus) NewestSnapshot() (*raft.SnapshotMeta, io.ReadCloser, error) {
	return c.snaps.Open(c.snaps.newest().id)
}
