package auditsink

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/modelgateway/modelgateway/cluster/audit"
	"github.com/modelgateway/modelgateway/cluster/delivery"
)

// carrier takes records to a place.
type carrier interface {
	// Ready reports whether there is anything to deliver to, and a number that is
	// another one when that is not the same place, or way, any more.
	Ready() (version uint64, ready bool)
	// Begin returns the number of the first record for a place that is new.
	Begin(ctx context.Context) (uint64, error)
	// Deliver takes records, in their order, and returns how many of them the place
	// has for sure. Fewer than all without an error means that it was interrupted.
	// The error is of the first that the place does not have.
	Deliver(ctx context.Context, records []audit.Record) (int, error)
}

// later is an error that says when to try again.
type later struct {
	error
	after time.Duration
}

func (e *later) Unwrap() error { return e.error }

// route delivers records one after the other.
type route struct {
	cfg     Config
	place   delivery.Place
	carrier carrier
	state   *state
}

func newRoute(c Config, place delivery.Place, to carrier) *route {
	return &route{cfg: c, place: place, carrier: to, state: newState(c, place)}
}

// run delivers whenever this node leads, until ctx is done.
func (r *route) run(ctx context.Context) {
	for ctx.Err() == nil {
		if r.active() {
			r.lead(ctx)
			r.state.end()
		}
		pause(ctx, tick, r.active)
	}
}

func (r *route) active() bool {
	if !r.cfg.Leads() {
		return false
	}
	_, ready := r.carrier.Ready()
	return ready
}

// lead delivers until this node does not lead any more, or there is nothing to
// deliver to.
func (r *route) lead(ctx context.Context) {
	at, err := r.position(ctx)
	if err != nil {
		r.state.failed(ctx, 0, err)
		pause(ctx, tick, func() bool { return false })
		return
	}
	r.state.begin(at.next)
	var wait backoff
	for ctx.Err() == nil && r.active() {
		version, _ := r.carrier.Ready()
		err := r.step(ctx, at)
		switch {
		case err == nil:
			r.state.worked(0)
			wait = backoff{}
			continue
		case at.lost:
			return
		case at.moved():
			wait = backoff{} // some were taken before the one that failed
		}
		r.state.failed(ctx, 0, err)
		pauseFor := retryIn(err, wait.next())
		if pauseFor > 0 {
			// While the place is down others may come to lead: they should not begin
			// with what it took before. Where that cannot be saved the next step does.
			_ = at.save(ctx)
		}
		pause(ctx, pauseFor, func() bool { return r.changed(version) })
		if r.changed(version) {
			wait = backoff{}
		}
	}
	at.last(ctx)
}

// retryAfterOf is when an error says to try again.
func retryAfterOf(err error) (time.Duration, bool) {
	l, ok := errors.AsType[*later](err)
	if !ok {
		return 0, false
	}
	return l.after, true
}

// changed reports that waiting longer makes no sense.
func (r *route) changed(version uint64) bool {
	now, ready := r.carrier.Ready()
	return now != version || !ready || !r.cfg.Leads()
}

// step delivers what there is, or waits a little for something.
func (r *route) step(ctx context.Context, at *position) error {
	if err := at.saveIfDue(ctx); err != nil {
		return err
	}
	records, err := r.read(ctx, at.next)
	if err != nil {
		return fmt.Errorf("reading the audit log: %w", err)
	}
	if len(records) == 0 {
		return r.idle(ctx, at)
	}
	n, err := r.carrier.Deliver(ctx, records)
	if n > 0 {
		// A crash here delivers these again.
		at.next = records[n-1].Number + 1
		r.state.reached(at.next, uint64(n))
	}
	return err
}

func (r *route) read(ctx context.Context, from uint64) ([]audit.Record, error) {
	var out []audit.Record
	err := r.cfg.Source.From(ctx, from, func(one audit.Record) bool {
		out = append(out, one)
		return len(out) < batchSize
	})
	return out, err
}

// idle waits for a record, and no longer than a tick.
func (r *route) idle(ctx context.Context, at *position) error {
	short, cancel := context.WithTimeout(ctx, tick)
	defer cancel()
	err := r.cfg.Source.Wait(short, at.next)
	if err != nil && short.Err() == nil {
		pause(ctx, tick, func() bool { return false })
		return fmt.Errorf("waiting for the audit log: %w", err)
	}
	return nil
}

// position is where to go on.
func (r *route) position(ctx context.Context) (*position, error) {
	return positionOf(ctx, r.cfg.Cursors, r.place, r.carrier.Begin)
}
