package delivery

import (
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/store"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// Place is somewhere that the audit log is delivered to, of one workspace.
type Place string

// The places.
const (
	Webhook Place = "webhook"
	Queue   Place = "queue"
	Bucket  Place = "bucket"
)

// Cursor is how far a place has got.
type Cursor struct {
	Next     uint64 // number of the next record to deliver; 0: nothing was ever delivered
	Moved    time.Time
	Revision uint64
}

// Getter reads the replicated state.
type Getter interface {
	Get(space store.Space, key []byte) (value []byte, ok bool, err error)
}

func cursorAt(place Place) record.At {
	return record.At{Space: store.SpaceDelivery, Key: append([]byte("c"), place...)}
}

// CursorOf reads how far a place has got.
func CursorOf(state Getter, place Place) (Cursor, error) {
	at := cursorAt(place)
	value, ok, err := state.Get(at.Space, at.Key)
	if err != nil {
		return Cursor{}, record.Unreadable(err)
	}
	if !ok {
		return Cursor{}, nil
	}
	r := &clusterv1.DeliveryCursor{}
	if err := proto.Unmarshal(value, r); err != nil {
		return Cursor{}, record.Unreadable(err)
	}
	return Cursor{Next: r.GetNext(), Moved: record.FromNanos(r.GetTimeUnixNano()), Revision: r.GetStamp().GetRevision()}, nil
}

// Move has a place's cursor, which was read as c, stand at next. It is Conflict for
// one that would go back: another node delivers by then, and has got further.
func (c Cursor) Move(tx *record.Txn, place Place, next uint64) error {
	if next < c.Next {
		return fault.New(fault.Conflict, "delivered_already", "The audit log was delivered to the %s up to record %d already, by another node.", place, c.Next-1)
	}
	if next == c.Next {
		return nil
	}
	tx.Saw(cursorAt(place), c.Revision)
	tx.Put(cursorAt(place), &clusterv1.DeliveryCursor{Next: next, TimeUnixNano: record.Nanos(tx.Time())})
	return nil
}
