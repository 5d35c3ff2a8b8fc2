package audit

import (
	"bytes"
	"context"
	"encoding/binary"
	"iter"

	"github.com/modelgateway/modelgateway/cluster/block"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/inject"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/store"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// Up to version 3 of transactions each record was a key, with up to five more as indexes. This file writes them until
// all nodes know the log of records, reads them where they are, and packs them.

// writeOlder writes a record as older versions do.
func writeOlder(tx Tx, workspace string, number uint64, x entry, e *clusterv1.AuditEvent) {
	tx.Set(store.SpaceAudit, recordKey(workspace, number), x.wire())
	for _, key := range indexKeys(workspace, number, indexed{x.time, valuesOf(e)}) {
		tx.Set(store.SpaceAuditIndex, key, nil)
	}
}

// Begin begins the log of the records of a chain. From then on AppendAll appends to it. A second call does nothing.
func Begin(tx Tx, workspace string) *fault.Error {
	head, f := headIn(tx, workspace)
	if f != nil {
		return f
	}
	peak := int64(0)
	err := tx.Scan(store.Range{Space: store.SpaceAuditIndex, Prefix: indexPrefix(workspace, byTime, nil), Reverse: true, Limit: 1}, func(key, _ []byte) bool {
		peak = timeOf(key)
		return false
	})
	if err == nil {
		err = logOf(workspace).Begin(tx, head.GetSize()+1, peak)
	}
	if err != nil {
		return record.Unreadable(err)
	}
	return nil
}

// Begun reports whether the log of the records of a chain was begun.
func Begun(r Reader, workspace string) (bool, error) {
	_, begun, err := logOf(workspace).End(r)
	return begun, err
}

// Pack moves up to most records of older versions into the log, the oldest first.
func Pack(tx Tx, workspace string, most int) *fault.Error {
	var entries []block.Entry
	var keys [][]byte
	var bad error
	err := tx.Scan(store.Range{Space: store.SpaceAudit, Prefix: recordPrefix(workspace), Limit: most}, func(key, value []byte) bool {
		var x entry
		if x, bad = decodeEntry(value); bad != nil {
			return false
		}
		number, found := numberOf(key), indexOfStored(x)
		entries = append(entries, block.Entry{Number: number, Time: max(x.time, 0), Terms: termsOf(found.values), Value: bytes.Clone(value)})
		keys = append(keys, indexKeys(workspace, number, found)...)
		return true
	})
	if err == nil {
		err = bad
	}
	if err == nil {
		err = logOf(workspace).Import(tx, entries)
	}
	if err != nil {
		return record.Unreadable(err)
	}
	if inject.HasDefect("packed_kept") {
		return nil
	}
	for i := range entries {
		tx.Delete(store.SpaceAudit, recordKey(workspace, entries[i].Number))
	}
	for _, key := range keys {
		tx.Delete(store.SpaceAuditIndex, key)
	}
	return nil
}

// HasOlder reports whether records of older versions are left to pack.
func HasOlder(ctx context.Context, r Reader, workspace string) (there bool, err error) {
	err = r.Scan(ctx, store.Range{Space: store.SpaceAudit, Prefix: recordPrefix(workspace), Limit: 1}, func(_, _ []byte) bool {
		there = true
		return false
	})
	return there, err
}

// position is the place of a record in the order of the results of a query.
type position struct {
	block.Position

	value []byte
}

// older returns the records of older versions that an index has for the filter, in order.
func (q *query) older(ctx context.Context, r Reader) iter.Seq2[position, error] {
	return func(yield func(position, error) bool) {
		prefix := q.index(q.workspace)
		var bad error
		stopped := false
		err := r.Scan(ctx, q.keys(prefix), func(key, _ []byte) bool {
			if len(key) != len(prefix)+indexSuffix {
				return true // a longer value with the same prefix
			}
			at := block.Position{Time: timeOf(key), Number: numberOf(key)}
			value, ok, err := r.Get(store.SpaceAudit, recordKey(q.workspace, at.Number))
			if bad = err; err != nil || !ok {
				return err == nil
			}
			x, err := decodeEntry(value)
			if bad = err; err != nil {
				return false
			}
			if indexTime(x.time) != uint64(at.Time) {
				return true // the index claims a value that the record does not have
			}
			stopped = !yield(position{at, value}, nil)
			return !stopped
		})
		if err == nil {
			err = bad
		}
		if err != nil && !stopped {
			yield(position{}, err)
		}
	}
}

// index returns the prefix of the most selective index.
func (f Filter) index(workspace string) []byte {
	switch {
	case f.Request != "":
		return indexPrefix(workspace, byRequest, []byte(clean(f.Request)))
	case f.KeyHash != nil:
		return indexPrefix(workspace, byKey, f.KeyHash[:])
	case f.Org != "": // before the type: a small organization among many has few of the records of a type
		return indexPrefix(workspace, byOrg, []byte(clean(f.Org)))
	case f.Type != "":
		return indexPrefix(workspace, byType, []byte(clean(f.Type)))
	}
	return indexPrefix(workspace, byTime, nil)
}

// keys returns the range of an index to scan.
func (q *query) keys(prefix []byte) store.Range {
	x := store.Range{Space: store.SpaceAuditIndex, Prefix: prefix, Reverse: q.span.Reverse}
	x.From = indexKey(prefix, q.span.From, 0)
	if q.span.To != 0 {
		x.To = indexKey(prefix, q.span.To, 0)
	}
	low, high := q.span.After, q.span.Before
	if q.span.Reverse {
		low, high = high, low
	}
	if low != nil {
		if key := append(indexKey(prefix, low.Time, low.Number), 0); bytes.Compare(key, x.From) > 0 {
			x.From = key
		}
	}
	if high != nil {
		if key := indexKey(prefix, high.Time, high.Number); x.To == nil || bytes.Compare(key, x.To) < 0 {
			x.To = key
		}
	}
	return x
}

// timeOf decodes the time in an index key.
func timeOf(key []byte) int64 {
	if len(key) < indexSuffix {
		return 0
	}
	return int64(binary.BigEndian.Uint64(key[len(key)-indexSuffix:]))
}

// The kinds of indexes.
const (
	byTime    = 't'
	byKey     = 'k'
	byType    = 'e'
	byOrg     = 'o'
	byRequest = 'r'
)

// indexSuffix is the length of time and number in an index key.
const indexSuffix = 16

// indexed has the indexed values of a record.
type indexed struct {
	time int64 // nanoseconds
	values
}

// indexPrefix returns the prefix of the index keys of a value.
func indexPrefix(workspace string, by byte, value []byte) []byte {
	b := make([]byte, 0, len(workspace)+len(value)+3)
	b = append(append(b, workspace...), 0, by)
	return append(append(b, value...), 0)
}

// indexKey returns the index key of a record for a prefix.
func indexKey(prefix []byte, nanos int64, number uint64) []byte {
	b := make([]byte, 0, len(prefix)+indexSuffix)
	b = append(b, prefix...)
	b = binary.BigEndian.AppendUint64(b, indexTime(nanos))
	return binary.BigEndian.AppendUint64(b, number)
}

// indexTime returns a time for an index; times before 1970 become 1970.
func indexTime(nanos int64) uint64 { return uint64(max(nanos, 0)) }

// indexKeys returns the keys of a record in store.SpaceAuditIndex.
func indexKeys(workspace string, number uint64, x indexed) [][]byte {
	keys := make([][]byte, 0, 5)
	add := func(by byte, value []byte) {
		keys = append(keys, indexKey(indexPrefix(workspace, by, value), x.time, number))
	}
	add(byTime, nil)
	add(byType, []byte(x.kind))
	if len(x.key) > 0 {
		add(byKey, x.key)
	}
	if x.request != "" {
		add(byRequest, []byte(x.request))
	}
	if x.org != "" {
		add(byOrg, []byte(x.org))
	}
	return keys
}
