package journal

import (
	"context"
	"fmt"
	"slices"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/cluster/record"
)

// CodeBacklog is the error code when this node has too much unposted usage.
const CodeBacklog = "usage_backlog"

// Backlog returns the number of synced events in the journal of this node.
func (j *Journal) Backlog() int64 {
	return int64(j.durable.Load() - j.before.Load())
}

// Owed returns the total cost of the events in the backlog.
func (j *Journal) Owed() money.Pico { return money.Pico(j.owed.Load()) }

// Oldest returns when the oldest event of the backlog was recorded, with a precision of
// MaxAge/256; the zero time if the backlog is empty.
func (j *Journal) Oldest() time.Time { return record.FromNanos(j.oldest.Load()) }

// Dropped returns the number of notices dropped since Open.
func (j *Journal) Dropped() uint64 { return j.dropped.Load() }

// milestone holds the time at which the event with a number was recorded. One for each 256th of
// MaxAge is precise enough for the age of a backlog.
type milestone struct {
	seq uint64
	at  int64 // in Unix nanoseconds
}

const milestones = 256

// recorded adds events that have just been synced, up to the number last.
func (j *Journal) recorded(last uint64, cost money.Pico, now time.Time) {
	j.book.Lock()
	defer j.book.Unlock()
	at := now.UnixNano()
	if n := len(j.milestones); n == 0 || at-j.milestones[n-1].at >= int64(j.cfg.MaxAge/milestones) {
		j.milestones = append(j.milestones, milestone{seq: j.durable.Load() + 1, at: at})
		j.oldest.Store(j.milestones[0].at)
	}
	j.owed.Store(int64(money.Add(j.Owed(), cost)))
	j.durable.Store(last)
}

// forget subtracts deleted events, up to the number upto.
func (j *Journal) forget(upto uint64, cost money.Pico) {
	j.book.Lock()
	defer j.book.Unlock()
	j.owed.Store(int64(max(money.Add(j.Owed(), -cost), 0)))
	j.before.Store(upto)
	if j.durable.Load() == upto {
		j.milestones = j.milestones[:0]
		j.oldest.Store(0)
		return
	}
	passed := 0
	for passed+1 < len(j.milestones) && j.milestones[passed+1].seq <= upto+1 {
		passed++
	}
	j.milestones = slices.Delete(j.milestones, 0, passed)
	j.oldest.Store(j.milestones[0].at)
}

// findBacklog counts the events that the journal contains at Open. Their time of recording is
// unknown; the end of the first attempt is the best estimate.
func (j *Journal) findBacklog(ctx context.Context) error {
	if j.Backlog() == 0 {
		return nil
	}
	first, sum, err := j.digest(ctx, j.before.Load(), j.lastSeq)
	if err != nil {
		return err
	}
	j.owed.Store(int64(sum))
	j.milestones = append(j.milestones, milestone{seq: j.before.Load() + 1, at: first.end})
	j.oldest.Store(first.end)
	return nil
}

// A Stall explains why events are not posted and what the operator can do. API callers read
// both texts, so they contain no addresses and no secrets. Each is a full sentence.
type Stall struct{ Reason, Remedy string }

// SetStall sets why the last attempt to post events failed; nil means that it succeeded.
func (j *Journal) SetStall(s *Stall) { j.stall.Store(s) }

// overdue returns the error if the backlog exceeds a bound, or nil.
func (j *Journal) overdue() *fault.Error {
	events, owed, oldest := j.Backlog(), j.Owed(), j.oldest.Load()
	var bound string
	switch {
	case events > j.cfg.MaxBacklog:
		bound = fmt.Sprintf("%d events wait, and at most %d may", events, j.cfg.MaxBacklog)
	case owed > j.cfg.MaxOwed:
		bound = fmt.Sprintf("events that cost $%s wait, and at most $%s may", owed, j.cfg.MaxOwed)
	case oldest != 0 && time.Since(time.Unix(0, oldest)) > j.cfg.MaxAge:
		age := time.Since(time.Unix(0, oldest))
		bound = fmt.Sprintf("the oldest event has waited for %s, and it may for %s", age.Round(min(time.Second, j.cfg.MaxAge)), j.cfg.MaxAge)
	default:
		return nil
	}
	why := j.stall.Load()
	if why == nil {
		why = &Stall{
			Reason: "The last attempt to post succeeded or has not ended yet.",
			Remedy: "Check the load and the disk of the cluster's leader.",
		}
	}
	return &fault.Error{
		Op: "journal", Kind: fault.StorageUnavailable, Code: CodeBacklog,
		Detail: "Too much usage of this node is not posted to the ledger: " + bound + ". " + why.Reason + " " + why.Remedy +
			" This node accepts requests again when the usage is posted; send requests to another node until then.",
	}
}

// digest is the part of an event that the backlog needs.
type digest struct {
	cost money.Pico
	end  int64 // in Unix nanoseconds; the start if the event has no end
}

// The field numbers of cluster.v1.UsageEvent that a digest reads.
const (
	fieldStart = 14
	fieldEnd   = 16
	fieldCost  = 23
)

// digestOf decodes a record without creating an Event. Trim reads every event again, and must
// not allocate for it.
func digestOf(value []byte) (digest, error) {
	var start, end, cost uint64
	for len(value) > 0 {
		number, kind, n := protowire.ConsumeTag(value)
		if n < 0 {
			return digest{}, protowire.ParseError(n)
		}
		value = value[n:]
		var field *uint64
		switch {
		case kind != protowire.VarintType:
		case number == fieldStart:
			field = &start
		case number == fieldEnd:
			field = &end
		case number == fieldCost:
			field = &cost
		}
		if field != nil {
			*field, n = protowire.ConsumeVarint(value)
		} else {
			n = protowire.ConsumeFieldValue(number, kind, value)
		}
		if n < 0 {
			return digest{}, protowire.ParseError(n)
		}
		value = value[n:]
	}
	if end == 0 {
		end = start
	}
	return digest{cost: money.Pico(cost), end: int64(end)}, nil
}
