package consensus

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/hashicorp/raft"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/store"
)

// Consensus is one node's part in the cluster's consensus. Its methods are safe for concurrent
// use.
type Consensus struct {
	cfg   Config
	log   *logStore
	snaps *snapshots
	state *applier

	// beginning is held while Raft starts, and while Bootstrap writes the first entry. Raft
	// would miss an entry that is written after it has read the log.
	beginning sync.Mutex

	comparison    comparison
	confirmations confirmations

	inFlight sync.WaitGroup // calls that wait for Raft; no new ones while stopping

	mu struct {
		sync.Mutex
		raft       *raft.Raft // nil before Run
		servers    []Server   // at Open; used before Run
		stopping   bool
		restoring  bool          // a backup is replacing the state
		calls      int           // number of calls in inFlight
		left       chan struct{} // closed and replaced when one of them ends
		leadership chan struct{} // closed and replaced when the leader changes
		closed     bool
	}
}

// Open opens the log, the snapshots and the state, completes or undoes a step that a crash
// interrupted, and makes the Machine read the state. It starts no goroutines. For damaged data
// it returns a *fault.Error that names the remedy. The caller keeps ownership of the log's
// store.
func Open(cfg Config) (*Consensus, error) {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Now == nil {
		cfg.Now = func() (time.Time, bool) { return time.Now(), true }
	}
	cfg.Timing = cfg.Timing.withDefaults(cfg.Network == nil)
	if cfg.Address == "" {
		cfg.Address = string(cfg.Node) // never dialed
	}
	ctx := context.Background()
	log, err := openLog(ctx, cfg.Log)
	if err != nil {
		return nil, err
	}
	snaps, err := openSnapshots(cfg, log)
	if err != nil {
		return nil, unusable(err)
	}
	states, gen, err := openStates(cfg)
	if err != nil {
		return nil, unusable(err)
	}
	gen, at, err := catchUp(snaps, states, gen)
	if err != nil {
		return nil, errors.Join(unusable(err), gen.store.Close())
	}
	c := &Consensus{cfg: cfg, log: log, snaps: snaps, state: newApplier(cfg, snaps, states, gen, at)}
	c.mu.leadership, c.mu.left = make(chan struct{}), make(chan struct{})
	c.comparison.mu.done = cfg.Standings == nil
	err = c.reconcile(at)
	if err == nil {
		err = cfg.Machine.Restored(gen.store, at.index)
	}
	if err != nil {
		return nil, errors.Join(err, gen.store.Close())
	}
	return c, nil
}

// unusable gives a file system error a kind and a text.
func unusable(err error) error {
	var known *fault.Error
	if err == nil || errors.As(err, &known) {
		return err
	}
	return damaged("open", "The replicated state in the data directory cannot be opened. Check the disk and the directory's permissions; the cause is in the log.", err)
}

// errStopping returns the error of calls that are waiting when the node stops.
func errStopping() *fault.Error {
	return &fault.Error{Op: "consensus", Kind: fault.Unavailable, Detail: "The node is shutting down."}
}

// Close closes the state after Run has returned. It waits for backups and checksums in
// progress. A second Close does nothing.
func (c *Consensus) Close() error {
	c.mu.Lock()
	closed := c.mu.closed
	c.mu.closed, c.mu.stopping = true, true
	c.mu.Unlock()
	if closed {
		return nil
	}
	c.state.close()
	gen := c.state.generation()
	<-gen.retire()
	return gen.store.Close()
}

// running returns Raft; nil before Run has started it or when Run is about to end.
func (c *Consensus) running() *raft.Raft {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.mu.stopping {
		return nil
	}
	return c.mu.raft
}

// started returns Raft, also while it stops; nil before Run.
func (c *Consensus) started() *raft.Raft {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.mu.raft
}

// Applied returns the index up to which entries are applied and published. It may not count
// trailing entries without effects, such as the first entry of a new leader.
func (c *Consensus) Applied() uint64 { return c.state.applied().index }

// Clock returns the clock of the state: the latest stamp of an applied entry, or the zero time.
func (c *Consensus) Clock() time.Time {
	at := c.state.applied()
	if at.clock == 0 {
		return time.Time{}
	}
	return time.Unix(0, at.clock).UTC()
}

// Committed returns the highest index that this node knows to be committed; 0 before Run and
// before the first contact with a leader.
func (c *Consensus) Committed() uint64 {
	if r := c.started(); r != nil {
		return r.CommitIndex()
	}
	return 0
}

// Term returns the Raft term; 0 before Run.
func (c *Consensus) Term() uint64 {
	if r := c.started(); r != nil {
		return r.CurrentTerm()
	}
	return 0
}

// State returns the current role of this node: leader, follower, candidate, or, before and
// after Run, shutdown.
func (c *Consensus) State() string {
	if r := c.started(); r != nil {
		switch r.State() {
		case raft.Leader:
			return "leader"
		case raft.Follower:
			return "follower"
		case raft.Candidate:
			return "candidate"
		case raft.Shutdown:
		}
	}
	return "shutdown"
}

// IsLeader reports whether this node believes that it is the leader.
func (c *Consensus) IsLeader() bool {
	r := c.running()
	return r != nil && r.State() == raft.Leader
}

// Leader returns the leader that this node knows.
func (c *Consensus) Leader() (Server, bool) {
	r := c.started()
	if r == nil {
		return Server{}, false
	}
	address, node := r.LeaderWithID()
	if node == "" {
		return Server{}, false
	}
	leader := Server{Node: id.Node(node), Address: string(address), Voter: true}
	servers, err := c.Servers()
	if err != nil {
		return leader, true
	}
	for _, s := range servers {
		if s.Node == leader.Node {
			return s, true
		}
	}
	return leader, true
}

// LastContact returns the time of the last contact with a leader: now, if this node is the
// leader; false, if there was none since Run.
func (c *Consensus) LastContact() (time.Time, bool) {
	r := c.started()
	if r == nil {
		return time.Time{}, false
	}
	if r.State() == raft.Leader {
		return time.Now(), true
	}
	last := r.LastContact()
	return last, !last.IsZero()
}

// LeadershipChanged returns a channel that is closed when this node becomes leader or stops
// being leader, or learns of another leader. To miss no change, take the channel, then read the
// leader, then wait.
func (c *Consensus) LeadershipChanged() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.mu.leadership
}

// WaitApplied returns when all entries up to index are committed and published here. It fails
// when ctx ends or the node stops.
func (c *Consensus) WaitApplied(ctx context.Context, index uint64) error {
	for {
		at, changed, closed := c.state.progress()
		if at.index >= index {
			return nil
		}
		if closed {
			return errStopping()
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// View calls fn with the current state, which stays open until fn returns. A Machine must not
// keep the store for such reads, because a snapshot may replace it.
func (c *Consensus) View(fn func(state *store.Store) error) error {
	gen, err := c.state.current()
	if err != nil {
		return err
	}
	defer gen.release()
	return fn(gen.store)
}
