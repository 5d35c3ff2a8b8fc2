package cluster_test

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/modelgateway/modelgateway/cluster"
	"github.com/modelgateway/modelgateway/cluster/catalog"
	records "github.com/modelgateway/modelgateway/cluster/record"
)

// TestNoUpdateIsLost has many callers on all nodes add to one setting at once, each
// what it finds plus one: every addition that was acknowledged is there, and no
// caller is refused because another was quicker.
func TestNoUpdateIsLost(t *testing.T) {
	const callers, each = 30, 4
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, 11)
		defer l.close()
		var log refusals
		for range 3 {
			h := l.add(3)
			h.configure = func(cfg *cluster.Config) { cfg.Logger = slog.New(&log) }
			h.start()
		}
		if err := l.ready(l.hosts, settleTime); err != nil {
			t.Fatal(err)
		}
		var wait sync.WaitGroup
		for i := range callers {
			node := l.hosts[i%3].node()
			wait.Go(func() {
				for range each {
					if err := count(t, node); err != nil {
						t.Errorf("caller %d: %v", i, err)
					}
				}
			})
		}
		wait.Wait()
		v, err := l.hosts[2].node().Current(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if p, _ := v.Catalog.Patch(); *p.AllowedFails != callers*each {
			t.Errorf("%d additions are there of %d", *p.AllowedFails, callers*each)
		}
		// What is tried again is no event for an operator.
		if log.loud.Load() != 0 || log.quiet.Load() == 0 {
			t.Errorf("%d refusals are logged above debug level, and %d at it", log.loud.Load(), log.quiet.Load())
		}
	})
}

// refusals is a log that counts the changes that were refused.
type refusals struct{ quiet, loud atomic.Int64 }

func (r *refusals) Enabled(context.Context, slog.Level) bool { return true }

func (r *refusals) Handle(_ context.Context, rec slog.Record) error {
	switch {
	case !strings.HasPrefix(rec.Message, "change "):
	case rec.Level > slog.LevelDebug:
		r.loud.Add(1)
	default:
		r.quiet.Add(1)
	}
	return nil
}

func (r *refusals) WithAttrs([]slog.Attr) slog.Handler { return r }
func (r *refusals) WithGroup(string) slog.Handler      { return r }

// count adds one to a setting.
func count(t *testing.T, node *cluster.Node) error {
	t.Helper()
	_, err := node.Change(t.Context(), actor, func(v *cluster.View, tx *records.Txn) error {
		n := 1
		if p, _ := v.Catalog.Patch(); p.AllowedFails != nil {
			n = *p.AllowedFails + 1
		}
		return v.Catalog.UpdateRouter(tx, catalog.RouterSpec{AllowedFails: &n}, 0)
	})
	return err
}
