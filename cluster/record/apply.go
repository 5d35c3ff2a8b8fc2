package record

import (
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/store"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// CodeStale is the code of the Conflict that a transaction meets whose reads are
// not so any more. It is for who runs the operation again, and reaches no caller.
const CodeStale = "stale"

// Tx changes the replicated state and sees its own changes. Whoever calls Apply
// commits the changes, or drops them if there was a fault.
type Tx interface {
	Get(space store.Space, key []byte) (value []byte, ok bool, err error)
	Set(space store.Space, key, value []byte)
	Delete(space store.Space, key []byte)
}

// Stamp says which entry of the log makes a change, when, and who asked for it.
type Stamp struct {
	Index uint64
	Time  time.Time
	Actor string // the actor, as tenancy.Principal.Actor writes it
}

// Change is a record as a transaction left it.
type Change struct {
	Space store.Space
	Key   []byte
	Value []byte // the whole record; nil where it was deleted
}

// Committed says what became of a transaction.
type Committed struct {
	Revision uint64 // of what it wrote
}

// Apply makes a transaction, and returns what it changed, in the order of the
// state. It faults with Conflict, code CodeStale, where a check fails; then nothing
// may be committed. A fault of kind Internal or StorageUnavailable is no outcome of
// the entry but of this node's disk: the node that has it must stop.
//
// It depends on the transaction and the state alone.
func Apply(tx Tx, t *clusterv1.Transaction, by Stamp) ([]Change, *fault.Error) {
	by.Time = FromNanos(t.GetTimeUnixNano())
	for _, c := range t.GetChecks() {
		at := place(c.GetAt())
		value, ok, err := tx.Get(at.Space, at.Key)
		if err != nil {
			return nil, Unreadable(err)
		}
		if revisionOf(value, ok, at.Field) != c.GetRevision() {
			return nil, fault.New(fault.Conflict, CodeStale, "Somebody else has changed that meanwhile.")
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

// Unreadable is the fault of a state that cannot be read; the store's own faults
// stay as they are.
func Unreadable(err error) *fault.Error {
	f := fault.From(err)
	if f.Kind == fault.Internal && f.Op == "" {
		return &fault.Error{Op: "record.state", Kind: fault.Internal, Detail: "A record of the replicated state cannot be read.", Err: err}
	}
	return f
}
