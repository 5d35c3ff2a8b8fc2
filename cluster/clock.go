package cluster

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelgateway/modelgateway/cluster/consensus"
	"github.com/modelgateway/modelgateway/cluster/journal"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

const (
	// clockLook is how often a node looks at its own clock, and clockAsk how often at
	// the others', or at once when its own was set.
	clockLook = time.Second
	clockAsk  = 10 * time.Second
	// clockFirst is the pause while the time is not known yet: a leader waits for it.
	clockFirst = 100 * time.Millisecond
	// clockPatience is how long usage that has the times of this node's clock waits to be
	// posted until the cluster's time is known. A node that reaches the leader, and no
	// majority since its start, posts it as it is.
	clockPatience = 10 * time.Second
	// clockSlack is how far from the others' a clock may be and still be believed.
	clockSlack = 5 * time.Second
	// clockJump is a change of the time that nothing is dropped for too soon: not before
	// clockSteady has passed without another one.
	clockJump   = 24 * time.Hour
	clockSteady = 24 * time.Hour
)

// clock is the cluster's time as this node knows it: the time on which the clocks of most voters
// agree. A wrong clock moves no other node's time, not even the leader's. Between two comparisons,
// and while no majority agrees, the time advances by the monotonic clock, which cannot be set.
type clock struct {
	since  time.Time // what has passed is counted from
	began  time.Time // what this node's clock said then
	at     atomic.Pointer[moment]
	jumped atomic.Int64 // what had passed when it jumped last; 0: it never did
}

// moment is what time it was when so much had passed.
type moment struct {
	passed time.Duration
	time   time.Time // without a monotonic reading
	own    time.Time // what this node's clock said then
}

// after is what time it is when so much has passed.
func (m *moment) after(passed time.Duration) time.Time { return m.time.Add(passed - m.passed) }

// mine is this node's time: its clock at the start, and what has passed since.
func (c *clock) mine() time.Time { return c.began.Add(time.Since(c.since)) }

// steady reports whether the time is reliable enough to delete something: it has not jumped for
// a while, so an operator has had time to notice a jump.
func (c *clock) steady() bool {
	at := c.jumped.Load()
	return c.at.Load() != nil && (at == 0 || time.Since(c.since)-time.Duration(at) >= clockSteady)
}

// time returns the cluster's time; false while it is not known.
func (n *Node) time() (time.Time, bool) {
	if n.link == nil {
		return n.cfg.Now(), true
	}
	m := n.clock.at.Load()
	if m == nil {
		return time.Time{}, false
	}
	return m.after(time.Since(n.clock.since)), true
}

// date dates an instant of this node's clock for the journal. A clock that is believed is
// not corrected.
func (n *Node) date(own time.Time) journal.Date {
	if n.link == nil {
		return journal.Date{At: own}
	}
	ago := n.cfg.Now().Sub(own) // by what has passed since, which setting the clock does not change
	now, known := n.time()
	if !known {
		return journal.Date{At: n.clock.mine().Add(-ago), Own: true, NotBefore: n.consensus.Clock()}
	}
	agreed := now.Add(-ago)
	if agreed.Sub(own.Round(0)).Abs() < clockSlack {
		agreed = own
	}
	return journal.Date{At: agreed}
}

// awaitTime waits for a moment until the cluster's time is known.
func (n *Node) awaitTime(ctx context.Context) {
	for end := time.Now().Add(clockPatience); ; {
		if _, known := n.time(); known || !time.Now().Before(end) {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(clockFirst):
		}
	}
}

// now returns the cluster's time, and while it is not known what this node's clock says.
func (n *Node) now() time.Time {
	if now, known := n.time(); known {
		return now
	}
	return n.cfg.Now()
}

// keepTime learns what time it is, until ctx ends.
func (n *Node) keepTime(ctx context.Context) error {
	for {
		pause := clockLook
		if n.clockDue() && !n.learnTime(ctx) {
			pause = clockFirst
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
		}
	}
}

// clockDue reports whether the others are to be asked: it is time, or this node's clock
// does not go on as it did.
func (n *Node) clockDue() bool {
	m, passed := n.clock.at.Load(), time.Since(n.clock.since)
	return m == nil || n.peers == nil || passed-m.passed >= clockAsk ||
		n.cfg.Now().Round(0).Sub(m.own.Add(passed-m.passed)).Abs() >= clockSlack
}

// learnTime asks the voters what time it is, and reports whether that is known now.
func (n *Node) learnTime(ctx context.Context) bool {
	// One look at this node's clock: it may be set while the others are asked.
	first, begun := n.cfg.Now().Round(0), time.Now()
	clock := func() time.Time { return first.Add(time.Since(begun)) }
	ahead, voters := n.compareClocks(ctx, clock)
	passed, own := time.Since(n.clock.since), clock()
	before := n.clock.at.Load()
	if 2*len(ahead) <= voters {
		return before != nil
	}
	last := n.consensus.Clock()
	if before != nil {
		last = before.after(passed)
	}
	off, agreed := majority(ahead, voters)
	switch {
	case !agreed && before != nil:
		off = own.Sub(last)
	case !agreed:
		off = likely(ahead, own.Sub(last))
	case off.Abs() < clockSlack:
		off = 0
	}
	n.tellClock(ctx, off, agreed)
	next := &moment{passed: passed, own: own, time: own.Add(-off)}
	if !last.IsZero() && next.time.Sub(last).Abs() >= clockJump {
		n.clock.jumped.Store(int64(max(passed, 1)))
		n.logger.LogAttrs(ctx, slog.LevelWarn, "the time has jumped; for a day nothing is dropped for being too old",
			slog.Time("from", last), slog.Time("to", next.time))
	}
	n.clock.at.Store(next)
	return true
}

// tellClock says that clocks are to be set.
func (n *Node) tellClock(ctx context.Context, off time.Duration, agreed bool) {
	var wrong error
	switch {
	case !agreed:
		wrong = errors.New("the clocks of the nodes differ, and no majority has the same time; set them right")
	case off > 0:
		wrong = fmt.Errorf("the clock of this node is %s ahead of most others; set it right", off.Round(time.Second))
	case off < 0:
		wrong = fmt.Errorf("the clock of this node is %s behind most others; set it right", -off.Round(time.Second))
	}
	if n.problems.set(problemClock, wrong) {
		n.logger.LogAttrs(ctx, slog.LevelError, "clock", slog.String("error", wrong.Error()))
	}
}

// majority returns how far this node's clock is ahead of the time that more than half
// of the voters agree on, if there is one.
func majority(ahead []time.Duration, voters int) (time.Duration, bool) {
	slices.Sort(ahead)
	need := voters/2 + 1
	for i := 0; i+need <= len(ahead); i++ {
		if same := ahead[i : i+need]; same[need-1]-same[0] < clockSlack {
			return same[need/2], true
		}
	}
	return 0, false
}

// likely returns how far this node's clock is ahead of the time that is right if one
// is: the earliest that is not before what was known already. last is how far the clock
// is ahead of that.
func likely(ahead []time.Duration, last time.Duration) time.Duration {
	slices.Sort(ahead)
	for _, d := range slices.Backward(ahead) {
		if d-clockSlack <= last {
			return d
		}
	}
	return ahead[0]
}

// compareClocks returns how far a clock, this node's, is ahead of those of the voters
// that answer, its own included, and how many voters there are.
func (n *Node) compareClocks(ctx context.Context, clock func() time.Time) (ahead []time.Duration, voters int) {
	if n.link == nil {
		return []time.Duration{0}, 1
	}
	servers, err := n.consensus.Servers()
	if err != nil {
		return nil, 0
	}
	servers = slices.DeleteFunc(servers, func(s consensus.Server) bool { return !s.Voter })
	ctx, cancel := context.WithTimeout(ctx, reportTime)
	defer cancel()
	var mu sync.Mutex
	var wait sync.WaitGroup
	for _, s := range servers {
		wait.Go(func() {
			d, ok := time.Duration(0), true
			if s.Node != n.Identity().Node {
				d, ok = n.aheadOf(ctx, s, clock)
			}
			if ok {
				mu.Lock()
				defer mu.Unlock()
				ahead = append(ahead, d)
			}
		})
	}
	wait.Wait()
	return ahead, len(servers)
}

// aheadOf returns how far a clock is ahead of another node's.
func (n *Node) aheadOf(ctx context.Context, s consensus.Server, clock func() time.Time) (time.Duration, bool) {
	begun := time.Now()
	var said int64
	err := n.call(ctx, s.Address, func(c clusterv1.PeerServiceClient) error {
		r, err := c.Report(ctx, &clusterv1.ReportRequest{})
		said = r.GetClockUnixNano()
		return err
	})
	if err != nil || said == 0 {
		return 0, false
	}
	there := time.Unix(0, said).Add(time.Since(begun) / 2) // the answer took half of it
	return clock().Sub(there), true
}
