package journal

import (
	"bytes"
	"context"
	"time"

	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/store"
)

// Filter says which events a Scan shows. The zero value of each field leaves it open.
type Filter struct {
	Request     id.Request  // of this request only
	Key         *id.KeyHash // of this key only
	From        time.Time   // started at this time or later
	To          time.Time   // started before this time
	Limit       int         // at most so many; 0 means all
	NewestFirst bool        // by the time of recording; or else the oldest first
}

func (f *Filter) matches(ev *Event) bool {
	return (f.Request == "" || f.Request == ev.Request) &&
		(f.Key == nil || *f.Key == ev.Key) &&
		(f.From.IsZero() || !ev.Start.Before(f.From)) &&
		(f.To.IsZero() || ev.Start.Before(f.To))
}

// Scan calls fn for each event that f lets through, in the order of their
// sequence numbers or against it, until fn returns false. It shows only events
// that are synced: one that a power cut could still undo would leave its number
// to another event. It reads every event, for the journal is an outbox and not
// an archive; reports belong to the ledger.
func (j *Journal) Scan(ctx context.Context, f Filter, fn func(Event) bool) error {
	var keys encoder
	epoch, durable := j.identity.Epoch, j.durable.Load()
	r := store.Range{Space: store.SpaceEvent, To: bytes.Clone(keys.eventKey(epoch, durable+1)), Reverse: f.NewestFirst}
	shown := 0
	var bad error
	err := j.store.Scan(ctx, r, func(key, value []byte) bool {
		var ev Event
		if ev, bad = decodeEvent(j.identity.Node, key, value); bad != nil {
			return false
		}
		if !f.matches(&ev) {
			return true
		}
		shown++
		return fn(ev) && shown != f.Limit
	})
	if err == nil && bad != nil {
		return damaged("event", bad)
	}
	return err
}
