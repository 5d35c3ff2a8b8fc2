package store

import (
	"context"
	"errors"
	"io"

	"github.com/cockroachdb/pebble/v2"
)

// Tx is a batch that can be read: it shows the store with the changes that it
// collects. It is for one goroutine. Close it when done, committed or not.
type Tx struct {
	s *Store
	b *pebble.Batch
}

// NewTx starts a transaction. One of a store that is closed can be filled, and
// neither read nor committed.
func (s *Store) NewTx() *Tx { return &Tx{s: s, b: s.db.NewIndexedBatch()} }

// Get returns a copy of the value of key, and whether there is one.
func (t *Tx) Get(space Space, key []byte) (value []byte, ok bool, err error) {
	if err := t.s.begin(); err != nil {
		return nil, false, err
	}
	defer t.s.end()
	return get(t.b, space, key)
}

// Scan calls fn for each key in r, in order, until fn returns false. fn must not
// change the transaction. The slices are fn's until it returns; keys come without
// the byte of their space.
func (t *Tx) Scan(r Range, fn func(key, value []byte) bool) error {
	if err := t.s.begin(); err != nil {
		return err
	}
	defer t.s.end()
	return scan(context.Background(), t.b, r, fn)
}

// Set writes value under key. Both are copied.
func (t *Tx) Set(space Space, key, value []byte) {
	_ = t.b.Set(spaceKey(space, key), value, nil) // fails only after Close
}

// Delete removes key; that there is none is no error.
func (t *Tx) Delete(space Space, key []byte) {
	_ = t.b.Delete(spaceKey(space, key), nil) // as above
}

// Reset drops the changes. The transaction goes on with the store as it is now.
func (t *Tx) Reset() { t.b.Reset() }

// CommitReplayable makes the changes, all of them or none, and returns when
// readers see them. They are not synced: a power cut, and kill -9 as well, takes
// the last of them away, but never one without all that came after it. It is for
// a StateStore, whose owner has a synced log to make them again from; on a
// NodeStore it panics, for there nobody could. Where the outcome cannot be told
// it does not return (Config.Fatal). A transaction is committed once.
func (t *Tx) CommitReplayable() error {
	if t.s.cfg.Kind != StateStore {
		panic("store: an unsynced commit to a store that no log can repeat")
	}
	if err := t.s.begin(); err != nil {
		return err
	}
	defer t.s.end()
	defer t.s.guard()
	// A crash from here on leaves the state of this commit or of an earlier one:
	// Pebble replays its log up to where it ends, and skips nothing.
	if err := t.b.Commit(pebble.NoSync); err != nil {
		return notTaken("commit", err)
	}
	return nil
}

// Close gives the transaction's memory back. A second Close does nothing.
func (t *Tx) Close() {
	if t.b != nil {
		_ = t.b.Close() // says only whether it was closed before
		t.b = nil
	}
}

// getter is a database, a snapshot of it or a batch over it.
type getter interface {
	Get(key []byte) (value []byte, closer io.Closer, err error)
}

func get(from getter, space Space, key []byte) (value []byte, ok bool, err error) {
	v, closer, err := from.Get(spaceKey(space, key))
	switch {
	case errors.Is(err, pebble.ErrNotFound):
		return nil, false, nil
	case err != nil:
		return nil, false, unreadable(err)
	}
	value = append([]byte{}, v...)
	if err := closer.Close(); err != nil {
		return nil, false, unreadable(err)
	}
	return value, true, nil
}
