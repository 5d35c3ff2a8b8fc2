package consensus

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/hashicorp/raft"
)

const (
	// drain is how long Run waits for calls that are under way when it ends. A leader
	// without a majority steps down within its lease and answers them all.
	drain = 10 * time.Second
	// connections is how many idle connections to a node are kept.
	connections = 3
)

// Run takes part until ctx is over. It then hands the leadership to another node,
// if it has it and there is one, for as long as an election lasts at most. All its
// goroutines end with it. It returns an error if Raft refuses to start. It is
// called once.
func (c *Consensus) Run(ctx context.Context) error {
	// Raft goes on while the leadership is handed over, and so must its connections.
	lasting, hangUp := context.WithCancel(context.WithoutCancel(ctx))
	defer hangUp()
	c.beginning.Lock()
	r, closeAll, err := c.start(lasting)
	if err == nil {
		c.mu.Lock()
		c.mu.raft = r
		c.mu.Unlock()
	}
	c.beginning.Unlock()
	if err != nil {
		c.state.close()
		return unusable(err)
	}
	observations := make(chan raft.Observation, 64)
	observer := raft.NewObserver(observations, false, func(o *raft.Observation) bool {
		switch o.Data.(type) {
		case raft.LeaderObservation, raft.RaftState:
			return true
		}
		return false
	})
	r.RegisterObserver(observer)
	watching, stopWatching := context.WithCancel(lasting)
	var watch sync.WaitGroup
	watch.Go(func() { c.watch(watching, r, observations) })
	if c.cfg.Standings != nil {
		watch.Go(func() { c.compare(watching) })
	}
	<-ctx.Done()
	c.stop(r)
	stopWatching()
	watch.Wait()
	hangUp()
	closeAll()
	r.DeregisterObserver(observer)
	c.state.close()
	c.changed()
	return nil
}

// start makes Raft, which begins at once.
func (c *Consensus) start(ctx context.Context) (*raft.Raft, func(), error) {
	t := c.cfg.Timing
	conf := raft.DefaultConfig()
	conf.LocalID = raft.ServerID(c.cfg.Node)
	conf.HeartbeatTimeout, conf.ElectionTimeout = t.Heartbeat, t.Election
	conf.LeaderLeaseTimeout, conf.CommitTimeout = t.LeaderLease, t.Commit
	conf.SnapshotInterval, conf.SnapshotThreshold, conf.TrailingLogs = t.SnapshotInterval, t.SnapshotThreshold, t.TrailingLogs
	// The state is on the disk and is not read from a snapshot at each start.
	conf.NoSnapshotRestoreOnStart = true
	// A node that is removed stays: its data plane goes on by what it last knew. It
	// does not ask for votes, for Raft lets only members do so.
	conf.ShutdownOnRemove = false
	conf.NoLegacyTelemetry = true
	logger := raftLog{out: c.cfg.Logger, alone: c.cfg.Network == nil}
	conf.Logger = logger

	if c.cfg.Network == nil {
		_, transport := raft.NewInmemTransport(raft.ServerAddress(c.cfg.Address))
		r, err := raft.NewRaft(conf, c.state, c.log, c.log, c.snaps, transport)
		return r, func() {}, err
	}
	s := newStreams(ctx, c.cfg.Network, c.cfg.Address)
	transport := raft.NewNetworkTransportWithConfig(&raft.NetworkTransportConfig{
		Stream: s, Logger: logger, MaxPool: connections,
		Timeout: max(minRPCTimeout, 2*t.Heartbeat),
		// 1 means no pipelining. With it, a leader that steps down while a follower is
		// slow may leave the replication's goroutine for ever in AppendEntries, waiting
		// for a place that only the reader of answers makes, which has ended; and then
		// Shutdown waits for that goroutine. What is lost is the overlap of batches,
		// which grow while one is under way.
		MaxRPCsInFlight: 1,
	})
	g := newGuard(transport, c)
	r, err := raft.NewRaft(conf, c.state, c.log, c.log, c.snaps, g)
	if err != nil {
		_ = transport.Close() // the error above is the one to tell
		s.closeAll()
		return nil, nil, err
	}
	var guarding sync.WaitGroup
	guarding.Go(func() { g.run(ctx) })
	return r, func() {
		s.closeAll()
		guarding.Wait()
	}, nil
}

// watch tells who waits of changes of the leader, and begins each leadership of
// this node with an entry of its own.
func (c *Consensus) watch(ctx context.Context, r *raft.Raft, observations <-chan raft.Observation) {
	var pulses sync.WaitGroup
	defer pulses.Wait()
	var begun uint64 // the term whose leadership has its entry
	for {
		if term := r.CurrentTerm(); r.State() == raft.Leader && begun != term {
			begun = term
			pulses.Go(func() { c.pulse(ctx) })
		}
		c.changed()
		select {
		case <-observations:
		case <-ctx.Done():
			return
		}
	}
}

// changed wakes those who wait for LeadershipChanged.
func (c *Consensus) changed() {
	c.mu.Lock()
	defer c.mu.Unlock()
	close(c.mu.leadership)
	c.mu.leadership = make(chan struct{})
}

// pulse proposes an entry without a command. Raft's own first entry of a term does
// not reach the state, so nobody could wait for it; this one does.
func (c *Consensus) pulse(ctx context.Context) {
	if _, err := c.propose(ctx, nil); err != nil {
		// Whoever leads next begins with one.
		c.cfg.Logger.LogAttrs(ctx, slog.LevelDebug, "leadership ended as it began", slog.Any("error", err))
	}
}

// stop ends Raft.
func (c *Consensus) stop(r *raft.Raft) {
	c.mu.Lock()
	c.mu.stopping = true
	c.mu.Unlock()
	var calls sync.WaitGroup
	calls.Go(c.inFlight.Wait)
	if r.State() == raft.Leader && c.otherVoters(r) {
		calls.Go(func() {
			if err := r.LeadershipTransfer().Error(); err != nil {
				// The others elect somebody once they miss this node.
				c.cfg.Logger.Info("leadership was not handed over", slog.Any("error", err))
			}
		})
	}
	done := make(chan struct{})
	go func() {
		calls.Wait()
		close(done)
	}()
	patience := time.NewTimer(max(drain, 2*c.cfg.Timing.Election))
	defer patience.Stop()
	select {
	case <-done:
	case <-patience.C:
		// Whoever still waits is told nothing by Raft once it is shut down. The process
		// is about to end, and they with it.
		c.cfg.Logger.Warn("calls are still waiting for the cluster")
	}
	if err := r.Shutdown().Error(); err != nil {
		c.cfg.Logger.Warn("raft did not shut down", slog.Any("error", err))
	}
}

// otherVoters reports whether there is anybody to hand the leadership to.
func (c *Consensus) otherVoters(r *raft.Raft) bool {
	for _, s := range fromRaft(r.GetConfiguration().Configuration()) {
		if s.Voter && s.Node != c.cfg.Node {
			return true
		}
	}
	return false
}
