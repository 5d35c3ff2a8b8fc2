package cluster_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelgateway/modelgateway/cluster/audit"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/ledger"
)

// noon is how far all clocks of these tests are ahead of the bubble's midnight.
const noon = 12 * time.Hour

// TestUsageIsFiledUnderClusterTime has one of three nodes with a wrong clock. What its
// requests used is filed where the requests of the others are: in the sums of today, in
// the usage records and in the audit log at the time at which they were made.
func TestUsageIsFiledUnderClusterTime(t *testing.T) {
	for _, wrong := range []time.Duration{20 * time.Hour, -20 * time.Hour, 0} {
		t.Run(wrong.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFiling(t)
				defer f.close()
				f.hosts[1].skew.Store(int64(noon + wrong))
				f.startAll()
				for _, h := range f.hosts {
					f.request(h)
				}
				f.check()
			})
		})
	}
}

// TestUsageOfANodeThatIsCutOffIsFiledWhenItHappened cuts a node with a wrong clock off,
// and has it serve requests. It is restarted meanwhile, and then has never known the
// cluster's time. All of it is posted later, under the time at which it happened.
func TestUsageOfANodeThatIsCutOffIsFiledWhenItHappened(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFiling(t)
		defer f.close()
		h := f.hosts[1]
		h.skew.Store(int64(noon + 20*time.Hour))
		f.startAll()
		f.network.Isolate(h.address)
		tick(time.Minute)
		f.request(h)
		tick(time.Minute)
		h.shut()
		h.start()
		f.request(h)
		h.cut(0)
		h.start()
		f.request(h)
		tick(time.Minute)
		f.network.Heal()
		if err := f.ready(f.hosts, settleTime); err != nil {
			t.Fatal(err)
		}
		f.check()
	})
}

// TestTheTimeOfUsageDoesNotJumpWithTheClock sets a node's clock right while a request is
// under way: the request took as long as it took.
func TestTheTimeOfUsageDoesNotJumpWithTheClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFiling(t)
		defer f.close()
		f.startAll()
		h := f.hosts[1]
		h.skew.Store(int64(noon - 20*time.Hour))
		f.request(h) // before the node has noticed
		tick(time.Minute)
		f.request(h)
		h.skew.Store(int64(noon))
		f.request(h)
		tick(time.Minute)
		f.request(h)
		f.check()
	})
}

// filing is a lab of three nodes, and when the requests were made there.
type filing struct {
	*lab

	spender *spender
	made    map[id.Request][2]time.Time // from, to
}

func newFiling(t *testing.T) *filing {
	t.Helper()
	f := &filing{lab: newLab(t, 8), made: map[id.Request][2]time.Time{}}
	for range 3 {
		f.add(3).skew.Store(int64(noon))
	}
	f.spender = newSpender(f.lab, "s", 0)
	return f
}

func (f *filing) startAll() {
	f.t.Helper()
	for _, h := range f.hosts {
		h.start()
	}
	if err := f.ready(f.hosts, settleTime); err != nil {
		f.t.Fatal(err)
	}
}

// request makes a request at a node.
func (f *filing) request(h *host) {
	f.t.Helper()
	if !until(settleTime, func() bool { return h.node().Journal().Healthy() == nil }) {
		f.t.Fatalf("%s cannot record usage", h.name)
	}
	from := time.Now().Add(noon)
	node, at := h.now()
	f.spender.spend(at, node)
	f.made[f.spender.book[len(f.spender.book)-1].request] = [2]time.Time{from, time.Now().Add(noon)}
}

// check holds what every node shows against when the requests were made.
func (f *filing) check() {
	f.t.Helper()
	f.balance([]*spender{f.spender})
	for _, h := range f.hosts {
		if err := f.checkAt(h); err != nil {
			f.t.Errorf("%s: %v", h.name, err)
		}
	}
}

func (f *filing) checkAt(h *host) error {
	ctx := f.t.Context()
	// A second is what a clock may be off by and still be believed, and more than enough.
	within := func(request id.Request, at time.Time) error {
		made := f.made[request]
		if at.Before(made[0].Add(-time.Second)) || at.After(made[1].Add(time.Second)) {
			return fmt.Errorf("%s: made from %s to %s and filed at %s", request, made[0], made[1], at)
		}
		return nil
	}
	var wrong error
	attempts := int64(0)
	if err := h.node().Daily(ctx, ledger.DailyFilter{Kind: id.AccountKey}, func(r ledger.DailyRow) bool {
		if r.Day != "2000-01-01" {
			wrong = fmt.Errorf("a row of %s", r.Day)
		}
		attempts += r.Attempts
		return wrong == nil
	}); err != nil || wrong != nil {
		return fmt.Errorf("daily: %w, %w", err, wrong)
	}
	if want := int64(len(f.made)); attempts != want {
		return fmt.Errorf("%d attempts in the sums of the day, want %d", attempts, want)
	}
	seen := 0
	if err := h.node().Logs(ctx, ledger.LogFilter{}, func(r ledger.Record) bool {
		seen++
		if wrong = within(r.Request, r.Start); wrong == nil {
			wrong = within(r.Request, r.End)
		}
		if took := r.End.Sub(r.Start); wrong == nil && (took < 0 || took > time.Second) {
			wrong = fmt.Errorf("%s took %s", r.Request, took)
		}
		return wrong == nil
	}); err != nil || wrong != nil || seen != len(f.made) {
		return fmt.Errorf("%d usage records, want %d: %w, %w", seen, len(f.made), err, wrong)
	}
	for request := range f.made {
		seen = 0
		if err := h.node().AuditLog().Query(ctx, audit.Filter{Type: "request.routed", Request: string(request)}, func(r audit.Record) bool {
			seen++
			wrong = within(request, r.Time)
			return wrong == nil
		}); err != nil || wrong != nil || seen != 1 {
			return fmt.Errorf("%d audit records of %s, want 1: %w, %w", seen, request, err, wrong)
		}
	}
	return nil
}
