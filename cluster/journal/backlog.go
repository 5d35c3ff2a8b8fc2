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

// CodeBacklog is the code of the refusal when too much usage is not posted.
const CodeBacklog = "usage_backlog"

// Backlog returns how many events of this node are in the journal and synced.
func (j *Journal) Backlog() int64 {
	return int64(j.durable.Load() - j.before.Load())
}

// Owed returns what the events of the backlog cost in all.
func (j *Journal) Owed() money.Pico { return money.Pico(j.owed.Load()) }

// Oldest returns when the oldest event of the backlog was recorded, to one part in
// 256 of MaxAge; zero if there is none.
func (j *Journal) Oldest() time.Time { return record.FromNanos(j.oldest.Load()) }

// Dropped returns how many notices were not taken since Open.
func (j *Journal) Dropped() uint64 { return j.dropped.Load() }

// milestone says when the event of that number was recorded. There is one for each
// 256th of MaxAge, which is enough to tell how old a backlog is.
type milestone struct {
	seq uint64
	at  int64 // in Unix nanoseconds
}

const milestones = 256

// recorded takes note of events that were synced now, up to the number last.
func (j *Journal) recorded(last uint64, cost money.Pico, now time.Time) {
	j.book.Lock()
	defer j.book.Unlock()
	at := now.UnixNano()
	if n := len(j.stones); n == 0 || at-j.stones[n-1].at >= int64(j.cfg.MaxAge/milestones) {
		j.stones = append(j.stones, milestone{seq: j.durable.Load() + 1, at: at})
		j.oldest.Store(j.stones[0].at)
	}
	j.owed.Store(int64(money.Add(j.Owed(), cost)))
	j.durable.Store(last)
}

// forget takes note of events that were deleted, up to the number upto.
func (j *Journal) forget(upto uint64, cost money.Pico) {
	j.book.Lock()
	defer j.book.Unlock()
	j.owed.Store(int64(max(money.Add(j.Owed(), -cost), 0)))
	j.before.Store(upto)
	if j.durable.Load() == upto {
		j.stones = j.stones[:0]
		j.oldest.Store(0)
		return
	}
	passed := 0
	for passed+1 < len(j.stones) && j.stones[passed+1].seq <= upto+1 {
		passed++
	}
	j.stones = slices.Delete(j.stones, 0, passed)
	j.oldest.Store(j.stones[0].at)
}

// findBacklog adds up what is there when the journal is opened. When it was recorded
// nobody knows any more; the end of the first attempt is the best guess.
func (j *Journal) findBacklog(ctx context.Context) error {
	if j.Backlog() == 0 {
		return nil
	}
	first, sum, err := j.digest(ctx, j.before.Load(), j.lastSeq)
	if err != nil {
		return err
	}
	j.owed.Store(int64(sum))
	j.stones = append(j.stones, milestone{seq: j.before.Load() + 1, at: first.end})
	j.oldest.Store(first.end)
	return nil
}

// A Stall says why events are not posted and what the operator can do. Callers read both
// texts: they contain no addresses and no secrets. Each is a full sentence.
type Stall struct{ Reason, Remedy string }

// SetStall sets why the last attempt to post events failed; nil: it succeeded.
func (j *Journal) SetStall(s *Stall) { j.stall.Store(s) }

// overdue says why no more may be owed; nil if more may.
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

// digest is what the backlog needs to know of an event.
type digest struct {
	cost money.Pico
	end  int64 // in Unix nanoseconds; of one without an end its start
}

// Numbers of the fields of cluster.v1.UsageEvent that a digest is made of.
const (
	fieldStart = 14
	fieldEnd   = 16
	fieldCost  = 23
)

// digestOf reads a record without making an Event of it: Trim reads every event
// once more, and allocates nothing for that.
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
