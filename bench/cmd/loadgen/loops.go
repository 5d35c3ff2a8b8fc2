package main

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelgateway/modelgateway/bench/internal/precise"
)

const readBuffer = 16 << 10

func closedLoop(ctx context.Context, o *options, cl *client, rec *recorder, w window) {
	var wg sync.WaitGroup
	// Streams of equal length that start at the same time would stay synchronized, so the
	// starts of the workers are spread over the warm-up.
	spread := o.warmup / 2 / time.Duration(o.conns)
	for i := range o.conns {
		wg.Go(func() {
			buf := make([]byte, readBuffer)
			time.Sleep(time.Duration(i) * spread)
			for ctx.Err() == nil {
				sent := time.Now()
				if !sent.Before(w.to) {
					return
				}
				out := cl.do(buf)
				rec.add(w, sent, sent, out)
				if out.err != nil {
					time.Sleep(10 * time.Millisecond) // no busy loop on a server that rejects requests
				}
			}
		})
	}
	wg.Wait()
}

// schedule returns the start times of the requests, as offsets.
func schedule(o *options) []time.Duration {
	total := o.warmup + o.duration
	mean := float64(time.Second) / o.rate
	r := rand.New(rand.NewPCG(42, 7)) // the same arrivals for every peer
	var due []time.Duration
	for at := 0.0; at < float64(total); {
		due = append(due, time.Duration(at))
		if o.arrival == "const" {
			at += mean
		} else {
			at += r.ExpFloat64() * mean
		}
	}
	return due
}

func openLoop(ctx context.Context, o *options, cl *client, rec *recorder, start time.Time, w window) error {
	timer, err := precise.Get()
	if err != nil {
		return err
	}
	defer precise.Put(timer)
	var (
		wg       sync.WaitGroup
		inflight atomic.Int64
		bufs     = sync.Pool{New: func() any { b := make([]byte, readBuffer); return &b }}
	)
	for _, off := range schedule(o) {
		due := start.Add(off)
		if err := timer.SleepUntil(due); err != nil {
			return err
		}
		if ctx.Err() != nil {
			break
		}
		if inflight.Load() >= int64(o.inflight) {
			rec.drop(w, due)
			continue
		}
		inflight.Add(1)
		wg.Go(func() {
			defer inflight.Add(-1)
			buf := bufs.Get().(*[]byte)
			defer bufs.Put(buf)
			sent := time.Now()
			rec.add(w, due, sent, cl.do(*buf))
		})
	}
	wg.Wait()
	return nil
}
