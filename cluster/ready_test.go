package cluster_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/modelgateway/modelgateway/cluster/journal"
)

// TestAnOlderCopyIsNeverReady puts an older copy of a node's data directory in its place.
// The node ends with the reason, and was not ready before: a request that it had recorded
// would have got the number of one that is posted, and would not have been charged.
func TestAnOlderCopyIsNeverReady(t *testing.T) {
	for _, nodes := range []int{1, 3} {
		synctest.Test(t, func(t *testing.T) {
			l := startedLab(t, 11, nodes)
			defer l.close()
			h := l.hosts[0]
			s := newSpender(l, "s", 0)
			s.work(time.Now().Add(5*time.Second), []*host{h})
			h.shut()
			older := diskOf(h.disk.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 100, RNG: l.random}))
			h.start()
			if err := l.ready(l.hosts, settleTime); err != nil {
				t.Fatal(err)
			}
			// A copy that agrees with what the cluster knows is as good as the original.
			s.work(time.Now().Add(5*time.Second), []*host{h})
			l.balance([]*spender{s})
			h.shut()
			if nodes == 1 {
				return // its ledger is as old as its journal: nobody knows better
			}
			h.disk = older
			h.start()
			node := h.off() // not for the lab to shut: it ends by itself
			var err error
			for ended := false; !ended; {
				select {
				case err = <-h.ran:
					ended = true
				case <-time.After(time.Millisecond):
					if node.Ready() == nil {
						t.Fatal("the node is ready with an older copy of its data directory")
					}
				}
			}
			if codeOf(err) != journal.CodeBehind {
				t.Errorf("the node ended with %v", err)
			}
			if err := node.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestAFollowerThatWasAwayCatchesUpAtOnce cuts a follower off, for a moment and for
// minutes: when it is back it gets what it has missed as soon in both cases.
func TestAFollowerThatWasAwayCatchesUpAtOnce(t *testing.T) {
	for _, how := range []string{"cut off", "stopped"} {
		var soon time.Duration
		for _, away := range []time.Duration{2 * time.Second, 40 * time.Second, 97 * time.Second} {
			synctest.Test(t, func(t *testing.T) {
				took := caughtUp(t, away, how)
				if soon == 0 {
					soon = took
				}
				if most := soon + 2*time.Second; took > most {
					t.Errorf("%s for %s it takes %s, and for a moment %s", how, away, took, soon)
				}
			})
		}
	}
}

// caughtUp returns how long a follower that was away takes until it is ready and has what
// was changed meanwhile.
func caughtUp(t *testing.T, away time.Duration, how string) time.Duration {
	t.Helper()
	l := startedLab(t, 12, 3)
	defer l.close()
	leader := l.leader(settleTime)
	h := l.hosts[0]
	if h == leader {
		h = l.hosts[1]
	}
	stopped := how == "stopped"
	if stopped {
		h.shut()
	} else {
		l.network.Isolate(h.address)
	}
	newSpender(l, "s", 0).work(time.Now().Add(away), []*host{leader})
	at, err := leader.node().Status(context.Background(), false)
	if err != nil {
		t.Fatal(err)
	}
	if stopped {
		h.start()
	} else {
		l.network.Heal()
	}
	back := time.Now()
	if !until(settleTime, func() bool {
		now, err := h.node().Status(context.Background(), false)
		return err == nil && now.AppliedIndex >= at.AppliedIndex && h.node().Ready() == nil
	}) {
		t.Fatalf("%s has not caught up", h.name)
	}
	return time.Since(back)
}
