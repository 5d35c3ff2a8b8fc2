package cluster

import (
	"context"
	"errors"
	"io"

	"github.com/modelgateway/modelgateway/cluster/consensus"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/peer"
	"github.com/modelgateway/modelgateway/cluster/restore"
	"github.com/modelgateway/modelgateway/cluster/store"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// Backup writes the whole replicated state, as it was at one point, to w. It
// holds the hashes of keys and the sealed credentials of providers: with the
// encryption key it is worth as much as they are.
func (n *Node) Backup(ctx context.Context, w io.Writer) error {
	if err := n.current(ctx); err != nil {
		return err
	}
	return n.consensus.Backup(w) //nolint:contextcheck // it goes on as long as w takes it, and w ends with who asked
}

// RestoreAll replaces the whole replicated state by a backup, in a cluster that has no
// settings and has spent nothing yet. The leader checks it as a whole before anything
// is changed; another node sends it on. The nodes of the backup's cluster are barred
// from this one: what their journals hold is posted to another ledger.
// An error of the connection to the leader leaves open whether it was done.
func (n *Node) RestoreAll(ctx context.Context, r io.Reader) error {
	client, err := n.awaitLeader(ctx)
	if err != nil {
		return err
	}
	if client == nil {
		return n.restoreAll(ctx, r)
	}
	stream, err := client.Restore(ctx)
	if err != nil {
		return peer.Fault(err)
	}
	if err := sendPieces(r, func(piece []byte) error { return stream.Send(&clusterv1.RestoreRequest{Piece: piece}) }); err != nil && !errors.Is(err, io.EOF) { // EOF: the leader has had enough, and says why
		return err
	}
	_, err = stream.CloseAndRecv()
	return peer.Fault(err)
}

// restoreAll is RestoreAll on the node that leads.
func (n *Node) restoreAll(ctx context.Context, r io.Reader) error {
	defer n.cfg.BeginRestore()()
	return n.consensus.RestoreBackup(ctx, r, consensus.Adoption{Check: restore.NewCluster, Adopt: n.adopt})
}

// adopt fits the state of a backup to this cluster.
func (n *Node) adopt(backup *store.Tx, state *store.Store) error {
	if _, err := n.restorable(backup); err != nil {
		return err
	}
	servers, err := n.consensus.Servers()
	if err != nil {
		return err
	}
	members := make([]id.Node, len(servers))
	for i, s := range servers {
		members[i] = s.Node
	}
	now, ok := n.clock.Time()
	if !ok {
		return unavailable(consensus.ErrNotLeader)
	}
	return restore.Adopt(backup, state, members, now)
}

// Restore replaces the state for a node that does not lead.
func (s peerService) Restore(stream clusterv1.PeerService_RestoreServer) error {
	if err := s.node.restoreAll(stream.Context(), &pieces{next: func() ([]byte, error) {
		in, err := stream.Recv()
		return in.GetPiece(), err
	}}); err != nil {
		return peer.Status(s.leaderError(err))
	}
	return stream.SendAndClose(&clusterv1.RestoreResponse{})
}
