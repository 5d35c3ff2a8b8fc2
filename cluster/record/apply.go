package record

import (
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/store"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// CodeStale is the code of the Conflict for a transaction whose preconditions no longer hold.
// The proposing node runs the operation again, so no API caller sees the code.
const CodeStale = "stale"

// Tx changes the replicated state and reads its own writes. The caller of Apply commits the
// changes, or discards them if Apply fails.
type Tx interface {
	Get(space store.Space, key []byte) (value []byte, ok bool, err error)
	Set(space store.Space, key, value []byte)
	Delete(space store.Space, key []byte)
}

// Stamp identifies the log entry that makes a change, its time, and its actor.
type Stamp struct {
	Index uint64
	Time  time.Time
	Actor string // as tenancy.Principal.Actor formats it
}

// Change is one record after a transaction.
type Change struct {
	Space store.Space
	Key   []byte
	Value []byte // the whole record; nil if it was deleted
}

// Committed is the result of a committed transaction.
type Committed struct {
	Revision uint64 // of the records that it wrote
}

// Apply executes a transaction and returns its changes, in the order in which it made them. If
// a precondition fails, it returns a Conflict with code CodeStale, and the caller must commit
// nothing. A fault of kind Internal or StorageUnavailable comes from this node's disk, not from
// the entry: the node must stop.
//
// Apply is deterministic: it depends on the transaction and the state only.
func Apply(tx Tx, t *clusterv1.Transaction, by Stamp) ([]Change, *fault.Error) {
	by.Time = FromNanos(t.GetTimeUnixNano())
	for _, c := range t.GetChecks() {
		at := place(c.GetAt())
		value, ok, err := tx.Get(at.Space, at.Key)
		if err != nil {
			return nil, Unreadable(err)
		}
		if revisionOf(value, ok, at.Field) != c.GetRevision() {
			return nil, fault.New(fault.Conflict, CodeStale, "A record that the operation read has changed since.")
		}
	}
	changes := make([]Change, 0, len(t.GetPuts())+len(t.GetDeletes())+len(t.GetTouches()))
	for _, l := range t.GetDeletes() {
		at := place(l)
		tx.Delete(at.Space, at.Key)
		changes = append(changes, Change{Space: at.Space, Key: at.Key})
	}
	write := func(at At, record []byte) *fault.Error {
		old, _, err := tx.Get(at.Space, at.Key)
		if err != nil {
			return Unreadable(err)
		}
		value, err := stamped(record, old, at.Field, by)
		if err != nil {
			return Unreadable(err)
		}
		tx.Set(at.Space, at.Key, value)
		changes = append(changes, Change{Space: at.Space, Key: at.Key, Value: value})
		return nil
	}
	for _, p := range t.GetPuts() {
		if f := write(place(p.GetAt()), p.GetRecord()); f != nil {
			return nil, f
		}
	}
	for _, l := range t.GetTouches() {
		if f := write(place(l), nil); f != nil {
			return nil, f
		}
	}
	return changes, nil
}

func place(l *clusterv1.Locator) At {
	return At{Space: store.Space(l.GetSpace()), Key: l.GetKey(), Field: protowire.Number(l.GetStampField())}
}

// Unreadable returns the fault for state that cannot be read. A fault of the store stays as it
// is.
func Unreadable(err error) *fault.Error {
	f := fault.From(err)
	if f.Kind == fault.Internal && f.Op == "" {
		return &fault.Error{Op: "record.state", Kind: fault.Internal, Detail: "A record of the replicated state cannot be read.", Err: err}
	}
	return f
}
