package audit

import (
	"bytes"
	"context"
	"iter"
	"time"

	"github.com/modelgateway/modelgateway/cluster/block"
	"github.com/modelgateway/modelgateway/cluster/id"
)

// Filter selects records. Each set field restricts the result; the zero Filter selects all
// records, the latest first.
type Filter struct {
	Type     string
	KeyHash  *id.KeyHash
	Request  string
	Org      string
	Team     string
	Customer string
	Model    string
	Provider string
	From     time.Time // happened then or later
	To       time.Time // happened before
	// After is the number of the last record of the previous page, in the order of the results.
	// 0: from the beginning.
	After uint64
	// Before is the number of the record at which the results end. 0: none.
	Before      uint64
	Limit       int  // highest number of records; 0 means all
	OldestFirst bool // by the time of the event
}

// Query calls fn for each matching record, ordered by the time of the event, until fn returns
// false. A cursor for a trimmed record is Malformed.
func Query(ctx context.Context, r Reader, workspace string, f Filter, fn func(Record) bool) error {
	q := &query{Filter: f, workspace: workspace, want: f.wanted(), fn: fn}
	older, err := HasOlder(ctx, r, workspace)
	if err != nil {
		return err
	}
	if older {
		// They are packed meanwhile: both parts are read as they are now.
		snapshot, done, err := block.Snapshot(r)
		if err != nil {
			return err
		}
		defer done()
		r = snapshot
	}
	if err := q.begin(ctx, r); err != nil {
		return err
	}
	if older {
		var stop func()
		q.pull, stop = iter.Pull2(q.older(ctx, r))
		defer stop()
	}
	err = logOf(workspace).Query(ctx, r, q.span, func(x block.Record) bool {
		return q.before(&block.Position{Time: x.Time, Number: x.Number}) && q.add(x.Number, x.Value)
	})
	if err == nil && !q.done {
		q.before(nil)
	}
	if err == nil {
		err = q.err
	}
	return err
}

// query is the state of one call of Query.
type query struct {
	Filter

	span      block.Query
	workspace string
	want      wanted
	fn        func(Record) bool
	pull      func() (position, error, bool)
	next      *position // of pull
	shown     int
	done      bool // the rest is not wanted, or there is an err
	err       error
}

// begin sets the range of the query.
func (q *query) begin(ctx context.Context, r Reader) error {
	f := q.Filter
	q.span = block.Query{Terms: f.terms(), Reverse: !f.OldestFirst}
	if !f.From.IsZero() {
		q.span.From = ceilNanos(f.From)
	}
	if !f.To.IsZero() {
		q.span.To = max(ceilNanos(f.To), 1)
	}
	for _, c := range []struct {
		param  string
		number uint64
		to     **block.Position
	}{{"starting_after", f.After, &q.span.After}, {"ending_before", f.Before, &q.span.Before}} {
		if c.number == 0 {
			continue
		}
		at, ok, err := Get(ctx, r, q.workspace, c.number)
		if err != nil {
			return err
		}
		if !ok {
			return gone(c.param, c.number)
		}
		*c.to = &block.Position{Time: max(at.Time.UnixNano(), 0), Number: c.number}
	}
	return nil
}

// terms returns the terms that all matching records have.
func (f Filter) terms() []block.Term {
	x := values{
		kind: clean(f.Type), request: clean(f.Request), org: clean(f.Org), team: clean(f.Team),
		customer: clean(f.Customer), model: clean(f.Model), provider: clean(f.Provider),
	}
	if f.KeyHash != nil {
		x.key = f.KeyHash[:]
	}
	return termsOf(x)
}

// before passes on the records of older versions that come before a position; nil: all that are left.
func (q *query) before(at *block.Position) bool {
	for q.pull != nil {
		if q.next == nil {
			x, err, ok := q.pull()
			if err != nil {
				q.err, q.done = err, true
				return false
			}
			if !ok {
				q.pull = nil
				return true
			}
			q.next = &x
		}
		if at != nil && (q.next.Compare(*at) > 0) != q.span.Reverse {
			return true
		}
		x := q.next
		q.next = nil
		if !q.add(x.Number, x.value) {
			return false
		}
	}
	return true
}

// add passes a record on if the filter matches it. It reports whether to go on.
func (q *query) add(number uint64, value []byte) bool {
	x, err := decodeEntry(value)
	if err != nil {
		q.err, q.done = err, true
		return false
	}
	if !matches(x, q.want) {
		return true
	}
	q.shown++
	q.done = !q.fn(newRecord(number, x)) || q.shown == q.Limit
	return !q.done
}

// ceilNanos returns a time for an index, rounded up and clamped to its range.
func ceilNanos(t time.Time) int64 {
	const last = 1<<63 - 1
	switch {
	case t.Before(time.Unix(0, 0)):
		return 0
	case t.After(time.Unix(0, last)):
		return last
	}
	return t.UnixNano()
}

// wanted has the raw values that members must have.
type wanted struct {
	external, internal []member
}

func (f Filter) wanted() wanted {
	var out wanted
	add := func(to *[]member, name, text string) {
		if text != "" {
			*to = append(*to, member{[]byte(name), appendString(nil, text)})
		}
	}
	add(&out.external, "event_type", f.Type)
	add(&out.external, "org_id", f.Org)
	add(&out.external, "team_id", f.Team)
	add(&out.external, "model", f.Model)
	add(&out.external, "provider", f.Provider)
	add(&out.internal, "customer_id", f.Customer)
	add(&out.internal, "request_id", f.Request)
	if f.KeyHash != nil {
		add(&out.external, "user_key_hash", f.KeyHash.String())
	}
	return out
}

// matches compares with the record itself, not with the index.
func matches(x entry, w wanted) bool {
	return contains(x.external, w.external) && contains(x.internal, w.internal)
}

func contains(object []byte, want []member) bool {
	if len(want) == 0 {
		return true
	}
	have, ok := membersOf(object)
	if !ok {
		return false
	}
	for _, w := range want {
		if !bytes.Equal(have.get(string(w.name)), w.value) {
			return false
		}
	}
	return true
}
