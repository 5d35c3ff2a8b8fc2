package journal

import (
	"bytes"
	"context"
	"time"

	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/store"
)

// Filter selects the events of a Scan. A field with its zero value does not filter.
type Filter struct {
	Request     id.Request  // events of this request
	Key         *id.KeyHash // events of this key
	From        time.Time   // started at this time or later
	To          time.Time   // started before this time
	Limit       int         // highest number of events; 0 means all
	NewestFirst bool        // by the time of recording; false means oldest first
}

func (f *Filter) matches(ev *Event) bool {
	return (f.Request == "" || f.Request == ev.Request) &&
		(f.Key == nil || *f.Key == ev.Key) &&
		(f.From.IsZero() || !ev.Start.Before(f.From)) &&
		(f.To.IsZero() || ev.Start.Before(f.To))
}

// Scan calls fn for each event that matches f, by ascending or descending sequence number,
// until fn returns false. It skips unsynced events: a power failure could undo one and its
// number would go to another event. It reads every event, because the journal is an outbox and
// not an archive. Reports use the ledger.
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
