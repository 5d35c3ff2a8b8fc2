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

// Commit describes one commit, for metrics.
type Commit struct {
	Intents int           // intents written
	Settled int           // written intents that this commit deleted
	Netted  int           // intents that were settled in the same commit and never written
	Events  int           // events written
	Elapsed time.Duration // including the sync; 0 if there was nothing to write
}

// state is the lifecycle of a journal.
type state uint8

const (
	idle    state = iota // Run has not been called
	running              // Run is
	stopped              // Run has returned, or no longer takes records
)

// Journal is the outbox of one node. All methods are safe for concurrent use.
type Journal struct {
	// Set by Open; read-only after.
	cfg      Config
	store    *store.Store
	identity store.Identity

	wake chan struct{} // capacity 1: signals that there is work
	late *time.Timer   // fires when an intent has reached IntentDelay; nil without a delay

	// Owned by the committer: Open, then Run.
	encoder    encoder
	lastSeq    uint64 // the highest sequence number of an event
	lastIntent uint64 // the highest number of an intent since Open
	repairing  bool   // Open is writing the events of a dead process
	found      uint64 // the highest sequence number before Open
	opened     uint64 // the highest sequence number when Open returned

	durable    atomic.Uint64 // the highest sequence number of a synced event
	before     atomic.Uint64 // number of events of this epoch that have been deleted
	owed       atomic.Int64  // cost of the events that remain
	oldest     atomic.Int64  // when the first of them was recorded; 0 if there is none
	book       sync.Mutex    // held to change these four; readers do not need it
	milestones []milestone   // of the events that remain, oldest first; guarded by book
	trim       sync.Mutex    // held by Trim
	news       news
	dropped    atomic.Uint64 // number of notices
	stall      atomic.Pointer[Stall]

	mu struct {
		sync.Mutex
		state  state
		reason *fault.Error // why the journal is stopped
		open   *group       // collects queued records
		spare  []*Pending   // memory of an earlier group
	}
}

// Open reads the last sequence number of the journal. It turns every intent that a dead process
// left into an event with outcome Crashed, charged with the intent's estimate. This is durable
// when Open returns; a second Open changes nothing more.
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

// Intent queues the intent of an attempt that is about to be sent, and returns at once. If the
// journal is stopped or MaxPending records wait, the Pending has failed.
func (j *Journal) Intent(a usage.Attempt) *Pending {
	p := &struct { // one allocation for both
		Pending
		a usage.Attempt
	}{a: a}
	p.intent = &p.a
	return j.enqueue(&p.Pending)
}

// Settle queues one atomic write that records the events and ends the intents, and returns at
// once. It skips intents that are nil, were not written, or are already settled. The journal
// owns the slices and the Pendings until Done. It sets each event's ID and replaces its times
// by the cluster's. While the cluster's time is unknown, it uses the node's own clock and sets
// OwnClock. After Wait has returned nil, the caller may read both. A stopped journal returns a
// Pending that has failed.
func (j *Journal) Settle(intents []*Pending, events []Event) *Pending {
	return j.enqueue(&Pending{settles: intents, events: events})
}

// Notify queues an event with a Notice and returns at once. It is written as soon as an intent
// would be. If the journal is stopped or MaxPending records wait, the event is dropped and
// counted: it is not money.
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
	if reason := j.rejectionLocked(); j.mu.state == stopped || reason != nil && patient {
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

// hurry makes Run write the queued records.
func (j *Journal) hurry() {
	select {
	case j.wake <- struct{}{}:
	default:
	}
}

// rejectionLocked returns the error if no intent is accepted now, or nil.
func (j *Journal) rejectionLocked() *fault.Error {
	switch {
	case j.mu.state == stopped:
		return j.mu.reason
	case len(j.mu.open.ops) >= j.cfg.MaxPending:
		return unavailable("The disk does not keep up with recording usage. Try again later.", nil)
	}
	return nil
}

// Healthy returns nil, or an *fault.Error of kind StorageUnavailable if new billable requests
// must be rejected. Either the journal is not running or has failed, the disk is too slow or
// full, or too much usage is unposted (CodeBacklog). Settles of attempts in flight may still
// succeed.
func (j *Journal) Healthy() error {
	j.mu.Lock()
	refusal := j.rejectionLocked()
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
