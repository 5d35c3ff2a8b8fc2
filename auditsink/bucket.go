package auditsink

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/modelgateway/modelgateway/bucket"
	"github.com/modelgateway/modelgateway/cluster/audit"
	"github.com/modelgateway/modelgateway/cluster/delivery"
	"github.com/modelgateway/modelgateway/cluster/ledger"
	"github.com/modelgateway/modelgateway/datalake"
)

const (
	// periodGrace is how long after its end a period's object is made: a record is
	// stamped before it is committed.
	periodGrace = 15 * time.Second
	// maxObject is how many records one object has at most. A period with more has
	// several objects.
	maxObject = 1_000_000
)

// contents is one kind of hourly objects: which records they have, and how they are written. All
// functions read records in the order of their numbers, which is the order of recording.
type contents struct {
	what string // for errors
	// times calls fn with the number and the time of each record from a number on, until it
	// returns false.
	times func(ctx context.Context, from uint64, fn func(number uint64, at time.Time) bool) error
	// count returns how many records a range has; nil: their numbers are dense.
	count func(ctx context.Context, first, last uint64) (uint64, error)
	// name is that of the object of a period and of a range of records.
	name      func(begin time.Time, first, last uint64) string
	mediaType string
	// write writes the records of a range. The same range makes the same object.
	write func(ctx context.Context, w io.Writer, first, last uint64) error
}

// exports are the audit records as lines of JSON, which the chain verifies.
func exports(c Config) contents {
	return contents{
		what: "the audit log", times: auditTimes(c.Source), mediaType: "application/gzip",
		name: func(begin time.Time, first, last uint64) string {
			return fmt.Sprintf("audit/%s/%s-%d-%d.jsonl.gz", c.Workspace, begin.Format("2006/01/02/15"), first, last)
		},
		write: func(ctx context.Context, w io.Writer, first, last uint64) error {
			z := gzip.NewWriter(w)
			if err := c.Source.Export(ctx, z, first, last); err != nil {
				return fmt.Errorf("exporting the audit log: %w", err)
			}
			return z.Close()
		},
	}
}

// auditTables are the audit records as Parquet files.
func auditTables(c Config) contents {
	return contents{
		what: "the audit log", times: auditTimes(c.Source), mediaType: datalake.MediaType, name: tableName("audit"),
		write: func(ctx context.Context, w io.Writer, first, last uint64) error {
			return datalake.WriteAudit(w, func(fn func(audit.Record) bool) error {
				return c.Source.From(ctx, first, func(r audit.Record) bool { return r.Number <= last && fn(r) })
			})
		},
	}
}

// usageTables are the usage records as Parquet files.
func usageTables(c Config) contents {
	return contents{
		what: "the usage records", mediaType: datalake.MediaType, name: tableName("usage"), count: c.Usage.Count,
		times: func(ctx context.Context, from uint64, fn func(uint64, time.Time) bool) error {
			return c.Usage.From(ctx, from, func(number uint64, r ledger.Record) bool { return fn(number, r.End) })
		},
		write: func(ctx context.Context, w io.Writer, first, last uint64) error {
			return datalake.WriteUsage(w, func(fn func(uint64, ledger.Record) bool) error {
				return c.Usage.From(ctx, first, func(number uint64, r ledger.Record) bool { return number <= last && fn(number, r) })
			})
		},
	}
}

func auditTimes(s Source) func(context.Context, uint64, func(uint64, time.Time) bool) error {
	return func(ctx context.Context, from uint64, fn func(uint64, time.Time) bool) error {
		return s.From(ctx, from, func(r audit.Record) bool { return fn(r.Number, r.Recorded) })
	}
}

// tableName names files as engines expect partitions. The numbers have a fixed width, so names are
// in the order of recording.
func tableName(table string) func(begin time.Time, first, last uint64) string {
	return func(begin time.Time, first, last uint64) string {
		return fmt.Sprintf("%s/dt=%s/%s-%020d-%020d.parquet", table, begin.Format(time.DateOnly), begin.Format("15"), first, last)
	}
}

// bucketRoute puts one object for each period that has records.
type bucketRoute struct {
	cfg   Config
	of    contents
	place delivery.Place
	to    *bucket.Bucket
	state *state
}

func newBucketRoute(c Config, place delivery.Place, of contents, to *bucket.Bucket) *bucketRoute {
	return &bucketRoute{cfg: c, of: of, place: place, to: to, state: newState(c, place)}
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
	at, err := positionOf(ctx, b.cfg.Cursors, b.place, first)
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
	if at.object.Last == 0 {
		chosen, err := b.choose(ctx, at.next)
		if err != nil || chosen.Last == 0 {
			return err
		}
		at.object = chosen
		// The nodes agree on the object before it is put. After a crash before that, the next
		// leader may choose another range, and nobody has put this one. After a crash behind it,
		// the next leader puts the same object.
		if err := at.save(ctx); err != nil {
			return err
		}
	}
	if err := b.put(ctx, at.object); err != nil {
		return err
	}
	// A crash here puts the same object again, under the same name.
	n := at.object.Last + 1 - at.object.First
	if b.of.count != nil {
		var err error
		if n, err = b.of.count(ctx, at.object.First, at.object.Last); err != nil {
			return fmt.Errorf("reading %s: %w", b.of.what, err)
		}
	}
	at.next, at.object = at.object.Last+1, delivery.Object{}
	b.state.reached(at.next, n)
	return at.save(ctx)
}

// choose returns the range of the next object, and waits until its period is over. It returns the
// zero Object if there is none yet.
func (b *bucketRoute) choose(ctx context.Context, next uint64) (delivery.Object, error) {
	now := time.Now()
	var begin time.Time
	err := b.of.times(ctx, next, func(_ uint64, at time.Time) bool {
		if !at.After(now) {
			begin = at.UTC().Truncate(b.cfg.Period)
		}
		return begin.IsZero()
	})
	if err != nil {
		return delivery.Object{}, fmt.Errorf("reading %s: %w", b.of.what, err)
	}
	if begin.IsZero() {
		pause(ctx, tick, b.left)
		return delivery.Object{}, nil
	}
	end := begin.Add(b.cfg.Period)
	if wait := end.Add(periodGrace).Sub(now); wait > 0 {
		pause(ctx, wait, b.left)
		return delivery.Object{}, nil
	}
	return b.last(ctx, next, begin, end)
}

// last returns the object of a period: all records up to the first of a later period. An older
// record, which was posted late, belongs to it as well. A record of the future has the time of a
// wrong clock, and does not end the period.
func (b *bucketRoute) last(ctx context.Context, next uint64, begin, end time.Time) (delivery.Object, error) {
	now, n := time.Now(), 0
	chosen := delivery.Object{Begin: begin}
	err := b.of.times(ctx, next, func(number uint64, at time.Time) bool {
		if !at.Before(end) && !at.After(now) {
			return false
		}
		if n == 0 {
			chosen.First = number
		}
		chosen.Last = number
		n++
		return n < maxObject
	})
	switch {
	case err != nil:
		return delivery.Object{}, fmt.Errorf("reading %s: %w", b.of.what, err)
	case n == 0:
		return delivery.Object{}, errors.New(b.of.what + " lost a record while it was read")
	}
	return chosen, nil
}

// put writes an object that the nodes have agreed on. Retention may have dropped its first records
// meanwhile; then it has the others, and if there are none, it is not written.
func (b *bucketRoute) put(ctx context.Context, o delivery.Object) error {
	var first uint64
	err := b.of.times(ctx, o.First, func(number uint64, _ time.Time) bool {
		first = number
		return false
	})
	if err != nil {
		return fmt.Errorf("reading %s: %w", b.of.what, err)
	}
	if first == 0 || first > o.Last {
		return nil
	}
	return b.to.Put(ctx, b.of.name(o.Begin.UTC(), o.First, o.Last), b.of.mediaType, func(w io.Writer) error {
		return b.of.write(ctx, w, first, o.Last)
	})
}
