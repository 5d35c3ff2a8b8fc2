package cluster_test

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/modelgateway/modelgateway/cluster"
)

// older stops a machine's node, copies its disk and starts the node again.
func (h *host) older() *disk {
	h.shut()
	copied := diskOf(h.disk.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 100, RNG: h.lab.random}))
	h.start()
	return copied
}

// others returns the machines without one.
func (l *lab) others(without *host) (out []*host) {
	for _, h := range l.hosts {
		if h != without {
			out = append(out, h)
		}
	}
	return out
}

// TestAnOlderCopyElectsNobodyWithoutWhatIsCommitted: a key is created while one of three
// nodes is down. The other node that has the key gets an older copy of its data directory
// and starts after the node that was down. These two are a majority without the key, and
// the third node, which has it, reaches only the node with the copy. The key is still there
// in the end.
func TestAnOlderCopyElectsNobodyWithoutWhatIsCommitted(t *testing.T) {
	for seed := range uint64(12) {
		synctest.Test(t, func(t *testing.T) {
			l := startedLab(t, 50+seed, 3)
			defer l.close()
			has := l.leader(settleTime)
			copied, down := l.others(has)[0], l.others(has)[1]
			older := copied.older()
			if err := l.ready(l.hosts, settleTime); err != nil {
				t.Fatal(err)
			}
			has = l.leader(settleTime)
			if has == copied || has == down { // the roles are as above in most runs
				return
			}
			down.shut()
			if err := createKey(t.Context(), has.node(), newKey("late")); err != nil {
				t.Fatal(err)
			}
			copied.shut()
			has.shut()
			copied.disk = older
			l.network.OneWay(has.address, down.address)
			l.network.OneWay(down.address, has.address)
			down.start()
			tick(time.Duration(seed) * 200 * time.Millisecond)
			copied.start()
			has.start()
			tick(20 * time.Second)
			l.network.Heal()
			if err := l.ready(l.hosts, settleTime); err != nil {
				t.Fatal(err)
			}
			for _, h := range l.hosts {
				if found, err := findKey(t.Context(), h.node(), hashOf("late")); err != nil || !found {
					t.Errorf("run %d: %s does not have the key whose creation was acknowledged: %v", seed, h.name, err)
				}
			}
			if err := l.same(); err != nil {
				t.Error(err)
			}
		})
	}
}

// logged collects what a node logs.
type logged struct {
	mu    sync.Mutex
	lines []string
}

func (l *logged) Enabled(context.Context, slog.Level) bool { return true }

func (l *logged) Handle(_ context.Context, r slog.Record) error {
	line := r.Message
	r.Attrs(func(a slog.Attr) bool {
		line += " " + a.String()
		return true
	})
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, line)
	return nil
}

func (l *logged) WithAttrs([]slog.Attr) slog.Handler { return l }
func (l *logged) WithGroup(string) slog.Handler      { return l }

func (l *logged) says(part string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, line := range l.lines {
		if strings.Contains(line, part) {
			return true
		}
	}
	return false
}

// TestAnOlderCopyWithoutUsageIsNamed changes settings after a copy of a follower's data
// directory was made, and puts the copy in its place. The node says so, is not ready
// before it has the changes, and serves then. A node that was only away says nothing.
func TestAnOlderCopyWithoutUsageIsNamed(t *testing.T) {
	for _, way := range []string{"away", "copy"} {
		synctest.Test(t, func(t *testing.T) {
			l := startedLab(t, 60, 3)
			defer l.close()
			h := l.others(l.leader(settleTime))[0]
			older := h.older()
			if err := l.ready(l.hosts, settleTime); err != nil {
				t.Fatal(err)
			}
			from := l.leader(settleTime)
			if from == h {
				t.Fatal("the follower leads")
			}
			if way == "away" {
				h.shut()
			}
			if err := createKey(t.Context(), from.node(), newKey("late")); err != nil {
				t.Fatal(err)
			}
			if way == "copy" {
				h.shut()
				h.disk = older
			}
			var log logged
			h.configure = func(c *cluster.Config) { c.Logger = slog.New(&log) }
			h.start()
			if !until(settleTime, func() bool {
				ready := h.node().Ready() == nil
				if ready && !accepts(h.node(), "late") {
					t.Errorf("%s: the node is ready without the key", way)
				}
				return ready
			}) {
				t.Errorf("%s: the node is not ready: %v", way, h.node().Ready())
			}
			tick(5 * time.Second)
			if said := log.says("is an older copy"); said != (way == "copy") {
				t.Errorf("%s: the node says that its data directory is an older copy: %v", way, said)
			}
			if status, err := h.node().Status(t.Context(), false); err != nil || len(status.Problems) > 0 {
				t.Errorf("%s: %v %v", way, err, status.Problems)
			}
		})
	}
}
