package block

import (
	"context"
	"math"

	"github.com/modelgateway/modelgateway/cluster/store"
)

// patience is the number of blocks that Trim passes over because they have a later record.
const patience = 64

// Trim deletes records that are earlier than a time, the first of the log first, until it has deleted most of them
// or more, and returns their number. A block is deleted as a whole. Trim passes over blocks with a later record,
// as a wrong clock may have left one, but over few of them, because it is part of a transaction.
func (l Log) Trim(tx Tx, before int64, most int) (int, error) {
	if most <= 0 {
		return 0, nil
	}
	x, err := l.before(tx.Scan, before, most)
	if err != nil {
		return 0, err
	}
	return x.count, l.remove(tx, x)
}

// Trimmable reports whether Trim would delete a record.
func (l Log) Trimmable(ctx context.Context, r Reader, before int64) (bool, error) {
	x, err := l.before(scanOf(ctx, r), before, 1)
	return x.count > 0, err
}

// removal lists what to delete: sealed segments, blocks, and records that are in no block.
type removal struct {
	segments []Segment
	blocks   []ref
	records  []uint64
	count    int // of records in all
}

// before returns what is earlier than a time, until it is most records.
func (l Log) before(scan scanner, before int64, most int) (out removal, err error) {
	var bad error
	passed, sealed := 0, uint64(0)
	if err := l.segments(scan, kindSegment, func(s Segment) bool {
		sealed = s.Last
		if s.max < before {
			out.segments = append(out.segments, s)
			out.count += int(s.Last - s.First + 1)
			return out.count < most
		}
		passed++
		return passed < patience
	}); err != nil || out.count >= most || passed >= patience {
		return out, err
	}
	err = scan(store.Range{Space: l.Space, Prefix: l.prefix(kindDirectory), From: l.key(kindDirectory, sealed+1)}, func(key, value []byte) bool {
		var at ref
		if at, bad = decodeRef(numberOf(key), value); bad != nil {
			return false
		}
		if at.max < before {
			out.blocks = append(out.blocks, at)
			out.count += int(at.count)
			return out.count < most
		}
		passed++
		return passed < patience
	})
	if err == nil && bad == nil && out.count < most {
		err = scan(store.Range{Space: l.Space, Prefix: l.prefix(kindRecord)}, func(key, value []byte) bool {
			var u unpacked
			if u, bad = decodeUnpacked(numberOf(key), value); bad != nil || u.Time >= before {
				return false // the next block begins with a record that stays
			}
			out.records = append(out.records, u.Number)
			out.count++
			return out.count < most
		})
	}
	return out, first(err, bad)
}

func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// Drop deletes the records before a number, and returns how many there were. A block or a sealed segment that contains
// that number or a later one stays as a whole.
func (l Log) Drop(tx Tx, before uint64) (dropped uint64, err error) {
	if before == 0 {
		return 0, nil
	}
	var x removal
	var bad error
	sealed := uint64(0)
	if err := l.segments(tx.Scan, kindSegment, func(s Segment) bool {
		if sealed = s.Last; s.Last >= before {
			return false
		}
		x.segments = append(x.segments, s)
		x.count += int(s.Last - s.First + 1)
		return true
	}); err != nil {
		return 0, err
	}
	err = tx.Scan(store.Range{
		Space: l.Space, Prefix: l.prefix(kindDirectory), From: l.key(kindDirectory, sealed+1), To: l.key(kindDirectory, max(before, sealed+1)),
	}, func(key, value []byte) bool {
		var at ref
		if at, bad = decodeRef(numberOf(key), value); bad != nil || at.last() >= before {
			return false
		}
		x.blocks = append(x.blocks, at)
		x.count += int(at.count)
		return true
	})
	if err == nil && bad == nil {
		err = tx.Scan(store.Range{Space: l.Space, Prefix: l.prefix(kindRecord), To: l.key(kindRecord, before)}, func(key, _ []byte) bool {
			x.records = append(x.records, numberOf(key))
			return true
		})
	}
	if err := first(err, bad); err != nil {
		return 0, err
	}
	return uint64(x.count + len(x.records)), l.remove(tx, x)
}

// remove deletes sealed segments, blocks, and the first of the records that are in none.
func (l Log) remove(tx Tx, x removal) error {
	for _, s := range x.segments {
		if err := l.removeSegment(tx, s); err != nil {
			return err
		}
	}
	for _, at := range x.blocks {
		if err := l.removeBlock(tx, at); err != nil {
			return err
		}
	}
	if len(x.records) == 0 {
		return nil
	}
	for _, number := range x.records {
		tx.Delete(l.Space, l.key(kindRecord, number))
	}
	h, _, err := l.head(tx)
	if err != nil {
		return err
	}
	h.packed = x.records[len(x.records)-1] // the next block begins after it
	l.setHead(tx, h)
	return nil
}

// removeBlock deletes a block with its index.
func (l Log) removeBlock(tx Tx, at ref) error {
	terms, _, err := tx.Get(l.Space, l.key(kindTerms, at.first))
	if err != nil {
		return err
	}
	for _, t := range splitTerms(terms) {
		tx.Delete(l.Space, l.posting(t, at.first))
	}
	for _, kind := range []byte{kindBlock, kindDirectory, kindFilter, kindTerms} {
		tx.Delete(l.Space, l.key(kind, at.first))
	}
	return nil
}

// All is the end of a Range over all records.
const All = math.MaxUint64 - 1
