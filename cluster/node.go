package cluster

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/modelgateway/modelgateway/cluster/clock"
	"github.com/modelgateway/modelgateway/cluster/consensus"
	"github.com/modelgateway/modelgateway/cluster/cooldown"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/gossip"
	"github.com/modelgateway/modelgateway/cluster/history"
	"github.com/modelgateway/modelgateway/cluster/journal"
	"github.com/modelgateway/modelgateway/cluster/lease"
	"github.com/modelgateway/modelgateway/cluster/link"
	"github.com/modelgateway/modelgateway/cluster/membership"
	"github.com/modelgateway/modelgateway/cluster/peer"
	"github.com/modelgateway/modelgateway/cluster/rate"
	"github.com/modelgateway/modelgateway/cluster/segment"
	"github.com/modelgateway/modelgateway/cluster/ship"
	"github.com/modelgateway/modelgateway/cluster/store"
)

// intentDelay is how long the intent of a request may wait to be written. Providers
// take longer to answer; what does not is settled before.
const intentDelay = 5 * time.Millisecond

// Node is one member: its stores, its journal, its part in the agreement and its
// view. All methods are safe for concurrent use.
type Node struct {
	// Set by Open, read only after.
	cfg       Config
	logger    *slog.Logger
	fatal     func(error)
	base      *View // what this node's file says: what every View is built on
	sealer    Sealer
	store     *store.Store
	journal   *journal.Journal
	link      Link // nil: alone
	consensus *consensus.Consensus
	cooldown  *cooldown.Set
	hints     *gossip.State
	gossip    *gossip.Gossip // nil: alone
	peers     *peer.Clients  // nil: alone
	strangers *peer.Clients  // only to learn which nodes are where; nil: alone
	server    *peer.Server   // nil: alone

	membership *membership.Members

	manager *lease.Manager
	untold  uint64 // events of this node up to here were posted before the start; set by openBudgets
	rates   *rate.Limiter

	metrics *metrics // nil before Measure

	moves   moves // of the manager's goroutine
	shipper *ship.Shipper

	fresh   freshness
	clock   *clock.Clock
	history *history.Keeper

	segments *segment.Store
	// Swapped by the goroutine of consensus, read by any goroutine.
	view    atomic.Pointer[View]
	changed atomic.Pointer[chan struct{}] // closed when view is swapped
	news    atomic.Pointer[chan struct{}] // closed when the audit log has grown

	showing sync.Mutex // held while the View is replaced
	// turn is full while a change is made that has lost a race before.
	turn     chan struct{}
	problems problems
}

// Open opens the data directory and repairs what a crash left: every request
// that was dispatched and not settled is settled as estimated before it returns.
// The View is the one that the node had agreed to when it stopped.
func Open(cfg Config) (_ *Node, err error) {
	cfg = cfg.withDefaults()
	n := &Node{
		cfg: cfg, logger: cfg.Logger, fatal: cfg.Fatal, sealer: cfg.Sealer,
		base:  NewView(cfg.Catalog, cfg.Keys),
		fresh: freshness{limit: max(cfg.KeyStaleness, minStaleness), since: time.Now()},

		turn: make(chan struct{}, 1),
	}
	n.problems.init()
	n.openClock()
	n.publish(n.base)
	n.recorded()
	defer func() {
		if err != nil {
			err = errors.Join(err, n.Close())
		}
	}()
	if n.store, err = store.Open(store.Config{Dir: filepath.Join(cfg.Dir, "store"), FS: cfg.FS, Logger: cfg.Logger, Fatal: cfg.Fatal, MinFreeBytes: cfg.MinFreeBytes, BallastBytes: cfg.BallastBytes}); err != nil {
		return nil, fmt.Errorf("opening the store: %w", err)
	}
	if err := n.openSegments(); err != nil { // after the store, which makes the data directory durable
		return nil, err
	}
	n.openHistory()
	if n.journal, err = journal.Open(journal.Config{Store: n.store, Logger: cfg.Logger, Time: n.date, Committed: cfg.Commits, IntentDelay: intentDelay}); err != nil {
		return nil, fmt.Errorf("opening the journal: %w", err)
	}
	n.openShipper()
	n.openHints()
	if err := n.agree(); err != nil {
		return nil, err
	}
	if err := n.openBudgets(context.Background()); err != nil {
		return nil, fmt.Errorf("reading what is not posted yet: %w", err)
	}
	return n, n.openMembership()
}

// agree opens the node's part in the agreement, and its ways to the others.
func (n *Node) agree() (err error) {
	c := consensus.Config{
		Log: n.store, Dir: n.cfg.Dir, FS: n.cfg.FS, Machine: machine{n}, CommandID: commandID,
		Node: n.Identity().Node, Address: aloneAddress,
		Logger: n.logger, Fatal: n.cfg.Fatal, Timing: n.cfg.Timing, Now: n.clock.Time,
	}
	if n.cfg.Connect != nil {
		var key []byte
		if n.link, key, err = n.cfg.Connect(n.Identity().Node); err != nil {
			return err
		}
		c.Address, c.Network, c.Standings = n.link.Address(), raftLink{n}, func(ctx context.Context) []consensus.Standing {
			return n.membership.Standings(ctx) // opened later
		}
		n.peers = peer.NewClients(n.dialPeer)
		n.strangers = peer.NewClients(func(ctx context.Context, address string) (net.Conn, error) {
			return n.link.Dial(ctx, address, link.Peer)
		})
		if err = n.openGossip(key); err != nil {
			return fmt.Errorf("preparing the gossip: %w", err)
		}
	}
	if n.consensus, err = consensus.Open(c); err != nil {
		return fmt.Errorf("opening the replicated state: %w", err)
	}
	return nil
}

// Identity is who the data directory belongs to.
func (n *Node) Identity() store.Identity { return n.store.Identity() }

// Journal is where usage is recorded.
func (n *Node) Journal() *journal.Journal { return n.journal }

// Current returns the current view: it has every change that any node acknowledged before the
// call. The error is Unavailable if no leader can be reached to confirm that.
func (n *Node) Current(ctx context.Context) (*View, error) {
	if err := n.current(ctx); err != nil {
		return nil, err
	}
	return n.View(), nil
}

// Cooldown says which deployments rest, and counts the requests at each.
func (n *Node) Cooldown() *cooldown.Set { return n.cooldown }

// Run writes the journal and takes part in the agreement until ctx ends. What was
// queued by then is still written, and posted if that takes but a moment; then a
// leader hands its office over.
func (n *Node) Run(ctx context.Context) error {
	// What posts and gives back at the end needs the agreement, which ends after it.
	agreeing, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	agreement, broken := errgroup.WithContext(agreeing)
	agreement.Go(func() error { return n.runAgreement(agreeing) })

	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	context.AfterFunc(broken, func() { end(context.Cause(broken)) })
	own, failed := errgroup.WithContext(ctx)
	written := make(chan struct{})
	own.Go(func() error {
		defer close(written)
		return n.journal.Run(failed)
	})
	own.Go(func() error { return n.manager.Run(failed) })
	own.Go(func() error { return n.keepFresh(failed) })
	own.Go(func() error { return n.shareNumbers(failed) })
	own.Go(func() error { return n.sweep(failed) })
	own.Go(func() error { return n.rollWindows(failed) })
	own.Go(func() error { return n.history.Run(failed) })
	own.Go(func() error { return n.history.RunPack(failed) })
	own.Go(func() error { return n.history.RunSeal(failed) })
	own.Go(func() error { return n.keepSegments(failed) })
	own.Go(func() error { return n.shipper.Run(failed, written) })
	if n.cfg.Ring != nil {
		own.Go(func() error { return n.cfg.Ring.Run(failed, keyAgreement{n}) })
	}
	err := own.Wait()
	stop()
	return errors.Join(err, agreement.Wait())
}

// runAgreement takes part in the agreement until ctx ends.
func (n *Node) runAgreement(ctx context.Context) error {
	if n.link == nil {
		group, ctx := errgroup.WithContext(ctx)
		group.Go(func() error { return n.consensus.Run(ctx) })
		group.Go(func() error { return n.clock.Run(ctx) })
		return group.Wait()
	}
	// The link ends after the consensus, which has an office to hand over on it.
	linked, unlink := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan error, 1)
	go func() { ended <- n.link.Run(linked) }()
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return n.consensus.Run(ctx) })
	group.Go(func() error { return n.server.Run(ctx, n.link.Listener(link.Peer)) })
	group.Go(func() error { return n.gossip.Run(ctx) })
	group.Go(func() error { return n.membership.Run(ctx) })
	group.Go(func() error { return n.clock.Run(ctx) })
	group.Go(func() error { return n.tellLeader(ctx) })
	err := group.Wait()
	unlink()
	return errors.Join(err, <-ended)
}

// Close gives the data directory back. Call it after Run has returned.
func (n *Node) Close() error {
	var errs []error
	if n.peers != nil {
		errs = append(errs, n.peers.Close(), n.strangers.Close())
	}
	if n.consensus != nil {
		errs = append(errs, n.consensus.Close())
	}
	if n.link != nil {
		errs = append(errs, n.link.Close())
	}
	if n.store != nil {
		errs = append(errs, n.store.Close())
	}
	return errors.Join(errs...)
}

// Ready returns nil when this node knows what the cluster has agreed on, or why
// not. A node that was ready stays so when it is cut off, but for one that has
// keys which it may not honour any more.
func (n *Node) Ready() error {
	age, ever := n.fresh.age()
	switch {
	case !ever:
		if err := n.consensus.OlderCopy(); err != nil {
			return err
		}
		return fault.New(fault.Unavailable, "not_joined", "The node has not yet learned what its cluster has agreed on.")
	case !n.Fresh() && n.View().Keys.Cluster() > 0:
		return fault.New(fault.Unavailable, "cut_off", "The node has been cut off from its cluster for %s.", age.Round(time.Second))
	}
	return nil
}
