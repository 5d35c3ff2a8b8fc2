package auditsink

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/modelgateway/modelgateway/cluster/delivery"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/inject"
)

// position says how far the place has got: what it has, and what the nodes know of
// that.
type position struct {
	cursors Cursors
	place   delivery.Place
	next    uint64
	taken   []delivery.Range // above next
	object  delivery.Object  // being put; zero: none is chosen
	saved   delivery.Progress
	savedAt time.Time
	tried   uint64 // next at the last look of moved
	lost    bool   // another node delivers
}

func positionOf(ctx context.Context, cursors Cursors, place delivery.Place, begin func(context.Context) (uint64, error)) (*position, error) {
	p := &position{cursors: cursors, place: place}
	saved, err := cursors.Load(ctx, place)
	next := saved.Next
	if err == nil && next == 0 {
		next, err = begin(ctx)
	} else {
		p.saved = saved
	}
	if err != nil {
		return nil, fmt.Errorf("reading how far the audit log was delivered: %w", err)
	}
	p.next, p.taken, p.object, p.tried = next, saved.Taken, saved.Object, next
	if p.saved.Next == 0 {
		// Where it begins is said at once, or each new leader would find another
		// beginning.
		if err := p.save(ctx); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// progress is what the place has taken.
func (p *position) progress() delivery.Progress {
	return delivery.Progress{Next: p.next, Taken: p.taken, Object: p.object}
}

// set notes what the place has taken by now.
func (p *position) set(now delivery.Progress) { p.next, p.taken = now.Next, now.Taken }

// moved reports whether the place took anything since the last call.
func (p *position) moved() bool {
	moved := p.next != p.tried
	p.tried = p.next
	return moved
}

// saveIfDue saves how far the place has got, unless that was done just now. Each
// save is an entry of the nodes' log.
func (p *position) saveIfDue(ctx context.Context) error {
	if p.next-p.saved.Next < batchSize && time.Since(p.savedAt) < saveEvery {
		return nil
	}
	return p.save(ctx)
}

func (p *position) save(ctx context.Context) error {
	if p.next == p.saved.Next && p.object == p.saved.Object && slices.Equal(p.taken, p.saved.Taken) {
		return nil
	}
	inject.Crash("deliver.save.before")
	if err := p.cursors.Save(ctx, p.place, p.progress()); err != nil {
		p.lost = fault.KindOf(err) == fault.Conflict
		return fmt.Errorf("saving how far the audit log was delivered: %w", err)
	}
	inject.Crash("deliver.save.after")
	p.saved, p.savedAt = p.progress(), time.Now()
	return nil
}

// last saves when there will be no other time, so that less is delivered again. It
// may be too late for that, and then no harm is done.
func (p *position) last(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveWithin)
	defer cancel()
	_ = p.save(ctx)
}
