package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"math"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/modelgateway/modelgateway/bench/internal/disk"
	"github.com/modelgateway/modelgateway/bench/internal/precise"
	"github.com/modelgateway/modelgateway/cluster"
	"github.com/modelgateway/modelgateway/cluster/audit"
	"github.com/modelgateway/modelgateway/cluster/block"
	"github.com/modelgateway/modelgateway/cluster/ledger"
	"github.com/modelgateway/modelgateway/cluster/store"
)

// The project's targets.
const (
	dueAboveSync = 300 * time.Microsecond // wait of one caller in addition to one sync
	dueSettle    = 5 * time.Millisecond   // 99th percentile at the rate
	dueVisible   = 5 * time.Second        // 99th percentile
)

// measureNodes measures a cluster of this size and compares its books with the total cost.
func measureNodes(ctx context.Context, o options, nodes int, r *report) (err error) {
	dir := filepath.Join(o.dir, fmt.Sprintf("cluster%d", nodes))
	w, err := startWorld(ctx, dir, nodes)
	if err != nil {
		return err
	}
	defer func() {
		if stopped := w.close(); err == nil {
			err = stopped
		}
	}()
	l := &load{world: w}
	// Create the accounts and their leases before the measurement.
	if err := l.flood(ctx, payers*nodes, payers); err != nil {
		return err
	}
	if err := l.posted(ctx); err != nil {
		return err
	}
	probe, err := disk.NewProbe(o.dir)
	if err != nil {
		return err
	}
	defer func() { _ = probe.Close() }() // its content is not needed
	name := onNodes(nodes)
	log.Printf("measuring settles on %s", name)
	if err := measureCaller(ctx, o, l, probe, r, name); err != nil {
		return err
	}
	if err := measureRate(ctx, o, l, probe, r, name); err != nil {
		return err
	}
	log.Printf("measuring %d requests on %s", o.requests, name)
	if err := measureFlood(ctx, o, l, r, name); err != nil {
		return err
	}
	if err := checkBooks(ctx, w, r, name); err != nil {
		return err
	}
	return measureSize(ctx, l, r, name)
}

// measureCaller makes one request after the other. It measures the disk in between.
func measureCaller(ctx context.Context, o options, l *load, probe *disk.Probe, r *report, name string) error {
	var settles, syncs []time.Duration
	for end := time.Now().Add(o.length); len(settles) == 0 || time.Now().Before(end); {
		s, err := l.request(ctx, providerTime)
		if err != nil {
			return err
		}
		settles = append(settles, s.took)
		took, err := probe.Append()
		if err != nil {
			return err
		}
		syncs = append(syncs, took)
	}
	var aims []string
	for _, q := range []float64{0.5, 0.99} {
		aims = append(aims, judged(settles, q, at(sorted(syncs), q)+dueAboveSync))
	}
	r.times("settle, 1 caller, "+name, settles, strings.Join(aims, ", "))
	r.times("one synced append between", syncs, "")
	return l.posted(ctx)
}

// probeEvery is the interval of disk measurements at a rate: often enough for a 99th
// percentile, and rarely enough not to disturb the journal.
const probeEvery = 50 * time.Millisecond

// measureRate makes requests at a rate, independent of earlier ones.
func measureRate(ctx context.Context, o options, l *load, probe *disk.Probe, r *report, name string) error {
	var syncs []time.Duration
	var settles []settled
	seen := newWatch(l.world)
	group, ctx := errgroup.WithContext(ctx)
	loaded, unload := context.WithCancel(ctx)
	defer unload()
	group.Go(func() (err error) {
		syncs, err = syncMeanwhile(loaded, probe)
		return err
	})
	watched, unwatch := context.WithCancel(ctx)
	defer unwatch()
	group.Go(func() error { return seen.run(watched) })
	group.Go(func() (err error) {
		defer unwatch()
		settles, err = l.arrive(ctx, o)
		unload()
		if err != nil {
			return err
		}
		if err := l.posted(ctx); err != nil {
			return err
		}
		// The journals trim posted events one sync later.
		return l.world.until(ctx, "the journals are empty", func() (bool, error) { return seen.empty(), nil })
	})
	if err := group.Wait(); err != nil {
		return err
	}
	var waits []time.Duration
	for _, s := range settles {
		waits = append(waits, s.took)
	}
	what := fmt.Sprintf("%.0f requests a second, %s", o.rate, name)
	r.times("settle, "+what, waits, judged(waits, 0.99, dueSettle))
	r.times("one synced append meanwhile", syncs, "")
	visible := seen.delays(settles)
	r.times("spend posted after the settle, "+what, visible, judged(visible, 0.99, dueVisible))
	return nil
}

// syncMeanwhile measures the disk repeatedly until ctx ends.
func syncMeanwhile(ctx context.Context, probe *disk.Probe) (times []time.Duration, err error) {
	for ctx.Err() == nil {
		took, err := probe.Append()
		if err != nil {
			return nil, err
		}
		times = append(times, took)
		if err := precise.Sleep(probeEvery); err != nil {
			return nil, err
		}
	}
	return times, nil
}

// measureFlood makes requests as fast as possible.
func measureFlood(ctx context.Context, o options, l *load, r *report, name string) error {
	clock, err := startTimer()
	if err != nil {
		return err
	}
	if err := l.flood(ctx, o.requests, o.callers); err != nil {
		return err
	}
	settled, err := clock.stop()
	if err != nil {
		return err
	}
	if err := l.posted(ctx); err != nil {
		return err
	}
	posted, err := clock.stop()
	r.rate(fmt.Sprintf("requests settled, %d callers, %s", o.callers, name), o.requests, settled)
	r.rate("the same, posted everywhere, "+name, o.requests, posted)
	return err
}

// checkBooks checks each node's books, and times the verification of the first one's audit
// chain.
func checkBooks(ctx context.Context, w *world, r *report, name string) error {
	for i, n := range w.nodes {
		if err := n.CheckLedger(ctx); err != nil {
			return fmt.Errorf("the ledger of node %d: %w", i+1, err)
		}
	}
	for i, n := range w.nodes {
		clock, err := startTimer()
		if err != nil {
			return err
		}
		found, err := n.AuditLog().Verify(ctx, 0, 0)
		switch {
		case err != nil:
			return err
		case !found.Valid:
			return fmt.Errorf("the audit chain of node %d is broken at record %d: %s", i+1, found.BrokenAt, found.Reason)
		case i > 0:
			continue
		}
		took, err := clock.stop()
		if err != nil {
			return err
		}
		r.rate("records of the audit chain verified, "+name, int(found.Checked), took)
	}
	return nil
}

// measureSize measures what the records of all requests take in the state of the first node, with
// their index. The audit log has a few records of other events as well.
func measureSize(ctx context.Context, l *load, r *report, name string) error {
	for _, of := range []struct {
		name     string
		space    store.Space
		log      block.Log
		multiple uint64
	}{
		{"a packed usage record", store.SpaceUsageLog, ledger.RowLog(), block.Size},
		{"the packed audit records of a request", store.SpaceAuditLog, audit.Log(audit.DefaultWorkspace), audit.SealMultiple},
	} {
		var sum int64
		if err := l.world.nodes[0].Audit(func(state audit.Reader) error {
			return state.Scan(ctx, store.Range{Space: of.space}, func(key, value []byte) bool {
				sum += int64(1 + len(key) + len(value)) // the space is a byte of the key
				return true
			})
		}); err != nil {
			return err
		}
		r.size(of.name+", "+name, int(l.made.Load()), sum)
		records, bytes, err := sealedSize(ctx, l.world.nodes[0], of.log, of.multiple)
		if err != nil {
			return err
		}
		last, err := lastOf(l.world.nodes[0], of.log)
		if err != nil {
			return err
		}
		if records > 0 {
			r.size("the same, in a sealed segment, "+name, int(l.made.Load()*int64(records)/int64(last)), bytes)
		}
	}
	return nil
}

// sealedSize measures the file of the segment that would be sealed first if all records were old enough.
func sealedSize(ctx context.Context, n *cluster.Node, records block.Log, multiple uint64) (count uint64, bytes int64, err error) {
	err = n.Audit(func(state audit.Reader) error {
		due := block.Due{Before: math.MaxInt64, Late: math.MaxInt64, Multiple: multiple}
		first, ok, err := records.Sealable(ctx, state, due)
		if err != nil || !ok {
			return err
		}
		s, err := records.WriteSegment(ctx, state, first, io.Discard)
		count, bytes = first.Last-first.First+1, int64(s.Size)
		return err
	})
	return count, bytes, err
}

// lastOf returns the number of the last record of a log, which began with 1.
func lastOf(n *cluster.Node, records block.Log) (last uint64, err error) {
	err = n.Audit(func(state audit.Reader) error {
		last, _, err = records.End(state)
		return err
	})
	return last, err
}
