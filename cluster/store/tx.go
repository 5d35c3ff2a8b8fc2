package store

import (
	"context"
	"errors"
	"io"

	"github.com/cockroachdb/pebble/v2"
)

// Tx is a batch that can read its own changes over the store. It is not safe for concurrent
// use. The caller must close it, committed or not.
type Tx struct {
	s *Store
	b *pebble.Batch
}

// NewTx starts a transaction. A transaction of a closed store can be filled, but neither read
// nor committed.
func (s *Store) NewTx() *Tx { return &Tx{s: s, b: s.db.NewIndexedBatch()} }

// Get returns a copy of the value of key, and whether it exists.
func (t *Tx) Get(space Space, key []byte) (value []byte, ok bool, err error) {
	if err := t.s.begin(); err != nil {
		return nil, false, err
	}
	defer t.s.end()
	return get(t.b, space, key)
}

// Scan calls fn for each key in r, in order, until fn returns false. fn must not change the
// transaction or keep the slices. Keys have no space byte.
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

// Delete removes key. A missing key is no error.
func (t *Tx) Delete(space Space, key []byte) {
	_ = t.b.Delete(spaceKey(space, key), nil) // as above
}

// Reset discards the changes. The transaction continues on the current store.
func (t *Tx) Reset() { t.b.Reset() }

// CommitReplayable writes the changes atomically, without a sync, and returns when readers see
// them. A power failure or kill -9 loses the latest of them, but never one without all later
// ones. It is for a StateStore, whose owner can replay them from a synced log; on a NodeStore
// it panics. If the outcome is unknown it does not return (Config.Fatal). A transaction can be
// committed once.
func (t *Tx) CommitReplayable() error {
	if t.s.cfg.Kind != StateStore {
		panic("store: an unsynced commit to a store that no log can repeat")
	}
	if err := t.s.begin(); err != nil {
		return err
	}
	defer t.s.end()
	defer t.s.guard()
	// A crash from here on leaves the state of this commit or of an earlier one: Pebble replays
	// its log without gaps.
	if err := t.b.Commit(pebble.NoSync); err != nil {
		return notTaken("commit", err)
	}
	return nil
}

// Close frees the transaction's memory. A second Close does nothing.
func (t *Tx) Close() {
	if t.b != nil {
		_ = t.b.Close() // fails only if it was closed before
		t.b = nil
	}
}

// getter is a database, a snapshot or an indexed batch.
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
