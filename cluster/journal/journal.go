package journal

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/store"
	"github.com/modelgateway/modelgateway/cluster/usage"
)

// Commit is what one commit wrote, for metrics.
type Commit struct {
	Intents int           // intents written
	Settled int           // intents deleted, having been written earlier
	Netted  int           // intents that met their settle here and were never written
	Events  int           // events written
	Elapsed time.Duration // with the sync; 0 if there was nothing to write
}

// state is what a journal is doing.
type state uint8

const (
	idle    state = iota // Run has not been called
	running              // Run is
	stopped              // Run has returned, or is past taking anything
)

// Journal is the outbox of one node. All methods are safe for concurrent use.
type Journal struct {
	// Set by Open, read only after.
	cfg      Config
	store    *store.Store
	identity store.Identity

	wake chan struct{} // has room for one: there is something to do
	late *time.Timer   // wakes for intents that have waited long enough; nil without a delay

	// The committer's: Open's, then Run's.
	encoder    encoder
	lastSeq    uint64 // the highest number given to an event
	lastIntent uint64 // the highest number given to an intent since Open
	repairing  bool   // Open writes the events of a dead process
	found      uint64 // the highest number given to an event before Open
	opened     uint64 // the highest number given to an event when Open returned

	durable atomic.Uint64 // the highest number of an event that is synced
	before  atomic.Uint64 // how many events of this epoch are not here any more
	owed    atomic.Int64  // what those that are cost
	oldest  atomic.Int64  // when the first of them was recorded; 0 if there is none
	book    sync.Mutex    // is held to change these four, and not to read them
	stones  []milestone   // of those that are, oldest first; under book
	trim    sync.Mutex    // is held by Trim
	news    news
	dropped atomic.Uint64 // notices
	stall   atomic.Pointer[Stall]

	mu struct {
		sync.Mutex
		state  state
		reason *fault.Error // why it is stopped
		open   *group       // takes what is queued
		spare  []*Pending   // memory of an earlier group
	}
}

// Open reads where the journal of the store's node stopped, and turns every
// intent that a dead process left behind into an event of outcome Crashed,
// charged with the intent's estimate. That is done when Open returns; opening
// again changes nothing more.
func Open(cfg Config) (*Journal, error) {
	cfg = cfg.withDefaults()
	j := &Journal{cfg: cfg, store: cfg.Store, identity: cfg.Store.Identity(), wake: make(chan struct{}, 1)}
	if cfg.IntentDelay > 0 {
		j.late = time.AfterFunc(cfg.IntentDelay, j.hurry)
		j.late.Stop() // until there is an intent
	}
	j.mu.open = newGroup(nil)
	j.mu.open.hurry = j.hurry
	if err := j.repair(context.Background()); err != nil {
		return nil, err
	}
	j.opened = j.lastSeq
	return j, nil
}

// Intent queues a, which is about to go to a provider, and returns at once. When the
// journal is stopped or MaxPending wait already, what it returns has failed.
func (j *Journal) Intent(a usage.Attempt) *Pending {
	p := &struct { // one allocation for both
		Pending
		a usage.Attempt
	}{a: a}
	p.intent = &p.a
	return j.enqueue(&p.Pending)
}

// Settle queues one atomic write that records the events and ends the intents. It returns
// at once. It skips intents that are nil, were not written, or were settled before. The
// slices and the Pendings are the journal's until Done: the journal sets each event's ID
// and replaces its times by the cluster's, or by those of the node's own clock, with
// OwnClock set, while the cluster's time is not known. After a Wait that returned nil the
// caller may read both. A stopped journal returns a Pending that has failed.
func (j *Journal) Settle(intents []*Pending, events []Event) *Pending {
	return j.enqueue(&Pending{settles: intents, events: events})
}

// Notify queues an event that has a Notice and returns at once. It is written as
// soon as an intent would be. When the journal is stopped or MaxPending wait already,
// it is dropped and counted: it is not money.
func (j *Journal) Notify(ev Event) {
	p := &struct { // one allocation for both
		Pending
		events [1]Event
	}{events: [1]Event{ev}}
	p.Pending.events, p.notice = p.events[:], true
	j.enqueue(&p.Pending)
}

func (j *Journal) enqueue(p *Pending) *Pending {
	j.mu.Lock()
	defer j.mu.Unlock()
	patient := p.intent != nil || p.notice
	if reason := j.refusalLocked(); j.mu.state == stopped || reason != nil && patient {
		if p.notice {
			j.dropped.Add(1)
		}
		p.group = newGroup(nil)
		p.group.finish(reason)
		return p
	}
	g := j.mu.open
	p.group = g
	g.ops = append(g.ops, p)
	switch {
	case !patient || j.late == nil:
		j.hurry()
	case len(g.ops) == 1:
		j.late.Reset(j.cfg.IntentDelay)
	}
	return p
}

// hurry makes Run write what is queued.
func (j *Journal) hurry() {
	select {
	case j.wake <- struct{}{}:
	default:
	}
}

// refusalLocked says why no intent is taken; nil if one is.
func (j *Journal) refusalLocked() *fault.Error {
	switch {
	case j.mu.state == stopped:
		return j.mu.reason
	case len(j.mu.open.ops) >= j.cfg.MaxPending:
		return unavailable("The disk does not keep up with recording usage. Try again later.", nil)
	}
	return nil
}

// Healthy returns nil, or why new billable requests must be refused, as an
// *fault.Error of kind StorageUnavailable: the journal is not running or has
// failed, the disk does not keep up, or it is full, or too much is not posted
// (CodeBacklog). Settles of what is under way may still succeed.
func (j *Journal) Healthy() error {
	j.mu.Lock()
	refusal := j.refusalLocked()
	if j.mu.state == idle && refusal == nil {
		refusal = unavailable("The gateway is starting. Try again in a moment.", nil)
	}
	j.mu.Unlock()
	if refusal == nil {
		refusal = j.overdue()
	}
	if refusal != nil {
		return refusal
	}
	return j.store.Healthy()
}
