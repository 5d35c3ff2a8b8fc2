package ledger

import (
	"context"
	"encoding/base64"
	"errors"
	"math"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/store"
	"github.com/modelgateway/modelgateway/cluster/usage"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// LogFilter says which usage records to show. What is not set does not narrow.
type LogFilter struct {
	Request  id.Request
	Key      *id.KeyHash // of this account: see KeyAccount
	Team     id.Team
	User     id.User
	Customer id.Customer
	// Organization is that of the key.
	Organization id.Organization
	Session      string
	From, To     time.Time // of their end: From itself included, To excluded

	NewestFirst bool
	After       string // Record.Cursor of the last that was seen; empty: from the beginning
	Limit       int    // at most so many; 0: all
	// Reads is how many records may be looked at. 0 means 100,000. Where they do not
	// suffice, Logs ends with a *MoreError that says where to go on.
	Reads int
}

// Record is a posted event: an attempt at a provider. It has neither Charges nor Parents.
type Record struct {
	Node       id.Node
	Epoch, Seq uint64
	usage.Attempt
	usage.Result

	at string // its key
}

// Fallbacks returns how many fallbacks came before the attempt. Records that do not count
// them apart from retries have the number of attempts.
func (r *Record) Fallbacks() int {
	if r.Steps.Counted {
		return r.Steps.Fallbacks
	}
	return r.FallbackCount
}

// Cursor is where the record is: LogFilter.After of a query that goes on behind it.
func (r *Record) Cursor() string { return base64.RawURLEncoding.EncodeToString([]byte(r.at)) }

// defaultReads is enough for any page that has an index, and holds a node up for a
// second at the most.
const defaultReads = 100_000

// CodeWide is the code of the fault of a query that matches too little of what it
// has to read.
const CodeWide = "search_too_wide"

// MoreError is the cause of that fault.
type MoreError struct {
	After string // LogFilter.After of a query that goes on
}

// Error says what a MoreError is.
func (e *MoreError) Error() string { return "the query was not finished" }

// Logs calls fn for each usage record that the filter matches, in the order of when
// the attempts ended, until fn returns false. It goes by the index of requests or of
// keys if the filter names one, or else by time. Where it would read too much, it
// faults with CodeWide; what it has shown until then counts.
func Logs(ctx context.Context, r Reader, f LogFilter, fn func(Record) bool) error {
	span, skip, err := f.span()
	if err != nil {
		return err
	}
	reads, shown := f.Reads, 0
	if reads <= 0 {
		reads = defaultReads
	}
	var broken error
	err = r.Scan(ctx, span, func(key, value []byte) bool {
		place := key[min(skip, len(key)):]
		if span.Space == store.SpaceUsageIndex {
			var ok bool
			if value, ok, broken = r.Get(store.SpaceUsage, place); broken != nil || !ok {
				return broken == nil
			}
		}
		var rec Record
		if rec, broken = readRecord(place, value); broken != nil {
			return false
		}
		if f.matches(&rec) {
			if shown++; !fn(rec) || shown == f.Limit {
				return false
			}
		}
		if reads--; reads == 0 {
			broken = tooWide(&rec)
		}
		return reads > 0
	})
	if err == nil {
		err = broken
	}
	if err != nil {
		return unreadable(err)
	}
	return nil
}

// tooWide is the fault of a query that has read enough; at is the last record.
func tooWide(at *Record) error {
	f := fault.New(fault.Malformed, CodeWide, "Too little of what there is matches the filter: narrow it to fewer days, a key or a request.")
	f.Err = &MoreError{After: at.Cursor()}
	return f
}

// span is the part of the state that has what the filter wants, and how many bytes
// are before the key of a record in the keys there.
func (f *LogFilter) span() (store.Range, int, error) {
	span := store.Range{Space: store.SpaceUsage, Reverse: f.NewestFirst}
	switch {
	case f.Request != "":
		span.Space, span.Prefix = store.SpaceUsageIndex, appendRequestIndex(nil, string(f.Request))
	case f.Key != nil:
		span.Space, span.Prefix = store.SpaceUsageIndex, appendKeyIndex(nil, *f.Key)
	}
	before := func(place []byte) []byte { return append(append([]byte{}, span.Prefix...), place...) }
	if !f.From.IsZero() {
		span.From = before(appendMoment(nil, nanosOf(f.From)))
	}
	if !f.To.IsZero() {
		span.To = before(appendMoment(nil, nanosOf(f.To)))
	}
	if f.After == "" {
		return span, len(span.Prefix), nil
	}
	after, err := base64.RawURLEncoding.Strict().DecodeString(f.After)
	if err != nil || len(after) < momentSize {
		return span, 0, fault.Field("starting_after", "invalid_value", "starting_after is not a cursor that a page came with; leave it out to begin anew.")
	}
	if at := before(after); f.NewestFirst {
		if len(span.To) == 0 || string(at) < string(span.To) {
			span.To = at
		}
	} else if at = append(at, 0); string(at) > string(span.From) {
		span.From = at
	}
	return span, len(span.Prefix), nil
}

// nanosOf is a time as keys have it. Those that they cannot hold are brought to the
// first and the last that they can.
func nanosOf(t time.Time) int64 {
	switch first, last := time.Unix(0, 0), time.Unix(0, math.MaxInt64); {
	case t.Before(first):
		return 0
	case t.After(last):
		return math.MaxInt64
	}
	return t.UnixNano()
}

// matches reports whether the filter wants a record of its span.
func (f *LogFilter) matches(r *Record) bool {
	return (f.Request == "" || r.Request == f.Request) &&
		(f.Key == nil || r.Account() == *f.Key) &&
		(f.Team == "" || r.Team == f.Team) &&
		(f.User == "" || r.User == f.User) &&
		(f.Customer == "" || r.EndUser == string(f.Customer)) &&
		(f.Organization == "" || r.Organization == f.Organization) &&
		(f.Session == "" || r.Session == f.Session)
}

// errRecord is a record without an event.
var errRecord = errors.New("usage record without an event")

// readRecord reads the usage record of a key.
func readRecord(place, value []byte) (Record, error) {
	m := &clusterv1.UsageRecord{}
	if err := proto.Unmarshal(value, m); err != nil {
		return Record{}, err
	}
	e := m.GetEvent()
	if e == nil {
		return Record{}, errRecord
	}
	e.Charges, e.ParentHashes = nil, nil // posting has used them
	rec := Record{Node: id.Node(m.GetNode()), Epoch: m.GetEpoch(), Seq: m.GetSeq(), at: string(place)}
	rec.Attempt.Decode(e)
	rec.Result.Decode(e)
	return rec, nil
}
