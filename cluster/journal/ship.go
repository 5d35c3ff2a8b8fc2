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

// CodeBehind is the code of the Conflict that Trim meets when the ledger has events
// that this journal never wrote.
const CodeBehind = "journal_behind"

// Last returns the highest number of an event that is synced; 0 if none was ever.
func (j *Journal) Last() uint64 { return j.durable.Load() }

// Wait returns nil when there is a synced event of a number above after, at once if
// there is one, and the cause of ctx when that ends. It does not end by itself when
// the journal does.
func (j *Journal) Wait(ctx context.Context, after uint64) error {
	for {
		changed := j.news.next() // before the look: what comes after it closes the channel
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

// news tells everyone who waits that there are events.
type news struct {
	mu sync.Mutex
	ch chan struct{} // nil as long as nobody waits: a commit then makes nothing
}

// next returns what is closed at the next tell.
func (n *news) next() <-chan struct{} {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.ch == nil {
		n.ch = make(chan struct{})
	}
	return n.ch
}

func (n *news) tell() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.ch != nil {
		close(n.ch)
		n.ch = nil
	}
}

// Batch returns the bytes of synced events with numbers above after, oldest first
// and without a gap, and the number of the first. There are at most maxEvents of
// them, and so many that their bytes are at most maxBytes, but one if there is any.
// first is 0 if there is none. It is above after+1 where Trim has deleted what came
// between.
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

// Written reports whether this process has written the event of a number. If not, an earlier
// one has, or has left its intent.
func (j *Journal) Written(seq uint64) bool { return seq > j.opened }

// Compare returns a Conflict with CodeBehind if the ledger has events up to the number
// posted, before this process has posted any, and the journal ended before that when it
// was opened. Numbers that a later event was given would be taken for posted ones.
func (j *Journal) Compare(posted uint64) error {
	if posted > j.found {
		return behind(posted, j.found)
	}
	return nil
}

func behind(posted, last uint64) error {
	return fault.New(fault.Conflict, CodeBehind, "The cluster has posted usage up to number %d of this node, whose journal ends at %d: its data directory is an older copy. Start it with an empty data directory, as a new node.", posted, last)
}

// Trim deletes the events up to the number upto, that one included: they are posted,
// and this node has seen it. It costs one sync whatever it deletes, so it is for
// many events at once. It is Conflict with CodeBehind, and deletes nothing, if there
// is no event of that number yet.
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
	// It need not be synced, and only is because every batch of this store is: a
	// crash that undid it would leave events that are shipped again, which who
	// applies them skips. Numbers are safe either way, for the mark is kept.
	inject.Crash("journal.trim.after")
	j.forget(upto, gone)
	return nil
}

// digest reads the events above after and up to upto: the first of them, and what
// they cost in all.
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
