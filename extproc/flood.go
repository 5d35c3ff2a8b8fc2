package extproc

import (
	"sync"
	"time"

	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/journal"
)

// The bounds of what is put on record one by one. A record is a few hundred bytes
// on every node for a year, and whoever sends nonsense must not decide how many
// there are.
const (
	singles = 10   // of one source in a second; what is more is told as one with a count
	sources = 1024 // in a second; those that are more share what the nameless have
)

// source is what makes notices that may be told as one: a key, or everybody without
// a valid one, and why they were blocked.
type source struct {
	key     id.KeyHash
	code    string
	account id.Account // what a budget refused
}

// flood holds back notices of which there are too many in a second. None is lost:
// what was held back is told with a count in a later second, by the next notice or
// by Server.Run.
type flood struct {
	mu struct {
		sync.Mutex
		second int64 // the Unix time that counts is of
		counts map[source]*tally
	}
}

// tally is what one source has made in the second.
type tally struct {
	told int           // one by one
	held uint64        // not yet
	last journal.Event // of the held ones
}

// take takes a notice and returns what is to be recorded now.
func (f *flood) take(now time.Time, ev *journal.Event) []journal.Event {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := f.flushLocked(now)
	from := sourceOf(ev)
	t := f.mu.counts[from]
	if t == nil && len(f.mu.counts) >= sources {
		from = source{code: ev.Notice.Code}
		nameless(ev)
		t = f.mu.counts[from]
	}
	if t == nil {
		if f.mu.counts == nil {
			f.mu.counts = make(map[source]*tally)
		}
		t = &tally{}
		f.mu.counts[from] = t
	}
	if t.told < singles {
		t.told++
		return append(out, *ev)
	}
	t.held++
	t.last = *ev
	t.last.Key = from.key // of keys that nobody knows, the sum is of several
	return out
}

// codeUnknownKey is why a request was blocked whose key nobody knows.
const codeUnknownKey = "invalid_api_key"

// sourceOf is what a notice counts for. Keys that nobody knows are one source, or
// whoever makes them up would be as many as there are.
func sourceOf(ev *journal.Event) source {
	from := source{key: ev.Key, code: ev.Notice.Code, account: ev.Notice.Account}
	if from.code == codeUnknownKey {
		from.key = id.KeyHash{}
	}
	return from
}

// flush returns what was held back in a second that is over.
func (f *flood) flush(now time.Time) []journal.Event {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.flushLocked(now)
}

// rest returns what is held back, whether or not its second is over.
func (f *flood) rest() []journal.Event {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.endLocked()
}

func (f *flood) flushLocked(now time.Time) []journal.Event {
	if now.Unix() == f.mu.second {
		return nil
	}
	f.mu.second = now.Unix()
	return f.endLocked()
}

// endLocked ends the second.
func (f *flood) endLocked() []journal.Event {
	var out []journal.Event
	for _, t := range f.mu.counts {
		if t.held > 0 {
			out = append(out, together(t))
		}
	}
	clear(f.mu.counts)
	return out
}

// together is one event for all that a source has held back: the last of them,
// without what was that request's alone.
func together(t *tally) journal.Event {
	ev := t.last
	notice := *ev.Notice
	notice.Count, notice.Details = t.held, ""
	ev.Notice, ev.Request, ev.EndUser, ev.Group, ev.Stream, ev.Start = &notice, "", "", "", false, ev.End
	if notice.Account.Kind == id.AccountCustomer {
		ev.EndUser = notice.Account.Owner
	}
	return ev
}

// nameless takes away what says whose request it was.
func nameless(ev *journal.Event) {
	notice := *ev.Notice
	notice.Account, notice.AccountEpoch = id.Account{}, 0
	ev.Notice = &notice
	ev.Key, ev.KeyAlias, ev.Actor, ev.EndUser = id.KeyHash{}, "", "", ""
	ev.Team, ev.User, ev.Organization = "", "", ""
}
