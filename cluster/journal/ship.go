package journal

import (
	"bytes"
	"context"
	"sync"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/inject"
	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/cluster/store"
)

// CodeBehind is the code of the Conflict of Trim when the ledger has events that this journal
// never wrote.
const CodeBehind = "journal_behind"

// Last returns the highest sequence number of a synced event; 0 if there never was one.
func (j *Journal) Last() uint64 { return j.durable.Load() }

// Wait returns nil once there is a synced event with a number above after, or the cause of ctx
// when ctx ends. It does not return when the journal stops.
func (j *Journal) Wait(ctx context.Context, after uint64) error {
	for {
		changed := j.news.next() // taken before the check, so that a later event closes it
		if j.durable.Load() > after {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// news notifies waiting callers of new events.
type news struct {
	mu sync.Mutex
	ch chan struct{} // nil unless a caller waits, so that a commit allocates nothing
}

// next returns a channel that the next call of notify closes.
func (n *news) next() <-chan struct{} {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.ch == nil {
		n.ch = make(chan struct{})
	}
	return n.ch
}

func (n *news) notify() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.ch != nil {
		close(n.ch)
		n.ch = nil
	}
}

// Batch returns the bytes of synced events with numbers above after, oldest first and without a
// gap, and the number of the first. It returns at most maxEvents events and maxBytes bytes, but
// at least one event if there is any. first is 0 if there is none. first is above after+1 if
// Trim has deleted events in between.
func (j *Journal) Batch(ctx context.Context, after uint64, maxEvents, maxBytes int) (first uint64, events [][]byte, err error) {
	var keys encoder
	from := bytes.Clone(keys.eventKey(j.identity.Epoch, after+1))
	to := bytes.Clone(keys.eventKey(j.identity.Epoch, j.durable.Load()+1))
	size := 0
	var bad error
	err = j.store.Scan(ctx, store.Range{Space: store.SpaceEvent, From: from, To: to, Limit: maxEvents}, func(key, value []byte) bool {
		var seq uint64
		if _, seq, bad = parseEventKey(key); bad != nil {
			return false
		}
		size += len(value)
		switch {
		case len(events) == 0:
			first = seq
		case seq != first+uint64(len(events)):
			bad = errGap
			return false
		case size > maxBytes:
			return false
		}
		events = append(events, bytes.Clone(value))
		return true
	})
	if err != nil || bad != nil {
		return 0, nil, either(err, bad)
	}
	return first, events, nil
}

// Written reports whether this process has written the event with this number. If not, an
// earlier process has, or has left its intent.
func (j *Journal) Written(seq uint64) bool { return seq > j.opened }

// Compare returns a Conflict with CodeBehind if the ledger has events up to the number posted
// and the journal ended before that at Open. It must be called before this process has posted
// any. Otherwise the ledger would take new events for posted ones with the same numbers.
func (j *Journal) Compare(posted uint64) error {
	if posted > j.found {
		return behind(posted, j.found)
	}
	return nil
}

func behind(posted, last uint64) error {
	return fault.New(fault.Conflict, CodeBehind, "The cluster has posted usage up to number %d of this node, whose journal ends at %d: its data directory is an older copy. Start it with an empty data directory, as a new node.", posted, last)
}

// Trim deletes the events up to and including the number upto. The ledger has them, and this
// node has confirmed that. It costs one sync for any number of events. It deletes nothing and
// returns a Conflict with CodeBehind if no event has that number yet.
func (j *Journal) Trim(ctx context.Context, upto uint64) error {
	j.trim.Lock()
	defer j.trim.Unlock()
	if last := j.durable.Load(); upto > last {
		return behind(upto, last)
	}
	before := j.before.Load()
	if upto <= before {
		return nil
	}
	_, gone, err := j.digest(ctx, before, upto)
	if err != nil {
		return err
	}
	var from, to encoder
	inject.Crash("journal.trim.before")
	b := j.store.NewBatch()
	b.DeleteRange(store.SpaceEvent, from.eventKey(j.identity.Epoch, before+1), to.eventKey(j.identity.Epoch, upto+1))
	err = b.Commit()
	b.Close()
	if err != nil {
		return err
	}
	// A sync is not necessary; it happens because all batches of this store are synced. If a
	// crash undid the deletion, the events would be shipped again, and the ledger would skip
	// them. Numbers are safe in both cases, because the mark is kept.
	inject.Crash("journal.trim.after")
	j.forget(upto, gone)
	return nil
}

// digest reads the events above after and up to upto. It returns the first of them and their
// total cost.
func (j *Journal) digest(ctx context.Context, after, upto uint64) (first digest, sum money.Pico, err error) {
	var from, to encoder
	r := store.Range{Space: store.SpaceEvent, From: from.eventKey(j.identity.Epoch, after+1), To: to.eventKey(j.identity.Epoch, upto+1)}
	var bad error
	seen := false
	err = j.store.Scan(ctx, r, func(_, value []byte) bool {
		var d digest
		if d, bad = digestOf(value); bad != nil {
			return false
		}
		if !seen {
			first, seen = d, true
		}
		sum = money.Add(sum, d.cost)
		return true
	})
	if err != nil || bad != nil {
		return digest{}, 0, either(err, bad)
	}
	return first, sum, nil
}
