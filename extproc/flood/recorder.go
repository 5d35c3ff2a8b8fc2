package flood

import (
	"context"
	"time"

	"github.com/modelgateway/modelgateway/cluster/event"
	"github.com/modelgateway/modelgateway/cluster/journal"
)

// Recorder records notices, those of rejected requests through a Filter. It is safe for concurrent
// use.
type Recorder struct {
	Journal interface{ Notify(ev journal.Event) }
	Now     func() time.Time

	filter Filter
}

// Notify records the notice of a request that did not reach a provider, within the Filter's bounds.
func (r *Recorder) Notify(ev journal.Event) {
	r.notify(r.filter.Take(r.Now(), &ev))
}

// NotifyOther records an event of another part of the gateway. Rejected requests count together
// with those of Notify, so callers of the management API without a key do not decide the length of
// the audit log either.
func (r *Recorder) NotifyOther(ev journal.Event) {
	if ev.Notice == nil || ev.Notice.Type != event.TypeRequestBlocked {
		r.Journal.Notify(ev)
		return
	}
	r.Notify(ev)
}

func (r *Recorder) notify(events []journal.Event) {
	for i := range events {
		r.Journal.Notify(events[i])
	}
}

// Run records what was held back, every second until ctx ends, and then what remains. The journal
// must still accept notices then.
func (r *Recorder) Run(ctx context.Context) error {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			r.notify(r.filter.Flush(r.Now()))
		case <-ctx.Done():
			r.notify(r.filter.FlushAll())
			return nil
		}
	}
}
