package audit

import (
	"context"
	"time"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/store"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// trimMost is the highest number of segments per trim, sealed or not: several megabytes of deletions, in one
// batch on every node.
const trimMost = 16

// Trim deletes the complete segments before a number, with their index keys and outsets.
// Checkpoints stay. It appends a record that documents the trim; recorded is the time of the
// log entry.
func Trim(tx Tx, workspace string, first uint64, recorded time.Time) *fault.Error {
	head, f := headIn(tx, workspace)
	if f != nil {
		return f
	}
	first = segmentStart(max(min(first, head.GetSize()+1), 1))
	at := head.GetFirst()
	if s, ok, err := logOf(workspace).SealedIn(tx, first); err != nil {
		return record.Unreadable(err)
	} else if ok { // the records were sealed after the number was chosen, and a segment goes as a whole
		first = segmentStart(s.First)
	}
	if first <= at {
		return nil
	}
	before, err := outsetOf(tx, workspace, head, first)
	if err != nil {
		return record.Unreadable(err)
	}
	older, err := trimOlder(tx, workspace, first)
	if err != nil {
		return record.Unreadable(err)
	}
	packed, err := logOf(workspace).Drop(tx, first)
	if err == nil && older+packed != first-at {
		err = damagedEntry(nil) // a record was missing: the trim would hide that
	}
	if err != nil {
		return record.Unreadable(err)
	}
	for ; at < first; at += segment {
		tx.Delete(store.SpaceAuditSegment, recordKey(workspace, at))
	}
	head.First, head.FirstPrevious, head.FirstFrontier = first, before.previous[:], before.tree
	if f := putHead(tx, workspace, head); f != nil {
		return f
	}
	return Append(tx, workspace, trimmedEvent(first), recorded)
}

// outsetOf returns the state of a chain before the first record of a segment, which need not be there yet.
func outsetOf(tx Tx, workspace string, head *clusterv1.AuditHead, first uint64) (outset, error) {
	if first == head.GetSize()+1 {
		return outset{first, [32]byte(head.GetHash()), head.GetFrontier()}, nil
	}
	at, ok, err := readSegment(tx, workspace, first)
	if err == nil && !ok {
		err = damagedSegment(nil)
	}
	return at, err
}

// trimOlder deletes the records of older versions before a number, and returns how many there were.
func trimOlder(tx Tx, workspace string, before uint64) (n uint64, err error) {
	var bad error
	var keys [][]byte
	var numbers []uint64
	err = tx.Scan(store.Range{
		Space: store.SpaceAudit, Prefix: recordPrefix(workspace), To: recordKey(workspace, before),
	}, func(key, value []byte) bool {
		var e entry
		if e, bad = decodeEntry(value); bad != nil {
			return false
		}
		numbers = append(numbers, numberOf(key))
		keys = append(keys, indexKeys(workspace, numberOf(key), indexOfStored(e))...)
		return true
	})
	if err == nil {
		err = bad
	}
	if err != nil {
		return 0, err
	}
	for _, n := range numbers {
		tx.Delete(store.SpaceAudit, recordKey(workspace, n))
	}
	for _, key := range keys {
		tx.Delete(store.SpaceAuditIndex, key)
	}
	return uint64(len(numbers)), nil
}

// indexOfStored returns the indexed values of a stored record.
func indexOfStored(x entry) indexed {
	external, _ := membersOf(x.external) // anything but an object has no members
	internal, _ := membersOf(x.internal)
	return indexOfMembers(x.time, external, internal)
}

func indexOfMembers(time int64, external, internal members) indexed {
	out := indexed{time, values{
		kind: external.text("event_type"), org: external.text("org_id"), request: internal.text("request_id"),
		team: external.text("team_id"), customer: internal.text("customer_id"), model: external.text("model"), provider: external.text("provider"),
	}}
	if key, ok := id.ParseKeyHash(external.text("user_key_hash")); ok {
		out.key = key[:]
	}
	return out
}

// TrimPoint returns the number of the first record to keep if all records written before a time
// may be deleted. It returns the current first number if none may. One step is limited, so that
// the log entry stays small: call TrimPoint again afterwards.
func TrimPoint(ctx context.Context, r Reader, workspace string, before time.Time) (first uint64, err error) {
	head, err := Head(r, workspace)
	if err != nil {
		return 0, err
	}
	first = head.First
	for range trimMost {
		last := segmentStart(first) + segment - 1
		if s, ok, err := logOf(workspace).SegmentAt(ctx, r, first); err != nil {
			return 0, err
		} else if ok {
			last = s.Last // it goes as a whole
		}
		if last > head.Size {
			return first, nil
		}
		x, ok, err := Get(ctx, r, workspace, last)
		if err != nil {
			return 0, err
		}
		if !ok || !x.Recorded.Before(before) {
			return first, nil
		}
		first = last + 1
	}
	return first, nil
}
