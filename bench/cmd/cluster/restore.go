package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/modelgateway/modelgateway/bench/internal/procstat"
)

const (
	// restoreTime is the timeout of a snapshot or a restore.
	restoreTime = 5 * time.Minute
	// restoreChanges: one of this number of keys is deleted after the snapshot.
	restoreChanges = 10
	dueRestore     = time.Minute
	// dueServing is the target for the duration of a request during a restore.
	dueServing = time.Second
)

// measureRestore takes a snapshot of all keys, deletes a tenth of them, and restores them while
// every node serves requests.
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
		if err := c.restoreOnce(ctx, n, restored{
			file: file, key: c.keys[1],
			name: fmt.Sprintf("restore of %d keys, %s", c.made, []string{fmt.Sprintf("%d returned", len(gone)), "nothing changed"}[i]),
		}, r); err != nil {
			return err
		}
	}
	if err := c.accepts(ctx, gone[0]); err != nil {
		return err
	}
	return c.restoreFull(ctx, o, file, gone[0], r)
}

// restoreFull restores the whole file into another, empty cluster. The first cluster is
// stopped, because both share the machine's memory.
func (c *cluster) restoreFull(ctx context.Context, o options, file, key string, r *report) (err error) {
	for _, n := range c.nodes {
		if err := n.end(syscall.SIGTERM); err != nil {
			return err
		}
	}
	o.dir = filepath.Join(o.dir, "full")
	empty, err := newCluster(o, len(c.nodes), c.deployments)
	if err != nil {
		return err
	}
	empty.made = c.made
	defer empty.close(&err)
	if err := empty.startAll(ctx); err != nil {
		return err
	}
	full := restored{file: file, name: fmt.Sprintf("full restore of %d keys", c.made), query: "&full=yes"}
	if err := empty.restoreOnce(ctx, empty.nodes[len(empty.nodes)-1], full, r); err != nil {
		return err
	}
	for i, n := range empty.nodes {
		size, err := n.size()
		if err != nil {
			return err
		}
		r.note("After the full restore, node %d stores %d MiB.", i+1, size/megabyte)
	}
	return empty.accepts(ctx, key)
}

// accepts returns an error unless every node accepts a restored key.
func (c *cluster) accepts(ctx context.Context, key string) error {
	for _, n := range c.nodes {
		if ok, err := c.use(ctx, n, key); err != nil || !ok {
			return fmt.Errorf("a key that was restored is rejected: %w", err)
		}
	}
	return nil
}

// restored is one restore to measure.
type restored struct {
	name, file string
	query      string // added to the request
	key        string // of concurrent requests; empty: none, as a full restore requires
}

// restoreOnce restores a file through a node and watches all nodes meanwhile.
func (c *cluster) restoreOnce(ctx context.Context, through *node, in restored, r *report) error {
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
	var failure atomic.Pointer[string] // one of the failures
	serving := make([][]time.Duration, len(c.nodes))
	group, all := errgroup.WithContext(ctx)
	running, stop := context.WithCancel(all)
	defer stop()
	for i, n := range c.nodes {
		group.Go(func() error {
			for in.key != "" && running.Err() == nil {
				start := time.Now()
				if ok, err := c.use(ctx, n, in.key); err != nil || !ok {
					failed.Add(1)
					text := fmt.Sprintf("Node %d, accepted: %v: %v", i+1, ok, err)
					failure.CompareAndSwap(nil, &text)
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
		return c.upload(all, through, in)
	})
	if err := group.Wait(); err != nil {
		return err
	}
	r.add(in.name, []time.Duration{took}, dueRestore)
	var requests []time.Duration
	for _, s := range serving {
		requests = append(requests, s...)
	}
	if in.key != "" {
		r.add("requests meanwhile", requests, dueServing)
	}
	var most, of int64
	for i, n := range c.nodes {
		peak, err := procstat.Peak(n.cmd.Process.Pid)
		if err != nil {
			return err
		}
		if peak-idle[i] > most {
			most, of = peak-idle[i], idle[i]
		}
	}
	after, err := c.status(ctx, c.nodes[0])
	if err != nil {
		return err
	}
	r.note("%s: %d requests failed meanwhile, a node had at most %d MiB more than the %d MiB before, and the leader %s.",
		in.name, failed.Load(), most/megabyte, of/megabyte, map[bool]string{true: "stayed", false: "changed"}[before.Leader == after.Leader])
	if text := failure.Load(); text != nil {
		r.note("The first that failed: %s", *text)
	}
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
		_ = f.Close() // the first error is more useful
		return 0, err
	}
	return size, f.Close()
}

// upload restores a file.
func (c *cluster) upload(ctx context.Context, n *node, in restored) error {
	ctx, cancel := context.WithTimeout(ctx, restoreTime)
	defer cancel()
	f, err := os.Open(in.file)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	resp, err := c.send(ctx, n, http.MethodPost, "/cluster/restore?confirm=yes"+in.query, f)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

// send sends an admin request with a file, and returns a successful response.
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
	text, _ := io.ReadAll(resp.Body) // part of the error text
	_ = resp.Body.Close()
	return nil, fmt.Errorf("%s: %d %s", path, resp.StatusCode, text)
}
