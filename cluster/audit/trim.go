package audit

import (
	"context"
	"time"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/store"
)

// trimMost is the highest number of segments per trim: several megabytes of deletions, in one
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
	tree, hash := frontier(head.GetFirstFrontier()), [32]byte(head.GetFirstPrevious())
	at := head.GetFirst()
	if first <= at {
		return nil
	}
	for at < first {
		var bad error
		var keys [][]byte
		from := at
		x := store.Range{
			Space: store.SpaceAudit, Prefix: recordPrefix(workspace),
			From: recordKey(workspace, at), To: recordKey(workspace, min(first, at+segment)),
		}
		err := tx.Scan(x, func(key, value []byte) bool {
			var e entry
			if e, bad = decodeEntry(value); bad != nil {
				return false
			}
			if numberOf(key) != at {
				bad = damagedEntry(nil)
				return false
			}
			hash = e.hash
			tree = tree.grown(at-1, leafHash(hash))
			keys = append(keys, indexKeys(workspace, at, indexOfStored(e))...)
			at++
			return true
		})
		if err != nil {
			return record.Unreadable(err)
		}
		if bad == nil && at != min(first, from+segment) {
			bad = damagedEntry(nil)
		}
		if bad != nil {
			return record.Unreadable(bad)
		}
		for n := from; n < at; n++ {
			tx.Delete(store.SpaceAudit, recordKey(workspace, n))
		}
		tx.Delete(store.SpaceAuditSegment, recordKey(workspace, from))
		for _, key := range keys {
			tx.Delete(store.SpaceAuditIndex, key)
		}
	}
	head.First, head.FirstPrevious, head.FirstFrontier = first, hash[:], tree
	if f := putHead(tx, workspace, head); f != nil {
		return f
	}
	return Append(tx, workspace, trimmedEvent(first), recorded)
}

// indexOfStored returns the indexed values of a stored record.
func indexOfStored(x entry) indexed {
	external, _ := membersOf(x.external) // anything but an object has no members
	internal, _ := membersOf(x.internal)
	return indexOfMembers(x.time, external, internal)
}

func indexOfMembers(time int64, external, internal members) indexed {
	out := indexed{time: time, kind: external.text("event_type"), org: external.text("org_id"), request: internal.text("request_id")}
	if key, ok := id.ParseKeyHash(external.text("user_key_hash")); ok {
		out.key = key[:]
	}
	return out
}

// TrimPoint returns the number of the first record to keep if all records written before a time
// may be deleted. It returns the current first number if none may. One step is limited, so that
// the log entry stays small: call TrimPoint again afterwards.
func TrimPoint(_ context.Context, r Reader, workspace string, before time.Time) (first uint64, err error) {
	head, err := Head(r, workspace)
	if err != nil {
		return 0, err
	}
	first = head.First
	for range trimMost {
		last := segmentStart(first) + segment - 1
		if last > head.Size {
			return first, nil
		}
		x, ok, err := Get(r, workspace, last)
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
