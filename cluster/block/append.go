package block

import (
	"fmt"

	"github.com/modelgateway/modelgateway/cluster/inject"
	"github.com/modelgateway/modelgateway/cluster/store"
)

// Append appends records. It packs them as soon as a block is full.
func (l Log) Append(tx Tx, entries []Entry) error {
	if len(entries) == 0 {
		return nil
	}
	h, begun, err := l.head(tx)
	if err != nil {
		return err
	}
	if !begun {
		h.last, h.packed = entries[0].Number-1, entries[0].Number-1
	}
	stored, from := h.last, 0
	for i := range entries {
		e := &entries[i]
		if h.last++; e.Number != h.last || e.Number == 0 {
			return damaged(nil, fmt.Sprintf("The record %d does not follow the record %d.", e.Number, h.last-1))
		}
		if h.raw += uint64(len(e.Value)); e.Number%Size != 0 && h.raw < maxRaw {
			continue
		}
		records, err := l.waiting(tx, h.packed+1, stored)
		if err != nil {
			return err
		}
		for n := range records {
			tx.Delete(l.Space, l.key(kindRecord, records[n].Number))
		}
		for _, e := range entries[from : i+1] {
			records = append(records, unpacked{Record{e.Number, e.Time, e.Value}, e.Terms})
		}
		h.peak = l.pack(tx, records, h.peak)
		h.packed, h.raw, stored, from = e.Number, 0, e.Number, i+1
	}
	var buffer []byte
	for _, e := range entries[from:] {
		buffer = appendUnpacked(buffer[:0], e)
		tx.Set(l.Space, l.key(kindRecord, e.Number), buffer)
	}
	l.setHead(tx, h)
	return nil
}

// valuesSize is the capacity of a buffer for some of the records that wait.
const valuesSize = 16 << 10

// waiting returns the stored records from one number to another that are in no block yet.
func (l Log) waiting(tx Tx, from, to uint64) ([]unpacked, error) {
	if from > to {
		return nil, nil
	}
	out := make([]unpacked, 0, Size)
	var values []byte // of some of them: what records refer to is not copied again when it is full
	var bad error
	err := tx.Scan(store.Range{
		Space: l.Space, Prefix: l.prefix(kindRecord), From: l.key(kindRecord, from), To: l.key(kindRecord, to+1),
	}, func(key, value []byte) bool {
		var u unpacked
		if len(value) > cap(values)-len(values) {
			values = make([]byte, 0, max(valuesSize, len(value)))
		}
		values = append(values, value...)
		if u, bad = decodeUnpacked(numberOf(key), values[len(values)-len(value):]); bad == nil {
			out = append(out, u)
		}
		return bad == nil
	})
	if err == nil {
		err = bad
	}
	// The first of them may have been dropped; a gap behind that is damage.
	for i := range out {
		if err == nil && out[i].Number != to-uint64(len(out)-1-i) {
			err = damaged(nil, fmt.Sprintf("The record %d is missing.", to-uint64(len(out)-1-i)))
		}
	}
	return out, err
}

// pack writes a block with its index, and returns the highest time so far. peak is that before it.
func (l Log) pack(tx Tx, records []unpacked, peak int64) int64 {
	if inject.HasDefect("peak_forgotten") {
		peak = 0
	}
	at := refOf(records, peak)
	posted, filtered := l.termsOf(records)
	l.encode(records, func(b []byte) { tx.Set(l.Space, l.key(kindBlock, at.first), b) })
	tx.Set(l.Space, l.key(kindDirectory, at.first), at.encode())
	if len(filtered) > 0 {
		tx.Set(l.Space, l.key(kindFilter, at.first), newFilter(filtered))
	}
	tx.Set(l.Space, l.key(kindTerms, at.first), joinTerms(posted))
	if len(posted) > 0 && inject.HasDefect("posting_missing") {
		posted = posted[1:]
	}
	for _, t := range posted {
		tx.Set(l.Space, l.posting(t, at.first), nil)
	}
	return at.peak
}

// Begin makes the next record that Append appends one of a number or a higher one, if there is none yet. The
// records before it are those of Import. peak is the highest of their times.
func (l Log) Begin(tx Tx, number uint64, peak int64) error {
	_, begun, err := l.head(tx)
	if err != nil || begun {
		return err
	}
	l.setHead(tx, head{last: number - 1, packed: number - 1, peak: peak})
	return nil
}

// Import packs records that are older than those of Append, in their order.
func (l Log) Import(tx Tx, entries []Entry) error {
	h, begun, err := l.head(tx)
	if err != nil || len(entries) == 0 {
		return err
	}
	records := make([]unpacked, 0, Size)
	raw := 0
	for i, e := range entries {
		if !begun || e.Number != max(h.imported+1, entries[0].Number+uint64(i)) {
			return damaged(nil, fmt.Sprintf("The record %d cannot be packed: it does not follow the record %d.", e.Number, h.imported))
		}
		h.imported = e.Number
		records, raw = append(records, unpacked{Record{e.Number, e.Time, e.Value}, e.Terms}), raw+len(e.Value)
		if e.Number%Size == 0 || raw >= maxRaw || i == len(entries)-1 {
			h.importedPeak = l.pack(tx, records, h.importedPeak)
			records, raw = records[:0], 0
		}
	}
	l.setHead(tx, h)
	return nil
}
