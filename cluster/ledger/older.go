package ledger

import (
	"bytes"
	"context"
	"iter"

	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster/block"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/store"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// Up to version 3 of transactions each usage record was a key, with two more as indexes. This file writes
// them until all nodes know the log of records, reads them where they are, and packs them.

// keepOlder writes the record of an attempt, as older versions do.
func (p *posting) keepOlder(e *clusterv1.UsageEvent, value []byte) {
	p.place = appendUsage(p.place[:0], endOf(e), p.node, p.epoch, p.seq)
	p.tx.Set(store.SpaceUsage, p.place, value)
	p.index = append(appendKeyIndex(p.index[:0], keyAccount(e)), p.place...)
	p.tx.Set(store.SpaceUsageIndex, p.index, nil)
	p.index = append(appendRequestIndex(p.index[:0], e.GetRequest()), p.place...)
	p.tx.Set(store.SpaceUsageIndex, p.index, nil)
}

// olderRows is the number that the first row has if there are records of older versions: those get the numbers
// below, in the order of their times.
const olderRows = 1 << 40

// BeginRows begins the log of records. From then on Post appends to it. A second call does nothing.
func BeginRows(tx Tx) *fault.Error {
	first, peak := uint64(1), int64(0)
	err := tx.Scan(store.Range{Space: store.SpaceUsage, Reverse: true, Limit: 1}, func(key, _ []byte) bool {
		first, peak = olderRows, momentOf(key)
		return false
	})
	if err == nil {
		err = rowLog().Begin(tx, first, peak)
	}
	if err != nil {
		return unreadable(err)
	}
	return nil
}

// PackRows moves up to most records of older versions into the log of records, the oldest first.
func PackRows(tx Tx, most int) *fault.Error {
	number, err := rowLog().Imported(tx)
	if err != nil {
		return unreadable(err)
	}
	var entries []block.Entry
	var places [][]byte
	var events []*clusterv1.UsageEvent
	var broken error
	err = tx.Scan(store.Range{Space: store.SpaceUsage, Limit: most}, func(key, value []byte) bool {
		m := &clusterv1.UsageRecord{}
		if broken = proto.Unmarshal(value, m); broken != nil {
			return false
		}
		number++
		entries = append(entries, rowEntry(number, m.GetEvent(), bytes.Clone(value)))
		places, events = append(places, bytes.Clone(key)), append(events, m.GetEvent())
		return true
	})
	if err == nil {
		err = broken
	}
	if err == nil {
		err = rowLog().Import(tx, entries)
	}
	if err != nil {
		return unreadable(err)
	}
	for i, place := range places {
		dropOlder(tx, place, events[i])
	}
	return nil
}

// HasOlderRows reports whether records of older versions are left to pack.
func HasOlderRows(ctx context.Context, r Reader) (there bool, err error) {
	err = r.Scan(ctx, store.Range{Space: store.SpaceUsage, Limit: 1}, func(_, _ []byte) bool {
		there = true
		return false
	})
	return there, err
}

// dropOlder deletes a record of an older version. The index of the account that a key has used stays.
func dropOlder(tx Tx, place []byte, e *clusterv1.UsageEvent) {
	tx.Delete(store.SpaceUsage, place)
	tx.Delete(store.SpaceUsageIndex, append(appendKeyIndex(nil, keyAccount(e)), place...))
	tx.Delete(store.SpaceUsageIndex, append(appendRequestIndex(nil, e.GetRequest()), place...))
}

// row is a stored record and its place in the order of the results.
type row struct {
	place, value []byte
}

// olderRowsOf returns the records of older versions that may match, in order.
func (f *LogFilter) olderRowsOf(ctx context.Context, r Reader) iter.Seq2[row, error] {
	return func(yield func(row, error) bool) {
		span, skip := f.span()
		var broken error
		stopped := false
		err := r.Scan(ctx, span, func(key, value []byte) bool {
			place := key[min(skip, len(key)):]
			if span.Space == store.SpaceUsageIndex {
				var ok bool
				if value, ok, broken = r.Get(store.SpaceUsage, place); broken != nil || !ok {
					return broken == nil
				}
			}
			stopped = !yield(row{bytes.Clone(place), bytes.Clone(value)}, nil)
			return !stopped
		})
		if err == nil {
			err = broken
		}
		if err != nil && !stopped {
			yield(row{}, err)
		}
	}
}

// span returns the range of the state with the records of older versions that the filter needs, and the length
// of the prefix before a record's key in it.
func (f *LogFilter) span() (store.Range, int) {
	span := store.Range{Space: store.SpaceUsage, Reverse: f.NewestFirst}
	switch {
	case f.Request != "":
		span.Space, span.Prefix = store.SpaceUsageIndex, appendRequestIndex(nil, string(f.Request))
	case f.Key != nil:
		span.Space, span.Prefix = store.SpaceUsageIndex, appendKeyIndex(nil, *f.Key)
	}
	before := func(place []byte) []byte { return append(append([]byte{}, span.Prefix...), place...) }
	if !f.From.IsZero() {
		span.From = before(appendMoment(nil, nanosOf(f.From)))
	}
	if !f.To.IsZero() {
		span.To = before(appendMoment(nil, nanosOf(f.To)))
	}
	return span, len(span.Prefix)
}
