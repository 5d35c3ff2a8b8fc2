package store

import (
	"bytes"
	"context"
	"errors"

	"github.com/cockroachdb/pebble/v2"
)

// Range says what to scan. The zero value of each field but Space leaves it
// open; bounds and prefix are without the byte of the space and narrow each
// other.
type Range struct {
	Space   Space
	Prefix  []byte // keys that begin with it
	From    []byte // the first key, itself included
	To      []byte // where to stop, itself excluded
	Reverse bool   // from the last key to the first
	Limit   int    // at most so many; 0 means all
}

// bounds are r's in Pebble's terms.
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
		upper = lower // empty, where Pebble would take it for a mistake
	}
	return lower, upper
}

// successor is the first key after all that begin with prefix, whose first byte
// is a space's and so never 0xff.
func successor(prefix []byte) []byte {
	out := bytes.Clone(prefix)
	for out[len(out)-1] == 0xff { // bytes.TrimRight goes by characters, of which 0xff is none
		out = out[:len(out)-1]
	}
	out[len(out)-1]++
	return out
}

// Scan calls fn for each key in r, in order, until fn returns false. It sees the
// store as it was when it began, whatever is committed meanwhile; fn may call
// the store. It may already show a commit whose sync is still under way and that
// a power cut would undo; who tells others of it has to know better. The slices
// are fn's until it returns. Keys come without the byte of their space.
func (s *Store) Scan(ctx context.Context, r Range, fn func(key, value []byte) bool) (err error) {
	if err := s.begin(); err != nil {
		return err
	}
	defer s.end()
	return scan(ctx, s.db, r, fn)
}

// iterable is a database, a snapshot of it or a batch over it.
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
