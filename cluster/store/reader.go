package store

import (
	"context"
	"sync"

	"github.com/cockroachdb/pebble/v2"
)

// Reader shows the store as it was at one moment, whatever is committed since. It
// is safe for concurrent use. It keeps the store open: Store.Close waits for its
// Close.
type Reader struct {
	s    *Store
	snap *pebble.Snapshot
	once sync.Once
	err  error // of the Close that did something
}

// View returns a reader of the store as it is now. Close it when done: what it
// shows cannot be compacted away, so it should not be kept for long.
func (s *Store) View() (*Reader, error) {
	if err := s.begin(); err != nil {
		return nil, err
	}
	return &Reader{s: s, snap: s.db.NewSnapshot()}, nil
}

// Get returns a copy of the value of key, and whether there is one.
func (r *Reader) Get(space Space, key []byte) (value []byte, ok bool, err error) {
	return get(r.snap, space, key)
}

// Scan calls fn for each key in x, in order, until fn returns false. The slices
// are fn's until it returns; keys come without the byte of their space.
func (r *Reader) Scan(x Range, fn func(key, value []byte) bool) error {
	return scan(context.Background(), r.snap, x, fn)
}

// Close lets the store go; nothing may be read from r after it. A second Close
// does nothing.
func (r *Reader) Close() error {
	r.once.Do(func() {
		defer r.s.end()
		if err := r.snap.Close(); err != nil {
			r.err = unreadable(err)
		}
	})
	return r.err
}
