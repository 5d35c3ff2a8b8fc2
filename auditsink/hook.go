package auditsink

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/modelgateway/modelgateway/cluster/audit"
	"github.com/modelgateway/modelgateway/cluster/delivery"
)

// hookRoute delivers records to the webhook. While one request is out the next records
// are read, and how far the receiver has got is saved, so that the receiver alone
// determines the rate.
type hookRoute struct {
	cfg   Config
	hook  *webhook
	state *state
}

func newHookRoute(c Config, hook *webhook) *hookRoute {
	return &hookRoute{cfg: c, hook: hook, state: newState(c, delivery.Webhook)}
}

// saverLane is the lane of what is not a request: reading the log and saving the
// position. Requests have lanes from 0 on.
const saverLane = -1

// run delivers whenever this node leads, until ctx is done.
func (r *hookRoute) run(ctx context.Context) {
	for ctx.Err() == nil {
		if r.active() {
			r.lead(ctx)
			r.state.end()
		}
		pause(ctx, tick, r.active)
	}
}

func (r *hookRoute) active() bool {
	_, ready := r.hook.Ready()
	return ready && r.cfg.Leads()
}

// lead delivers until this node does not lead any more, or there is no webhook. Each
// change of the settings begins another session.
func (r *hookRoute) lead(ctx context.Context) {
	at, err := positionOf(ctx, r.cfg.Cursors, delivery.Webhook, r.hook.Begin)
	if err != nil {
		r.state.failed(ctx, saverLane, err)
		pause(ctx, tick, func() bool { return false })
		return
	}
	r.state.begin(at.next)
	for ctx.Err() == nil && r.active() && !at.lost {
		r.session(ctx, at)
	}
	if !at.lost {
		at.last(ctx)
	}
}

// session is the delivery with one version of the settings.
type session struct {
	*hookRoute
	settings delivery.Settings
	pace     delivery.Pace
	window   *window
	end      context.CancelFunc // ends waits and lets no further request begin; one that is out goes on
}

// session delivers until the settings change, this node does not lead any more, or ctx
// is done. A crash at any time leaves the saved position: the next leader delivers
// from there on what is not noted as taken.
func (r *hookRoute) session(ctx context.Context, at *position) {
	stop, end := context.WithCancel(ctx)
	defer end()
	settings := r.cfg.Settings()
	pace := settings.Pace.Or(r.cfg.Pace)
	s := &session{hookRoute: r, settings: settings, pace: pace, window: newWindow(at.progress(), pace), end: end}
	var all sync.WaitGroup
	all.Go(func() { s.read(stop) })
	all.Go(func() { s.watch(stop) })
	all.Go(func() { s.save(stop, at) })
	for lane := range pace.Parallel {
		all.Go(func() { s.send(ctx, stop, lane) })
	}
	all.Wait()
	at.set(s.window.progress())
	r.state.forget()
}

// over reports that no further request of the session may begin.
func (s *session) over() bool {
	now, ready := s.hook.Ready()
	return now != s.settings.Revision || !ready || !s.cfg.Leads()
}

// watch ends the session when it is over.
func (s *session) watch(stop context.Context) {
	for stop.Err() == nil && !s.over() {
		pause(stop, tick, s.over)
	}
	s.end()
}

// read fills the window.
func (s *session) read(stop context.Context) {
	var wait backoff
	for {
		from, n := s.window.room(stop)
		if n == 0 {
			return
		}
		err := s.readOnce(stop, from, n)
		switch {
		case stop.Err() != nil:
			return
		case err != nil:
			s.state.failed(stop, saverLane, err)
			pause(stop, wait.next(), s.over)
		default:
			wait = backoff{}
		}
	}
}

func (s *session) readOnce(stop context.Context, from uint64, n int) error {
	if err := s.cfg.Source.Wait(stop, from); err != nil {
		return fmt.Errorf("waiting for the audit log: %w", err)
	}
	var records []audit.Record
	err := s.cfg.Source.From(stop, from, func(one audit.Record) bool {
		records = append(records, one)
		return len(records) < n
	})
	if err != nil {
		return fmt.Errorf("reading the audit log: %w", err)
	}
	s.window.add(records, s.groups)
	return nil
}

// groups are what a record keeps its order in: everything, or with requests in
// parallel its key and its organization. None means that the webhook does not get it.
func (s *session) groups(r audit.Record) []string {
	if len(s.settings.Events) > 0 && !slices.Contains(s.settings.Events, r.Type) {
		return nil
	}
	if s.pace.Parallel == 1 {
		return []string{""}
	}
	key, organization := r.Owners()
	var out []string
	if key != "" {
		out = append(out, "k"+key)
	}
	if organization != "" {
		out = append(out, "o"+organization)
	}
	if out == nil {
		return []string{""} // events of the gateway itself keep their order too
	}
	return out
}

// send sends batches, one after the other.
func (s *session) send(ctx, stop context.Context, lane int) {
	for {
		batch := s.window.claim(stop, s.pace.Batch)
		if batch == nil || !s.deliver(ctx, stop, lane, batch) {
			return
		}
	}
}

// deliver sends a batch until the receiver has taken it. It reports false when the
// session ends before that; a later session reads the records again.
func (s *session) deliver(ctx, stop context.Context, lane int, batch []*item) bool {
	var wait backoff
	for stop.Err() == nil && !s.over() {
		err := s.hook.post(ctx, s.settings, s.pace, batch)
		if err == nil {
			// A crash here delivers the batch again.
			s.state.worked(lane)
			s.state.reached(s.window.finish(batch), uint64(len(batch)))
			return true
		}
		s.state.failed(ctx, lane, err)
		pause(stop, retryIn(err, wait.next()), s.over)
	}
	s.end()
	return false
}

// save saves how far the receiver has got: each second, and when half of the window is
// to be saved. Deliveries go on meanwhile.
func (s *session) save(stop context.Context, at *position) {
	var wait backoff
	for stop.Err() == nil {
		until, cancel := context.WithTimeout(stop, saveEvery)
		s.window.due(until)
		cancel()
		at.set(s.window.progress())
		err := at.save(stop)
		switch {
		case err == nil:
			wait = backoff{}
			s.state.worked(saverLane)
			s.window.agreed(at.next)
		case at.lost: // another node delivers
			s.end()
			return
		case stop.Err() == nil:
			s.state.failed(stop, saverLane, err)
			pause(stop, wait.next(), s.over)
		}
	}
}

// retryIn is how long to wait after an error.
func retryIn(err error, wait time.Duration) time.Duration {
	if after, ok := retryAfterOf(err); ok {
		return max(wait, min(after, maxRetryAfter))
	}
	return wait
}
