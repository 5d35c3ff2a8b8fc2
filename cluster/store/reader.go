package store

import (
	"context"
	"sync"

	"github.com/cockroachdb/pebble/v2"
)

// Reader is a snapshot of the store. It is safe for concurrent use. Store.Close waits until it
// is closed.
type Reader struct {
	s    *Store
	snap *pebble.Snapshot
	once sync.Once
	err  error // of the Close that closed it
}

// View returns a snapshot of the store. The caller must close it soon, because its data cannot
// be compacted away.
func (s *Store) View() (*Reader, error) {
	if err := s.begin(); err != nil {
		return nil, err
	}
	return &Reader{s: s, snap: s.db.NewSnapshot()}, nil
}

// Get returns a copy of the value of key, and whether it exists.
func (r *Reader) Get(space Space, key []byte) (value []byte, ok bool, err error) {
	return get(r.snap, space, key)
}

// Scan calls fn for each key in x, in order, until fn returns false. fn must not keep the
// slices. Keys have no space byte.
func (r *Reader) Scan(x Range, fn func(key, value []byte) bool) error {
	return scan(context.Background(), r.snap, x, fn)
}

// Close releases the snapshot; r must not be used after it. A second Close does nothing.
func (r *Reader) Close() error {
	r.once.Do(func() {
		defer r.s.end()
		if err := r.snap.Close(); err != nil {
			r.err = unreadable(err)
		}
	})
	return r.err
}
