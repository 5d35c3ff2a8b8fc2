// Package table keeps the records of one type in memory, by key and by further indexes. A table
// is an immutable value: a change returns a new table that shares the unchanged parts, and its
// cost does not depend on the size. The View holds the replicated records in tables, and
// operations read and write records through them.
package table

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	iradix "github.com/hashicorp/go-immutable-radix/v2"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster/event"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/store"
)

// Spec describes the records of a table. Each type has one Spec, which never changes.
type Spec[T any] struct {
	Space    store.Space
	Field    protowire.Number                    // field number of the stamp; 0 means record.StampField
	Key      func(*T) []byte                     // unique, and constant for the life of a record
	Revision func(*T) uint64                     // as in its Meta
	Encode   func(*T) proto.Message              // without its stamp
	Decode   func(key, value []byte) (*T, error) // with the stamp
	Indexes  []func(*T) (keys [][]byte)          // index n of By: the values that find the record; none omits it
	Resource string                              // the kind of record that Bounds describes
	Bounds   func(*T) (string, event.Bounds)     // its name in the audit log, and its limits of spend and rates; nil if it has none
}

// Table is an immutable set of records, safe for concurrent use. Callers must not change the
// records that it returns.
type Table[T any] struct {
	spec *Spec[T]
	rows *iradix.Tree[*T]
	by   []ordered[*T] // Indexes[n] + 0 + key → record
}

// New returns an empty table.
func New[T any](spec *Spec[T]) *Table[T] {
	t := &Table[T]{spec: spec, rows: iradix.New[*T]()}
	t.by = make([]ordered[*T], len(spec.Indexes))
	return t
}

// Len returns the number of records.
func (t *Table[T]) Len() int { return t.rows.Len() }

// Get returns the record with this key.
func (t *Table[T]) Get(key []byte) (*T, bool) { return t.rows.Get(key) }

// Read is Get for an operation: the result, also that the record does not exist, becomes a
// precondition of the transaction.
func (t *Table[T]) Read(tx *record.Txn, key []byte) (*T, bool) {
	r, ok := t.rows.Get(key)
	revision := uint64(0)
	if ok {
		revision = t.spec.Revision(r)
	}
	tx.Require(t.at(key), revision)
	return r, ok
}

// Put writes a record in a transaction, and adds the changed amounts to its events.
func (t *Table[T]) Put(tx *record.Txn, r *T) {
	at := t.at(t.spec.Key(r))
	tx.Put(at, t.spec.Encode(r))
	if t.spec.Bounds == nil {
		return
	}
	var old event.Bounds
	if before, ok := t.rows.Get(at.Key); ok {
		_, old = t.spec.Bounds(before)
	}
	name, now := t.spec.Bounds(r)
	tx.Amounts(at, event.Changed(t.spec.Resource, name, old, now))
}

// Delete deletes a record in a transaction. It is a precondition that the record is unchanged.
func (t *Table[T]) Delete(tx *record.Txn, r *T) {
	at := t.at(t.spec.Key(r))
	tx.Require(at, t.spec.Revision(r))
	tx.Delete(at)
}

func (t *Table[T]) at(key []byte) record.At {
	return record.At{Space: t.spec.Space, Key: key, Field: t.spec.Field}
}

// All returns the records ordered by key.
func (t *Table[T]) All() iter.Seq[*T] { return walk(t.rows.Root()) }

// By returns the records for which index n has exactly this value, ordered by key.
func (t *Table[T]) By(n int, value []byte) iter.Seq[*T] {
	return t.Prefix(n, append(slices.Clone(value), 0))
}

// One returns the first record for which index n has exactly this value.
func (t *Table[T]) One(n int, value []byte) (*T, bool) {
	for r := range t.By(n, value) {
		return r, true
	}
	return nil, false
}

// Indexed returns the number of values in index n. It equals the number of records if each has
// one value.
func (t *Table[T]) Indexed(n int) int { return t.by[n].n }

// Sorted returns the records of index n, ordered by value, without the first skip. Skipping
// costs almost nothing.
func (t *Table[T]) Sorted(n, skip int) iter.Seq[*T] { return t.by[n].at(skip) }

// Backward returns the records of index n in reverse order, without the last skip.
func (t *Table[T]) Backward(n, skip int) iter.Seq[*T] { return t.by[n].before(skip) }

// Matching returns the records for which index n has a matching value, ordered by value. It
// reads only the values of the index, so a search reads no other records.
func (t *Table[T]) Matching(n int, match func(value string) bool) iter.Seq[*T] {
	return func(yield func(*T) bool) {
		for key, r := range t.by[n].from(0, 0) {
			value, _, _ := strings.Cut(key, "\x00")
			if match(value) && !yield(r) {
				return
			}
		}
	}
}

// Take returns at most limit records.
func Take[T any](records iter.Seq[*T], limit int) []*T {
	out := make([]*T, 0, min(limit, maxTaken))
	if limit <= 0 {
		return out
	}
	for r := range records {
		if out = append(out, r); len(out) == limit {
			break
		}
	}
	return out
}

// maxTaken is the highest number of records for which Take allocates memory in advance.
const maxTaken = 1000

// Prefix returns the records for which index n has a value with this prefix, ordered by value.
func (t *Table[T]) Prefix(n int, prefix []byte) iter.Seq[*T] {
	return func(yield func(*T) bool) {
		p := string(prefix)
		index := &t.by[n]
		c, i := index.seek(p)
		for key, r := range index.from(c, i) {
			if !strings.HasPrefix(key, p) || !yield(r) {
				return
			}
		}
	}
}

func walk[T any](root *iradix.Node[T]) iter.Seq[T] {
	return func(yield func(T) bool) {
		it := root.Iterator()
		for _, r, ok := it.Next(); ok; _, r, ok = it.Next() {
			if !yield(r) {
				return
			}
		}
	}
}

// Changed is a record before and after a change.
type Changed[T any] struct {
	Before, After *T // nil: the record did not exist, or was deleted
}

// With applies the changes that belong to the space of the table. It returns the new table, the
// records before and after, and an error for each record that it cannot decode. Such a record
// keeps its old value.
func (t *Table[T]) With(changes []record.Change) (*Table[T], []Changed[T], []error) {
	var next *editor[T]
	var out []Changed[T]
	var broken []error
	for _, c := range changes {
		if c.Space != t.spec.Space {
			continue
		}
		if next == nil {
			next = t.edit()
		}
		if c.Value == nil {
			out = append(out, Changed[T]{Before: next.remove(c.Key)})
			continue
		}
		r, err := t.spec.Decode(c.Key, c.Value)
		if err != nil {
			broken = append(broken, fmt.Errorf("record %q of the space %q: %w", c.Key, string(rune(c.Space)), err))
			continue
		}
		out = append(out, Changed[T]{Before: next.replace(c.Key, r), After: r})
	}
	if next == nil {
		return t, nil, nil
	}
	return next.done(), out, broken
}

// Scanner reads the replicated state. fn must not keep the slices after it returns.
type Scanner interface {
	Scan(ctx context.Context, r store.Range, fn func(key, value []byte) bool) error
}

// Load returns a table with all records of the state. It omits records that it cannot decode
// and returns an error for each in broken.
func (t *Table[T]) Load(ctx context.Context, state Scanner) (loaded *Table[T], broken []error, err error) {
	next := New(t.spec).edit()
	err = state.Scan(ctx, store.Range{Space: t.spec.Space}, func(key, value []byte) bool {
		r, err := t.spec.Decode(key, value)
		if err != nil {
			broken = append(broken, fmt.Errorf("record %q of the space %q: %w", key, string(rune(t.spec.Space)), err))
			return true
		}
		next.put(r)
		return true
	})
	if err != nil {
		return nil, nil, err
	}
	return next.done(), broken, nil
}

// editor is an edit of a table.
type editor[T any] struct {
	spec *Spec[T]
	rows *iradix.Txn[*T]
	by   []*ordering[*T]
}

func (t *Table[T]) edit() *editor[T] {
	e := &editor[T]{spec: t.spec, rows: t.rows.Txn()}
	for _, index := range t.by {
		e.by = append(e.by, index.edit())
	}
	return e
}

// done returns the new table. CommitOnly skips the notification of watchers; there are none.
func (e *editor[T]) done() *Table[T] {
	t := &Table[T]{spec: e.spec, rows: e.rows.CommitOnly()}
	for _, index := range e.by {
		t.by = append(t.by, index.done())
	}
	return t
}

func (e *editor[T]) put(r *T) {
	key := slices.Clone(e.spec.Key(r))
	e.rows.Insert(key, r)
	for n, of := range e.spec.Indexes {
		for _, value := range of(r) {
			e.by[n].put(indexKey(value, key), r)
		}
	}
}

// replace puts r in the place of the record with a key, if there is one, which it returns. Where
// both have the same values, an index keeps its keys.
func (e *editor[T]) replace(key []byte, r *T) *T {
	old, ok := e.rows.Get(key)
	if !ok {
		e.put(r)
		return nil
	}
	if !bytes.Equal(key, e.spec.Key(r)) {
		e.remove(key)
		e.put(r)
		return old
	}
	e.rows.Insert(key, r)
	for n, of := range e.spec.Indexes {
		before, after := of(old), of(r)
		if !slices.EqualFunc(before, after, bytes.Equal) {
			for _, value := range before {
				e.by[n].remove(indexKey(value, key))
			}
		}
		for _, value := range after {
			e.by[n].put(indexKey(value, key), r)
		}
	}
	return old
}

func (e *editor[T]) remove(key []byte) *T {
	old, ok := e.rows.Delete(key)
	if !ok {
		return nil
	}
	for n, of := range e.spec.Indexes {
		for _, value := range of(old) {
			e.by[n].remove(indexKey(value, key))
		}
	}
	return old
}

// indexKey returns the value, a zero byte, and the key of the record, which makes it unique.
func indexKey(value, key []byte) string { return string(value) + "\x00" + string(key) }
