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

// LogFilter selects usage records. Zero values do not filter.
type LogFilter struct {
	Request  id.Request
	Key      *id.KeyHash // of this account: see KeyAccount
	Team     id.Team
	User     id.User
	Customer id.Customer
	// Organization is the organization of the key.
	Organization id.Organization
	Session      string
	From, To     time.Time // of their end: From inclusive, To exclusive

	NewestFirst bool
	After       string // Record.Cursor of the last record seen; empty: from the beginning
	Limit       int    // highest number of records; 0: all
	// Reads is the highest number of records to read. 0 means 100,000. If that does not
	// suffice, Logs fails with a *MoreError that says where to continue.
	Reads int
}

// Record is a posted event: an attempt at a provider. It has no Charges, Parents and BoundedBy.
type Record struct {
	Node       id.Node
	Epoch, Seq uint64
	usage.Attempt
	usage.Result

	at string // its key
}

// Fallbacks returns the number of fallbacks before the attempt. Older records do not
// distinguish them from retries; for those it is the number of attempts.
func (r *Record) Fallbacks() int {
	if r.Steps.Counted {
		return r.Steps.Fallbacks
	}
	return r.FallbackCount
}

// Cursor returns the position of the record, for LogFilter.After.
func (r *Record) Cursor() string { return base64.RawURLEncoding.EncodeToString([]byte(r.at)) }

// defaultReads suffices for any page with an index, and costs a node at most a second.
const defaultReads = 100_000

// CodeWide is the error code of a query that reads too many records that do not match.
const CodeWide = "search_too_wide"

// MoreError is the cause of that error.
type MoreError struct {
	After string // LogFilter.After to continue the query
}

// Error implements error.
func (e *MoreError) Error() string { return "the query was not finished" }

// Logs calls fn for each matching usage record, ordered by the end of the attempt, until fn
// returns false. It uses the index of requests or of keys if the filter names one, and
// otherwise the time. If it would read too many records, it fails with CodeWide; the records
// passed to fn so far are valid.
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

// tooWide is the error of a query that has reached its limit; at is the last record.
func tooWide(at *Record) error {
	f := fault.New(fault.Malformed, CodeWide, "Too few of the records read match the filter: narrow it to fewer days, a key or a request.")
	f.Err = &MoreError{After: at.Cursor()}
	return f
}

// span returns the range of the state that the filter needs, and the length of the prefix
// before the record's key in it.
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

// nanosOf returns a time for keys, clamped to their range.
func nanosOf(t time.Time) int64 {
	switch first, last := time.Unix(0, 0), time.Unix(0, math.MaxInt64); {
	case t.Before(first):
		return 0
	case t.After(last):
		return math.MaxInt64
	}
	return t.UnixNano()
}

// matches reports whether the filter matches a record of its span.
func (f *LogFilter) matches(r *Record) bool {
	return (f.Request == "" || r.Request == f.Request) &&
		(f.Key == nil || r.Account() == *f.Key) &&
		(f.Team == "" || r.Team == f.Team) &&
		(f.User == "" || r.User == f.User) &&
		(f.Customer == "" || r.EndUser == string(f.Customer)) &&
		(f.Organization == "" || r.Organization == f.Organization) &&
		(f.Session == "" || r.Session == f.Session)
}

var errRecord = errors.New("usage record without an event")

// readRecord decodes the usage record of a key.
func readRecord(place, value []byte) (Record, error) {
	m := &clusterv1.UsageRecord{}
	if err := proto.Unmarshal(value, m); err != nil {
		return Record{}, err
	}
	e := m.GetEvent()
	if e == nil {
		return Record{}, errRecord
	}
	e.Charges, e.ParentHashes, e.BoundedByUser = nil, nil, "" // only posting needs them
	rec := Record{Node: id.Node(m.GetNode()), Epoch: m.GetEpoch(), Seq: m.GetSeq(), at: string(place)}
	rec.Attempt.Decode(e)
	rec.Result.Decode(e)
	return rec, nil
}
