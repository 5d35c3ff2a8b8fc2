package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/modelgateway/modelgateway/bench/internal/procstat"
)

const (
	// reportsAtOnce is the number of different concurrent reports.
	reportsAtOnce = 8
	reportRounds  = 3
	reportTime    = 5 * time.Minute // timeout of one report
	dueReportTime = time.Minute     // target for all of them
	dueReports    = 150 << 20       // bytes above idle
	megabyte      = 1 << 20
	chatPath      = "/v1/chat/completions"
)

// reports returns different paths, so that no report shares another's response. Those of end
// users have as many entries as there are keys.
func reports(today time.Time) []string {
	paths := make([]string, reportsAtOnce)
	for i := range paths {
		of := []string{"/team/daily/activity", "/customer/daily/activity"}[i%2]
		paths[i] = fmt.Sprintf("%s?start_date=%s&end_date=%s", of, today.AddDate(0, 0, -1-i/2).Format(time.DateOnly), today.AddDate(0, 0, 1).Format(time.DateOnly))
	}
	return paths
}

// measureReports makes each key spend something, and requests all reports from one node at the
// same time. The memory is that of the gateway process alone.
func (c *cluster) measureReports(ctx context.Context, o options, r *report) error {
	if err := c.fill(ctx, o, r); err != nil {
		return err
	}
	keys := c.keys[:min(o.keys, len(c.keys))]
	start := time.Now()
	if err := c.spendAll(ctx, keys, o.fillers); err != nil {
		return err
	}
	r.note("%d keys spent with %d callers at %.0f requests a second.", len(keys), o.fillers, float64(len(keys))/time.Since(start).Seconds())
	n := c.nodes[len(c.nodes)-1]
	if err := c.posted(ctx, n, len(keys)); err != nil {
		return err
	}
	// The restart frees the heap that the creation of the keys has left.
	if err := c.again(ctx, n); err != nil {
		return err
	}
	pid := n.cmd.Process.Pid
	idle, err := procstat.ResetPeak(pid)
	if err != nil {
		return err
	}
	var times []time.Duration
	for range reportRounds {
		group, all := errgroup.WithContext(ctx)
		start = time.Now()
		for _, path := range reports(time.Now().UTC()) {
			group.Go(func() error { return c.read(all, n, path) })
		}
		if err := group.Wait(); err != nil {
			return err
		}
		times = append(times, time.Since(start))
	}
	most, err := procstat.Peak(pid)
	if err != nil {
		return err
	}
	r.add(fmt.Sprintf("%d reports at once over %d keys", reportsAtOnce, len(keys)), times, dueReportTime)
	r.note("Memory of %d reports at once over %d keys: %d MiB above the idle node's %d MiB; due: %d MiB.", reportsAtOnce, len(keys), (most-idle)/megabyte, idle/megabyte, dueReports/megabyte)
	return nil
}

// read reads a response of any length.
func (c *cluster) read(ctx context.Context, n *node, path string) error {
	ctx, cancel := context.WithTimeout(ctx, reportTime)
	defer cancel()
	resp, err := c.send(ctx, n, http.MethodGet, path, nil)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	_, err = io.Copy(io.Discard, resp.Body)
	return err
}

// again restarts a node.
func (c *cluster) again(ctx context.Context, n *node) error {
	if err := n.end(syscall.SIGTERM); err != nil {
		return err
	}
	c.client.CloseIdleConnections()
	if err := n.start(); err != nil {
		return err
	}
	return c.settle(ctx)
}

// spendAll makes a request with each key, each for a different end user.
func (c *cluster) spendAll(ctx context.Context, keys []string, callers int) error {
	var next atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	for range callers {
		group.Go(func() error {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(keys) {
					return nil
				}
				body := fmt.Appendf(nil, `{"model":%q,"user":"user-%d","messages":[{"role":"user","content":"hello"}]}`, model, i)
				code, b, err := c.call(ctx, c.nodes[i%len(c.nodes)], http.MethodPost, chatPath, keys[i], body)
				if err == nil && code != http.StatusOK {
					err = fmt.Errorf("%s: %d %s", chatPath, code, b)
				}
				if err != nil {
					return err
				}
			}
		})
	}
	return group.Wait()
}

// posted waits until a node reports this number of requests in its sums.
func (c *cluster) posted(ctx context.Context, n *node, requests int) error {
	path := reports(time.Now().UTC())[0]
	return c.until(ctx, "all spend is seen", func(ctx context.Context) bool {
		var sums struct {
			Metadata struct {
				Requests float64 `json:"total_api_requests"`
			} `json:"metadata"`
		}
		return c.ask(ctx, n, http.MethodGet, path, nil, &sums) == nil && sums.Metadata.Requests >= float64(requests)
	})
}
