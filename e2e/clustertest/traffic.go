//go:build linux

package clustertest

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TrafficConfig says what callers do and where. Both functions are called from
// several goroutines, and must return within some seconds whatever happens.
type TrafficConfig struct {
	Nodes   int                  // numbered from 1
	Callers int                  // each sends one request after the other
	Ready   func(node int) bool  // asks a node whether it takes requests
	Send    func(node int) error // sends one; an error is a request that failed
}

// Traffic is callers behind a load balancer. It asks every node whether it is
// ready, again and again, and sends requests where the last answer was yes.
type Traffic struct {
	config TrafficConfig
	cancel context.CancelFunc
	ended  sync.WaitGroup
	ready  []atomic.Bool // of node i is ready[i-1]
	sent   atomic.Int64

	mu struct {
		sync.Mutex
		failures []error
	}
}

// ProbeEvery is how long the load balancer waits between two questions to a
// node. A node that is to be stopped without a failed request has to say for
// longer that it is not ready.
const ProbeEvery = 50 * time.Millisecond

var errNoneReady = errors.New("no node was ready")

// StartTraffic has the callers begin. They go on until End, or until t ends.
func StartTraffic(t *testing.T, config TrafficConfig) *Traffic {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	tr := &Traffic{config: config, cancel: cancel, ready: make([]atomic.Bool, config.Nodes)}
	t.Cleanup(func() { tr.End() })
	for i := range tr.ready {
		tr.ready[i].Store(config.Ready(i + 1)) // the callers are to find some
	}
	for i := range tr.ready {
		tr.ended.Go(func() {
			for pause(ctx) {
				tr.ready[i].Store(config.Ready(i + 1))
			}
		})
	}
	for caller := range config.Callers {
		tr.ended.Go(func() {
			for turn := caller; ctx.Err() == nil; turn++ {
				if err := tr.send(turn); err != nil {
					tr.failed(err)
					pause(ctx)
				}
			}
		})
	}
	return tr
}

// pause waits for ProbeEvery and says whether ctx still goes on.
func pause(ctx context.Context) bool {
	timer := time.NewTimer(ProbeEvery)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// send sends one request to the next node that is ready.
func (tr *Traffic) send(turn int) error {
	for k := range tr.ready {
		if i := (turn + k) % len(tr.ready); tr.ready[i].Load() {
			tr.sent.Add(1)
			return tr.config.Send(i + 1)
		}
	}
	return errNoneReady
}

func (tr *Traffic) failed(err error) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.mu.failures = append(tr.mu.failures, err)
}

// Sent is how many requests were sent so far.
func (tr *Traffic) Sent() int64 { return tr.sent.Load() }

// End has the callers finish their requests and returns how many were sent, and
// the errors of those that failed.
func (tr *Traffic) End() (sent int64, failures []error) {
	tr.cancel()
	tr.ended.Wait()
	tr.mu.Lock()
	defer tr.mu.Unlock()
	return tr.sent.Load(), tr.mu.failures
}
