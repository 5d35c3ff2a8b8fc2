package restore

import (
	"bytes"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/store"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// mostNamed is the highest number of records of each kind that the counts list.
const mostNamed = 100

// Commit replaces the ranges with the staged records, and returns the changes. It fails with
// Conflict if pieces are missing. Records that differ only in their stamps keep their revision.
func Commit(tx Tx, c *clusterv1.CommitRestore, by record.Stamp, now time.Time) (*clusterv1.RestoreDone, *fault.Error) {
	head, f := headOf(tx, c.GetRestore())
	if f != nil {
		return nil, f
	}
	if head.GetPieces() != c.GetPieces() || c.GetPieces() == 0 {
		return nil, gone()
	}
	done := &clusterv1.RestoreDone{TimeUnixNano: record.Nanos(now), Index: by.Index, BackupUnixNano: c.GetBackupUnixNano()}
	for _, r := range c.GetRanges() {
		one := replacing{tx: tx, of: r, by: by, count: countOf(done, r.GetName())}
		if f := one.run(c.GetRestore()); f != nil {
			return nil, f
		}
	}
	if f := drop(tx, c.GetRestore()); f != nil {
		return nil, f
	}
	return done, record.Store(tx, store.SpaceRestore, place(c.GetRestore(), kindDone), done)
}

// countOf returns the counts of a name. Records without a name are not counted.
func countOf(done *clusterv1.RestoreDone, name string) *clusterv1.RestoreCount {
	if name == "" {
		return &clusterv1.RestoreCount{}
	}
	for _, c := range done.GetCounts() {
		if c.GetName() == name {
			return c
		}
	}
	c := &clusterv1.RestoreCount{Name: name}
	done.Counts = append(done.GetCounts(), c)
	return c
}

// replacing is the replacement of one range.
type replacing struct {
	tx    Tx
	of    *clusterv1.RestoreRange
	by    record.Stamp
	count *clusterv1.RestoreCount
}

func (r *replacing) space() store.Space { return store.Space(r.of.GetSpace()) }

func (r *replacing) field() protowire.Number { return protowire.Number(r.of.GetStampField()) }

// run merges the existing and the staged records, both in key order.
func (r *replacing) run(name []byte) *fault.Error {
	prefix := append(place(name, kindRecord), byte(r.of.GetSpace()))
	staged := store.Range{Space: store.SpaceRestore, Prefix: prefix, From: append(bytes.Clone(prefix), r.of.GetFrom()...)}
	if len(r.of.GetTo()) > 0 {
		staged.To = append(bytes.Clone(prefix), r.of.GetTo()...)
	}
	there := cursor{tx: r.tx, of: store.Range{Space: r.space(), From: r.of.GetFrom(), To: r.of.GetTo()}}
	back := cursor{tx: r.tx, of: staged}
	old, f := there.next()
	if f != nil {
		return f
	}
	next, f := back.next()
	for f == nil && (old != nil || next != nil) {
		order := 0
		switch {
		case next == nil:
			order = -1
		case old == nil:
			order = 1
		default:
			order = bytes.Compare(old.key, next.key[len(prefix):])
		}
		switch {
		case order < 0:
			f = r.removed(old)
		case order > 0:
			f = r.returned(next.key[len(prefix):], next.value)
		default:
			f = r.met(old, next.value)
		}
		if f == nil && order <= 0 {
			old, f = there.next()
		}
		if f == nil && order >= 0 {
			next, f = back.next()
		}
	}
	return f
}

// removed deletes a record that the backup does not have. A mark stays, with a new stamp.
func (r *replacing) removed(old *row) *fault.Error {
	if r.of.GetMarks() {
		return r.put(old.key, old.value)
	}
	r.tx.Delete(r.space(), old.key)
	r.count.Removed++
	r.name(&r.count.RemovedKeys, old.key)
	return nil
}

// returned writes a record that only the backup has.
func (r *replacing) returned(key, value []byte) *fault.Error {
	r.count.Returned++
	r.name(&r.count.ReturnedKeys, key)
	return r.put(key, value)
}

// met writes a record that both have, if its content differs.
func (r *replacing) met(old *row, value []byte) *fault.Error {
	if !r.of.GetMarks() {
		before, err := record.Body(old.value, r.field())
		if err != nil {
			return record.Unreadable(err)
		}
		after, err := record.Body(value, r.field())
		if err != nil {
			return record.Unreadable(err)
		}
		if bytes.Equal(before, after) {
			r.count.Kept++
			return nil
		}
		if field := protowire.Number(r.of.GetBlockedField()); field != 0 && isSet(before, field) && !isSet(after, field) {
			r.count.Unblocked++
			r.name(&r.count.UnblockedKeys, old.key)
		}
	}
	r.count.Changed++
	return r.put(old.key, value)
}

func (r *replacing) put(key, value []byte) *fault.Error {
	again, err := record.Restamp(value, r.field(), r.by)
	if err != nil {
		return record.Unreadable(err)
	}
	r.tx.Set(r.space(), key, again)
	return nil
}

func (r *replacing) name(to *[][]byte, key []byte) {
	if r.of.GetNamed() && len(*to) < mostNamed {
		*to = append(*to, bytes.Clone(key))
	}
}

// isSet reports whether a bool field of a record is true.
func isSet(body []byte, field protowire.Number) (set bool) {
	for len(body) > 0 {
		number, kind, tag := protowire.ConsumeTag(body)
		_, _, whole := protowire.ConsumeField(body)
		if whole < 0 {
			return set
		}
		if number == field && kind == protowire.VarintType {
			v, _ := protowire.ConsumeVarint(body[tag:])
			set = v != 0
		}
		body = body[whole:]
	}
	return set
}

// row is one key of the state and its value.
type row struct{ key, value []byte }

// pageSize is the number of rows that a cursor reads at once, because the transaction must not
// change during a scan.
const pageSize = 256

// cursor iterates over a range of a transaction, which may change up to the current position.
type cursor struct {
	tx   Tx
	of   store.Range
	keys bool   // read only the keys
	page []row  // rest of the page
	rows []row  // memory of all pages
	data []byte // memory of their keys and values
	done bool
}

// next returns the next row; nil at the end. The row is valid until the next call.
func (c *cursor) next() (*row, *fault.Error) {
	if len(c.page) == 0 && !c.done {
		c.of.Limit = pageSize
		c.rows, c.data = c.rows[:0], c.data[:0]
		err := c.tx.Scan(c.of, func(key, value []byte) bool {
			if c.keys {
				value = nil
			}
			c.rows = append(c.rows, row{c.keep(key), c.keep(value)})
			return true
		})
		if err != nil {
			return nil, record.Unreadable(err)
		}
		c.page = c.rows
		if c.done = len(c.page) < pageSize; !c.done {
			c.of.From = append(bytes.Clone(c.page[len(c.page)-1].key), 0)
		}
	}
	if len(c.page) == 0 {
		return nil, nil //nolint:nilnil // the end
	}
	r := &c.page[0]
	c.page = c.page[1:]
	return r, nil
}

// keep copies bytes to the memory of the page. If that grows, earlier copies stay in the
// previous memory.
func (c *cursor) keep(b []byte) []byte {
	at := len(c.data)
	c.data = append(c.data, b...)
	return c.data[at:len(c.data):len(c.data)]
}
