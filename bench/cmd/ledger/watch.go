package main

import (
	"context"
	"sort"
	"time"

	"github.com/modelgateway/modelgateway/cluster"
)

// watch records when the nodes' journals have trimmed events, which are then posted and in the
// node's own ledger.
type watch struct {
	world *world
	steps map[*cluster.Node][]step
}

// step records that all events up to a number are posted.
type step struct {
	seq uint64
	at  time.Time
}

func newWatch(w *world) *watch { return &watch{world: w, steps: map[*cluster.Node][]step{}} }

// run polls until ctx ends, and once more.
func (w *watch) run(ctx context.Context) error {
	tick := time.NewTicker(pollTime)
	defer tick.Stop()
	for ending := false; ; {
		for _, n := range w.world.nodes {
			// The order matters: events that are settled in between must lower the result, not
			// raise it.
			last := n.Journal().Last()
			backlog := n.Journal().Backlog()
			posted := uint64(max(int64(last)-backlog, 0))
			if s := w.steps[n]; len(s) == 0 || s[len(s)-1].seq < posted {
				w.steps[n] = append(s, step{posted, time.Now()})
			}
		}
		if ending {
			return nil
		}
		select {
		case <-ctx.Done():
			ending = true
		case <-tick.C:
		}
	}
}

// empty reports whether all journals are empty.
func (w *watch) empty() bool {
	for _, n := range w.world.nodes {
		if n.Journal().Backlog() > 0 {
			return false
		}
	}
	return true
}

// delays returns the time from the settle to the posting of each request. Call it after run.
func (w *watch) delays(all []settled) []time.Duration {
	var out []time.Duration
	for _, s := range all {
		steps := w.steps[s.node]
		i := sort.Search(len(steps), func(i int) bool { return steps[i].seq >= s.seq })
		if i < len(steps) {
			out = append(out, max(steps[i].at.Sub(s.at), 0))
		}
	}
	return out
}
