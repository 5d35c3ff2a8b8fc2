package store

import (
	"bytes"
	"context"
	"errors"

	"github.com/cockroachdb/pebble/v2"
)

// Range selects the keys of a scan. Except for Space, a zero value does not restrict it. Bounds
// and prefix have no space byte; all restrictions apply together.
type Range struct {
	Space   Space
	Prefix  []byte // only keys with this prefix
	From    []byte // the first key, inclusive
	To      []byte // the end, exclusive
	Reverse bool   // from the last key to the first
	Limit   int    // highest number of keys; 0 means all
}

// bounds returns the bounds of r for Pebble.
func (r Range) bounds() (lower, upper []byte) {
	lower = spaceKey(r.Space, r.Prefix)
	upper = successor(lower)
	if from := spaceKey(r.Space, r.From); bytes.Compare(from, lower) > 0 {
		lower = from
	}
	if len(r.To) > 0 {
		if to := spaceKey(r.Space, r.To); bytes.Compare(to, upper) < 0 {
			upper = to
		}
	}
	if bytes.Compare(lower, upper) > 0 {
		upper = lower // empty; Pebble would treat it as a mistake
	}
	return lower, upper
}

// successor returns the first key after all keys with the prefix. The first byte is a space and
// never 0xff.
func successor(prefix []byte) []byte {
	out := bytes.Clone(prefix)
	for out[len(out)-1] == 0xff { // bytes.TrimRight works on characters, and 0xff is none
		out = out[:len(out)-1]
	}
	out[len(out)-1]++
	return out
}

// Scan calls fn for each key in r, in order, until fn returns false. It reads a snapshot from
// its start; fn may call the store. The snapshot may contain a commit that is not yet synced,
// which a power failure would undo. The caller must take care not to publish it. fn must not
// keep the slices. Keys have no space byte.
func (s *Store) Scan(ctx context.Context, r Range, fn func(key, value []byte) bool) (err error) {
	if err := s.begin(); err != nil {
		return err
	}
	defer s.end()
	return scan(ctx, s.db, r, fn)
}

// iterable is a database, a snapshot or an indexed batch.
type iterable interface {
	NewIterWithContext(ctx context.Context, o *pebble.IterOptions) (*pebble.Iterator, error)
}

func scan(ctx context.Context, from iterable, r Range, fn func(key, value []byte) bool) (err error) {
	lower, upper := r.bounds()
	it, err := from.NewIterWithContext(ctx, &pebble.IterOptions{LowerBound: lower, UpperBound: upper})
	if err != nil {
		return unreadable(err)
	}
	defer func() {
		if cerr := it.Close(); cerr != nil && err == nil {
			err = unreadable(cerr)
		}
	}()
	first, next := it.First, it.Next
	if r.Reverse {
		first, next = it.Last, it.Prev
	}
	for n, ok := 0, first(); ok; ok = next() {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		value, err := it.ValueAndErr()
		if err != nil {
			return unreadable(err)
		}
		if n++; !fn(it.Key()[1:], value) || n == r.Limit {
			break
		}
	}
	if err := it.Error(); err != nil && !errors.Is(err, context.Cause(ctx)) {
		return unreadable(err)
	}
	return nil
}
