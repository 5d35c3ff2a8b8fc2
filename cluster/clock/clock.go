package clock

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"
)

const (
	// look is how often a node compares its clock with what has passed. ask is how often it
	// compares with the other nodes; it does so at once if its own clock was set.
	look = time.Second
	ask  = 10 * time.Second
	// first is the pause while the time is not known: a leader waits for it.
	first = 100 * time.Millisecond
	// patience is how long Await waits. A node that reaches the leader, but has reached no majority
	// since its start, posts usage with the times of its own clock.
	patience = 10 * time.Second
	// slack is how far a clock may differ from the others and still be believed.
	slack = 5 * time.Second
	// After the time changed by jump, it is not Steady for steadyAfter.
	jump        = 24 * time.Hour
	steadyAfter = 24 * time.Hour
)

// Config connects a Clock to its node.
type Config struct {
	Now   func() time.Time // this node's clock
	Alone bool             // the node is a cluster of its own, and its clock decides
	// Ask returns how far a clock, this node's, is ahead of the clocks of the voters that respond,
	// its own included, and the number of voters.
	Ask func(ctx context.Context, own func() time.Time) (ahead []time.Duration, voters int)
	// Floor returns a time that is over: the stamp of the last applied entry.
	Floor func() time.Time
	// Problem reports what is wrong with the clocks, nil for nothing. It returns whether that is new.
	Problem func(error) (changed bool)
	Logger  *slog.Logger
}

// Clock is the cluster's time as one node knows it. It is safe for concurrent use.
type Clock struct {
	cfg    Config
	since  time.Time // the start, for the monotonic clock
	began  time.Time // this node's clock at the start
	at     atomic.Pointer[moment]
	jumped atomic.Int64 // time since the start at the last jump; 0: there was none
}

// New returns a clock that does not know the cluster's time yet.
func New(cfg Config) *Clock {
	return &Clock{cfg: cfg, since: time.Now(), began: cfg.Now().Round(0)}
}

// moment is the cluster's time at some time after the start.
type moment struct {
	passed time.Duration
	time   time.Time // without a monotonic reading
	own    time.Time // this node's clock then
}

// after returns the cluster's time at a later time after the start.
func (m *moment) after(passed time.Duration) time.Time { return m.time.Add(passed - m.passed) }

// Mine returns this node's time: its clock at the start plus the time since.
func (c *Clock) Mine() time.Time { return c.began.Add(time.Since(c.since)) }

// Steady reports whether the time is reliable enough to delete something: it has not jumped for
// a while, so an operator has had time to notice a jump.
func (c *Clock) Steady() bool {
	at := c.jumped.Load()
	return c.at.Load() != nil && (at == 0 || time.Since(c.since)-time.Duration(at) >= steadyAfter)
}

// Time returns the cluster's time; false while it is not known.
func (c *Clock) Time() (time.Time, bool) {
	if c.cfg.Alone {
		return c.cfg.Now(), true
	}
	m := c.at.Load()
	if m == nil {
		return time.Time{}, false
	}
	return m.after(time.Since(c.since)), true
}

// Date returns the cluster's time at an instant of this node's clock. A clock that is believed is
// not corrected. While the cluster's time is not known, it returns Mine at that instant, and false.
func (c *Clock) Date(own time.Time) (time.Time, bool) {
	if c.cfg.Alone {
		return own, true
	}
	ago := c.cfg.Now().Sub(own) // by the monotonic clock, which setting the clock does not change
	now, known := c.Time()
	if !known {
		return c.Mine().Add(-ago), false
	}
	agreed := now.Add(-ago)
	if agreed.Sub(own.Round(0)).Abs() < slack {
		agreed = own
	}
	return agreed, true
}

// Await waits until the cluster's time is known, but only for some seconds.
func (c *Clock) Await(ctx context.Context) {
	for end := time.Now().Add(patience); ; {
		if _, known := c.Time(); known || !time.Now().Before(end) {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(first):
		}
	}
}

// Now returns the cluster's time, or that of this node's clock while it is not known.
func (c *Clock) Now() time.Time {
	if now, known := c.Time(); known {
		return now
	}
	return c.cfg.Now()
}

// Run compares the clocks of the voters until ctx ends.
func (c *Clock) Run(ctx context.Context) error {
	for {
		pause := look
		if c.due() && !c.learn(ctx) {
			pause = first
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
		}
	}
}

// due reports whether the clocks must be compared: it is time, or somebody has set this node's clock.
func (c *Clock) due() bool {
	m, passed := c.at.Load(), time.Since(c.since)
	return m == nil || c.cfg.Alone || passed-m.passed >= ask ||
		c.cfg.Now().Round(0).Sub(m.own.Add(passed-m.passed)).Abs() >= slack
}

// learn asks the voters for their time, and reports whether the cluster's time is known now.
func (c *Clock) learn(ctx context.Context) bool {
	// Read this node's clock once: it may be set while the others are asked.
	start, begun := c.cfg.Now().Round(0), time.Now()
	clock := func() time.Time { return start.Add(time.Since(begun)) }
	ahead, voters := c.cfg.Ask(ctx, clock)
	passed, own := time.Since(c.since), clock()
	before := c.at.Load()
	if 2*len(ahead) <= voters {
		return before != nil
	}
	last := c.cfg.Floor()
	if before != nil {
		last = before.after(passed)
	}
	off, agreed := majority(ahead, voters)
	switch {
	case !agreed && before != nil:
		off = own.Sub(last)
	case !agreed:
		off = likely(ahead, own.Sub(last))
	case off.Abs() < slack:
		off = 0
	}
	c.report(ctx, off, agreed)
	next := &moment{passed: passed, own: own, time: own.Add(-off)}
	if !last.IsZero() && next.time.Sub(last).Abs() >= jump {
		c.jumped.Store(int64(max(passed, 1)))
		c.cfg.Logger.LogAttrs(ctx, slog.LevelWarn, "the time has jumped; for a day nothing is dropped for being too old",
			slog.Time("from", last), slog.Time("to", next.time))
	}
	c.at.Store(next)
	return true
}

// report reports clocks that must be set.
func (c *Clock) report(ctx context.Context, off time.Duration, agreed bool) {
	var wrong error
	switch {
	case !agreed:
		wrong = errors.New("the clocks of the nodes differ, and no majority has the same time; set them right")
	case off > 0:
		wrong = fmt.Errorf("the clock of this node is %s ahead of most others; set it right", off.Round(time.Second))
	case off < 0:
		wrong = fmt.Errorf("the clock of this node is %s behind most others; set it right", -off.Round(time.Second))
	}
	if c.cfg.Problem(wrong) {
		c.cfg.Logger.LogAttrs(ctx, slog.LevelError, "clock", slog.String("error", wrong.Error()))
	}
}

// majority returns how far this node's clock is ahead of the time that more than half
// of the voters agree on, if there is one.
func majority(ahead []time.Duration, voters int) (time.Duration, bool) {
	slices.Sort(ahead)
	need := voters/2 + 1
	for i := 0; i+need <= len(ahead); i++ {
		if same := ahead[i : i+need]; same[need-1]-same[0] < slack {
			return same[need/2], true
		}
	}
	return 0, false
}

// likely returns how far this node's clock is ahead of the most likely time: the earliest of the
// clocks that is not before the last known time. last is how far this node's clock is ahead of that.
func likely(ahead []time.Duration, last time.Duration) time.Duration {
	slices.Sort(ahead)
	for _, d := range slices.Backward(ahead) {
		if d-slack <= last {
			return d
		}
	}
	return ahead[0]
}
