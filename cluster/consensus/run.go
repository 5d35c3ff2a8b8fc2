package consensus

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/hashicorp/raft"
)

const (
	// drain is how long Run waits for calls in flight when it ends. A leader without a majority
	// steps down within its lease and fails all of them.
	drain = 10 * time.Second
	// connections is the number of idle connections per node.
	connections = 3
)

// Run takes part in the consensus until ctx ends. It then transfers its leadership, if there is
// another voter, for at most the time of an election. All its goroutines end before it returns.
// It fails if Raft cannot start. It must be called once.
func (c *Consensus) Run(ctx context.Context) error {
	// Raft and its connections continue during the transfer of the leadership.
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

// start creates Raft, which runs at once.
func (c *Consensus) start(ctx context.Context) (*raft.Raft, func(), error) {
	t := c.cfg.Timing
	conf := raft.DefaultConfig()
	conf.LocalID = raft.ServerID(c.cfg.Node)
	conf.HeartbeatTimeout, conf.ElectionTimeout = t.Heartbeat, t.Election
	conf.LeaderLeaseTimeout, conf.CommitTimeout = t.LeaderLease, t.Commit
	conf.SnapshotInterval, conf.SnapshotThreshold, conf.TrailingLogs = t.SnapshotInterval, t.SnapshotThreshold, t.TrailingLogs
	// The state is on the disk, so Raft does not read it from a snapshot at each start.
	conf.NoSnapshotRestoreOnStart = true
	// A removed node keeps running: its data plane uses the last known state. It requests no
	// votes, because in Raft only members do.
	conf.ShutdownOnRemove = false
	conf.NoLegacyTelemetry = true
	logger := raftLog{out: c.cfg.Logger, alone: c.cfg.Network == nil}
	conf.Logger = logger

	if c.cfg.Network == nil {
		_, transport := raft.NewInmemTransport(raft.ServerAddress(c.cfg.Address))
		r, err := raft.NewRaft(conf, c.state, c.log, termStore{c.log, c.cfg}, c.snaps, transport)
		return r, func() {}, err
	}
	s := newStreams(ctx, c.cfg.Network, c.cfg.Address)
	transport := raft.NewNetworkTransportWithConfig(&raft.NetworkTransportConfig{
		Stream: s, Logger: logger, MaxPool: connections,
		Timeout: max(minRPCTimeout, 2*t.Heartbeat),
		// 1 disables pipelining. With pipelining, a leader that steps down while a follower is
		// slow can block forever in AppendEntries: the replication goroutine waits for space
		// that only the response reader frees, and that reader has ended. Shutdown then waits
		// for the goroutine. The cost is that batches do not overlap; they grow instead.
		MaxRPCsInFlight: 1,
	})
	g := newGuard(transport, c)
	r, err := raft.NewRaft(conf, c.state, c.log, termStore{c.log, c.cfg}, c.snaps, g)
	if err != nil {
		_ = transport.Close() // the first error is the one to return
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

// watch notifies callers of LeadershipChanged, and proposes an entry at the start of each
// leadership of this node.
func (c *Consensus) watch(ctx context.Context, r *raft.Raft, observations <-chan raft.Observation) {
	var pulses sync.WaitGroup
	defer pulses.Wait()
	var begun uint64 // the term for which it has proposed that entry
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

// changed wakes the callers that wait for LeadershipChanged.
func (c *Consensus) changed() {
	c.mu.Lock()
	defer c.mu.Unlock()
	close(c.mu.leadership)
	c.mu.leadership = make(chan struct{})
}

// pulse proposes an empty entry. Raft's own first entry of a term does not reach the state
// machine, so nobody could wait for it.
func (c *Consensus) pulse(ctx context.Context) {
	if _, err := c.propose(ctx, nil); err != nil {
		// The next leader proposes one.
		c.cfg.Logger.LogAttrs(ctx, slog.LevelDebug, "leadership ended as it began", slog.Any("error", err))
	}
}

func (c *Consensus) stop(r *raft.Raft) {
	c.mu.Lock()
	c.mu.stopping = true
	c.mu.Unlock()
	var calls sync.WaitGroup
	calls.Go(c.inFlight.Wait)
	if r.State() == raft.Leader && c.otherVoters(r) {
		calls.Go(func() {
			if err := r.LeadershipTransfer().Error(); err != nil {
				// The others elect a leader when the heartbeats stop.
				c.cfg.Logger.Info("leadership was not transferred", slog.Any("error", err))
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
		// Raft does not notify remaining callers after its shutdown. The process is about to
		// end.
		c.cfg.Logger.Warn("calls are still waiting for the cluster")
	}
	if err := r.Shutdown().Error(); err != nil {
		c.cfg.Logger.Warn("raft did not shut down", slog.Any("error", err))
	}
}

// otherVoters reports whether another voter can take the leadership.
func (c *Consensus) otherVoters(r *raft.Raft) bool {
	for _, s := range fromRaft(r.GetConfiguration().Configuration()) {
		if s.Voter && s.Node != c.cfg.Node {
			return true
		}
	}
	return false
}
