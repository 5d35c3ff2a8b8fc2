package audit

import (
	"bytes"
	"context"
	"time"

	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/store"
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
	prefix := f.index(workspace)
	x, err := f.bounds(r, workspace, prefix)
	if err != nil {
		return err
	}
	want := f.wanted()
	var bad error
	n := 0
	err = r.Scan(ctx, x, func(key, _ []byte) bool {
		if len(key) != len(prefix)+indexSuffix {
			return true // a longer value with the same prefix
		}
		value, ok, err := r.Get(store.SpaceAudit, recordKey(workspace, numberOf(key)))
		if err != nil {
			bad = err
			return false
		}
		if !ok {
			return true // trimmed since the scan began
		}
		stored, err := decodeEntry(value)
		if err != nil {
			bad = err
			return false
		}
		if !matches(stored, want) || !bytes.Equal(key, indexKey(prefix, stored.time, numberOf(key))) {
			return true // also if the index claims a value that the record does not have
		}
		n++
		return fn(newRecord(numberOf(key), stored)) && n != f.Limit
	})
	if err != nil {
		return err
	}
	return bad
}

// index returns the prefix of the most selective index.
func (f Filter) index(workspace string) []byte {
	switch {
	case f.Request != "":
		return indexPrefix(workspace, byRequest, []byte(clean(f.Request)))
	case f.KeyHash != nil:
		return indexPrefix(workspace, byKey, f.KeyHash[:])
	case f.Org != "": // before the type: a small organization among many has few of the records of a type
		return indexPrefix(workspace, byOrg, []byte(clean(f.Org)))
	case f.Type != "":
		return indexPrefix(workspace, byType, []byte(clean(f.Type)))
	}
	return indexPrefix(workspace, byTime, nil)
}

// bounds returns the range of an index to scan.
func (f Filter) bounds(r Reader, workspace string, prefix []byte) (store.Range, error) {
	x := store.Range{Space: store.SpaceAuditIndex, Prefix: prefix, Reverse: !f.OldestFirst}
	if !f.From.IsZero() {
		x.From = indexKey(prefix, ceilNanos(f.From), 0)
	}
	if !f.To.IsZero() {
		x.To = indexKey(prefix, ceilNanos(f.To), 0)
	}
	after, before := f.After, f.Before
	for _, c := range []struct {
		param  string
		number uint64
		lower  bool // the results are above it
	}{{"starting_after", after, f.OldestFirst}, {"ending_before", before, !f.OldestFirst}} {
		if c.number == 0 {
			continue
		}
		at, ok, err := Get(r, workspace, c.number)
		if err != nil {
			return x, err
		}
		if !ok {
			return x, gone(c.param, c.number)
		}
		key := indexKey(prefix, at.Time.UnixNano(), c.number)
		switch {
		case c.lower:
			if key = append(key, 0); bytes.Compare(key, x.From) > 0 {
				x.From = key
			}
		case x.To == nil || bytes.Compare(key, x.To) < 0:
			x.To = key
		}
	}
	return x, nil
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
