package journal

import (
	"context"
	"log/slog"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/inject"
	"github.com/modelgateway/modelgateway/cluster/store"
)

// repair finds the last sequence number and settles the intents of a dead process. It settles
// with an ordinary commit, one event for each intent. A crash before the sync leaves the
// intents for the next Open; a crash after it leaves nothing to do.
func (j *Journal) repair(ctx context.Context) error {
	if err := j.findLastSeq(ctx); err != nil {
		return err
	}
	j.found = j.lastSeq
	j.durable.Store(j.lastSeq)
	if err := j.findBacklog(ctx); err != nil {
		return err
	}
	left, err := j.leftIntents(ctx)
	if err != nil || len(left) == 0 {
		return err
	}
	g := newGroup(nil)
	g.ops = []*Pending{{group: g, settles: left, events: crashedAll(left)}}
	inject.Crash("journal.repair.before")
	j.repairing = true
	defer func() { j.repairing = false }()
	if err := j.commit(g); err != nil {
		return err
	}
	inject.Crash("journal.repair.after")
	j.cfg.Logger.LogAttrs(ctx, slog.LevelWarn, "attempts of a dead process were charged by estimate", slog.Int("attempts", len(left)))
	return nil
}

// crashedAll returns an event for each intent. The last event of a request is that of its
// highest attempt.
func crashedAll(left []*Pending) []Event {
	events := make([]Event, len(left))
	last := make(map[id.Request]int, len(left))
	for i, p := range left {
		events[i] = crashed(p.intent)
		if at, other := last[p.intent.Request]; !other || p.intent.Number >= left[at].intent.Number {
			last[p.intent.Request] = i
		}
	}
	for _, i := range last {
		events[i].Final = true
	}
	return events
}

// findLastSeq sets lastSeq from the mark and the newest event; the higher one counts. Reusing a
// number would lose usage, and skipping one would stop the shipping.
func (j *Journal) findLastSeq(ctx context.Context) error {
	epoch := j.encoder.markKey(j.identity.Epoch)
	value, ok, err := j.store.Get(store.SpaceMark, epoch)
	if err != nil {
		return err
	}
	if ok {
		if j.lastSeq, err = parseMark(value); err != nil {
			return damaged("mark", err)
		}
	}
	newest := store.Range{Space: store.SpaceEvent, Prefix: epoch, Reverse: true, Limit: 1}
	var bad error
	err = j.store.Scan(ctx, newest, func(key, _ []byte) bool {
		var seq uint64
		_, seq, bad = parseEventKey(key)
		j.lastSeq = max(j.lastSeq, seq)
		return false
	})
	if err != nil || bad != nil {
		return either(err, bad)
	}
	return j.findFirst(ctx, epoch)
}

// findFirst counts the deleted events: those before the oldest.
func (j *Journal) findFirst(ctx context.Context, epoch []byte) error {
	first := j.lastSeq + 1
	var bad error
	err := j.store.Scan(ctx, store.Range{Space: store.SpaceEvent, Prefix: epoch, Limit: 1}, func(key, _ []byte) bool {
		_, first, bad = parseEventKey(key)
		return false
	})
	if err != nil || bad != nil {
		return either(err, bad)
	}
	j.before.Store(first - 1)
	return nil
}

// either returns the cause if an event could not be read.
func either(err, bad error) error {
	if err != nil {
		return err
	}
	return damaged("event", bad)
}

// leftIntents reads the unsettled intents, oldest first.
func (j *Journal) leftIntents(ctx context.Context) ([]*Pending, error) {
	written := newGroup(nil)
	var left []*Pending
	var bad error
	err := j.store.Scan(ctx, store.Range{Space: store.SpaceIntent}, func(key, value []byte) bool {
		p := &Pending{group: written}
		if p.number, bad = parseIntentKey(key); bad == nil {
			p.intent, bad = decodeIntent(value)
		}
		left = append(left, p)
		return bad == nil
	})
	if err == nil && bad != nil {
		return nil, damaged("intent", bad)
	}
	return left, err
}

// damaged returns the error for an unreadable record. Skipping it would silently charge less
// than was used.
func damaged(record string, err error) *fault.Error {
	e := unavailable("", err)
	e.Detail = "The journal has an " + record + " record that cannot be read: it is damaged, or was written by a newer version. Restore the data directory or start the newer version."
	return e
}
