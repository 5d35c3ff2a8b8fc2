package main

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"
)

// measureWrites times key creation on all nodes in turn, so that two of three writes are
// forwarded.
func (c *cluster) measureWrites(ctx context.Context, o options, r *report) error {
	for _, callers := range []int{1, o.writers} {
		times, err := c.write(ctx, o.writes, callers)
		if err != nil {
			return err
		}
		r.add(fmt.Sprintf("management write, %d at once", callers), times, 100*time.Millisecond)
	}
	return nil
}

// write creates n keys with a number of callers and returns the durations.
func (c *cluster) write(ctx context.Context, n, callers int) ([]time.Duration, error) {
	times, made := make([]time.Duration, n), make([]string, n)
	var next atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	for range callers {
		group.Go(func() error {
			for {
				i := int(next.Add(1)) - 1
				if i >= n {
					return nil
				}
				start := time.Now()
				key, err := c.createKey(ctx, c.nodes[i%len(c.nodes)], fmt.Sprintf("key-%d", c.made+i), c.made+i)
				if err != nil {
					return err
				}
				made[i] = key
				times[i] = time.Since(start)
				if i > 0 && i%10_000 == 0 {
					log.Printf("%d keys", i)
				}
			}
		})
	}
	err := group.Wait()
	c.made += n
	c.keys = append(c.keys, made...)
	return times, err
}

// measureFailovers kills the leader, and lets both other nodes try to write until they succeed.
func (c *cluster) measureFailovers(ctx context.Context, o options, r *report) error {
	var first, both []time.Duration
	for i := range o.kills {
		a, b, err := c.failover(ctx, i)
		if err != nil {
			return err
		}
		first, both = append(first, a), append(both, b)
	}
	r.add("failover: one other node writes", first, 5*time.Second)
	r.add("failover: both other nodes write", both, 5*time.Second)
	return nil
}

func (c *cluster) failover(ctx context.Context, round int) (first, both time.Duration, err error) {
	leader, err := c.leader(ctx)
	if err != nil {
		return 0, 0, err
	}
	killed := time.Now()
	if err := leader.end(syscall.SIGKILL); err != nil {
		return 0, 0, err
	}
	took := make(chan time.Duration, len(c.nodes))
	group, all := errgroup.WithContext(ctx)
	for i, n := range c.nodes {
		if n == leader {
			continue
		}
		group.Go(func() error {
			attempt := 0
			err := c.until(all, "a node writes", func(ctx context.Context) bool {
				attempt++ // a failed attempt may have succeeded: use each alias once
				_, err := c.createKey(ctx, n, fmt.Sprintf("failover-%d-%d-%d", round, i, attempt), 0)
				return err == nil
			})
			took <- time.Since(killed)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return 0, 0, err
	}
	first, both = <-took, <-took
	if err := leader.start(); err != nil {
		return 0, 0, err
	}
	return first, both, c.settle(ctx)
}

// measureDeletions deletes keys while they are used on all nodes.
func (c *cluster) measureDeletions(ctx context.Context, o options, r *report) error {
	var inForce, answered []time.Duration
	late := 0
	for i := range o.deletions {
		d, err := c.deletion(ctx, i)
		if err != nil {
			return err
		}
		inForce, answered = append(inForce, d.inForce), append(answered, d.answered)
		late += d.late
	}
	r.add("deleted key refused on all nodes", inForce, 2*time.Second)
	r.add("deletion answered", answered, 2*time.Second)
	r.note("Requests with a deleted key that were begun after the deletion's answer and accepted: %d; due: 0.", late)
	return nil
}

// deletion is the measurement of one key.
type deletion struct {
	inForce  time.Duration // from the start of the deletion to the start of the last accepted request
	answered time.Duration // from there to its response
	late     int           // accepted requests that started after the response
}

func (c *cluster) deletion(ctx context.Context, round int) (deletion, error) {
	key, err := c.createKey(ctx, c.nodes[round%len(c.nodes)], fmt.Sprintf("deleted-%d", round), 0)
	if err != nil {
		return deletion{}, err
	}
	for _, n := range c.nodes {
		if err := c.until(ctx, "a new key is accepted", func(ctx context.Context) bool {
			ok, err := c.use(ctx, n, key)
			return ok && err == nil
		}); err != nil {
			return deletion{}, err
		}
	}
	var done atomic.Bool
	accepted := make([][]time.Time, len(c.nodes)) // start times of accepted requests
	group, all := errgroup.WithContext(ctx)
	for i, n := range c.nodes {
		group.Go(func() error {
			for !done.Load() {
				began := time.Now()
				ok, err := c.use(all, n, key)
				if err != nil {
					return err
				}
				if ok {
					accepted[i] = append(accepted[i], began)
				}
			}
			return nil
		})
	}
	start := time.Now()
	err = c.deleteKey(ctx, c.nodes[(round+1)%len(c.nodes)], key)
	end := time.Now()
	if err == nil {
		err = c.refused(ctx, key)
	}
	done.Store(true)
	if used := group.Wait(); err == nil {
		err = used
	}
	d := deletion{answered: end.Sub(start)}
	for _, times := range accepted {
		for _, began := range times {
			d.inForce = max(d.inForce, began.Sub(start))
			if began.After(end) {
				d.late++
			}
		}
	}
	return d, err
}

// refused waits until no node accepts a key.
func (c *cluster) refused(ctx context.Context, key string) error {
	return c.until(ctx, "a deleted key is refused", func(ctx context.Context) bool {
		for _, n := range c.nodes {
			if ok, err := c.use(ctx, n, key); ok || err != nil {
				return false
			}
		}
		return true
	})
}

// measureRestarts creates many keys and restarts each node, once stopped and once killed.
func (c *cluster) measureRestarts(ctx context.Context, o options, r *report) error {
	if more := o.keys - c.made; more > 0 {
		start := time.Now()
		if _, err := c.write(ctx, more, o.fillers); err != nil {
			return err
		}
		r.note("%d keys were made with %d callers at %.0f a second.", more, o.fillers, float64(more)/time.Since(start).Seconds())
	}
	for _, how := range []struct {
		name   string
		signal syscall.Signal
	}{{"stop", syscall.SIGTERM}, {"kill -9", syscall.SIGKILL}} {
		var times []time.Duration
		for _, n := range c.nodes {
			if err := n.end(how.signal); err != nil {
				return err
			}
			c.client.CloseIdleConnections()
			start := time.Now()
			if err := n.start(); err != nil {
				return err
			}
			if err := c.awaitReady(ctx, n); err != nil {
				return err
			}
			times = append(times, time.Since(start))
			if err := c.settle(ctx); err != nil {
				return err
			}
		}
		r.add(fmt.Sprintf("start to ready with %d keys, after %s", c.made, how.name), times, 5*time.Second)
	}
	return c.count(ctx)
}

// count checks that no key was lost.
func (c *cluster) count(ctx context.Context) error {
	for i, n := range c.nodes {
		alias := fmt.Sprintf("key-%d", c.made-1)
		code, b, err := c.call(ctx, n, http.MethodGet, "/key/list?size=1&key_alias="+alias, "", nil)
		if err != nil {
			return err
		}
		if code != http.StatusOK || !hasOne(b) {
			return fmt.Errorf("node %d does not know %s: %d %s", i+1, alias, code, b)
		}
	}
	return nil
}
