package record

import (
	"time"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster/fault"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// StampField is the field number of the stamp in all record types except the three oldest.
const StampField protowire.Number = 100

// Meta is a decoded stamp: who created the record, and who changed it last.
type Meta struct {
	CreatedAt time.Time
	CreatedBy string // as tenancy.Principal.Actor formats it
	UpdatedAt time.Time
	UpdatedBy string
	Revision  uint64 // index of the log entry that wrote the record last; 0 before the commit
}

// MetaOf reads a stamp.
func MetaOf(s *clusterv1.Stamp) Meta {
	return Meta{
		CreatedAt: FromNanos(s.GetCreatedUnixNano()), CreatedBy: s.GetCreatedBy(),
		UpdatedAt: FromNanos(s.GetUpdatedUnixNano()), UpdatedBy: s.GetUpdatedBy(),
		Revision: s.GetRevision(),
	}
}

// Nanos returns a time as records store it. The zero time is 0.
func Nanos(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

// FromNanos is the reverse of Nanos.
func FromNanos(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.Unix(0, n).UTC()
}

// stampOf reads the stamp of a record of any type. It returns nil for a record without a stamp.
func stampOf(value []byte, field protowire.Number) *clusterv1.Stamp {
	var out *clusterv1.Stamp
	for len(value) > 0 {
		number, kind, n := protowire.ConsumeTag(value)
		if n < 0 {
			return nil
		}
		value = value[n:]
		if number != field || kind != protowire.BytesType {
			if n = protowire.ConsumeFieldValue(number, kind, value); n < 0 {
				return nil
			}
			value = value[n:]
			continue
		}
		text, n := protowire.ConsumeBytes(value)
		if n < 0 {
			return nil
		}
		value = value[n:]
		if out == nil {
			out = &clusterv1.Stamp{}
		}
		if err := (proto.UnmarshalOptions{Merge: true}).Unmarshal(text, out); err != nil {
			return nil
		}
	}
	return out
}

// unstamped is the revision of a record without a stamp. No reader ever gets it, so a
// precondition on it always fails.
const unstamped = ^uint64(0)

// revisionOf returns the revision of a record, or 0 if the record does not exist.
func revisionOf(value []byte, exists bool, field protowire.Number) uint64 {
	switch s := stampOf(value, field); {
	case !exists:
		return 0
	case s == nil:
		return unstamped
	default:
		return s.GetRevision()
	}
}

// stamped appends the stamp to a record that replaces old.
func stamped(record, old []byte, field protowire.Number, by Stamp) ([]byte, error) {
	s := &clusterv1.Stamp{CreatedUnixNano: Nanos(by.Time), CreatedBy: by.Actor}
	if before := stampOf(old, field); before != nil {
		s.CreatedUnixNano, s.CreatedBy = before.GetCreatedUnixNano(), before.GetCreatedBy()
	}
	s.UpdatedUnixNano, s.UpdatedBy, s.Revision = Nanos(by.Time), by.Actor, by.Index
	text, err := proto.MarshalOptions{Deterministic: true}.Marshal(s)
	if err != nil {
		return nil, err
	}
	out := make([]byte, 0, len(record)+len(text)+8)
	out = append(out, record...)
	out = protowire.AppendTag(out, field, protowire.BytesType)
	return protowire.AppendBytes(out, text), nil
}

// Body returns a record without its stamp.
func Body(value []byte, field protowire.Number) ([]byte, error) {
	var out []byte
	for rest := value; len(rest) > 0; {
		number, _, n := protowire.ConsumeField(rest)
		if n < 0 {
			return nil, Unreadable(protowire.ParseError(n))
		}
		if number != field {
			out = append(out, rest[:n]...)
		}
		rest = rest[n:]
	}
	return out, nil
}

// Restamp returns a record of a backup with a new stamp: the creation stays, and the last
// change is by the actor that restores the backup.
func Restamp(value []byte, field protowire.Number, by Stamp) ([]byte, error) {
	body, err := Body(value, field)
	if err != nil {
		return nil, err
	}
	return stamped(body, value, field, by)
}

// CheckRevision returns a Conflict if a resource does not have the revision that the caller has
// read. A want of 0 skips the check.
func CheckRevision(noun string, have, want uint64) error {
	if want == 0 || want == have {
		return nil
	}
	return fault.New(fault.Conflict, "revision_conflict", "The %s has revision %d, not %d. Read it again, and repeat the change if it still applies.", noun, have, want)
}
