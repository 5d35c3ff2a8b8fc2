package cluster

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/modelgateway/modelgateway/cluster/block"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/history"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/peer"
	"github.com/modelgateway/modelgateway/cluster/segment"
	"github.com/modelgateway/modelgateway/cluster/store"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

const (
	// segmentsEvery is how often a node looks whether there are other segments, and segmentsWhole how often it compares
	// all its files with them. A voter that joins should soon have what only a majority of the others has.
	segmentsEvery, segmentsWhole = 2 * time.Second, time.Minute
	// holdTime limits how long another node may take to copy a file.
	holdTime = time.Minute
)

// openSegments opens the directory of sealed segments.
func (n *Node) openSegments() (err error) {
	n.segments, err = segment.Open(segment.Config{
		Dir: filepath.Join(n.cfg.Dir, "segments"), FS: n.cfg.FS, Bucket: n.cfg.Bucket, Peers: n.readSegment,
		Report: n.Report, Logger: n.logger,
	})
	return err
}

// records returns the state as a reader that reads sealed records as well.
func (n *Node) records(state *store.Store) block.Reader { return block.WithFiles(state, n.segments) }

// sealing returns what history seals with.
func (n *Node) sealing() history.Sealing {
	return history.Sealing{
		Hot: n.cfg.Hot, Files: n.segments, Bucket: n.cfg.Bucket, Spread: n.spreadSegment,
		Seal: func(ctx context.Context, c *clusterv1.SealSegment) error {
			return n.commit(ctx, &clusterv1.Command{Change: &clusterv1.Command_SealSegment{SealSegment: c}})
		},
		Forget: func(ctx context.Context, c *clusterv1.ForgetSegment) error {
			return n.commit(ctx, &clusterv1.Command{Change: &clusterv1.Command_ForgetSegment{ForgetSegment: c}})
		},
	}
}

// keepSegments keeps the files of sealed records that this node has to have, until ctx ends.
func (n *Node) keepSegments(ctx context.Context) error {
	ticker := time.NewTicker(segmentsEvery)
	defer ticker.Stop()
	var compared time.Time
	var last history.LastSegments
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		now, err := n.lastSegments(ctx)
		if err == nil && now == last && time.Since(compared) < segmentsWhole {
			continue
		}
		last, compared = now, time.Now()
		err = n.segments.Keep(ctx, n.votes(), func(ctx context.Context, fn func(block.Segment) bool) error {
			return n.consensus.View(func(state *store.Store) error { return history.Segments(ctx, state, fn) })
		})
		if err != nil && ctx.Err() == nil {
			n.logger.WarnContext(ctx, "the files of sealed records could not be looked after", "error", err.Error())
		}
	}
}

// lastSegments returns the last segments of the state, and whether this node votes.
func (n *Node) lastSegments(ctx context.Context) (out history.LastSegments, err error) {
	err = n.consensus.View(func(state *store.Store) error {
		out, err = history.Last(ctx, state)
		return err
	})
	out.Voter = n.votes()
	return out, err
}

// votes reports whether this node has a vote.
func (n *Node) votes() bool {
	servers, err := n.consensus.Servers()
	if err != nil {
		return true
	}
	for _, s := range servers {
		if s.Node == n.Identity().Node {
			return s.Voter
		}
	}
	return false
}

// spreadSegment has the other voters copy a file, and returns nil when a majority has it.
func (n *Node) spreadSegment(ctx context.Context, s block.Segment) error {
	servers, err := n.consensus.Servers()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, holdTime)
	defer cancel()
	voters := 0
	var group errgroup.Group
	failed := make(chan error, len(servers))
	for _, x := range servers {
		if !x.Voter {
			continue
		}
		voters++
		if x.Node == n.Identity().Node {
			continue
		}
		group.Go(func() error {
			client, err := n.peers.At(x.Address)
			if err == nil {
				_, err = client.Hold(ctx, &clusterv1.HoldRequest{Sum: s.Sum[:], Size: s.Size, Node: string(n.Identity().Node)})
			}
			if err != nil {
				failed <- fmt.Errorf("node %s: %w", x.Node, err)
			}
			return nil
		})
	}
	_ = group.Wait() // the calls return none
	close(failed)
	var errs []error
	for err := range failed {
		errs = append(errs, err)
	}
	if 2*(voters-len(errs)) > voters {
		return nil
	}
	return fmt.Errorf("%d of %d voters have not copied the file of sealed records: %w", len(errs), voters, errors.Join(errs...))
}

// readSegment reads a file of sealed records from the other nodes, until one has an intact copy.
func (n *Node) readSegment(ctx context.Context, sum [32]byte, read func(io.Reader) error) error {
	servers, err := n.consensus.Servers()
	if err != nil {
		return err
	}
	errs := []error{errors.New("no other node has them")}
	for _, x := range servers {
		if x.Node == n.Identity().Node || n.peers == nil {
			continue
		}
		if err := n.readSegmentFrom(ctx, x.Address, sum, read); err != nil {
			errs = append(errs, fmt.Errorf("node %s: %w", x.Node, err))
			continue
		}
		return nil
	}
	return errors.Join(errs...)
}

func (n *Node) readSegmentFrom(ctx context.Context, address string, sum [32]byte, read func(io.Reader) error) error {
	client, err := n.peers.At(address)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends the stream if read does not read it whole
	stream, err := client.Segment(ctx, &clusterv1.SegmentRequest{Sum: sum[:]})
	if err != nil {
		return peer.Fault(err)
	}
	return read(&pieces{next: func() ([]byte, error) {
		in, err := stream.Recv()
		if err != nil && !errors.Is(err, io.EOF) {
			err = peer.Fault(err)
		}
		return in.GetPiece(), err
	}})
}

// Segment sends a file of sealed records.
func (s peerService) Segment(in *clusterv1.SegmentRequest, stream clusterv1.PeerService_SegmentServer) error {
	sum, err := sumOf(in.GetSum())
	if err != nil {
		return peer.Status(err)
	}
	err = s.node.segments.Read(sum, func(r io.Reader) error {
		return sendPieces(r, func(piece []byte) error { return stream.Send(&clusterv1.SegmentResponse{Piece: piece}) })
	})
	if err != nil {
		return peer.Status(&fault.Error{
			Op: "segment.read", Kind: fault.NotFound, Code: "no_such_segment", Err: err,
			Detail: fmt.Sprintf("Node %s does not have the file %s of sealed records.", s.node.Identity().Node, hex.EncodeToString(sum[:])),
		})
	}
	return nil
}

// Hold copies a file of sealed records from the node that made it.
func (s peerService) Hold(ctx context.Context, in *clusterv1.HoldRequest) (*clusterv1.HoldResponse, error) {
	sum, err := sumOf(in.GetSum())
	if err != nil {
		return nil, err
	}
	address, ok := s.node.addressOf(id.Node(in.GetNode()))
	if !ok {
		return nil, fault.New(fault.NotFound, "no_such_node", "Node %s does not know node %s.", s.node.Identity().Node, in.GetNode())
	}
	if !s.node.segments.Has(sum, in.GetSize()) {
		if err := s.node.readSegmentFrom(ctx, address, sum, func(r io.Reader) error {
			return s.node.segments.Hold(sum, in.GetSize(), r)
		}); err != nil {
			return nil, err
		}
	}
	return &clusterv1.HoldResponse{}, nil
}

func sumOf(b []byte) (sum [32]byte, err error) {
	if len(b) != len(sum) {
		return sum, fault.New(fault.Malformed, "invalid_value", "The name of a file of sealed records has %d bytes.", len(sum))
	}
	return [32]byte(b), nil
}

// addressOf returns the address of a member.
func (n *Node) addressOf(node id.Node) (string, bool) {
	servers, err := n.consensus.Servers()
	if err != nil {
		return "", false
	}
	for _, s := range servers {
		if s.Node == node {
			return s.Address, true
		}
	}
	return "", false
}
