package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

const (
	holds    = 5                // followers to suspend
	holdTime = 15 * time.Second // longer than any timeout of a wait for a follower
)

// measureReturns suspends followers, which has the effect of a network partition, and replaces
// the disk of one. Both are timed until the node is ready.
func (c *cluster) measureReturns(ctx context.Context, o options, r *report) error {
	var held []time.Duration
	for i := range holds {
		n, err := c.follower(ctx, i)
		if err != nil {
			return err
		}
		took, err := c.hold(ctx, n, i)
		if err != nil {
			return err
		}
		held = append(held, took)
	}
	r.add(fmt.Sprintf("a follower that was held up for %s: ready and up to date", holdTime), held, 2*time.Second)
	if more := o.keys - c.made; more > 0 {
		if _, err := c.write(ctx, more, o.fillers); err != nil {
			return err
		}
	}
	n, err := c.follower(ctx, 0)
	if err != nil {
		return err
	}
	size, err := n.size()
	if err != nil {
		return err
	}
	took, err := c.empty(ctx, n)
	if err != nil {
		return err
	}
	r.add(fmt.Sprintf("start to ready with an empty disk, %d keys, %d MiB", c.made, size>>20), []time.Duration{took}, 5*time.Second)
	return nil
}

// follower returns the i-th node that is not the leader, modulo their number.
func (c *cluster) follower(ctx context.Context, i int) (*node, error) {
	leader, err := c.leader(ctx)
	if err != nil {
		return nil, err
	}
	var out []*node
	for _, n := range c.nodes {
		if n != leader {
			out = append(out, n)
		}
	}
	if len(out) == 0 {
		return nil, errors.New("no node follows the leader")
	}
	return out[i%len(out)], nil
}

// hold suspends a node's process for holdTime while the others write. It returns the time from
// then until the node is ready and has the new data.
func (c *cluster) hold(ctx context.Context, n *node, round int) (time.Duration, error) {
	leader, err := c.leader(ctx)
	if err != nil {
		return 0, err
	}
	if err := n.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		return 0, err
	}
	_, err = c.createKey(ctx, leader, fmt.Sprintf("hold-%d", round), 1)
	pause(ctx, holdTime)
	if err := errors.Join(err, n.cmd.Process.Signal(syscall.SIGCONT)); err != nil {
		return 0, err
	}
	start := time.Now()
	c.client.CloseIdleConnections()
	if err := c.awaitReady(ctx, n); err != nil {
		return 0, err
	}
	if err := c.settle(ctx); err != nil {
		return 0, err
	}
	return time.Since(start), nil
}

// empty kills a node and removes its data and its membership, like an operator who replaces a
// disk. It returns the time from the next start until the node is ready.
func (c *cluster) empty(ctx context.Context, n *node) (time.Duration, error) {
	leader, err := c.leader(ctx)
	if err != nil {
		return 0, err
	}
	own, err := c.status(ctx, n)
	if err != nil {
		return 0, err
	}
	if err := n.end(syscall.SIGKILL); err != nil {
		return 0, err
	}
	if err := c.ask(ctx, leader, http.MethodPost, "/cluster/remove", map[string]any{"node_id": own.Node}, nil); err != nil {
		return 0, err
	}
	if err := os.RemoveAll(n.data); err != nil {
		return 0, err
	}
	c.client.CloseIdleConnections()
	start := time.Now()
	if err := n.start(); err != nil {
		return 0, err
	}
	err = c.awaitReady(ctx, n)
	return time.Since(start), err
}

// size returns the size of a node's data in bytes.
func (n *node) size() (sum int64, err error) {
	err = filepath.WalkDir(n.data, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return ignoreMissing(err)
		}
		info, err := d.Info()
		if err == nil {
			sum += info.Size()
		}
		return ignoreMissing(err)
	})
	return sum, err
}

// ignoreMissing returns nil for a file that was removed during the walk.
func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
