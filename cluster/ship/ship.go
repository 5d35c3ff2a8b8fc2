package ship

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/modelgateway/modelgateway/cluster/inject"
	"github.com/modelgateway/modelgateway/cluster/journal"
	"github.com/modelgateway/modelgateway/cluster/store"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

const (
	// delay is how long the first event that waits is held back for more events. Spend is visible
	// that much later, and a node posts at most ten times a second, whatever its load.
	delay = 100 * time.Millisecond
	// mostEvents and mostBytes limit one run of events: the state machine needs some 50 ms to
	// post it, and a slow link a moment to carry it.
	mostEvents = 2048
	mostBytes  = 1 << 20
	// firstRetry and lastRetry limit the pauses after failures, which grow.
	firstRetry = 100 * time.Millisecond
	lastRetry  = 2 * time.Second
	// quietTime is how long after its start a node does not report that its events are not
	// accepted: the nodes must find each other and elect a leader first.
	quietTime = 10 * time.Second
	// TryTime limits one try. A try without a response is repeated: the state skips events that it
	// has.
	TryTime = 10 * time.Second
	// stopTime limits how long a stopping node posts its remaining events. It posts the rest after
	// its next start.
	stopTime = 2 * time.Second
)

// Config connects a Shipper to its node.
type Config struct {
	Identity store.Identity
	Journal  *journal.Journal
	// Posted returns the number of the last of this node's events that its state has.
	Posted func() (uint64, error)
	// Post commits a run of events. When it returns without an error, this node's state has them.
	Post     func(context.Context, *clusterv1.PostUsage) error
	Clock    Clock
	Now      func() time.Time // this node's clock
	NoLeader error            // the failure of a node that has not reached a leader yet
	Logger   *slog.Logger
}

// Clock is the cluster's time.
type Clock interface {
	Await(ctx context.Context)
	Time() (now time.Time, known bool)
	Mine() time.Time
}

// Shipper posts one node's usage. Run and Compare may run at the same time, each once; the other
// methods are safe for concurrent use.
type Shipper struct {
	cfg      Config
	compared chan struct{}         // closed when Compare has found nothing wrong
	failing  atomic.Pointer[stall] // why usage cannot be posted; nil: it can
}

// New returns a Shipper.
func New(cfg Config) *Shipper { return &Shipper{cfg: cfg, compared: make(chan struct{})} }

// Compare compares the journal with what the cluster has posted of it. Call it once this node's
// state is up to date and before the node is ready; Run posts nothing before. It rejects a data
// directory that is an older copy: events that the node recorded there would get the numbers of
// posted events, and never be charged.
func (s *Shipper) Compare() error {
	posted, err := s.cfg.Posted()
	if err != nil {
		return err
	}
	if err := s.cfg.Journal.Compare(posted); err != nil {
		return err
	}
	close(s.compared)
	return nil
}

// Run ships until ctx ends, and then what was written until the journal closed: a node
// that never starts again should leave nothing behind.
func (s *Shipper) Run(ctx context.Context, written <-chan struct{}) error {
	if err := s.ship(ctx); err != nil {
		return err
	}
	<-written
	select {
	case <-s.compared:
	default:
		return nil // it was never connected; the next start posts
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
	defer cancel()
	for left := s.cfg.Journal.Backlog(); ctx.Err() == nil && left > 0; {
		posted, err := s.cfg.Posted()
		if err != nil {
			return err
		}
		if _, err := s.shipOnce(ctx, posted); err != nil {
			s.stalled(ctx, err, true)
			return nil
		}
		before := left
		if left = s.cfg.Journal.Backlog(); left >= before {
			return nil
		}
	}
	return nil
}

// ship posts the events of the journal, in order, until ctx ends. The journal drops events only
// when this node's own state has them.
//
// After a crash the journal may have events that were posted. The next start sends them again, and
// the state machine skips them by their numbers.
func (s *Shipper) ship(ctx context.Context) error {
	if !s.awaitCompared(ctx) {
		return nil
	}
	posted, err := s.forgetPosted(ctx)
	if err != nil {
		return err
	}
	pause, quiet := firstRetry, time.Now().Add(quietTime)
	for {
		if err := s.cfg.Journal.Wait(ctx, posted); err != nil {
			return nil //nolint:nilerr // ctx has ended; what is left goes with the next start
		}
		if !s.gathered(ctx, posted) {
			return nil
		}
		next, err := s.shipOnce(ctx, posted)
		switch {
		case ctx.Err() != nil:
			return nil //nolint:nilerr // it ended in the middle; the next start finds out what became of it
		case err != nil:
			s.stalled(ctx, err, time.Now().After(quiet))
			select {
			case <-ctx.Done():
				return nil
			case <-time.After(pause/2 + rand.N(pause)): //nolint:gosec // it only keeps the nodes from asking at once
			}
			pause = min(2*pause, lastRetry)
			// It may have been posted although no response arrived.
			if next, err = s.forgetPosted(ctx); err != nil {
				return err
			}
		default:
			s.failing.Store(nil)
			s.cfg.Journal.SetStall(nil)
			pause, quiet = firstRetry, time.Time{}
		}
		posted = next
	}
}

// awaitCompared waits for Compare. It returns false when ctx has ended.
func (s *Shipper) awaitCompared(ctx context.Context) bool {
	quiet := time.NewTicker(quietTime)
	defer quiet.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-s.compared:
			return true
		case <-quiet.C:
			if s.cfg.Journal.Backlog() > 0 {
				s.stalled(ctx, s.cfg.NoLeader, true)
			}
		}
	}
}

// gathered waits for more events, unless a whole run is there. It returns false when ctx has ended.
func (s *Shipper) gathered(ctx context.Context, posted uint64) bool {
	if s.cfg.Journal.Last() >= posted+mostEvents {
		return true
	}
	select {
	case <-ctx.Done():
		return false
	case <-time.After(delay):
		return true
	}
}

// shipOnce posts the next run and returns how far this node's state has come.
func (s *Shipper) shipOnce(ctx context.Context, posted uint64) (uint64, error) {
	first, events, err := s.cfg.Journal.Batch(ctx, posted, mostEvents, mostBytes)
	if err != nil {
		return posted, err
	}
	if len(events) == 0 {
		// It is posted already; or it is trimmed, and the state, which has lost its end in
		// a crash, has yet to catch up.
		return s.forgetPosted(ctx)
	}
	if inject.HasDefect("ack_before_commit") {
		if err := s.cfg.Journal.Trim(ctx, first+uint64(len(events))-1); err != nil {
			return posted, err
		}
	}
	if err := s.redate(ctx, first, events); err != nil {
		return posted, err
	}
	inject.Crash("ship.before")
	err = s.cfg.Post(ctx, &clusterv1.PostUsage{Node: string(s.cfg.Identity.Node), Epoch: s.cfg.Identity.Epoch, First: first, Events: events})
	if err != nil {
		return posted, err
	}
	inject.Crash("ship.acknowledged")
	// This node's own state has them now, and a majority's disks. A crash here leaves
	// them in the journal as well, where the next start finds that they are posted.
	next, err := s.forgetPosted(ctx)
	inject.Crash("ack.trimmed")
	return next, err
}

// redate corrects the times of events that were recorded before this node knew the
// cluster's time. A run that is sent again may have other times; only the first that is
// committed counts.
func (s *Shipper) redate(ctx context.Context, first uint64, events [][]byte) (err error) {
	for i, value := range events {
		if !journal.OwnClock(value) {
			continue
		}
		s.cfg.Clock.Await(ctx)
		now, known := s.cfg.Clock.Time()
		if !known {
			return context.Cause(ctx)
		}
		mine := s.cfg.Now().Round(0) // an earlier process had another start: its clock is the best guess
		if s.cfg.Journal.Written(first + uint64(i)) {
			mine = s.cfg.Clock.Mine()
		}
		if events[i], err = journal.Redate(value, now, mine.Sub(now)); err != nil {
			return err
		}
	}
	return nil
}

// forgetPosted trims the journal up to the events that this node's state has, and returns that
// position. It rejects a journal that ends before it: the data directory is an older copy.
func (s *Shipper) forgetPosted(ctx context.Context) (uint64, error) {
	posted, err := s.cfg.Posted()
	if err != nil {
		return 0, err
	}
	return posted, s.cfg.Journal.Trim(context.WithoutCancel(ctx), posted)
}
