package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/modelgateway/modelgateway/bench/internal/procstat"
)

const (
	// restoreTime bounds a snapshot or a restore.
	restoreTime = 5 * time.Minute
	// restoreChanges is every how many keys one was deleted since the snapshot.
	restoreChanges = 10
	dueRestore     = time.Minute
	// dueServing is how long a request may take while a restore runs.
	dueServing = time.Second
)

// measureRestore saves all keys, deletes a tenth of them, and restores them while every
// node is asked for answers.
func (c *cluster) measureRestore(ctx context.Context, o options, r *report) error {
	if err := c.fill(ctx, o, r); err != nil {
		return err
	}
	file := filepath.Join(o.dir, "snapshot")
	start := time.Now()
	size, err := c.snapshot(ctx, c.nodes[0], file)
	if err != nil {
		return err
	}
	r.note("A snapshot of %d keys has %d MiB and took %.1f s.", c.made, size/megabyte, time.Since(start).Seconds())
	var gone []string
	for i := 0; i < len(c.keys); i += restoreChanges {
		gone = append(gone, c.keys[i])
	}
	for from := 0; from < len(gone); from += bulkSize {
		if err := c.ask(ctx, c.nodes[0], http.MethodPost, "/key/delete", map[string]any{"keys": gone[from:min(from+bulkSize, len(gone))]}, nil); err != nil {
			return err
		}
	}
	for _, n := range c.nodes {
		if err := c.again(ctx, n); err != nil { // so that its memory is that of the restore
			return err
		}
	}
	for i, n := range []*node{c.nodes[0], c.nodes[len(c.nodes)-1]} {
		if err := c.restoreOnce(ctx, n, file, fmt.Sprintf("restore of %d keys, %s", c.made, []string{fmt.Sprintf("%d returned", len(gone)), "nothing changed"}[i]), r); err != nil {
			return err
		}
	}
	for _, n := range c.nodes {
		if ok, err := c.use(ctx, n, gone[0]); err != nil || !ok {
			return fmt.Errorf("a key that was restored is rejected: %w", err)
		}
	}
	return nil
}

// restoreOnce restores the file through a node and watches all nodes meanwhile.
func (c *cluster) restoreOnce(ctx context.Context, through *node, file, name string, r *report) error {
	before, err := c.status(ctx, c.nodes[0])
	if err != nil {
		return err
	}
	idle := make([]int64, len(c.nodes))
	for i, n := range c.nodes {
		if idle[i], err = procstat.ResetPeak(n.cmd.Process.Pid); err != nil {
			return err
		}
	}
	var failed atomic.Int64
	serving := make([][]time.Duration, len(c.nodes))
	group, all := errgroup.WithContext(ctx)
	running, stop := context.WithCancel(all)
	defer stop()
	for i, n := range c.nodes {
		group.Go(func() error {
			for running.Err() == nil {
				start := time.Now()
				if ok, err := c.use(ctx, n, c.keys[1]); err != nil || !ok {
					failed.Add(1)
				}
				serving[i] = append(serving[i], time.Since(start))
				pause(running, pollTime)
			}
			return nil
		})
	}
	var took time.Duration
	group.Go(func() error {
		defer stop()
		start := time.Now()
		defer func() { took = time.Since(start) }()
		return c.upload(all, through, file)
	})
	if err := group.Wait(); err != nil {
		return err
	}
	r.add(name, []time.Duration{took}, dueRestore)
	var requests []time.Duration
	for _, s := range serving {
		requests = append(requests, s...)
	}
	r.add("requests meanwhile", requests, dueServing)
	var most int64
	for i, n := range c.nodes {
		peak, err := procstat.Peak(n.cmd.Process.Pid)
		if err != nil {
			return err
		}
		most = max(most, peak-idle[i])
	}
	after, err := c.status(ctx, c.nodes[0])
	if err != nil {
		return err
	}
	r.note("%s: %d requests failed meanwhile, a node had at most %d MiB more than before, and the leader %s.",
		name, failed.Load(), most/megabyte, map[bool]string{true: "stayed", false: "changed"}[before.Leader == after.Leader])
	return c.settle(ctx)
}

// snapshot saves the state in a file and returns its size.
func (c *cluster) snapshot(ctx context.Context, n *node, file string) (size int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, restoreTime)
	defer cancel()
	resp, err := c.send(ctx, n, http.MethodGet, "/cluster/snapshot", nil)
	if err != nil {
		return 0, err
	}
	defer func() { _ = resp.Body.Close() }()
	f, err := os.Create(file)
	if err != nil {
		return 0, err
	}
	if size, err = io.Copy(f, resp.Body); err != nil {
		_ = f.Close() // the first error says more
		return 0, err
	}
	return size, f.Close()
}

// upload restores a file.
func (c *cluster) upload(ctx context.Context, n *node, file string) error {
	ctx, cancel := context.WithTimeout(ctx, restoreTime)
	defer cancel()
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	resp, err := c.send(ctx, n, http.MethodPost, "/cluster/restore?confirm=yes", f)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

// send sends an admin's request with a file, and returns the response to one that
// was accepted.
func (c *cluster) send(ctx context.Context, n *node, method, path string, file io.Reader) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, n.url+path, file)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+c.admin)
	if file != nil {
		r.Header.Set("Content-Type", "application/octet-stream")
	}
	resp, err := c.client.Do(r)
	if err != nil || resp.StatusCode == http.StatusOK {
		return resp, err
	}
	text, _ := io.ReadAll(resp.Body) // what came of it is said
	_ = resp.Body.Close()
	return nil, fmt.Errorf("%s: %d %s", path, resp.StatusCode, text)
}
