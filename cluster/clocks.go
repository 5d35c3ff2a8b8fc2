package cluster

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/modelgateway/modelgateway/cluster/clock"
	"github.com/modelgateway/modelgateway/cluster/consensus"
	"github.com/modelgateway/modelgateway/cluster/journal"
)

// openClock makes the cluster's time.
func (n *Node) openClock() {
	n.clock = clock.New(clock.Config{
		Now: n.cfg.Now, Alone: n.cfg.Connect == nil, Ask: n.compareClocks, Logger: n.logger,
		Floor:   func() time.Time { return n.consensus.Clock() }, // opened later
		Problem: func(err error) bool { return n.problems.set(problemClock, err) },
	})
}

// date dates an instant of this node's clock for the journal.
func (n *Node) date(own time.Time) journal.Date {
	at, known := n.clock.Date(own)
	if !known {
		return journal.Date{At: at, Own: true, NotBefore: n.consensus.Clock()}
	}
	return journal.Date{At: at}
}

// compareClocks returns how far a clock, this node's, is ahead of the clocks of the voters that
// respond, its own included, and the number of voters.
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
	r, err := n.reportOf(ctx, s.Address, false)
	if err != nil || r.GetClockUnixNano() == 0 {
		return 0, false
	}
	there := time.Unix(0, r.GetClockUnixNano()).Add(time.Since(begun) / 2) // the response took half of it
	return clock().Sub(there), true
}
