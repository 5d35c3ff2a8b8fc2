package cluster

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/modelgateway/modelgateway/cluster/consensus"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

const (
	// fenceTime is how long a deletion waits for the other nodes. Who has not
	// acknowledged by then counts as cut off, and forgets by itself (see fresh.go).
	fenceTime = 2 * time.Second
	// spreadTime is how long anything else does. It is a courtesy, so that what was
	// made here works at the node that a load balancer picks next; a node that is away
	// should not make every change slow.
	spreadTime = time.Second
)

// fence returns when every node that can be reached has index in force, so that
// what was deleted is refused everywhere when the deletion is answered.
func (n *Node) fence(ctx context.Context, index uint64) {
	ctx, cancel := context.WithTimeout(ctx, fenceTime)
	defer cancel()
	n.awaitOthers(ctx, index, func(consensus.Server) bool { return true })
}

// spread returns when the nodes that the gossip holds for alive have index in force.
func (n *Node) spread(ctx context.Context, index uint64) {
	ctx, cancel := context.WithTimeout(ctx, spreadTime)
	defer cancel()
	alive := n.alive()
	n.awaitOthers(ctx, index, func(s consensus.Server) bool { return alive[s.Node] })
}

// awaitOthers waits until the nodes that count have applied index, or do not answer.
func (n *Node) awaitOthers(ctx context.Context, index uint64, counts func(consensus.Server) bool) {
	servers, err := n.consensus.Servers()
	if err != nil || n.peers == nil {
		return // this node alone, and it has applied the entry
	}
	var wait sync.WaitGroup
	for _, s := range servers {
		if s.Node == n.Identity().Node || !counts(s) {
			continue
		}
		wait.Go(func() {
			if err := n.awaitAt(ctx, s, index); err != nil {
				n.logger.LogAttrs(ctx, slog.LevelWarn, "a node did not acknowledge a change in time",
					slog.String("node", string(s.Node)), slog.Uint64("index", index), slog.Any("error", err))
			}
		})
	}
	wait.Wait()
}

// awaitAt waits until another node has applied index.
func (n *Node) awaitAt(ctx context.Context, s consensus.Server, index uint64) error {
	client, err := n.peers.At(s.Address)
	if err != nil {
		return err
	}
	_, err = client.AwaitApplied(ctx, &clusterv1.AwaitAppliedRequest{Index: index})
	return err
}
