package consensus

import (
	"errors"

	"github.com/modelgateway/modelgateway/cluster/fault"
)

// The errors of Propose, ReadIndex and the membership changes.
var (
	// ErrNotLeader means that certainly nothing was done: another node is the leader, there is
	// no leader, or this node is stopping. Send the call to the leader.
	ErrNotLeader = errors.New("this node does not lead")
	// ErrUncertain means that the command may have taken effect or may take effect later. To
	// learn the outcome, propose it again with the same id.
	ErrUncertain = errors.New("it is not known whether the command takes effect")
)

// damaged returns the error for damaged files.
func damaged(op, detail string, err error) *fault.Error {
	return &fault.Error{Op: "consensus." + op, Kind: fault.StorageUnavailable, Detail: detail, Err: err}
}

// rejoin is the remedy if the node cannot recover from its own files.
const rejoin = " If there are other nodes, remove this one from the cluster, start it on an empty data directory and let it join again; if there are none, restore a backup."
