package ship

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/modelgateway/modelgateway/cluster/consensus"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/journal"
)

// stall is why this node's usage is not posted.
type stall struct {
	since  time.Time // of the first failure since the last success
	last   *fault.Error
	logged bool // the last reason is in the log
}

// stalled records that an attempt to post usage has failed. It logs the first failure, and each other
// reason once. It logs a reason for which waiting may help only if loud is set.
func (s *Shipper) stalled(ctx context.Context, err error, loud bool) {
	f := fault.From(err)
	s.cfg.Journal.SetStall(stallOf(f))
	waiting := f.Kind == fault.Unavailable
	now, before := stall{since: time.Now(), last: f, logged: loud || !waiting}, s.failing.Load()
	known := before != nil && before.logged && before.last.Code == f.Code
	if before != nil {
		now.since = before.since
	}
	now.logged = now.logged || known
	s.failing.Store(&now)
	if known || !now.logged {
		return
	}
	level := slog.LevelWarn
	if !waiting { // an operator must act
		level = slog.LevelError
	}
	s.cfg.Logger.LogAttrs(ctx, level, "usage cannot be posted; it waits in the journal", slog.String("error", f.Error()), slog.Int64("events", s.cfg.Journal.Backlog()))
}

// Problems returns the problem that usage waits in the journal, with its reason:
// at once if waiting does not help, and otherwise after quietTime.
func (s *Shipper) Problems() []string {
	why, events := s.failing.Load(), s.cfg.Journal.Backlog()
	if why == nil || events == 0 || why.last.Kind == fault.Unavailable && time.Since(why.since) < quietTime {
		return nil
	}
	return []string{fmt.Sprintf("usage: %d events that cost $%s are not posted, for %s: %s",
		events, s.cfg.Journal.Owed(), time.Since(why.since).Round(time.Second), why.last.Error())}
}

// stallOf describes a failure to post for callers: without addresses and without the text
// of another node.
func stallOf(f *fault.Error) *journal.Stall {
	const look = "The operator finds the full reason in problems of /cluster/status and in this node's log."
	late := fault.KindOf(f.Err) == fault.Timeout || status.Code(f.Err) == codes.DeadlineExceeded
	switch {
	case f.Kind == fault.Unavailable && errors.Is(f.Err, consensus.ErrNotLeader):
		return &journal.Stall{
			Reason: "The cluster has no leader, or this node does not reach it.",
			Remedy: "Repair the network between the nodes, or start nodes until a majority of the voters runs.",
		}
	case f.Kind == fault.Unavailable && late:
		return &journal.Stall{
			Reason: fmt.Sprintf("The cluster's leader did not confirm the events within %s.", TryTime),
			Remedy: "Check the load and the disk of the leader, and the network between it and this node.",
		}
	case f.Kind == fault.Unavailable:
		return &journal.Stall{Reason: "The request to the cluster's leader failed.", Remedy: "Check the leader and the network between it and this node. " + look}
	case f.Kind == fault.StorageUnavailable:
		return &journal.Stall{Reason: "This node cannot read its data directory.", Remedy: "Check the disk of this node. " + look}
	case f.Kind == fault.Internal || f.Code == "":
		return &journal.Stall{Reason: "Posting ended with an error (" + f.Kind.String() + ").", Remedy: look}
	}
	return &journal.Stall{Reason: "The cluster rejected the events (" + f.Code + ").", Remedy: look}
}
