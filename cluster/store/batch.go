package store

import (
	"github.com/cockroachdb/pebble/v2"

	"github.com/modelgateway/modelgateway/cluster/inject"
)

// Batch collects changes for one atomic commit. It is not safe for concurrent use. The caller
// must close it, committed or not.
type Batch struct {
	s *Store
	b *pebble.Batch
}

// NewBatch starts an empty batch. Pebble reuses the buffers of closed batches. A batch of a
// closed store can be filled but not committed.
func (s *Store) NewBatch() *Batch { return &Batch{s: s, b: s.db.NewBatch()} }

// Set writes value under key. Both are copied.
func (b *Batch) Set(space Space, key, value []byte) {
	op := b.b.SetDeferred(1+len(key), len(value))
	op.Key[0] = byte(space)
	copy(op.Key[1:], key)
	copy(op.Value, value)
	_ = op.Finish() // fails only for indexed batches, which these are not
}

// Delete removes key. A missing key is no error.
func (b *Batch) Delete(space Space, key []byte) {
	op := b.b.DeleteDeferred(1 + len(key))
	op.Key[0] = byte(space)
	copy(op.Key[1:], key)
	_ = op.Finish() // as above
}

// DeleteRange removes the keys k with from <= k < to. It costs one record for any number of
// keys.
func (b *Batch) DeleteRange(space Space, from, to []byte) {
	_ = b.b.DeleteRange(spaceKey(space, from), spaceKey(space, to), nil) // fails only after Close
}

// Empty reports whether there is nothing to commit.
func (b *Batch) Empty() bool { return b.b.Empty() }

// Commit writes the changes atomically and returns when they are synced to the disk. An error
// means that none was written. If that is unknown, Commit does not return (Config.Fatal). A
// batch can be committed once.
func (b *Batch) Commit() error {
	if err := b.s.begin(); err != nil {
		return err
	}
	defer b.s.end()
	defer b.s.guard()
	// A crash here leaves the whole batch in the log, or a torn record that the next Open
	// drops. No caller has an acknowledgement yet.
	durable := pebble.Sync
	if inject.HasDefect("nosync") {
		durable = pebble.NoSync
	}
	if err := b.b.Commit(durable); err != nil {
		return notTaken("commit", err)
	}
	// A crash from here on changes nothing.
	return nil
}

// Close frees the batch's memory. A second Close does nothing.
func (b *Batch) Close() {
	if b.b != nil {
		_ = b.b.Close() // fails only if it was closed before
		b.b = nil
	}
}
