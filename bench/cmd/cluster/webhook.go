package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"strconv"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
)

const (
	webhookRate    = 500 // requests a second
	webhookLength  = 20 * time.Second
	webhookCallers = 32 // at most so many requests are open at once
	webhookTick    = 10 * time.Millisecond
	dueDrained     = 2 * time.Second
)

// measureWebhook has one node serve webhookRate requests a second while it delivers its
// audit log to a receiver, and notes how many records wait for delivery when the requests
// end. It does so for batches with a slow receiver that fails 2 % of the deliveries, and for
// single records with a fast one.
func measureWebhook(ctx context.Context, o options, w io.Writer) error {
	r := &report{}
	for i, one := range []struct {
		name string
		to   *receiver
		set  map[string]any
	}{
		{"batches of 500 to a receiver that takes 20 ms and fails 2 %", &receiver{takes: 20 * time.Millisecond, nth: 50}, map[string]any{"alerting_webhook_batch": 500}},
		{"single records to a receiver that responds at once", &receiver{}, nil},
		{"single records to a receiver that responds at once and fails 2 %", &receiver{nth: 50}, nil},
	} {
		here := o
		here.dir = filepath.Join(o.dir, strconv.Itoa(i))
		here.extra = "audit: {allow_private_webhooks: true}\n"
		if err := deliverUnderLoad(ctx, here, one.name, one.to, one.set, r); err != nil {
			return fmt.Errorf("%s: %w", one.name, err)
		}
	}
	r.print(w)
	return nil
}

// deliverUnderLoad measures one receiver.
func deliverUnderLoad(ctx context.Context, o options, name string, to *receiver, set map[string]any, r *report) (err error) {
	p, err := startProvider()
	if err != nil {
		return err
	}
	defer p.Close()
	hook := httptest.NewServer(to)
	defer hook.Close()
	c, err := newCluster(o, 1, []deployment{{model: model, url: p.URL}})
	if err != nil {
		return err
	}
	defer c.close(&err)
	if err := c.startAll(ctx); err != nil {
		return err
	}
	n := c.nodes[0]
	settings := map[string]any{"alerting": []string{"webhook"}, "alerting_webhook_url": hook.URL}
	maps.Copy(settings, set)
	if err := c.ask(ctx, n, http.MethodPost, "/config/update", map[string]any{"general_settings": settings}, nil); err != nil {
		return err
	}
	start := time.Now()
	served, failed, err := c.serveAt(ctx, n)
	if err != nil {
		return err
	}
	took, taken := time.Since(start), to.records.Load()
	waiting, err := c.waiting(ctx, n)
	if err != nil {
		return err
	}
	r.note("%s: %.0f requests/s (%d failed) for %.1f s, %.0f records/s delivered meanwhile, %d records waiting at the end, %d deliveries failed.",
		name, float64(served)/took.Seconds(), failed, took.Seconds(), float64(taken)/took.Seconds(), waiting, to.failed.Load())
	ended := time.Now()
	if err := c.until(ctx, "all records are delivered", func(ctx context.Context) bool {
		left, err := c.waiting(ctx, n)
		return err == nil && left == 0
	}); err != nil {
		return err
	}
	r.add("after the last response, all records delivered: "+name, []time.Duration{time.Since(ended)}, dueDrained)
	return nil
}

// serveAt makes webhookRate requests a second for webhookLength, whether earlier ones have
// their responses or not, as long as webhookCallers are enough.
func (c *cluster) serveAt(ctx context.Context, n *node) (served, failed int64, err error) {
	due := make(chan struct{}, webhookRate*int(webhookLength/time.Second))
	var ok, bad atomic.Int64
	callers, ctx := errgroup.WithContext(ctx)
	for range webhookCallers {
		callers.Go(func() error {
			for range due {
				accepted, err := c.use(ctx, n, c.admin)
				if err != nil || !accepted {
					bad.Add(1)
					continue
				}
				ok.Add(1)
			}
			return nil
		})
	}
	tick := time.NewTicker(webhookTick)
	defer tick.Stop()
	start := time.Now()
	for made := 0; made < cap(due) && ctx.Err() == nil; {
		<-tick.C
		for now := min(cap(due), int(time.Since(start).Seconds()*webhookRate)); made < now; made++ {
			due <- struct{}{}
		}
	}
	close(due)
	err = callers.Wait()
	return ok.Load(), bad.Load(), err
}

var waitingMetric = regexp.MustCompile(`(?m)^gateway_delivery_waiting(?:\{[^}]*\})? ([0-9.e+]+)$`)

// waiting returns how many records a node has yet to deliver.
func (c *cluster) waiting(ctx context.Context, n *node) (int64, error) {
	code, text, err := c.call(ctx, n, http.MethodGet, "/metrics", "", nil)
	if err != nil {
		return 0, err
	}
	found := waitingMetric.FindSubmatch(text)
	if code != http.StatusOK || found == nil {
		return 0, fmt.Errorf("/metrics: status %d, without gateway_delivery_waiting", code)
	}
	value, err := strconv.ParseFloat(string(found[1]), 64)
	return int64(value), err
}

// receiver takes deliveries of the audit log.
type receiver struct {
	takes time.Duration
	nth   int64 // of the deliveries each nth fails; 0: none

	calls, failed, records atomic.Int64
}

// ServeHTTP takes one record, or an array of them.
func (r *receiver) ServeHTTP(w http.ResponseWriter, in *http.Request) {
	body, err := io.ReadAll(in.Body)
	time.Sleep(r.takes)
	if err != nil || r.nth > 0 && r.calls.Add(1)%r.nth == 0 {
		r.failed.Add(1)
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	count := int64(1)
	if bytes.HasPrefix(body, []byte("[")) {
		var batch []json.RawMessage
		if json.Unmarshal(body, &batch) != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		count = int64(len(batch))
	}
	r.records.Add(count)
}
