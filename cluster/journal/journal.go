package journal

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/store"
)

// Config says where the journal writes. Store is required; the zero value of
// everything else works.
type Config struct {
	Store  *store.Store
	Logger *slog.Logger
	// MaxPending is how many intents and settles may wait for the disk before
	// new intents are refused; settles are taken always, for they are money.
	// 0 means 65,536: 15 s of 2,000 requests per second and both their
	// writes, in about 50 MB.
	MaxPending int
	// IntentDelay is how long an intent may wait for company before it is written:
	// until a settle is, or somebody waits for it, or the delay is over. An answer
	// that is faster than that takes its intent away before it was ever written,
	// which halves the syncs of short requests. 0 means no delay. A crash within
	// it leaves no trace of a request of which the caller has seen nothing.
	IntentDelay time.Duration
	// Committed is told of each commit, from the committing goroutine; nil
	// means nobody is. It must be quick.
	Committed func(Commit)
}

const defaultMaxPending = 1 << 16

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
	store      *store.Store
	identity   store.Identity
	logger     *slog.Logger
	maxPending int
	committed  func(Commit)
	delay      time.Duration

	wake chan struct{} // has room for one: there is something to do
	late *time.Timer   // wakes for intents that have waited long enough; nil without a delay

	// The committer's: Open's, then Run's.
	encoder    encoder
	lastSeq    uint64 // the highest number given to an event
	lastIntent uint64 // the highest number given to an intent since Open

	durable atomic.Uint64 // the highest number of an event that is synced; the committer's to set
	before  atomic.Uint64 // how many events of this epoch are not here any more

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
	j := &Journal{
		store: cfg.Store, identity: cfg.Store.Identity(),
		logger: cfg.Logger, maxPending: cfg.MaxPending, committed: cfg.Committed,
		wake: make(chan struct{}, 1),
	}
	if j.logger == nil {
		j.logger = slog.New(slog.DiscardHandler)
	}
	if j.maxPending <= 0 {
		j.maxPending = defaultMaxPending
	}
	if j.committed == nil {
		j.committed = func(Commit) {}
	}
	if cfg.IntentDelay > 0 {
		j.delay = cfg.IntentDelay
		j.late = time.AfterFunc(cfg.IntentDelay, j.hurry)
		j.late.Stop() // until there is an intent
	}
	j.mu.open = newGroup(nil)
	j.mu.open.hurry = j.hurry
	if err := j.repair(context.Background()); err != nil {
		return nil, err
	}
	return j, nil
}

// Intent queues in and returns at once. When the journal is stopped or MaxPending
// wait already, what it returns has failed.
func (j *Journal) Intent(in Intent) *Pending {
	p := &struct { // one allocation for both
		Pending
		in Intent
	}{in: in}
	p.intent = &p.in
	return j.enqueue(&p.Pending)
}

// Settle queues, as one: the events are recorded and the intents end. It returns
// at once. An intent that was not written, because it failed or is nil, is
// passed over; one that was settled before stays so. The slices and the Pendings
// are the journal's until Done; after a Wait that returned nil, the events'
// IDs are filled in. A stopped journal returns a Pending that has failed.
func (j *Journal) Settle(intents []*Pending, events []Event) *Pending {
	return j.enqueue(&Pending{settles: intents, events: events})
}

func (j *Journal) enqueue(p *Pending) *Pending {
	j.mu.Lock()
	defer j.mu.Unlock()
	if reason := j.refusalLocked(); j.mu.state == stopped || reason != nil && p.intent != nil {
		p.group = newGroup(nil)
		p.group.finish(reason)
		return p
	}
	g := j.mu.open
	p.group = g
	g.ops = append(g.ops, p)
	switch {
	case p.intent == nil || j.late == nil:
		j.hurry()
	case len(g.ops) == 1:
		j.late.Reset(j.delay)
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
	case len(j.mu.open.ops) >= j.maxPending:
		return unavailable("The disk does not keep up with recording usage. Try again later.", nil)
	}
	return nil
}

// Healthy returns nil, or why new billable requests must be refused, as an
// *fault.Error of kind StorageUnavailable: the journal is not running or has
// failed, the disk does not keep up, or it is full. Settles of what is under way
// may still succeed.
func (j *Journal) Healthy() error {
	j.mu.Lock()
	refusal := j.refusalLocked()
	if j.mu.state == idle && refusal == nil {
		refusal = unavailable("The gateway is starting. Try again in a moment.", nil)
	}
	j.mu.Unlock()
	if refusal != nil {
		return refusal
	}
	return j.store.Healthy()
}

// Backlog returns how many events of this node are in the journal and synced.
func (j *Journal) Backlog() int64 {
	return int64(j.durable.Load() - j.before.Load())
}
