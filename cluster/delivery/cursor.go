package delivery

import (
	"cmp"
	"slices"
	"time"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/store"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// Place is somewhere that the audit log is delivered to, of one workspace.
type Place string

// The places.
const (
	Webhook     Place = "webhook"
	Queue       Place = "queue"
	Bucket      Place = "bucket"        // lines of JSON
	AuditTables Place = "audit_parquet" // in the same bucket
	UsageTables Place = "usage_parquet" // the usage records, which have numbers of their own
)

// Progress is what a place has taken of the audit log.
type Progress struct {
	// Next is the number of the first record that the place has not taken; 0: nothing
	// was ever delivered.
	Next uint64
	// Taken are the records above Next that the place has taken already, as a delivery
	// in parallel leaves them. They are in ascending order, apart from each other, and
	// at most MaxTaken.
	Taken []Range
	// Object is the object that a leader of a bucket puts next.
	Object Object
}

// Object is an object of a bucket. The nodes agree on it before it is put, so that a leader that
// repeats the work of another puts the same records under the same name. The zero Object is none.
type Object struct {
	First, Last uint64    // its records
	Begin       time.Time // of its period
}

// Range is a run of records, by their numbers.
type Range struct{ First, Last uint64 }

// MaxTaken bounds Progress.Taken, and with it the entry that saves it. Records of
// ranges beyond it are delivered again after a failover.
const MaxTaken = 1024

// Cursor is how far a place has got.
type Cursor struct {
	Progress
	Moved    time.Time
	Revision uint64
}

func cursorAt(place Place) record.At {
	return record.At{Space: store.SpaceDelivery, Key: append([]byte("c"), place...)}
}

// CursorOf reads how far a place has got.
func CursorOf(state record.Getter, place Place) (Cursor, error) {
	at := cursorAt(place)
	r := &clusterv1.DeliveryCursor{}
	switch ok, f := record.Load(state, at.Space, at.Key, r); {
	case f != nil:
		return Cursor{}, f
	case !ok:
		return Cursor{}, nil
	}
	progress := Progress{Next: r.GetNext()}
	if o := r.GetObject(); o != nil {
		progress.Object = Object{First: o.GetFirst(), Last: o.GetLast(), Begin: record.FromNanos(o.GetBeginUnixNano())}
	}
	for _, one := range r.GetTaken() {
		progress.Taken = append(progress.Taken, Range{one.GetFirst(), one.GetLast()})
	}
	return Cursor{Progress: progress, Moved: record.FromNanos(r.GetTimeUnixNano()), Revision: r.GetStamp().GetRevision()}, nil
}

// Move sets a place's cursor, which was read as c, to what the place has taken by now.
// What either of the two says was taken stays taken. Move is Conflict for a Next that
// would go back, or for another Object: another node delivers by then, and has got further.
func (c Cursor) Move(tx *record.Txn, place Place, to Progress) error {
	if to.Next < c.Next {
		return fault.New(fault.Conflict, "delivered_already", "The audit log was delivered to the %s up to record %d already, by another node.", place, c.Next-1)
	}
	if to.Next == c.Next && c.Object != (Object{}) && to.Object != c.Object {
		return fault.New(fault.Conflict, "delivered_already", "Another node puts the records %d to %d into the bucket (%s).", c.Object.First, c.Object.Last, place)
	}
	taken := merged(to.Next, c.Taken, to.Taken)
	if to.Next == c.Next && to.Object == c.Object && slices.Equal(taken, c.Taken) {
		return nil
	}
	next := &clusterv1.DeliveryCursor{Next: to.Next, TimeUnixNano: record.Nanos(tx.Time())}
	for _, one := range taken {
		next.Taken = append(next.Taken, &clusterv1.DeliveredRange{First: one.First, Last: one.Last})
	}
	if o := to.Object; o != (Object{}) {
		next.Object = &clusterv1.DeliveredObject{First: o.First, Last: o.Last, BeginUnixNano: record.Nanos(o.Begin)}
	}
	tx.Require(cursorAt(place), c.Revision)
	tx.Put(cursorAt(place), next)
	return nil
}

// merged is the union of ranges from a number on, at most MaxTaken of them.
func merged(from uint64, lists ...[]Range) []Range {
	all := slices.Concat(lists...)
	slices.SortFunc(all, func(a, b Range) int { return cmp.Compare(a.First, b.First) })
	var out []Range
	for _, one := range all {
		one.First = max(one.First, from)
		switch last := len(out) - 1; {
		case one.Last < one.First:
		case last >= 0 && one.First <= out[last].Last+1:
			out[last].Last = max(out[last].Last, one.Last)
		default:
			out = append(out, one)
		}
	}
	return out[:min(len(out), MaxTaken)]
}
