// Package flood bounds how many notices of rejected requests are recorded individually. The
// others are recorded as one with a count, so no notice is lost.
package flood

import (
	"sync"
	"time"

	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/journal"
	"github.com/modelgateway/modelgateway/cluster/usage"
)

// Bounds of the notices that are recorded individually. A record takes a few hundred bytes
// on every node for a year, so callers must not decide how many there are.
const (
	MaxPerSource = 10   // of one source in a second; further ones are recorded as one with a count
	MaxSources   = 1024 // in a second; further ones share one anonymous source
)

// source groups notices that may be recorded as one: those of one key, or of all callers
// without a valid key, with one reason.
type source struct {
	key     id.KeyHash
	code    string
	account id.Account // whose budget rejected them
}

// Filter holds back notices beyond the bounds of a second: the next notice of a later second,
// Flush or FlushAll returns them as one with a count. Its zero value is ready, and it is safe
// for concurrent use.
type Filter struct {
	mu struct {
		sync.Mutex
		second int64 // the Unix time that counts is of
		counts map[source]*count
	}
}

// count counts the notices of one source in the second.
type count struct {
	recorded int               // one by one
	held     uint64            // not yet
	last     journal.Event     // of the held ones
	found    []usage.Violation // in the held ones that are final, without places
}

// maxFound bounds the sorts of findings in one record.
const maxFound = 100

// Take takes a notice and returns the events to record now.
func (f *Filter) Take(now time.Time, ev *journal.Event) []journal.Event {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := f.flushLocked(now)
	from := sourceOf(ev)
	t := f.mu.counts[from]
	if t == nil && len(f.mu.counts) >= MaxSources {
		from = source{code: ev.Notice.Code}
		anonymize(ev)
		t = f.mu.counts[from]
	}
	if t == nil {
		if f.mu.counts == nil {
			f.mu.counts = make(map[source]*count)
		}
		t = &count{}
		f.mu.counts[from] = t
	}
	if t.recorded < MaxPerSource {
		t.recorded++
		return append(out, *ev)
	}
	t.held++
	t.last = *ev
	if ev.Final {
		t.found = usage.Sums(t.found, ev.Violations, maxFound)
	}
	t.last.Key = from.key // a summary of unknown keys is of several keys
	return out
}

// codeUnknownKey is the code of a request with an unknown key.
const codeUnknownKey = "invalid_api_key"

// sourceOf returns the source of a notice. All unknown keys are one source; otherwise a
// caller could invent any number of sources.
func sourceOf(ev *journal.Event) source {
	from := source{key: ev.Key, code: ev.Notice.Code, account: ev.Notice.Account}
	if from.code == codeUnknownKey {
		from.key = id.KeyHash{}
	}
	return from
}

// Flush returns the notices that were held back in a past second.
func (f *Filter) Flush(now time.Time) []journal.Event {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.flushLocked(now)
}

// FlushAll returns the notices that are held back, whether or not their second is over.
func (f *Filter) FlushAll() []journal.Event {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.endLocked()
}

func (f *Filter) flushLocked(now time.Time) []journal.Event {
	if now.Unix() == f.mu.second {
		return nil
	}
	f.mu.second = now.Unix()
	return f.endLocked()
}

// endLocked ends the second.
func (f *Filter) endLocked() []journal.Event {
	var out []journal.Event
	for _, t := range f.mu.counts {
		if t.held > 0 {
			out = append(out, summarize(t))
		}
	}
	clear(f.mu.counts)
	return out
}

// summarize returns one event for all notices that a source has held back: the last of
// them, without what belongs to that request alone, and with what guardrails found in all.
func summarize(t *count) journal.Event {
	ev := t.last
	notice := *ev.Notice
	notice.Count, notice.Details = t.held, ""
	ev.Notice, ev.Request, ev.EndUser, ev.Group, ev.Stream, ev.Start = &notice, "", "", "", false, ev.End
	ev.Guardrails, ev.Violations, ev.Final = nil, t.found, ev.Final || len(t.found) > 0
	if notice.Account.Kind == id.AccountCustomer {
		ev.EndUser = notice.Account.Owner
	}
	return ev
}

// anonymize removes from an event whose request it was.
func anonymize(ev *journal.Event) {
	notice := *ev.Notice
	notice.Account, notice.AccountEpoch = id.Account{}, 0
	ev.Notice = &notice
	ev.Key, ev.KeyAlias, ev.Actor, ev.EndUser = id.KeyHash{}, "", "", ""
	ev.Team, ev.User, ev.Organization = "", "", ""
}
