package ledger

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"iter"
	"math"
	"slices"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster/block"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
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
	Prompt       string    // id of the prompt that the request was composed with
	From, To     time.Time // of their end: From inclusive, To exclusive

	NewestFirst bool
	After       string // Record.Cursor of the last record seen; empty: from the beginning
	Limit       int    // highest number of records; 0: all
	// Reads is the highest number of records to decode. 0 means 100,000. If that does not
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
// returns false. It reads the blocks of records that can have what the filter names. If it would
// read too many records, it fails with CodeWide; the records passed to fn so far are valid.
func Logs(ctx context.Context, r Reader, f LogFilter, fn func(Record) bool) error {
	l := &listing{filter: &f, fn: fn, reads: passed * f.Reads}
	if l.reads <= 0 {
		l.reads = passed * defaultReads
	}
	if err := l.begin(); err != nil {
		return err
	}
	older, err := HasOlderRows(ctx, r)
	if err != nil {
		return unreadable(err)
	}
	if older {
		// They are packed meanwhile: both parts are read as they are now.
		snapshot, done, err := block.Snapshot(r)
		if err != nil {
			return unreadable(err)
		}
		defer done()
		var stop func()
		l.older, stop = iter.Pull2(f.olderRowsOf(ctx, snapshot))
		defer stop()
		r = snapshot
	}
	if err = rowLog().Query(ctx, r, l.query, l.add); err == nil && !l.done {
		if l.flush() {
			l.before(nil)
		}
	}
	if err == nil {
		err = l.err
	}
	if err != nil {
		return unreadable(err)
	}
	return nil
}

// listing is the state of one call of Logs.
type listing struct {
	filter *LogFilter
	query  block.Query
	fn     func(Record) bool
	after  []byte // the place of the last record of the page before
	now    int64  // the time of the last record that was read
	same   []row  // records of that time, which are not listed yet
	older  func() (row, error, bool)
	next   *row // of older
	reads  int  // left, in parts of one
	shown  int
	done   bool // the rest is not wanted, or there is an err
	err    error
}

// passed is how many records may be passed over for one that is decoded.
const passed = 16

// begin sets the range of the query.
func (l *listing) begin() error {
	f := l.filter
	l.query = block.Query{Terms: f.terms(), Reverse: f.NewestFirst}
	if !f.From.IsZero() {
		l.query.From = nanosOf(f.From)
	}
	if !f.To.IsZero() {
		l.query.To = max(nanosOf(f.To), 1)
	}
	if f.After == "" {
		return nil
	}
	after, err := base64.RawURLEncoding.Strict().DecodeString(f.After)
	if err != nil || len(after) < momentSize {
		return fault.Field("starting_after", "invalid_value", "starting_after is not a cursor that a page came with; leave it out to start with the first page.")
	}
	l.after = after
	// Records of the time of the last one are among the results until row skips them.
	if at := momentOf(after); !f.NewestFirst {
		l.query.From = max(l.query.From, at)
	} else if l.query.To == 0 || at < l.query.To-1 {
		l.query.To = at + 1
	}
	return nil
}

// add takes a record of the log. Those of one time are listed in the order of their places, as a cursor
// is one.
func (l *listing) add(x block.Record) bool {
	if x.Time != l.now && (!l.flush() || !l.goOn(x.Time)) {
		return false
	}
	if !l.filter.mayMatch(x.Value) {
		l.reads--
		return true
	}
	place, err := placeOf(x)
	if err != nil {
		l.err, l.done = err, true
		return false
	}
	l.same = append(l.same, row{place, x.Value})
	return true
}

// flush lists the records of one time, and those of older versions that come before them.
func (l *listing) flush() bool {
	if len(l.same) > 1 {
		slices.SortFunc(l.same, func(a, b row) int { return l.order(a.place, b.place) })
	}
	for _, x := range l.same {
		if !l.before(x.place) || !l.row(x) {
			return false
		}
	}
	l.same = l.same[:0]
	return true
}

// before lists the records of older versions that come before a place; nil: all that are left.
func (l *listing) before(place []byte) bool {
	for l.older != nil {
		if l.next == nil {
			x, err, ok := l.older()
			if err != nil {
				l.err, l.done = err, true
				return false
			}
			if !ok {
				l.older = nil
				return true
			}
			l.next = &x
		}
		if place != nil && l.order(l.next.place, place) > 0 {
			return true
		}
		if at := momentOf(l.next.place); at != l.now && !l.goOn(at) {
			return false
		}
		x := *l.next
		l.next = nil
		if !l.row(x) {
			return false
		}
	}
	return true
}

// goOn begins with the records of a time, unless too many were read.
func (l *listing) goOn(at int64) bool {
	if l.reads > 0 {
		l.now = at
		return true
	}
	cursor := appendMoment(nil, l.now)
	if !l.filter.NewestFirst {
		cursor = append(cursor, 0xff) // after all places of that time
	}
	f := fault.New(fault.Malformed, CodeWide, "Too few of the records read match the filter: narrow it to fewer days, a key or a request.")
	f.Err = &MoreError{After: base64.RawURLEncoding.EncodeToString(cursor)}
	l.err, l.done = f, true
	return false
}

// order compares two places in the order of the results.
func (l *listing) order(a, b []byte) int {
	if l.filter.NewestFirst {
		return bytes.Compare(b, a)
	}
	return bytes.Compare(a, b)
}

// row lists a record if the filter matches it. It reports whether to go on.
func (l *listing) row(x row) bool {
	if l.after != nil && l.order(x.place, l.after) <= 0 {
		return true
	}
	var rec Record
	if rec, l.err = readRecord(x.place, x.value); l.err != nil {
		l.done = true
		return false
	}
	if l.filter.matches(&rec) {
		if l.shown++; !l.fn(rec) || l.shown == l.filter.Limit {
			l.done = true
			return false
		}
	}
	l.reads -= passed
	return true
}

// mayMatch reports whether a stored record can match the filter: it contains what the filter names.
func (f *LogFilter) mayMatch(value []byte) bool {
	if f.Key != nil && !bytes.Contains(value, f.Key[:]) {
		return false
	}
	for _, name := range [...]string{
		string(f.Request), string(f.Team), string(f.User), string(f.Customer), string(f.Organization), f.Session, f.Prompt,
	} {
		if name != "" && !bytes.Contains(value, []byte(name)) {
			return false
		}
	}
	return true
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
		(f.Session == "" || r.Session == f.Session) &&
		(f.Prompt == "" || r.Prompt.ID == f.Prompt)
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
