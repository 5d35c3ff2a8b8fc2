// Package table keeps the records of one type in memory, by key and by further
// indexes, as an immutable value: a change makes another table, shares what it did
// not touch, and costs the same whatever the table holds. It is how the View has
// records of the replicated state, and how operations read and write them.
package table

import (
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

// Spec says what a table's records are. It is written out once for each type and
// never changed.
type Spec[T any] struct {
	Space    store.Space
	Field    protowire.Number                    // of the stamp; 0 means record.StampField
	Key      func(*T) []byte                     // the same for ever, and no two have the same
	Revision func(*T) uint64                     // of its Meta
	Encode   func(*T) proto.Message              // without its stamp
	Decode   func(key, value []byte) (*T, error) // the stamp as well
	Indexes  []func(*T) (keys [][]byte)          // Index n of By: what it is found by; none leaves it out
	Resource string                              // the kind of record that has Bounds
	Bounds   func(*T) (string, event.Bounds)     // its name in the audit log, and what bounds spend or rates; nil: nothing does
}

// Table holds records. Those it returns are shared: nobody changes them. It is
// immutable and safe for concurrent use.
type Table[T any] struct {
	spec *Spec[T]
	rows *iradix.Tree[*T]
	by   []ordered[T] // Indexes[n] + 0 + key → record
}

// New returns an empty table.
func New[T any](spec *Spec[T]) *Table[T] {
	t := &Table[T]{spec: spec, rows: iradix.New[*T]()}
	t.by = make([]ordered[T], len(spec.Indexes))
	return t
}

// Len returns how many records there are.
func (t *Table[T]) Len() int { return t.rows.Len() }

// Get returns the record of a key.
func (t *Table[T]) Get(key []byte) (*T, bool) { return t.rows.Get(key) }

// Read is Get for an operation: that the record is as it is, or not there, is then
// what the transaction rests on.
func (t *Table[T]) Read(tx *record.Txn, key []byte) (*T, bool) {
	r, ok := t.rows.Get(key)
	revision := uint64(0)
	if ok {
		revision = t.spec.Revision(r)
	}
	tx.Saw(t.at(key), revision)
	return r, ok
}

// Put writes a record in a transaction, and adds the amounts that change to its events.
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

// Delete deletes a record in a transaction. That it is as it was read is then what
// the transaction rests on.
func (t *Table[T]) Delete(tx *record.Txn, r *T) {
	at := t.at(t.spec.Key(r))
	tx.Saw(at, t.spec.Revision(r))
	tx.Delete(at)
}

func (t *Table[T]) at(key []byte) record.At {
	return record.At{Space: t.spec.Space, Key: key, Field: t.spec.Field}
}

// All returns the records ordered by key.
func (t *Table[T]) All() iter.Seq[*T] { return walk(t.rows.Root()) }

// By returns the records that index n finds by exactly this value, ordered by key.
func (t *Table[T]) By(n int, value []byte) iter.Seq[*T] {
	return t.Prefix(n, append(slices.Clone(value), 0))
}

// One returns the first record that index n finds by exactly this value.
func (t *Table[T]) One(n int, value []byte) (*T, bool) {
	for r := range t.By(n, value) {
		return r, true
	}
	return nil, false
}

// Indexed returns how many values index n has: as many as records, where it finds
// each by one value.
func (t *Table[T]) Indexed(n int) int { return t.by[n].n }

// Sorted returns all records that index n has, ordered by its values, without the
// first skip. It costs next to nothing to skip.
func (t *Table[T]) Sorted(n, skip int) iter.Seq[*T] { return t.by[n].at(skip) }

// Backward is Sorted from the last value to the first, without the last skip.
func (t *Table[T]) Backward(n, skip int) iter.Seq[*T] { return t.by[n].before(skip) }

// Matching returns the records that index n finds by a value that matches, ordered
// by value. It looks at no others: a search among many is a walk through the values.
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

// Take returns the first of the records, limit of them at the most.
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

// maxTaken is how many records Take makes room for before it has seen them.
const maxTaken = 1000

// Prefix returns the records that index n finds by a value with this prefix,
// ordered by value.
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

func walk[T any](root *iradix.Node[*T]) iter.Seq[*T] {
	return func(yield func(*T) bool) {
		it := root.Iterator()
		for _, r, ok := it.Next(); ok; _, r, ok = it.Next() {
			if !yield(r) {
				return
			}
		}
	}
}

// Changed is a record that a change of the state has replaced.
type Changed[T any] struct {
	Before, After *T // nil: it was not there, it is not there any more
}

// With returns the table with those of the changes that are of its space, and what
// they replaced. A record that cannot be read is left as it was, and is among the
// errors.
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
		one := Changed[T]{Before: next.remove(c.Key)}
		if c.Value != nil {
			r, err := t.spec.Decode(c.Key, c.Value)
			if err != nil {
				if one.Before != nil {
					next.put(one.Before)
				}
				broken = append(broken, fmt.Errorf("record %q of the space %q: %w", c.Key, string(rune(c.Space)), err))
				continue
			}
			next.put(r)
			one.After = r
		}
		out = append(out, one)
	}
	if next == nil {
		return t, nil, nil
	}
	return next.done(), out, broken
}

// Scanner reads the replicated state. The slices are fn's until it returns.
type Scanner interface {
	Scan(ctx context.Context, r store.Range, fn func(key, value []byte) bool) error
}

// Load returns the table with every record of the state. Those that cannot be
// read are left out, and are among broken.
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

// editor is a change of a table under way.
type editor[T any] struct {
	spec *Spec[T]
	rows *iradix.Txn[*T]
	by   []*ordering[T]
}

func (t *Table[T]) edit() *editor[T] {
	e := &editor[T]{spec: t.spec, rows: t.rows.Txn()}
	for _, index := range t.by {
		e.by = append(e.by, index.edit())
	}
	return e
}

// done returns the table. CommitOnly leaves out the notification of watchers, of
// which there are none.
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

// indexKey is a value, a zero byte, and the record's key, which makes it unique.
func indexKey(value, key []byte) string { return string(value) + "\x00" + string(key) }
