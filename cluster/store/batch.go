package store

import (
	"github.com/cockroachdb/pebble/v2"

	"github.com/modelgateway/modelgateway/cluster/inject"
)

// Batch collects changes that are made together or not at all. It is for one
// goroutine. Close it when done, committed or not.
type Batch struct {
	s *Store
	b *pebble.Batch
}

// NewBatch starts an empty batch. Pebble keeps the buffers of closed batches for
// the next ones. A batch of a store that is closed can be filled and not committed.
func (s *Store) NewBatch() *Batch { return &Batch{s: s, b: s.db.NewBatch()} }

// Set writes value under key. Both are copied.
func (b *Batch) Set(space Space, key, value []byte) {
	op := b.b.SetDeferred(1+len(key), len(value))
	op.Key[0] = byte(space)
	copy(op.Key[1:], key)
	copy(op.Value, value)
	_ = op.Finish() // fails only for indexed batches, which these are not
}

// Delete removes key; that there is none is no error.
func (b *Batch) Delete(space Space, key []byte) {
	op := b.b.DeleteDeferred(1 + len(key))
	op.Key[0] = byte(space)
	copy(op.Key[1:], key)
	_ = op.Finish() // as above
}

// DeleteRange removes the keys k with from <= k < to, however many there are, at
// the cost of one record.
func (b *Batch) DeleteRange(space Space, from, to []byte) {
	_ = b.b.DeleteRange(spaceKey(space, from), spaceKey(space, to), nil) // fails only after Close
}

// Empty reports whether there is nothing to commit.
func (b *Batch) Empty() bool { return b.b.Empty() }

// Commit makes the changes, all of them or none, and returns when they are
// synced to the disk. An error means that none was made; where that cannot be
// told, Commit does not return (Config.Fatal). A batch is committed once.
func (b *Batch) Commit() error {
	if err := b.s.begin(); err != nil {
		return err
	}
	defer b.s.end()
	defer b.s.guard()
	// A crash in here leaves the whole batch in the log or a torn record, which
	// the next Open drops. Nobody has been told of it yet.
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

// Close gives the batch's memory back. A second Close does nothing.
func (b *Batch) Close() {
	if b.b != nil {
		_ = b.b.Close() // says only whether it was closed before
		b.b = nil
	}
}
