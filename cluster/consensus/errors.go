package consensus

import (
	"errors"

	"github.com/modelgateway/modelgateway/cluster/fault"
)

// What Propose, ReadIndex and the changes of members may fail with.
var (
	// ErrNotLeader means that nothing was done, for certain, because another node
	// leads, none does, or this one is about to stop. The leader is the one to ask.
	ErrNotLeader = errors.New("this node does not lead")
	// ErrUncertain means that the command may take effect, or have taken it. To find
	// out, propose it again with the same id.
	ErrUncertain = errors.New("it is not known whether the command takes effect")
)

// damaged makes the error for files that cannot be trusted.
func damaged(op, detail string, err error) *fault.Error {
	return &fault.Error{Op: "consensus." + op, Kind: fault.StorageUnavailable, Detail: detail, Err: err}
}

// rejoin is the remedy where a node's own files do not suffice.
const rejoin = " If there are other nodes, remove this one from the cluster, start it on an empty data directory and let it join again; if there are none, restore a backup."
