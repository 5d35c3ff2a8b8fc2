package main

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"
)

const (
	// spendCallers make requests with pauses: a light load, because throughput is not measured
	// here.
	spendCallers = 4
	spendPause   = 50 * time.Millisecond
	// spendBefore is the duration of the load before the leader is killed.
	spendBefore = 2 * time.Second
	// dueSpend is the target for the visibility of spend in all cases.
	dueSpend = 60 * time.Second
)

// measureSpend kills the leader under load and restarts it at once, like a supervisor. It
// measures the time after the response of each request until it is in the spend logs of a
// surviving node.
func (c *cluster) measureSpend(ctx context.Context, o options, r *report) error {
	var by, others []time.Duration
	for round := range o.spendKills {
		s := &spending{cluster: c, round: round, answered: map[string]answered{}, seen: map[string]time.Time{}}
		leader, err := s.failover(ctx)
		if err != nil {
			return err
		}
		for name, a := range s.answered {
			took := max(s.seen[name].Sub(a.at), 0)
			if a.by == leader {
				by = append(by, took)
			} else {
				others = append(others, took)
			}
		}
	}
	r.add("spend visible over a failover", others, dueSpend)
	r.add("the same, answered by the node that was killed", by, dueSpend)
	return nil
}

// spending is one failover under load.
type spending struct {
	*cluster
	round int
	made  atomic.Int64
	dead  atomic.Pointer[node]

	mu       sync.Mutex
	answered map[string]answered
	seen     map[string]time.Time
}

// answered is the node and the time of a response.
type answered struct {
	by *node
	at time.Time
}

// failover ends when all responses are visible, and returns the killed node.
func (s *spending) failover(ctx context.Context) (*node, error) {
	leader, err := s.leader(ctx)
	if err != nil {
		return nil, err
	}
	witness := s.nodes[0]
	if witness == leader {
		witness = s.nodes[1]
	}
	group, ctx := errgroup.WithContext(ctx)
	loaded, unload := context.WithCancel(ctx)
	defer unload()
	for range spendCallers {
		group.Go(func() error { return s.load(ctx, loaded) })
	}
	group.Go(func() error {
		defer unload()
		pause(ctx, spendBefore)
		if err := leader.end(syscall.SIGKILL); err != nil {
			return err
		}
		s.dead.Store(leader)
		if err := leader.start(); err != nil {
			return err
		}
		return s.settle(ctx)
	})
	group.Go(func() error {
		return s.until(ctx, "all spend is seen", func(ctx context.Context) bool {
			s.look(ctx, witness)
			return loaded.Err() != nil && s.complete()
		})
	})
	return leader, group.Wait()
}

// pause waits for a duration, or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// load makes requests at the live nodes in turn, until loaded ends. It ignores failed requests:
// their callers received no response.
func (s *spending) load(ctx, loaded context.Context) error {
	for loaded.Err() == nil {
		i := int(s.made.Add(1))
		n := s.nodes[i%len(s.nodes)]
		if n == s.dead.Load() {
			n = s.nodes[(i+1)%len(s.nodes)]
		}
		name := fmt.Sprintf("spend-%d-%d", s.round, i)
		body := fmt.Sprintf(`{"model":%q,"user":%q,"messages":[{"role":"user","content":"hello"}]}`, model, name)
		code, _, err := s.call(ctx, n, http.MethodPost, "/v1/chat/completions", "", []byte(body))
		if err == nil && code == http.StatusOK {
			s.mu.Lock()
			s.answered[name] = answered{by: n, at: time.Now()}
			s.mu.Unlock()
		}
		pause(loaded, spendPause)
	}
	return nil
}

// look reads the newest spend logs of a node, and records new entries.
func (s *spending) look(ctx context.Context, at *node) {
	var rows []struct {
		EndUser string `json:"end_user"`
	}
	if err := s.ask(ctx, at, http.MethodGet, "/spend/logs?limit=1000", nil, &rows); err != nil {
		return // repeated in the next round
	}
	now := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range rows {
		if _, ok := s.seen[r.EndUser]; !ok {
			s.seen[r.EndUser] = now
		}
	}
}

// complete reports whether all responses are visible.
func (s *spending) complete() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name := range s.answered {
		if _, ok := s.seen[name]; !ok {
			return false
		}
	}
	return true
}
