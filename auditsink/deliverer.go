package auditsink

import (
	"context"
	"errors"

	"golang.org/x/sync/errgroup"

	"github.com/modelgateway/modelgateway/cluster/delivery"
)

// Deliverer delivers the audit log to every place that is set.
type Deliverer struct {
	source Source
	hook   *hookRoute
	routes []*route
	bucket *bucketRoute // nil: there is none
	close  []func() error
}

// New makes a Deliverer. It connects to nothing yet. The error names the setting at
// fault, and is a *fault.Error.
func New(c Config) (*Deliverer, error) {
	c = c.withDefaults()
	hook := newWebhook(c)
	d := &Deliverer{source: c.Source, hook: newHookRoute(c, hook), close: []func() error{hook.Close}}
	if c.QueueURL != "" {
		q, err := openQueue(c.QueueURL)
		if err != nil {
			return nil, err
		}
		d.close = append(d.close, q.Close)
		d.routes = append(d.routes, newRoute(c, delivery.Queue, &queue{to: q, leads: c.Leads}))
	}
	if c.BucketURL != "" {
		b, err := openBucket(c.BucketURL)
		if err != nil {
			return nil, errors.Join(err, d.Close())
		}
		d.close = append(d.close, b.Close)
		d.bucket = newBucketRoute(c, b)
	}
	return d, nil
}

// Run delivers until ctx is done. A Deliverer is run once.
func (d *Deliverer) Run(ctx context.Context) error {
	var all errgroup.Group
	all.Go(func() error { d.hook.run(ctx); return nil })
	for _, r := range d.routes {
		all.Go(func() error { r.run(ctx); return nil })
	}
	if d.bucket != nil {
		all.Go(func() error { d.bucket.run(ctx); return nil })
	}
	return all.Wait() // nil: they return nil
}

// Close gives connections back. Run has returned before.
func (d *Deliverer) Close() error {
	var errs []error
	for _, c := range d.close {
		errs = append(errs, c())
	}
	return errors.Join(errs...)
}

// Status is how a place does, as this node knows.
func (d *Deliverer) Status() []Status {
	out := []Status{d.hook.state.status()}
	for _, r := range d.routes {
		out = append(out, r.state.status())
	}
	if d.bucket != nil {
		out = append(out, d.bucket.state.status())
	}
	return out
}
