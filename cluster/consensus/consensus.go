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

// Consensus is one node's part in the agreement. Its methods are safe for
// concurrent use.
type Consensus struct {
	cfg   Config
	log   *logStore
	snaps *snapshots
	state *applier

	// beginning is held while Raft is made, and while a cluster is begun without it: Raft
	// would not see what was written after it has looked.
	beginning sync.Mutex

	comparison    comparison
	confirmations confirmations

	inFlight sync.WaitGroup // calls that wait for Raft; none is added when stopping

	mu struct {
		sync.Mutex
		raft       *raft.Raft // nil before Run
		servers    []Server   // as they were at Open; used before Run
		stopping   bool
		restoring  bool          // a backup is taking the state's place
		calls      int           // that are counted by inFlight
		left       chan struct{} // closed, and made again, when one of them ends
		leadership chan struct{} // closed, and made anew, when the leader changes
		closed     bool
	}
}

// Open opens the log, the snapshots and the state, finishes or undoes what a crash
// left half done, and has the Machine read the state. It starts nothing. What
// cannot be trusted is refused with a *fault.Error that names the remedy. The
// store of the log stays the caller's.
func Open(cfg Config) (*Consensus, error) {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Now == nil {
		cfg.Now = func() (time.Time, bool) { return time.Now(), true }
	}
	cfg.Timing = cfg.Timing.withDefaults(cfg.Network == nil)
	if cfg.Address == "" {
		cfg.Address = string(cfg.Node) // nobody dials it
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

// unusable gives an error of the file system a kind and a text.
func unusable(err error) error {
	var known *fault.Error
	if err == nil || errors.As(err, &known) {
		return err
	}
	return damaged("open", "The replicated state in the data directory cannot be opened. Check the disk and the directory's permissions; the cause is in the log.", err)
}

// errStopping is what calls fail with that wait when the node closes.
func errStopping() *fault.Error {
	return &fault.Error{Op: "consensus", Kind: fault.Unavailable, Detail: "The node is shutting down."}
}

// Close closes the state. Run must have returned. Backups and checksums that are
// being made are waited for. A second Close does nothing.
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

// running returns Raft; nil if Run has not begun or is about to end.
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

// Applied returns the index up to which the state has come and is published.
// Entries without effects at its end, such as a new leader's first, may be missing.
func (c *Consensus) Applied() uint64 { return c.state.applied().index }

// Clock returns the state's clock: the latest time that an entry was stamped with.
// It is the zero time before the first.
func (c *Consensus) Clock() time.Time {
	at := c.state.applied()
	if at.clock == 0 {
		return time.Time{}
	}
	return time.Unix(0, at.clock).UTC()
}

// Committed returns the index up to which entries are known to be committed; 0
// before Run and until a leader was heard.
func (c *Consensus) Committed() uint64 {
	if r := c.started(); r != nil {
		return r.CommitIndex()
	}
	return 0
}

// Term returns Raft's term; 0 before Run.
func (c *Consensus) Term() uint64 {
	if r := c.started(); r != nil {
		return r.CurrentTerm()
	}
	return 0
}

// State returns what this node is just now: leader, follower, candidate, or
// shutdown before and after Run.
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

// IsLeader reports whether this node leads, as far as it knows.
func (c *Consensus) IsLeader() bool {
	r := c.running()
	return r != nil && r.State() == raft.Leader
}

// Leader returns the node that leads, as far as this one knows.
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

// LastContact returns when this node last heard of a leader: now, if it leads;
// false, if it never did since Run.
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

// LeadershipChanged returns a channel that is closed when this node begins or
// ceases to lead, or hears of another leader. Take the channel, then look, then
// wait: so no change is missed.
func (c *Consensus) LeadershipChanged() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.mu.leadership
}

// WaitApplied returns when the effects of all entries up to index are committed
// and published here. It fails when ctx is over or the node closes.
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

// View calls fn with the state in force, which stays open until fn returns. What a
// Machine keeps of the store it was given does not: a snapshot may take its place.
func (c *Consensus) View(fn func(state *store.Store) error) error {
	gen, err := c.state.current()
	if err != nil {
		return err
	}
	defer gen.release()
	return fn(gen.store)
}
