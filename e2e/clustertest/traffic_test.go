//go:build linux

package clustertest

import (
	"errors"
	"sync/atomic"
	"testing"
)

// Requests go to the nodes that say they are ready, and failures are told.
func TestTraffic(t *testing.T) {
	var down, failing atomic.Int64
	var got [4]atomic.Int64
	errFailed := errors.New("failed")
	tr := StartTraffic(t, TrafficConfig{
		Nodes: 3, Callers: 2,
		Ready: func(node int) bool { return down.Load() != int64(node) },
		Send: func(node int) error {
			got[node].Add(1)
			if failing.Load() == int64(node) {
				return errFailed
			}
			return nil
		},
	})
	await(t, "all nodes get requests", func() bool { return got[1].Load() > 0 && got[2].Load() > 0 && got[3].Load() > 0 })
	down.Store(2)
	await(t, "node 2 gets none", func() bool {
		before := got[2].Load()
		others := got[1].Load() + 1000
		await(t, "the others do", func() bool { return got[1].Load() > others })
		return got[2].Load() == before
	})
	failing.Store(1)
	sent := tr.Sent()
	await(t, "requests go on", func() bool { return tr.Sent() > sent+10 })
	total, failures := tr.End()
	if total != got[1].Load()+got[2].Load()+got[3].Load() {
		t.Errorf("%d sent", total)
	}
	if len(failures) == 0 {
		t.Error("no failure was told")
	}
	for _, err := range failures {
		if !errors.Is(err, errFailed) {
			t.Error(err)
		}
	}
}

// Without a ready node a request fails: the caller has nowhere to go.
func TestTrafficNowhere(t *testing.T) {
	tr := StartTraffic(t, TrafficConfig{Nodes: 1, Callers: 1, Ready: func(int) bool { return false }})
	await(t, "a request failed", func() bool {
		tr.mu.Lock()
		defer tr.mu.Unlock()
		return len(tr.mu.failures) > 0
	})
	if sent, failures := tr.End(); sent != 0 || !errors.Is(failures[0], errNoneReady) {
		t.Errorf("%d sent, %v", sent, failures)
	}
}
