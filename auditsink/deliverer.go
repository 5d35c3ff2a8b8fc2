package auditsink

import (
	"context"
	"errors"

	"golang.org/x/sync/errgroup"

	"github.com/modelgateway/modelgateway/bucket"
	"github.com/modelgateway/modelgateway/cluster/delivery"
)

// Deliverer delivers the audit log to every place that is set.
type Deliverer struct {
	source  Source
	usage   Usage // nil: there is none
	hook    *hookRoute
	routes  []*route
	objects []*bucketRoute
	close   []func() error
}

// New makes a Deliverer. It connects to nothing yet. The error names the setting at
// fault, and is a *fault.Error.
func New(c Config) (*Deliverer, error) {
	c = c.withDefaults()
	hook := newWebhook(c)
	d := &Deliverer{source: c.Source, usage: c.Usage, hook: newHookRoute(c, hook), close: []func() error{hook.Close}}
	if c.QueueURL != "" {
		q, err := openQueue(c.QueueURL)
		if err != nil {
			return nil, err
		}
		d.close = append(d.close, q.Close)
		d.routes = append(d.routes, newRoute(c, delivery.Queue, &queue{to: q, leads: c.Leads}))
	}
	if c.BucketURL != "" {
		to, err := bucket.Open("audit.bucket_url", c.BucketURL)
		if err != nil {
			return nil, errors.Join(err, d.Close())
		}
		d.close = append(d.close, to.Close)
		d.objects = []*bucketRoute{
			newBucketRoute(c, delivery.Bucket, exports(c), to), newBucketRoute(c, delivery.AuditTables, auditTables(c), to),
		}
		if c.Usage != nil {
			d.objects = append(d.objects, newBucketRoute(c, delivery.UsageTables, usageTables(c), to))
		}
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
	for _, b := range d.objects {
		all.Go(func() error { b.run(ctx); return nil })
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
	for _, b := range d.objects {
		out = append(out, b.state.status())
	}
	return out
}
