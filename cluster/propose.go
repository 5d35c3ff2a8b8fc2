package cluster

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster/consensus"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/peer"
	"github.com/modelgateway/modelgateway/cluster/ship"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

const (
	// writeTime is how long a change may take. A node in a minority responds by then,
	// before callers give up at five seconds.
	writeTime = 4500 * time.Millisecond
	// retryPause is how long a change waits before it looks for a leader again. An
	// election takes a second or so.
	retryPause = 50 * time.Millisecond
	// readTime is the same for a read that has to be current.
	readTime = 4500 * time.Millisecond
)

// submit makes one change: it is committed, and this node's readers see it, when
// submit returns its index. A node that does not lead hands the change to the one
// that does. While it is not known whether the change was made, it is proposed
// again under the same id, which makes it once.
//
// Errors: the change's own refusal; Unavailable with code no_leader where nothing
// was changed, and with outcome_unknown where that is not known.
func (n *Node) submit(ctx context.Context, cmd *clusterv1.Command) (index uint64, err error) {
	began := time.Now()
	defer func() { n.tellChange(ctx, cmd, index, time.Since(began), err) }()
	ctx, cancel := context.WithTimeout(ctx, writeTime)
	defer cancel()
	index, err = n.repeat(ctx, cmd)
	if err == nil {
		// It is committed, whatever happens now. The caller can read its own write here.
		_ = n.consensus.WaitApplied(ctx, index)
	}
	return index, err
}

// repeat proposes a command under a new id until its outcome is known or ctx ends. It returns the
// command's index, also if the command was rejected. The errors are those of submit.
func (n *Node) repeat(ctx context.Context, cmd *clusterv1.Command) (uint64, error) {
	cmd.Id = make([]byte, commandIDLength)
	_, _ = rand.Read(cmd.GetId()) // never fails
	data, err := proto.MarshalOptions{Deterministic: true}.Marshal(cmd)
	if err != nil {
		return 0, &fault.Error{Op: "cluster.propose", Kind: fault.Internal, Err: err}
	}
	uncertain := false
	for {
		index, refusal, err := n.proposeOnce(ctx, data)
		switch {
		case err == nil && refusal != nil:
			return index, refusal
		case err == nil:
			return index, nil
		}
		uncertain = uncertain || !errors.Is(err, consensus.ErrNotLeader)
		select {
		case <-ctx.Done():
			if uncertain {
				return 0, unknown(err)
			}
			return 0, unavailable(err)
		case <-time.After(retryPause):
		}
	}
}

// tellChange logs and counts a change that was asked for here. What is changed to
// what is not in the log.
func (n *Node) tellChange(ctx context.Context, cmd *clusterv1.Command, index uint64, took time.Duration, err error) {
	n.metrics.changed(ctx, took, err)
	reflected := cmd.ProtoReflect()
	kind := reflected.WhichOneof(reflected.Descriptor().Oneofs().ByName("change"))
	attrs := []slog.Attr{
		slog.String("change", string(kind.Name())), slog.String("actor", cmd.GetActor()),
		slog.Uint64("index", index), slog.Float64("duration_ms", float64(took.Microseconds())/1000),
	}
	if err != nil {
		level := slog.LevelInfo
		if stale(err) {
			level = slog.LevelDebug // Change runs the operation again; only the last result matters
		}
		n.logger.LogAttrs(ctx, level, "change refused", append(attrs, slog.String("error", err.Error()))...)
		return
	}
	n.logger.LogAttrs(ctx, slog.LevelInfo, "changed", attrs...)
}

// proposeOnce tries once, here or at the leader. errors.Is(err, ErrNotLeader)
// says that nothing was changed.
func (n *Node) proposeOnce(ctx context.Context, data []byte) (uint64, *fault.Error, error) {
	if n.consensus.IsLeader() {
		return n.consensus.Propose(ctx, data)
	}
	client, err := n.leader()
	if err != nil {
		return 0, nil, err
	}
	answer, err := client.Propose(ctx, &clusterv1.ProposeRequest{Command: data})
	if err != nil {
		if fault.From(err).Code == peer.CodeNotLeader {
			return 0, nil, errors.Join(consensus.ErrNotLeader, err)
		}
		return 0, nil, err
	}
	return outcomeOf(answer.GetOutcome())
}

// commit commits an idempotent command: it is proposed again until its outcome is known. It
// returns when this node's state has it. Errors: the command's own; Unavailable if no leader
// responded, and then it may still be committed.
func (n *Node) commit(ctx context.Context, cmd *clusterv1.Command) error {
	data, err := proto.MarshalOptions{Deterministic: true}.Marshal(cmd)
	if err != nil {
		return &fault.Error{Op: "cluster.commit", Kind: fault.Internal, Err: err}
	}
	try, cancel := context.WithTimeout(ctx, ship.TryTime)
	defer cancel()
	index, refusal, err := n.proposeOnce(try, data)
	switch {
	case err != nil:
		return unavailable(err)
	case refusal != nil:
		return refusal
	}
	if err := n.consensus.WaitApplied(try, index); err != nil {
		return unavailable(err)
	}
	return nil
}

// leader returns a client of the leader, which is another node. errors.Is(err, ErrNotLeader) if this
// node knows none.
func (n *Node) leader() (clusterv1.PeerServiceClient, error) {
	leader, ok := n.consensus.Leader()
	if !ok || n.peers == nil || leader.Node == n.Identity().Node {
		return nil, consensus.ErrNotLeader
	}
	client, err := n.peers.At(leader.Address)
	if err != nil {
		return nil, errors.Join(consensus.ErrNotLeader, err)
	}
	return client, nil
}

// outcomeOf reads what another node says of a command.
func outcomeOf(data []byte) (uint64, *fault.Error, error) {
	var out clusterv1.CommandOutcome
	if err := proto.Unmarshal(data, &out); err != nil {
		return 0, nil, &fault.Error{Op: "cluster.propose", Kind: fault.Internal, Err: err}
	}
	if !out.GetFailed() {
		return out.GetIndex(), nil, nil
	}
	return out.GetIndex(), &fault.Error{
		Kind: fault.Kind(out.GetFaultKind()), Code: out.GetFaultCode(),
		Param: out.GetFaultParam(), Detail: out.GetFaultDetail(),
	}, nil
}

// codes of the errors of a cluster that cannot agree.
const (
	codeNoLeader       = "no_leader"
	codeOutcomeUnknown = "outcome_unknown"
)

// retryAfter is the wait in errors for callers: an election is over by then.
const retryAfter = 2 * time.Second

// unavailable is the answer of a node that reaches no majority.
func unavailable(cause error) *fault.Error {
	return &fault.Error{
		Op: "cluster", Kind: fault.Unavailable, Code: codeNoLeader, RetryAfter: retryAfter, Err: cause,
		Detail: "The cluster has no leader right now, or this node does not reach it. Nothing was changed; try again.",
	}
}

// unknown is the answer where a majority may have been reached and has not said so.
func unknown(cause error) *fault.Error {
	return &fault.Error{
		Op: "cluster", Kind: fault.Unavailable, Code: codeOutcomeUnknown, RetryAfter: retryAfter, Err: cause,
		Detail: "The cluster did not confirm the change in time, so it is not known whether it was made. Look whether it is there before you try again.",
	}
}

// current waits until this node's readers see everything that was acknowledged,
// on any node, before the call.
func (n *Node) current(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readTime)
	defer cancel()
	for {
		index, err := n.readIndex(ctx)
		if err == nil {
			err = n.consensus.WaitApplied(ctx, index)
		}
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return &fault.Error{
				Op: "cluster.read", Kind: fault.Unavailable, Code: codeNoLeader, RetryAfter: retryAfter, Err: err,
				Detail: "The cluster has no leader right now, or this node does not reach it, so nobody can say what is current. Try again.",
			}
		case <-time.After(retryPause):
		}
	}
}

// readIndex asks the leader for a read index.
func (n *Node) readIndex(ctx context.Context) (uint64, error) {
	if n.consensus.IsLeader() {
		return n.consensus.ReadIndex(ctx)
	}
	client, err := n.leader()
	if err != nil {
		return 0, err
	}
	answer, err := client.ReadIndex(ctx, &clusterv1.ReadIndexRequest{})
	return answer.GetIndex(), err
}
