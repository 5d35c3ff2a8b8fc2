package auditsink

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/modelgateway/modelgateway/cluster/audit"
	"github.com/modelgateway/modelgateway/cluster/delivery"
)

const (
	// periodGrace is how long after its end a period's object is made: a record is
	// stamped before it is committed.
	periodGrace = 15 * time.Second
	// maxObject is how many records one object has at most. A period with more has
	// several objects.
	maxObject = 1_000_000
)

// bucketRoute puts one object for each period that has records.
type bucketRoute struct {
	cfg   Config
	to    objects
	state *state
}

func newBucketRoute(c Config, to objects) *bucketRoute {
	return &bucketRoute{cfg: c, to: to, state: newState(c, delivery.Bucket)}
}

// run puts objects whenever this node leads, until ctx is done.
func (b *bucketRoute) run(ctx context.Context) {
	for ctx.Err() == nil {
		if b.cfg.Leads() {
			b.lead(ctx)
			b.state.end()
		}
		pause(ctx, tick, b.cfg.Leads)
	}
}

func (b *bucketRoute) lead(ctx context.Context) {
	first := func(context.Context) (uint64, error) { return 1, nil }
	at, err := positionOf(ctx, b.cfg.Cursors, delivery.Bucket, first)
	if err != nil {
		b.state.failed(ctx, 0, err)
		pause(ctx, tick, func() bool { return false })
		return
	}
	b.state.begin(at.next)
	var wait backoff
	for ctx.Err() == nil && b.cfg.Leads() {
		err := b.step(ctx, at)
		if err == nil {
			b.state.worked(0)
			wait = backoff{}
			continue
		}
		if at.lost {
			return
		}
		b.state.failed(ctx, 0, err)
		pause(ctx, wait.next(), b.left)
	}
}

func (b *bucketRoute) left() bool { return !b.cfg.Leads() }

// step puts the next object, or waits for its time to come.
func (b *bucketRoute) step(ctx context.Context, at *position) error {
	if err := at.save(ctx); err != nil {
		return err
	}
	first, there, err := b.first(ctx, at.next)
	if err != nil {
		return err
	}
	if !there {
		return b.idle(ctx, at.next)
	}
	begin := first.Recorded.UTC().Truncate(b.cfg.Period)
	end := begin.Add(b.cfg.Period)
	if wait := time.Until(end.Add(periodGrace)); wait > 0 {
		pause(ctx, wait, b.left)
		return nil
	}
	last, n, err := b.last(ctx, first.Number, end)
	if err != nil {
		return err
	}
	if err := b.put(ctx, begin, first.Number, last); err != nil {
		return err
	}
	// A crash here puts the same object again.
	at.next = last + 1
	b.state.reached(at.next, n)
	return at.save(ctx)
}

func (b *bucketRoute) first(ctx context.Context, from uint64) (first audit.Record, there bool, err error) {
	err = b.cfg.Source.From(ctx, from, func(r audit.Record) bool {
		first, there = r, true
		return false
	})
	if err != nil {
		return first, there, fmt.Errorf("reading the audit log: %w", err)
	}
	return first, there, nil
}

func (b *bucketRoute) idle(ctx context.Context, next uint64) error {
	short, cancel := context.WithTimeout(ctx, tick)
	defer cancel()
	if err := b.cfg.Source.Wait(short, next); err != nil && short.Err() == nil {
		return fmt.Errorf("waiting for the audit log: %w", err)
	}
	return nil
}

// last is the last record of an object that begins with first, and how many it has.
func (b *bucketRoute) last(ctx context.Context, first uint64, end time.Time) (last, n uint64, err error) {
	err = b.cfg.Source.From(ctx, first, func(r audit.Record) bool {
		if !r.Recorded.Before(end) {
			return false
		}
		last = r.Number
		n++
		return n < maxObject
	})
	switch {
	case err != nil:
		return 0, 0, fmt.Errorf("reading the audit log: %w", err)
	case n == 0:
		return 0, 0, errors.New("the audit log lost a record while it was read")
	}
	return last, n, nil
}

// put writes the object. The same records make the same object.
func (b *bucketRoute) put(ctx context.Context, begin time.Time, first, last uint64) error {
	name := fmt.Sprintf("audit/%s/%s-%d-%d.jsonl.gz", b.cfg.Workspace, begin.Format("2006/01/02/15"), first, last)
	return b.to.Put(ctx, name, func(w io.Writer) error {
		z := gzip.NewWriter(w)
		if err := b.cfg.Source.Export(ctx, z, first, last); err != nil {
			return fmt.Errorf("exporting the audit log: %w", err)
		}
		return z.Close()
	})
}
